package main

import (
	"cmp"
	"context"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/cmd/wharf/internal/client"
	"github.com/wharf-dev/wharf/cmd/wharf/internal/show"
	"github.com/wharf-dev/wharf/runtime/connector"
	"github.com/wharf-dev/wharf/runtime/manifest"
	"github.com/wharf-dev/wharf/runtime/parcel"
)

const (
	aPlugin    = "the name of a plugin (see \"wharf plugin installed\")"
	allPlugins = "/wharf/v1/plugins"
	onePlugin  = allPlugins + "/{}"
)

// installCommands are those for the plugins of a node that runs.
func (a *app) installCommands() []*cobra.Command {
	return []*cobra.Command{a.pluginInstallCommand(), a.pluginInstalledCommand(), a.pluginShowCommand(), a.pluginVersionsCommand(), a.pluginRollbackCommand(),
		a.pluginTurnCommand("enable", "Have new tasks run a plugin again", "Enable has new tasks run the version that the plugin had when it was disabled. Tasks that\nfailed meanwhile, because they name it, stay failed."),
		a.pluginTurnCommand("disable", "Have no new task run a plugin", "Disable has tasks that name the plugin fail when they start. Those that have begun go on."),
		a.pluginRemoveCommand()}
}

func (a *app) pluginInstallCommand() *cobra.Command {
	var name, version string
	var keys []string
	return a.node(page{
		use:   "install FOLDER|FILE",
		short: "Install a plugin in a node that runs",
		long: `Install sends a module to the node, which compiles it and then has new tasks run it,
those of every tenant. Tasks that have begun keep what they run. A module that cannot
be loaded changes nothing. It needs a key that administers the node.

Of a folder with a wharf.toml, or a package (a .wharf file), the name and version are
what that says, and each tenant gets the persona that it describes. A module has the
wharf.toml that names it as its own, in its folder or one above. Without one the plugin
has no persona of its own: those that name it run it.

With --trust a package has to be signed by one of these keys. A node whose setting
plugins.trust names keys takes nothing but packages that one of those has signed.`,
		example: "  wharf plugin install my-plugin\n  wharf plugin install triage.wasm\n  wharf plugin install triage-1.2.0.wharf --trust triage-keys.json\n  wharf plugin install build/out.wasm --name triage --version 1.2.0",
		args:    oneArg("the folder of a plugin, a package, or a module: a .wasm file"),
		flags: func(f *pflag.FlagSet) {
			f.StringVar(&name, "name", "", "the name of the plugin (default that of the manifest, or of the file)")
			f.StringVar(&version, "version", "", "the name of this version (default that of the manifest, or the next number)")
			f.StringArrayVar(&keys, "trust", nil, "a public key in base64, or a file with published keys; may be repeated")
		},
	}, steps(func(ctx context.Context, c *client.Client, args []string) error {
		trust, err := trustedKeys(keys)
		if err != nil {
			return err
		}
		return a.installPlugin(ctx, c, args[0], name, version, trust)
	}))
}

func (a *app) installPlugin(ctx context.Context, c *client.Client, path, name, version string, trust parcel.Trust) error {
	of, err := sourceOf(path, trust)
	if err != nil {
		return err
	}
	body, size, err := of.open()
	if err != nil {
		return err
	}
	defer body.Close()
	call := client.Post(nil, onePlugin+"/versions", cmp.Or(name, of.name)).Narrow("version", version)
	moving := a.errorScreen().Moving(body, cmp.Or(name, of.name), size)
	send := func() (client.Doc[abi.Plugin], error) { return c.UploadModule(ctx, call, moving, size, of.said) }
	if of.packed != nil {
		send = func() (client.Doc[abi.Plugin], error) { return c.UploadPackage(ctx, call, moving, size) }
	}
	doc, err := send()
	_ = moving.Close() // it has nothing to lose
	if err != nil {
		if of.said != nil {
			return hint(err, abi.CodeInvalidRequest, "wharf plugin lint "+path)
		}
		return hint(err, abi.CodeInvalidRequest, "wharf plugin vet "+path)
	}
	return a.print(doc.JSON, func() {
		a.showInstalled(&doc.Value)
		a.showReached(&doc.Value, of.means)
		a.showWants(of.means)
	})
}

// showWants says what a manifest has the node's configuration say.
func (a *app) showWants(m *manifest.Manifest) {
	if m == nil {
		return
	}
	if text := wants(m); text != "" {
		a.out.Line("It works with this in the node's configuration, where it is not there yet:")
		for line := range strings.Lines(text) {
			words := strings.TrimLeft(line, " ") // which are a stranger's; a line of theirs is one
			a.out.Line("  ", line[:len(line)-len(words)], show.OneLine(words))
		}
	}
	switch m.Kind {
	case manifest.KindConnector:
		how := "--provider " + m.Connector.Provider
		if _, known := connector.Lookup(m.Connector.Provider); known { // which stays that of the node's own plugin
			how = "--plugin " + m.Name
		}
		a.out.Line("Connectors take deliveries with it: wharf connector create ", show.OneLine(how))
	case manifest.KindHook:
		a.out.Line("Hooks ask it, or tell it, whose command is ", abi.HookPlugin, m.Name)
	}
}

func (a *app) showInstalled(p *abi.Plugin) {
	state := ""
	if p.Status != abi.PluginEnabled {
		state = ", which is " + string(p.Status)
	}
	if p.Refused != "" {
		state = ", which no new task runs: " + p.Refused
	}
	a.out.Line(p.Name, " ", p.Version, "  ", show.Cut(p.Digest, 20), state)
}

func (a *app) pluginInstalledCommand() *cobra.Command {
	return a.node(page{
		use:     "installed",
		short:   "List the plugins that were installed in a node",
		long:    "Installed shows the plugins that were installed while the node ran, by name, with the\nversion that new tasks run.",
		example: "  wharf plugin installed\n  wharf plugin installed --json",
	}, ask[abi.Plugins]{
		call: sends(func([]string) client.Call { return client.Get(allPlugins) }),
		text: func(all *abi.Plugins) {
			for i := range all.Data {
				a.showInstalled(&all.Data[i])
			}
		},
	})
}

func (a *app) pluginShowCommand() *cobra.Command {
	return a.node(page{
		use:     "show NAME",
		short:   "Show a plugin that was installed",
		long:    "Show tells what a plugin is: its version, its exports, what it asks the host for, and\nwhat its manifest has the node's configuration say.",
		example: "  wharf plugin show triage",
		args:    oneArg(aPlugin),
	}, steps(func(ctx context.Context, c *client.Client, args []string) error {
		doc, err := client.Do[abi.Plugin](ctx, c, client.Get(onePlugin, args...))
		if err != nil {
			return hint(err, abi.CodeResourceNotFound, "wharf plugin installed")
		}
		if a.json {
			return a.print(doc.JSON, nil)
		}
		return a.showPlugin(ctx, c, &doc.Value)
	}))
}

func (a *app) showPlugin(ctx context.Context, c *client.Client, p *abi.Plugin) error {
	pairs := [][2]string{{"name", p.Name}, {"status", string(p.Status)}, {"version", p.Version}, {"module", p.Digest}, {"before", p.Previous}, {"not run", p.Refused}}
	manifested := false
	for _, b := range p.Versions {
		if b.Version == p.Version {
			manifested = b.Manifest != ""
			pairs = append(pairs, [][2]string{{"kind", b.Kind}, {"size", show.Bytes(b.Bytes)}, {"exports", strings.Join(b.Exports, ", ")}, {"asks for", strings.Join(b.Imports, ", ")}, {"signed by", strings.Join(b.SignedBy, ", ")}}...)
		}
	}
	a.out.Pairs(pairs...)
	if !manifested {
		return nil
	}
	doc, err := client.Do[abi.PluginManifest](ctx, c, client.Get(onePlugin+"/manifest", p.Name))
	if err != nil {
		return err
	}
	m, _ := manifest.Parse([]byte(doc.Value.Text))
	a.showReached(p, withSchemas(m, doc.Value.Files))
	a.showWants(m)
	return nil
}

func (a *app) pluginVersionsCommand() *cobra.Command {
	return a.node(page{
		use:     "versions NAME",
		short:   "List the versions that a plugin can be switched to",
		long:    "Versions shows the versions of a plugin, oldest first, with the digests of their modules.\nNew tasks run the one with a star; \"wharf plugin rollback\" switches to another.",
		example: "  wharf plugin versions triage",
		args:    oneArg(aPlugin),
	}, ask[abi.Plugin]{
		call: sends(func(args []string) client.Call { return client.Get(onePlugin, args...) }),
		text: func(p *abi.Plugin) {
			for _, b := range p.Versions {
				star := "  "
				if b.Version == p.Version {
					star = "* "
				}
				a.out.Line(star, b.Version, "  ", show.Cut(b.Digest, 20), "  ", show.Bytes(b.Bytes), "  ", b.InstalledBy)
			}
		},
		tips: absent("wharf plugin installed"),
	})
}

func (a *app) pluginRollbackCommand() *cobra.Command {
	var version string
	return a.node(page{
		use:     "rollback NAME",
		short:   "Have new tasks run a version of before",
		long:    "Rollback switches a plugin to the version that it had before, or to the one that is named.",
		example: "  wharf plugin rollback triage\n  wharf plugin rollback triage --version 1.1.0",
		args:    oneArg(aPlugin),
		flags: func(f *pflag.FlagSet) {
			f.StringVar(&version, "version", "", "the version (default the one before)")
		},
	}, ask[abi.Plugin]{
		call: sends(func(args []string) client.Call {
			return client.Post(abi.RollbackPluginRequest{Version: version}, onePlugin+"/rollback", args...)
		}),
		text: a.showInstalled,
		tips: absent("wharf plugin installed"),
	})
}

// pluginTurnCommand is enable, or disable.
func (a *app) pluginTurnCommand(verb, short, long string) *cobra.Command {
	return a.node(page{
		use: verb + " NAME", short: short, long: long, example: "  wharf plugin " + verb + " triage", args: oneArg(aPlugin),
	}, ask[abi.Plugin]{
		call: sends(func(args []string) client.Call { return client.Post(nil, onePlugin+"/"+verb, args...) }),
		text: func(p *abi.Plugin) { a.out.Line(p.Name, " is ", string(p.Status)) },
		tips: absent("wharf plugin installed"),
	})
}

func (a *app) pluginRemoveCommand() *cobra.Command {
	var force bool
	return a.node(page{
		use:   "remove NAME",
		short: "Remove a plugin that was installed",
		long: `Remove takes a plugin from the node. It is refused while personas, connectors, harnesses
or hooks name it, unless it is forced. Tasks that have begun go on, and can be replayed.`,
		example: "  wharf plugin remove triage\n  wharf plugin remove triage --force",
		args:    oneArg(aPlugin),
		flags:   func(f *pflag.FlagSet) { f.BoolVar(&force, "force", false, "also while something names it") },
	}, steps(func(ctx context.Context, c *client.Client, args []string) error {
		call := client.Delete(onePlugin, args...)
		if force {
			call = call.Narrow("force", "true")
		}
		if err := c.Send(ctx, call); err != nil {
			return hint(err, abi.CodeResourceNotFound, "wharf plugin installed")
		}
		if !a.json {
			a.out.Line(args[0], " is removed")
		}
		return nil
	}))
}
