package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/wharf-dev/wharf/cmd/wharf/internal/building"
	"github.com/wharf-dev/wharf/cmd/wharf/internal/client"
	"github.com/wharf-dev/wharf/cmd/wharf/internal/config"
	"github.com/wharf-dev/wharf/cmd/wharf/internal/node"
	"github.com/wharf-dev/wharf/cmd/wharf/internal/watching"
	"github.com/wharf-dev/wharf/runtime/tenancy"
)

// pluginDev is one run of "plugin dev".
type pluginDev struct {
	*app
	folder    string
	input     string // of the Task that is submitted after each load
	hasInput  bool
	jsonInput bool
	release   bool // build as "plugin build" does
	settings  settingFlags

	client *client.Client
	key    string // of a node of its own, "" with --server
	watch  *watching.Watcher
	tell   *devTeller

	compiler building.Resident

	project building.Project // as it was read last; without a manifest before that
	beyond  []string         // files elsewhere that the module was made of
	shown   string           // the command that was shown last
	loaded  devVersion       // what new Tasks run
	tried   devVersion       // what was sent last
	away    time.Duration    // how long to wait before the node is tried again; 0 when it is there
	built   time.Time        // when a build ended last
	chased  int              // how many builds in a row were of what changed during the one before
}

func (a *app) pluginDevCommand() *cobra.Command {
	d := &pluginDev{app: a}
	cmd := page{
		use:   "dev [FOLDER]",
		short: "Build a plugin on each save, and load it into a node",
		long: `Dev builds the plugin of a folder, loads it into a node, and does so again whenever a
file is saved that the module is made of. Tasks that run go on with the version that they
began with; new ones run the one that was loaded last. What Tasks of the plugin do is shown
as it happens: their events, log lines and host calls.

Sources that do not compile, a manifest that is not valid and a module that cannot be loaded
are told with their places, and the version of before stays. The build's own output, hidden
files, node_modules and target are not watched; build.watch of the manifest narrows the rest.

C, C++ and AssemblyScript are compiled without optimization, and Rust with less, into a hidden
file beside the module, so that a save is loaded soon. Such a plugin computes some times slower
and uses more gas. --release compiles as "wharf plugin build" does.

The node is one of its own: on a free loopback port, with a temporary folder that is removed
at the end, and with the settings that "wharf serve" would have, so that a wharf.yaml in the
current folder can grant what the plugin asks for. --data names a folder to keep. With --server
it is a node that runs already, and needs a key that administers it; when it goes away it is
tried again until it is back. Each load is a version of its own there, such as 0.1.0-dev.3, and
the last one stays installed: "wharf plugin rollback" brings another back.

--input submits a Task after each load. SIGINT and SIGTERM end it, with code 0. With --json
each line is an object with a type: node, loaded, unchanged, failed, waiting, task or event.`,
		example: `  wharf plugin dev
  wharf plugin dev hello --input "Ada"
  wharf plugin dev hello --config grants.yaml
  wharf plugin dev hello --server http://127.0.0.1:8080
  wharf plugin dev hello --release
  wharf plugin dev hello --json | jq -r .type`,
		args: optionalArg,
		check: func(cmd *cobra.Command, args []string) error {
			d.folder, d.hasInput = ".", cmd.Flags().Changed("input")
			if len(args) > 0 {
				d.folder = args[0]
			}
			return d.check()
		},
	}.command(func(cmd *cobra.Command, _ []string) error { return d.run(cmd.Context()) })
	d.settings.register(cmd.Flags())
	cmd.Flags().StringVar(&d.input, "input", "", "submit a Task with this text after each load")
	cmd.Flags().BoolVar(&d.jsonInput, "json-input", false, "the input is a JSON object, not text")
	cmd.Flags().BoolVar(&d.release, "release", false, "compile as \"wharf plugin build\" does, with all optimization")
	return a.remote(cmd)
}

func (d *pluginDev) check() error {
	if d.jsonInput && !d.hasInput {
		return usagef("--json-input says what --input is: give it too")
	}
	if d.jsonInput {
		if _, err := jsonInput(submission{text: d.input}); err != nil {
			return err
		}
	}
	if d.server == "" {
		return nil
	}
	for _, own := range []string{"config", "set", "listen", "data", "public-url", "log-level", "log-format"} {
		if d.settings.flags.Changed(own) {
			return usagef("--%s is for a node of its own, and --server names another", own)
		}
	}
	return nil
}

// What a save is told after, and how often all files are looked at beside what the system tells of.
const (
	devSettle = 30 * time.Millisecond
	devMost   = time.Second
	devEvery  = 2 * time.Second
)

func (d *pluginDev) run(ctx context.Context) (err error) {
	if d.folder, err = filepath.Abs(d.folder); err != nil {
		return fmt.Errorf("finding the plugin's folder: %w", err)
	}
	if d.project, err = openProject(d.folder); err != nil {
		return err // a mistake of the command line, mostly
	}
	stop, err := d.connect(ctx)
	defer func() { err = errors.Join(ended(ctx, err), stop()) }()
	if err != nil {
		return err
	}
	d.tell = newDevTeller(d.app, d.client)
	if err := d.tell.begin(ctx); err != nil {
		return err
	}
	d.tell.node(d)
	following, unfollow := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() { defer close(done); d.tell.follow(following) }()
	defer func() { unfollow(); <-done }()
	d.watch = watching.New(watching.Options{Settle: devSettle, Most: devMost, Every: devEvery})
	defer func() { err = errors.Join(err, d.watch.Close()) }()
	defer d.compiler.Close()
	return d.loop(ctx)
}

// ended returns nil for the error of a command that was told to end.
func ended(ctx context.Context, err error) error {
	if ctx.Err() != nil && (errors.Is(err, context.Cause(ctx)) || errors.Is(err, context.Canceled)) {
		return nil
	}
	return err
}

// connect makes a client for the node that --server names, or starts one. stop is never nil.
func (d *pluginDev) connect(ctx context.Context) (stop func() error, err error) {
	if d.server != "" {
		d.client, err = d.app.client()
		return func() error { return nil }, err
	}
	dir, err := os.MkdirTemp("", "wharf-dev-")
	if err != nil {
		return func() error { return nil }, fmt.Errorf("making a temporary folder: %w", err)
	}
	remove := func() error { return os.RemoveAll(dir) }
	c, err := d.configuration(dir)
	if err != nil {
		return remove, err
	}
	if d.key = d.app.key(); len(d.key) < tenancy.MinKeyLen {
		d.key = rand.Text() + rand.Text()
	}
	log := d.logger(c.Log)
	if !d.settings.flags.Changed("log-level") {
		log = slog.New(handler(d.stderr, true, &slog.HandlerOptions{Level: slog.LevelWarn}))
	}
	node.BoundHeap(log)
	n, err := node.Start(ctx, node.Options{Config: *c, Version: thisBuild().Version, APIKey: d.key, Log: log})
	if err != nil {
		return remove, startAdvice(err)
	}
	end := serveInBackground(n)
	d.client, err = client.New(n.URL(), d.key)
	return func() error { return errors.Join(end(), remove()) }, err
}

// configuration is that of a node of its own.
func (d *pluginDev) configuration(dir string) (*config.Config, error) {
	eff, err := d.settings.load(d.app)
	if err != nil {
		return nil, err
	}
	c := &eff.Config
	c.TLS, c.ACME, c.PublicURL, c.Shutdown.Grace = config.TLS{}, config.ACME{}, "", 0
	if !d.settings.flags.Changed("listen") {
		c.Listen = "127.0.0.1:0"
	}
	if !d.settings.flags.Changed("data") {
		c.Data = filepath.Join(dir, "data")
	}
	if c.Plugins.Cache == "" {
		c.Plugins.Cache, c.Plugins.CacheKey = cachePlaces()
	}
	return c, nil
}
