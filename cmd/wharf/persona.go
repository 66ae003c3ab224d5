package main

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/goccy/go-yaml"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/cmd/wharf/internal/client"
	"github.com/wharf-dev/wharf/cmd/wharf/internal/config"
	"github.com/wharf-dev/wharf/cmd/wharf/internal/show"
)

func (a *app) personaCommand() *cobra.Command {
	return family(page{
		use:   "persona",
		short: "List, make and change Personas: what Tasks may do",
		long: `A Persona is a role that Tasks run as: which plugin, and what it may do. Its
autonomy tier says whether writes are left out (shadow), proposed (suggest),
asked about (act_with_approval) or done (act_auto); lists of tools, host calls,
models and Personas, and a budget, say the rest (docs/policy.md).`,
		example: `  wharf persona list
  wharf persona create -f scribe.yaml
  wharf persona update persona_01K0... --tier suggest
  wharf persona clone persona_01K0... bold
  wharf persona retire persona_01K0...`,
	}, a.personaListCommand(), a.personaGetCommand(), a.personaCreateCommand(), a.personaUpdateCommand(), a.personaCloneCommand(),
		a.personaRenameCommand(), a.personaDeleteCommand(), a.personaSkillsCommand(), a.personaOfferCommand(), a.personaUpdateOfferCommand(),
		a.personaRetireCommand("retire", "Let no new Task or Session name a Persona", "Tasks that have begun go on, and can be replayed. The Persona is still shown.", true),
		a.personaRetireCommand("reinstate", "Let Tasks and Sessions name a Persona again", "It is as it was before it was retired, with the versions that it had.", false))
}

func (a *app) personaListCommand() *cobra.Command {
	var workspace string
	return a.node(page{
		use:   "list",
		short: "List the Personas, newest first",
		long: `List shows the Personas of the key's tenant: those that came with the node and its
plugins, and those that were made. With --workspace it shows those that belong to a
Workspace, and none of the whole tenant.`,
		example: "  wharf persona list\n  wharf persona list --workspace ws_01K0... --json",
		flags:   func(f *pflag.FlagSet) { f.StringVar(&workspace, "workspace", "", "only Personas of this Workspace") },
	}, personas(sends(func([]string) client.Call { return client.Get("/v1/personas").Narrow("workspace_id", workspace) })))
}

func personas(call caller) list[abi.Persona] {
	return list[abi.Persona]{
		call:   call,
		titles: []string{"PERSONA", "NAME", "VERSION", "TIER", "RUNS", "CHANGED"},
		row:    personaRow,
	}
}

func personaRow(p *abi.Persona) []show.Cell {
	return []show.Cell{{Text: p.ID}, {Text: p.Name}, {Text: p.Version}, {Text: string(p.AutonomyTier), Style: tierStyle(p.AutonomyTier)},
		{Text: p.EntryWorkflow}, {Text: show.Ago(p.UpdatedAt, time.Now())}}
}

func tierStyle(tier abi.AutonomyTier) show.Style {
	if tier == abi.TierActAuto {
		return show.Yellow
	}
	return show.Green
}

func (a *app) personaGetCommand() *cobra.Command {
	var versions bool
	old := personas(a.ofPersona(gets("/wharf/v1/personas/{}/versions")))
	old.tips = absent("wharf persona list")
	now := a.persona(a.ofPersona(gets("/v1/personas/{}")))
	return a.node(page{
		use:   "get ID",
		short: "Show a Persona and its policy, or its versions",
		long: `Get shows what a Persona allows. With --versions it lists the versions that it has
had, newest first; a Task is held to the one that it began with.`,
		example: "  wharf persona get agent\n  wharf persona get persona_agent --versions",
		args:    oneArg("the name or the id of a Persona (see \"wharf persona list\")"),
		flags:   func(f *pflag.FlagSet) { f.BoolVar(&versions, "versions", false, "list the versions instead") },
	}, byFlag{&versions, old, now})
}

// persona is a request that a Persona answers.
func (a *app) persona(call caller) ask[abi.Persona] {
	return ask[abi.Persona]{call: call, text: a.showPersona, tips: absent("wharf persona list")}
}

func (a *app) showPersona(v *abi.Persona) {
	a.out.Pairs([2]string{"id", v.ID}, [2]string{"name", v.Name}, [2]string{"version", v.Version}, [2]string{"runs", v.EntryWorkflow},
		[2]string{"description", v.Description}, [2]string{"tier", string(v.AutonomyTier)}, [2]string{"receipts", string(v.ReceiptPolicy)},
		[2]string{"tools", patterns(v.Tools, "all that are granted")}, [2]string{"capabilities", patterns(v.Capabilities, "all")},
		[2]string{"handoffs", handoffs(v)}, [2]string{"models", asText(v.ModelPolicy)}, [2]string{"budget", asText(v.Budget)},
		[2]string{"approvals", asText(v.Approvals)}, [2]string{"quota", v.QuotaID},
		[2]string{"workspace", v.WorkspaceID}, [2]string{"retired", stamp(v.RetiredAt)})
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
	var file, workspace string
	return a.node(page{
		use:   "create -f FILE",
		short: "Make a Persona from a file",
		long: `Create makes a Persona from a file in YAML or JSON, "-" for standard input. It
needs the members name, version, entry_workflow, description, autonomy_tier and
receipt_policy; docs/policy.md has the rest. --workspace makes it one of a Workspace,
which alone sees and uses it, whatever the file says.`,
		example: "  wharf persona create -f scribe.yaml\n  wharf persona create -f scribe.json --workspace ws_01K0... --json",
		flags: func(f *pflag.FlagSet) {
			f.StringVarP(&file, "file", "f", "", "the file, in YAML or JSON")
			f.StringVar(&workspace, "workspace", "", "the Workspace that it belongs to (default what the file says, or the whole tenant)")
		},
	}, a.persona(func(*cobra.Command, []string) (client.Call, error) {
		var req abi.CreatePersonaRequest
		err := a.readManifest(file, &req)
		req.WorkspaceID = cmp.Or(workspace, req.WorkspaceID)
		return client.Post(req, "/v1/personas"), err
	}))
}

func (a *app) personaUpdateCommand() *cobra.Command {
	var file, tier, version, description string
	return a.node(page{
		use:   "update ID",
		short: "Change a Persona: Tasks that have begun go on as they were",
		long: `Update changes what the flags and the file name, and leaves the rest. Lists and
objects are replaced as a whole. A change of policy is a new version, which gets
the next number unless --version names it.`,
		example: `  wharf persona update persona_01K0... --tier act_with_approval
  wharf persona update persona_01K0... -f budget.yaml --version 2.0`,
		args: oneArg("the name or the id of a Persona (see \"wharf persona list\")"),
		flags: func(f *pflag.FlagSet) {
			f.StringVarP(&file, "file", "f", "", "a file with what is to change, in YAML or JSON")
			f.StringVar(&tier, "tier", "", "shadow, suggest, act_with_approval or act_auto")
			f.StringVar(&version, "version", "", "the name of the new version")
			f.StringVar(&description, "description", "", "what the Persona is for")
		},
	}, a.persona(a.ofPersona(func(cmd *cobra.Command, args []string) (call client.Call, err error) {
		var req abi.UpdatePersonaRequest
		if file != "" {
			err = a.readManifest(file, &req)
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
		return client.Patch(req, "/v1/personas/{}", args[0]), err
	})))
}

// aPersonaAndName are what commands take that give a Persona a name.
const aPersonaAndName = "the name or the id of a Persona (see \"wharf persona list\") and a name"

func (a *app) personaCloneCommand() *cobra.Command {
	var workspace string
	return a.node(page{
		use:   "clone ID NAME",
		short: "Make a Persona with the policy of another",
		long: `Clone makes a Persona with the policy that another one has now, versions of its own, and
none of its Memories. It belongs where the other does, unless --workspace says otherwise.`,
		example: "  wharf persona clone persona_01K0... bold\n  wharf persona clone persona_agent ours --workspace ws_01K0...",
		args:    twoArgs(aPersonaAndName),
		flags: func(f *pflag.FlagSet) {
			f.StringVar(&workspace, "workspace", "", "the Workspace that the clone belongs to")
		},
	}, a.persona(a.ofPersona(sends(func(args []string) client.Call {
		return client.Post(abi.ClonePersonaRequest{Name: args[1], WorkspaceID: workspace}, "/wharf/v1/personas/{}/clone", args[0])
	}))))
}

func (a *app) personaRenameCommand() *cobra.Command {
	return a.node(page{
		use:     "rename ID NAME",
		short:   "Call a Persona something else",
		long:    "Rename gives a Persona another name. That is no change of its policy, and no new version.",
		example: "  wharf persona rename persona_01K0... bold",
		args:    twoArgs(aPersonaAndName),
	}, a.persona(a.ofPersona(sends(func(args []string) client.Call {
		return client.Patch(abi.UpdatePersonaRequest{Name: &args[1]}, "/v1/personas/{}", args[0])
	}))))
}

// personaRetireCommand makes a command that retires a Persona, or takes that back.
func (a *app) personaRetireCommand(use, short, more string, retired bool) *cobra.Command {
	return a.node(page{
		use:     use + " ID",
		short:   short,
		long:    short + ".\n" + more,
		example: "  wharf persona " + use + " persona_01K0...",
		args:    oneArg("the name or the id of a Persona (see \"wharf persona list\")"),
	}, a.persona(a.ofPersona(sends(func(args []string) client.Call {
		return client.Patch(abi.UpdatePersonaRequest{Retired: &retired}, "/v1/personas/{}", args[0])
	}))))
}

func (a *app) personaDeleteCommand() *cobra.Command {
	return a.node(page{
		use:   "delete ID",
		short: "Delete a Persona",
		long: `Delete deletes a Persona: no new Task, Session or Connector names it then. Tasks that were
taken go on to their end, and what was recorded can still be replayed, exported and
verified. A deletion is not taken back: "wharf persona retire" is.

One that comes with a plugin of the node would come again, and is not deleted, nor is one
that a Connector, a harness or a Skill names: the node says which.`,
		example: "  wharf persona delete persona_01K0...",
		args:    oneArg("the id of a Persona (see \"wharf persona list\")"),
	}, a.gone("/wharf/v1/personas/{}", "deleted", "wharf persona list"))
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
	return readYAML(manifestName(file), text, req)
}

// manifestName is what a file is called in messages.
func manifestName(file string) string {
	if file == "-" {
		return "standard input"
	}
	return file
}

// readYAML reads a text in YAML, which JSON is too.
func readYAML(name string, text []byte, into any) error {
	plain, err := yaml.YAMLToJSON(text)
	if err != nil {
		line, message := config.Syntax(err)
		return fmt.Errorf("%s:%d: %s", name, line, message)
	}
	if err := json.Unmarshal(plain, into, json.RejectUnknownMembers(true)); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}
