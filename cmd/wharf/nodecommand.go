package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/cmd/wharf/internal/client"
	"github.com/wharf-dev/wharf/cmd/wharf/internal/show"
)

func (a *app) nodeCommand() *cobra.Command {
	return family(page{
		use:   "node",
		short: "See what a node is, what it can do, and whether it is ready",
		long: `A node is a "wharf serve" that --server or WHARF_SERVER names. These commands show what
it is and what it offers to plugins.`,
		example: `  wharf node show
  wharf node ready
  wharf node tools
  wharf node models`,
	}, a.nodeShowCommand(), a.nodeReadyCommand(), a.nodeCapabilitiesCommand(), a.nodeToolsCommand(), a.nodeToolCommand(), a.nodeModelsCommand())
}

// runtimeOf is what a node says of itself, as far as it is shown.
type runtimeOf struct {
	ID              string   `json:"id"`
	Name            string   `json:"name"`
	Version         string   `json:"version"`
	ProtocolVersion string   `json:"protocol_version"`
	Status          string   `json:"status"`
	Draining        bool     `json:"draining"`
	Levels          []string `json:"levels"`
}

func (a *app) nodeShowCommand() *cobra.Command {
	return a.node(page{
		use:     "show",
		short:   "Show what a node is",
		long:    "Show shows the version of a node and of the protocol that it speaks, and whether it takes\nTasks. With --json it prints its bounds and features, too.",
		example: "  wharf node show\n  wharf node show --json | jq .limits",
	}, ask[runtimeOf]{call: gets("/v1/runtime"), text: func(r *runtimeOf) {
		state, style := r.Status, show.Green
		if r.Draining {
			state, style = "draining: it takes no new Tasks", show.Yellow
		}
		a.out.Line(r.ID, "  ", a.out.Paint(style, state))
		a.out.Pairs([2]string{"name", r.Name}, [2]string{"version", r.Version}, [2]string{"protocol", r.ProtocolVersion}, [2]string{"levels", strings.Join(r.Levels, " ")},
			[2]string{"server", a.serverURL()})
	}})
}

func (a *app) nodeReadyCommand() *cobra.Command {
	return a.remote(page{
		use:   "ready",
		short: "Ask whether a node is ready for requests",
		long: `Ready ends with 0 when a node is ready, with 1 when it answers that it is not, and with 3
when none answers. It needs no API key: a container can ask itself by it.`,
		example: "  wharf node ready\n  wharf node ready --server http://127.0.0.1:8080",
	}.command(func(cmd *cobra.Command, _ []string) error {
		c, err := a.keyless()
		if err != nil {
			return err
		}
		state, ready, err := c.Ready(cmd.Context())
		if err != nil {
			return err
		}
		if err := a.print(state, func() { a.out.Line(state.Status) }); err != nil {
			return err
		}
		if !ready {
			return &silentError{exitFailed}
		}
		return nil
	}))
}

// capability is what a node offers to plugins, as far as it is shown.
type capability struct {
	Name        string `json:"name"`
	Effect      string `json:"effect"`
	Available   bool   `json:"available"`
	Description string `json:"description"`
}

func (a *app) nodeCapabilitiesCommand() *cobra.Command {
	return a.node(page{
		use:     "capabilities",
		short:   "List the host calls that plugins can make on a node",
		long:    "Capabilities shows the host calls of a node, and whether what each needs is there: a model,\na server of tools, a vault. docs/host-calls.md has the rest.",
		example: "  wharf node capabilities\n  wharf node capabilities --json | jq .plugins",
	}, list[capability]{
		call:   gets("/v1/capabilities"),
		titles: []string{"CALL", "EFFECT", "", "WHAT IT DOES"},
		row: func(c *capability) []show.Cell {
			there := show.Cell{Text: "there", Style: show.Green}
			if !c.Available {
				there = show.Cell{Text: "not there", Style: show.Dim}
			}
			return []show.Cell{{Text: c.Name}, {Text: c.Effect}, there, {Text: show.OneLine(c.Description)}}
		},
	})
}

// nodeTool is a tool that plugins can call on a node, as far as it is shown.
type nodeTool struct {
	ID          string   `json:"id"`
	Source      string   `json:"source"`
	ReadOnly    bool     `json:"read_only"`
	Destructive bool     `json:"destructive"`
	Idempotent  bool     `json:"idempotent"`
	Plugins     []string `json:"plugins"`
	Description string   `json:"description"`
}

// does says what calling a tool may change.
func (t *nodeTool) does() string {
	switch {
	case t.ReadOnly:
		return "reads"
	case t.Destructive:
		return "destroys"
	}
	return "writes"
}

func (a *app) nodeToolsCommand() *cobra.Command {
	return a.node(page{
		use:     "tools",
		short:   "List the tools that plugins can call on a node",
		long:    "Tools shows the tools of a node: its own, and those of the servers that its configuration\nnames or that were added. docs/tools.md has the rest.",
		example: "  wharf node tools\n  wharf node tools --json",
	}, list[nodeTool]{
		call:   gets("/v1/tools"),
		titles: []string{"TOOL", "DOES", "WHAT FOR"},
		row: func(t *nodeTool) []show.Cell {
			return []show.Cell{{Text: t.ID}, {Text: t.does()}, {Text: show.OneLine(t.Description)}}
		},
		none: "no tools",
	})
}

func (a *app) nodeToolCommand() *cobra.Command {
	return a.node(page{
		use:     "tool TOOL",
		short:   "Show a tool",
		long:    "Tool shows what a tool does, and which plugins may call it. With --json it prints the schema\nof its arguments, too.",
		example: "  wharf node tool host:time_now\n  wharf node tool host:time_now --json | jq .input_schema",
		args:    oneArg("the name of a tool, SERVER:TOOL (see \"wharf node tools\")"),
	}, ask[nodeTool]{call: gets("/v1/tools/{}"), tips: absent("wharf node tools"), text: func(t *nodeTool) {
		a.out.Line(t.ID, "  ", t.does())
		a.out.Pairs([2]string{"from", t.Source}, [2]string{"plugins", strings.Join(t.Plugins, " ")}, [2]string{"what for", show.OneLine(t.Description)})
	}})
}

func (a *app) nodeModelsCommand() *cobra.Command {
	return a.node(page{
		use:     "models",
		short:   "List the models that plugins can ask on a node",
		long:    "Models shows the models of a node, and whether what asking each takes is there.\ndocs/models.md has the rest.",
		example: "  wharf node models\n  wharf node models --json | jq .providers",
	}, steps(func(ctx context.Context, c *client.Client, _ []string) error {
		doc, err := client.Do[abi.ModelCatalog](ctx, c, client.Get("/wharf/v1/models"))
		if err != nil {
			return err
		}
		return a.print(doc.JSON, func() {
			if len(doc.Value.Models) == 0 {
				a.out.Line("no models")
				return
			}
			var rows [][]show.Cell
			for _, m := range doc.Value.Models {
				rows = append(rows, modelRow(&m))
			}
			a.out.Table([]string{"MODEL", "", "", "PROVIDER", "ASKED AS"}, rows)
		})
	}))
}

func modelRow(m *abi.NodeModel) []show.Cell {
	there, name := show.Cell{Text: "there", Style: show.Green}, m.Model
	if !m.Available {
		there = show.Cell{Text: "not there", Style: show.Dim}
	}
	is := ""
	if m.Default {
		is = "default"
	}
	return []show.Cell{{Text: m.Name}, there, {Text: is}, {Text: fmt.Sprintf("%s (%s)", m.Provider, m.Kind)}, {Text: name}}
}
