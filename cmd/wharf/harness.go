package main

import (
	"context"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/wharf-dev/wharf/cmd/wharf/internal/client"
	"github.com/wharf-dev/wharf/cmd/wharf/internal/show"
)

const (
	aHarness   = "the id of a harness (see \"wharf harness list\")"
	oneHarness = "/v1/harnesses/{}"
)

// harnessShown is a harness as the Open Harness API has it.
type harnessShown struct {
	ID          string `json:"id"`
	Name        string `json:"name"`
	Kind        string `json:"execution_type"`
	Status      string `json:"status"`
	Version     string `json:"version"`
	Description string `json:"description"`
}

type harnessAnswer struct {
	Harness harnessShown `json:"harness"`
}

func (a *app) harnessCommand() *cobra.Command {
	return family(page{
		use:   "harness",
		short: "Register harnesses: named ways to run agents",
		long: `A harness is a plugin with a workspace of its own, in which its agents work. Every
tenant has "wharf". docs/open-harness.md has the rest.`,
		example: "  wharf harness register desk --plugin agent\n  wharf harness list",
	}, a.harnessListCommand(), a.harnessShowCommand(), a.harnessRegisterCommand(), a.harnessDeleteCommand())
}

func (a *app) harnessListCommand() *cobra.Command {
	return a.node(page{
		use: "list", short: "List harnesses",
		long:    "List shows the harnesses that the key sees.",
		example: "  wharf harness list\n  wharf harness list --json",
	}, steps(func(ctx context.Context, c *client.Client, _ []string) error {
		docs, err := client.OpenHarnessList[harnessShown](ctx, c, "/v1/harnesses")
		if err != nil {
			return err
		}
		return a.printRows([]string{"HARNESS", "NAME", "KIND", "STATUS", "DESCRIPTION"}, "", rowsOf(docs, func(h *harnessShown) []show.Cell {
			return []show.Cell{{Text: h.ID}, {Text: show.OneLine(h.Name)}, {Text: h.Kind}, {Text: h.Status}, {Text: show.OneLine(h.Description)}}
		}))
	}))
}

func (a *app) harnessShowCommand() *cobra.Command {
	return a.node(page{
		use: "show HARNESS", short: "Show a harness",
		long:    "Show prints what a harness is; with --json also what it can do.",
		example: "  wharf harness show wharf --json",
		args:    oneArg(aHarness),
	}, ask[harnessAnswer]{
		call: gets(oneHarness),
		text: func(h *harnessAnswer) {
			a.out.Line(h.Harness.ID)
			a.out.Pairs([2]string{"name", h.Harness.Name}, [2]string{"kind", h.Harness.Kind}, [2]string{"status", h.Harness.Status},
				[2]string{"version", h.Harness.Version}, [2]string{"about", h.Harness.Description})
		},
		tips: tips{noSuch: "wharf harness list"},
	})
}

func (a *app) harnessRegisterCommand() *cobra.Command {
	var id, plugin, description string
	return a.node(page{
		use: "register NAME", short: "Register a harness",
		long:    "Register makes a harness of a plugin of the node, with a workspace of its own, and prints its id.",
		example: "  wharf harness register \"Front desk\" --id desk",
		args:    oneArg("the name of the harness"),
		flags: func(f *pflag.FlagSet) {
			f.StringVar(&id, "id", "", "its id (default one that follows from the name)")
			f.StringVar(&plugin, "plugin", "agent", "the plugin that runs its agents")
			f.StringVar(&description, "description", "", "what it is for (default its name)")
		},
	}, ask[harnessAnswer]{
		call: sends(func(args []string) client.Call {
			req := registration{ID: id, Name: args[0], Vendor: "local", Description: description, Kind: "sdk"}
			if description == "" {
				req.Description = args[0]
			}
			req.Config.Plugin = plugin
			return client.Post(req, "/v1/harnesses")
		}),
		text: func(h *harnessAnswer) { a.out.Line(h.Harness.ID) },
	})
}

type registration struct {
	ID          string `json:"id,omitzero"`
	Name        string `json:"name"`
	Vendor      string `json:"vendor"`
	Description string `json:"description"`
	Kind        string `json:"execution_type"`
	Config      struct {
		Plugin string `json:"binary_path"`
	} `json:"config"`
}

func (a *app) harnessDeleteCommand() *cobra.Command {
	return a.node(page{
		use: "delete HARNESS", short: "Delete a harness",
		long:    "Delete removes a harness in which nothing runs and no session is open. Its workspace stays.",
		example: "  wharf harness delete desk",
		args:    oneArg(aHarness),
	}, steps(func(ctx context.Context, c *client.Client, args []string) error {
		if err := c.Send(ctx, client.Delete(oneHarness, args[0])); err != nil {
			return hint(err, noSuch, "wharf harness list")
		}
		if !a.json {
			a.out.Line(args[0], " is deleted")
		}
		return nil
	}))
}
