package main

import (
	"cmp"

	"github.com/spf13/cobra"

	"github.com/wharf-dev/wharf/cmd/wharf/internal/node"
	"github.com/wharf-dev/wharf/cmd/wharf/internal/show"
)

func (a *app) pluginCommand() *cobra.Command {
	return family(page{
		use:   "plugin",
		short: "Make plugins, look at them, and install them",
		long: `A plugin is a WebAssembly module that runs in a sandbox. Some ship with Wharf;
others lie in the folder that the setting plugins.dir names, or are installed while
the node runs.`,
		example: `  wharf plugin list
  wharf plugin new hello --lang typescript
  wharf plugin build hello
  wharf plugin dev hello
  wharf plugin lint hello
  wharf plugin vet plugin.wasm
  wharf plugin run hello "Hello"
  wharf plugin test hello
  wharf plugin package hello
  wharf plugin install plugin.wasm`,
	}, append(a.installCommands(), a.pluginNewCommand(), a.pluginBuildCommand(), a.pluginDevCommand(), a.pluginListCommand(), a.confine(a.pluginVetCommand()),
		a.confine(a.pluginLintCommand()), a.confine(a.pluginRunCommand()), a.confine(a.pluginTestCommand()),
		a.confine(a.pluginPackageCommand()), a.pluginKeyCommand(), a.confine(a.pluginPushCommand()), a.confine(a.pluginPullCommand()))...)
}

func (a *app) pluginListCommand() *cobra.Command {
	var s settingFlags
	cmd := page{
		use:   "list",
		short: "List the plugins that a node has",
		long: `List shows the plugins that "wharf serve" would have, given the same flags,
environment and folder: their names, the digests of their modules and where they
are from. No module is compiled: "wharf plugin vet" does that.`,
		example: `  wharf plugin list
  wharf plugin list --set plugins.dir=./plugins --json`,
	}.command(func(*cobra.Command, []string) error {
		eff, err := s.load(a)
		if err != nil {
			return err
		}
		list, err := node.Plugins(&eff.Config.Plugins)
		if err != nil {
			return startAdvice(err)
		}
		return a.showPlugins(list)
	})
	s.register(cmd.Flags())
	return cmd
}

// listedPlugin is a plugin as JSON.
type listedPlugin struct {
	Name    string `json:"name"`
	Version string `json:"version,omitzero"`
	Digest  string `json:"digest"`
	Bytes   int    `json:"bytes"`
	From    string `json:"from"`
}

// shipped is where plugins are from that have no file.
const shipped = "wharf"

func (a *app) showPlugins(list []node.Plugin) error {
	return a.printRows([]string{"NAME", "VERSION", "SIZE", "FROM", "DIGEST"}, "", func(yield func(any, []show.Cell) bool) {
		for _, p := range list {
			from := cmp.Or(p.Path, shipped)
			row := []show.Cell{{Text: p.Name, Style: show.Bold}, {Text: cmp.Or(p.Version, "-")},
				{Text: show.Bytes(int64(p.Bytes))}, {Text: from, Style: show.Cyan}, {Text: p.Digest, Style: show.Dim}}
			if !yield(listedPlugin{p.Name, p.Version, p.Digest, p.Bytes, from}, row) {
				return
			}
		}
	})
}
