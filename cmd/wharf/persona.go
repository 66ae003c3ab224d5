package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/goccy/go-yaml"
	"github.com/spf13/cobra"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/cmd/wharf/internal/client"
	"github.com/wharf-dev/wharf/cmd/wharf/internal/show"
)

func (a *app) personaCommand() *cobra.Command {
	return family(&cobra.Command{
		Use:   "persona",
		Short: "List, make and change Personas: what Tasks may do",
		Long: `A Persona is a role that Tasks run as: which plugin, and what it may do. Its
autonomy tier says whether writes are left out (shadow), proposed (suggest),
asked about (act_with_approval) or done (act_auto); lists of tools, host calls,
models and Personas, and a budget, say the rest (docs/policy.md).`,
		Example: `  wharf persona list
  wharf persona create -f scribe.yaml
  wharf persona update persona_01K0... --tier suggest`,
	}, a.remote(a.personaListCommand()), a.remote(a.personaGetCommand()), a.remote(a.personaCreateCommand()), a.remote(a.personaUpdateCommand()))
}

func (a *app) personaListCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "list",
		Short: "List the Personas, newest first",
		Long: `List shows the Personas of the key's tenant: those that came with the node and its
plugins, and those that were made.`,
		Example: "  wharf persona list\n  wharf persona list --json",
		Args:    noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := a.client()
			if err != nil {
				return err
			}
			return listOf(a, c.Personas, personaTitles, personaRow)(cmd.Context())
		},
	}
}

var personaTitles = []string{"PERSONA", "NAME", "VERSION", "TIER", "RUNS", "CHANGED"}

func personaRow(p *abi.Persona) []show.Cell {
	return []show.Cell{{Text: p.ID}, {Text: show.Cut(p.Name, 24)}, {Text: p.Version}, {Text: string(p.AutonomyTier), Style: tierStyle(p.AutonomyTier)},
		{Text: show.Cut(p.EntryWorkflow, 30)}, {Text: show.Ago(p.UpdatedAt, time.Now())}}
}

func tierStyle(tier abi.AutonomyTier) show.Style {
	if tier == abi.TierActAuto {
		return show.Yellow
	}
	return show.Green
}

func (a *app) personaGetCommand() *cobra.Command {
	var versions bool
	cmd := &cobra.Command{
		Use:   "get ID",
		Short: "Show a Persona and its policy, or its versions",
		Long: `Get shows what a Persona allows. With --versions it lists the versions that it has
had, newest first; a Task is held to the one that it began with.`,
		Example: "  wharf persona get persona_agent\n  wharf persona get persona_agent --versions",
		Args:    oneArg("the id of a Persona (see \"wharf persona list\")"),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := a.client()
			if err != nil {
				return err
			}
			if versions {
				list := func(ctx context.Context) ([]client.Doc[abi.Persona], error) { return c.PersonaVersions(ctx, args[0]) }
				return hint(listOf(a, list, personaTitles, personaRow)(cmd.Context()), abi.CodeResourceNotFound, "wharf persona list")
			}
			p, err := c.Persona(cmd.Context(), args[0])
			return a.showPersona(p, err)
		},
	}
	cmd.Flags().BoolVar(&versions, "versions", false, "list the versions instead")
	return cmd
}

// showPersona prints a Persona that a node has answered with.
func (a *app) showPersona(p client.Doc[abi.Persona], err error) error {
	switch {
	case err != nil:
		return hint(err, abi.CodeResourceNotFound, "wharf persona list")
	case a.json:
		a.printJSON(p.JSON)
		return nil
	}
	v := &p.Value
	a.out.Pairs([2]string{"id", v.ID}, [2]string{"name", v.Name}, [2]string{"version", v.Version}, [2]string{"runs", v.EntryWorkflow},
		[2]string{"description", v.Description}, [2]string{"tier", string(v.AutonomyTier)}, [2]string{"receipts", string(v.ReceiptPolicy)},
		[2]string{"tools", patterns(v.Tools, "all that are granted")}, [2]string{"capabilities", patterns(v.Capabilities, "all")},
		[2]string{"handoffs", handoffs(v)}, [2]string{"models", asText(v.ModelPolicy)}, [2]string{"budget", asText(v.Budget)},
		[2]string{"approvals", asText(v.Approvals)}, [2]string{"quota", v.QuotaID})
	return nil
}

func patterns(list []string, none string) string {
	if len(list) == 0 {
		return none
	}
	return strings.Join(list, " ")
}

func handoffs(p *abi.Persona) string {
	if p.Handoffs == nil {
		return "to all"
	}
	return patterns(p.Handoffs, "to none")
}

// asText writes a part of a policy as JSON; "" when there is none.
func asText[T any](part *T) string {
	if part == nil {
		return ""
	}
	text, err := json.Marshal(part, json.Deterministic(true))
	if err != nil {
		return err.Error()
	}
	return string(text)
}

func (a *app) personaCreateCommand() *cobra.Command {
	var file string
	cmd := &cobra.Command{
		Use:   "create -f FILE",
		Short: "Make a Persona from a file",
		Long: `Create makes a Persona from a file in YAML or JSON, "-" for standard input. It
needs the members name, version, entry_workflow, description, autonomy_tier and
receipt_policy; docs/policy.md has the rest.`,
		Example: "  wharf persona create -f scribe.yaml\n  wharf persona create -f scribe.json --json",
		Args:    noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			var req abi.CreatePersonaRequest
			if err := a.readManifest(file, &req); err != nil {
				return err
			}
			c, err := a.client()
			if err != nil {
				return err
			}
			p, err := c.CreatePersona(cmd.Context(), req)
			return a.showPersona(p, err)
		},
	}
	cmd.Flags().StringVarP(&file, "file", "f", "", "the file, in YAML or JSON")
	return cmd
}

func (a *app) personaUpdateCommand() *cobra.Command {
	var file, tier, version, description string
	cmd := &cobra.Command{
		Use:   "update ID",
		Short: "Change a Persona: Tasks that have begun go on as they were",
		Long: `Update changes what the flags and the file name, and leaves the rest. Lists and
objects are replaced as a whole. A change of policy is a new version, which gets
the next number unless --version names it.`,
		Example: `  wharf persona update persona_01K0... --tier act_with_approval
  wharf persona update persona_01K0... -f budget.yaml --version 2.0`,
		Args: oneArg("the id of a Persona (see \"wharf persona list\")"),
		RunE: func(cmd *cobra.Command, args []string) error {
			var req abi.UpdatePersonaRequest
			if file != "" {
				if err := a.readManifest(file, &req); err != nil {
					return err
				}
			}
			flags := cmd.Flags()
			if flags.Changed("tier") {
				req.AutonomyTier = (*abi.AutonomyTier)(&tier)
			}
			if flags.Changed("version") {
				req.Version = &version
			}
			if flags.Changed("description") {
				req.Description = &description
			}
			c, err := a.client()
			if err != nil {
				return err
			}
			p, err := c.UpdatePersona(cmd.Context(), args[0], req)
			return a.showPersona(p, err)
		},
	}
	flags := cmd.Flags()
	flags.StringVarP(&file, "file", "f", "", "a file with what is to change, in YAML or JSON")
	flags.StringVar(&tier, "tier", "", "shadow, suggest, act_with_approval or act_auto")
	flags.StringVar(&version, "version", "", "the name of the new version")
	flags.StringVar(&description, "description", "", "what the Persona is for")
	return cmd
}

// maxManifest is the largest file that describes a resource, in bytes.
const maxManifest = 1 << 20

// readManifest reads a file in YAML, which JSON is too, into a request. A member
// that is misspelled is an error.
func (a *app) readManifest(file string, req any) error {
	if file == "" {
		return usagef("name the file with -f FILE, or - for standard input")
	}
	in := a.stdin
	if file != "-" {
		f, err := os.Open(file)
		if err != nil {
			return fmt.Errorf("opening the file: %w", err)
		}
		defer f.Close()
		in = f
	}
	text, err := io.ReadAll(io.LimitReader(in, maxManifest+1))
	if err != nil {
		return fmt.Errorf("reading %s: %w", file, err)
	}
	if len(text) > maxManifest {
		return fmt.Errorf("%s is larger than %d bytes", file, maxManifest)
	}
	plain, err := yaml.YAMLToJSON(text)
	if err == nil {
		err = json.Unmarshal(plain, req, json.RejectUnknownMembers(true))
	}
	if err != nil {
		return fmt.Errorf("reading %s: %w", file, err)
	}
	return nil
}
