package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/wharf-dev/wharf/abi/plainly"
	"github.com/wharf-dev/wharf/cmd/wharf/internal/config"
	"github.com/wharf-dev/wharf/cmd/wharf/internal/datadir"
	"github.com/wharf-dev/wharf/cmd/wharf/internal/node"
	"github.com/wharf-dev/wharf/cmd/wharf/internal/show"
	"github.com/wharf-dev/wharf/runtime/tenancy"
	"github.com/wharf-dev/wharf/storage/pebble"
)

func (a *app) serveCommand() *cobra.Command {
	var s settingFlags
	var debug string
	cmd := page{
		use:   "serve",
		short: "Run a node",
		long: `Serve runs a node on one data folder, which is made when it does not exist.

The first start makes a tenant, a Workspace and an API key, and prints the key
on standard output, this once. When WHARF_API_KEY is set (16 characters or more)
it is the node's key instead, and nothing is printed.

SIGTERM or SIGINT drains: new Tasks are refused, those that run may end within
shutdown.grace, what is left is resumed by the next start, and serve ends with
code 0. What cannot be stopped within ten seconds more is left to the end of the
process, and the code is 1. A second signal ends it at once; nothing that was
acknowledged is lost by either.

SIGHUP has it read its configuration again, where no terminal is attached to it: the
log's level and what plugins are granted hold at once, and the log names what takes
effect at the next start. Where anything is wrong, nothing changes.

Without tls.cert or acme.domains it speaks plain HTTP: keep that on loopback, or
behind a proxy that ends TLS.
The node logs to standard error. All settings: "wharf config init" and
docs/configuration.md.`,
		example: `  wharf serve
  wharf serve --listen 127.0.0.1:9000 --data /var/lib/wharf
  wharf serve --config wharf.yaml --set tasks.concurrency=512
  WHARF_API_KEY=$(openssl rand -hex 32) wharf serve --log-format json`,
	}.command(func(cmd *cobra.Command, _ []string) error {
		eff, err := s.load(a)
		if err != nil {
			return err
		}
		return a.serve(cmd.Context(), eff, func() (*config.Effective, error) { return s.load(a) }, debug)
	})
	s.register(cmd.Flags())
	cmd.Flags().StringVar(&debug, "debug-listen", "", "loopback address to serve profiles on")
	_ = cmd.Flags().MarkHidden("debug-listen")
	return cmd
}

// serve runs a node; load reads its configuration again.
func (a *app) serve(ctx context.Context, eff *config.Effective, load func() (*config.Effective, error), debug string) error {
	c := eff.Config
	key := a.env("WHARF_API_KEY")
	if key != "" && len(key) < tenancy.MinKeyLen {
		return advise(usagef("WHARF_API_KEY has %d characters; a node's key needs at least %d", len(key), tenancy.MinKeyLen),
			"export WHARF_API_KEY=$(openssl rand -hex 32)")
	}
	level := &slog.LevelVar{}
	level.Set(c.Log.Level)
	log := a.loggerAt(c.Log, level)
	for _, warning := range eff.Warnings {
		log.Warn("the configuration: " + warning)
	}
	if foreign := datadir.Foreign(c.Data); len(foreign) > 0 {
		log.Warn("the new data folder holds what is no node's: is it the folder that you mean?", "data", c.Data, "found", some(foreign))
	}
	node.BoundHeap(log)
	n, err := node.Start(ctx, node.Options{Config: c, Version: thisBuild().Version, APIKey: key, Log: log})
	if err != nil {
		return startAdvice(err)
	}
	if stated := eff.Stated(); len(stated) > 0 {
		log.Info("configuration: what differs from the defaults", "settings", stated)
	}
	if debug != "" {
		if err := node.ServeDebug(ctx, debug); err != nil {
			return errors.Join(err, n.Close())
		}
	}
	a.reloads(ctx, &reloading{load: load, began: eff, now: eff, regrant: n.Regrant, level: level, log: log})
	a.announce(n, c, log)
	go func() {
		if err := n.Warm(ctx); err != nil && ctx.Err() == nil {
			log.Error("a plugin cannot be used", "error", err)
		}
	}()
	if err := n.Serve(ctx); err != nil {
		return err
	}
	log.Info("stopped")
	return nil
}

// serveInBackground serves n until the function returned is called.
func serveInBackground(n *node.Node) (stop func() error) {
	ctx, cancel := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- n.Serve(ctx) }()
	return func() error {
		cancel()
		return <-served
	}
}

// some are the first of many names.
func some(names []string) string {
	const most = 5
	if len(names) > most {
		names = append(slices.Clone(names[:most]), fmt.Sprint(len(names)-most, " more"))
	}
	return plainly.List(names, "and")
}

// startAdvice adds what to do about a node that could not start.
func startAdvice(err error) error {
	var start *node.StartError
	if errors.As(err, &start) && start.Try != "" {
		return advise(err, start.Try)
	}
	if damage, ok := errors.AsType[*pebble.FolderError](err); ok && damage.Try != "" {
		return advise(err, damage.Try)
	}
	return err
}

// announce says that the node is up: to people and programs on standard output,
// to the log on standard error.
func (a *app) announce(n *node.Node, c config.Config, log *slog.Logger) {
	data, err := filepath.Abs(c.Data)
	if err != nil {
		data = c.Data
	}
	listening := struct {
		URL    string `json:"url"`
		APIKey string `json:"api_key,omitzero"`
		Data   string `json:"data"`
	}{n.URL(), n.NewKey, data}
	_ = a.print(listening, func() { // strings can always be written
		if n.NewKey != "" {
			a.showKey(n)
		}
	})
	log.Info("listening", "url", n.URL(), "data", data, "version", thisBuild().Version)
	if addr := n.MetricsAddr(); addr != nil {
		log.Info("metrics are shown to whoever reaches this address", "url", "http://"+addr.String()+"/metrics")
	}
	if !n.Loopback() && !c.TLSEnabled() && !strings.HasPrefix(c.PublicURL, "https://") {
		log.Warn("the node can be reached from other machines without TLS: API keys and content travel in the clear",
			"listen", c.Listen)
	}
}

func (a *app) showKey(n *node.Node) {
	a.out.Line("Wharf runs at ", a.out.Paint(show.Bold, n.URL()), " on a new data folder.")
	a.out.Gap()
	a.out.Line("Its API key is shown this once. In another terminal:")
	a.out.Gap()
	a.out.Line("  ", a.out.Paint(show.Bold, "export WHARF_API_KEY="+n.NewKey))
	if server := n.URL(); server != "http://127.0.0.1:8080" {
		a.out.Line("  export WHARF_SERVER=", server)
	}
	a.out.Line("  ", self(), ` task submit --follow "Hello. This is a first document."`)
	a.out.Gap()
}

// logger returns the node's logger, on standard error.
func (a *app) logger(c config.Log) *slog.Logger { return a.loggerAt(c, c.Level) }

// loggerAt is [app.logger] for a level that may change.
func (a *app) loggerAt(c config.Log, level slog.Leveler) *slog.Logger {
	options := &slog.HandlerOptions{Level: level}
	text := c.Format == "text" || c.Format == "auto" && show.NewScreen(a.stderr, "never", a.env).Terminal()
	return slog.New(handler(a.stderr, text, options))
}

func handler(w io.Writer, text bool, o *slog.HandlerOptions) slog.Handler {
	if text {
		return slog.NewTextHandler(w, o)
	}
	return slog.NewJSONHandler(w, o)
}
