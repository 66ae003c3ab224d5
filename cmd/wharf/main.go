package main

import (
	"cmp"
	"context"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/wharf-dev/wharf/cmd/wharf/internal/client"
	"github.com/wharf-dev/wharf/cmd/wharf/internal/show"
)

func main() { os.Exit(run()) }

// run is the whole program; its result is the exit code.
func run() int {
	a := &app{stdin: os.Stdin, stdout: os.Stdout, stderr: os.Stderr, env: os.Getenv, environ: os.Environ(), hangup: &hangup{signals: make(chan os.Signal, 2)}}
	ctx, stop := interruptible(a.hangup)
	defer stop()
	return a.execute(ctx, os.Args[1:])
}

// interruptible returns a context that SIGINT, SIGTERM and the closing of the
// terminal end. The second signal ends the process at once. SIGHUP is none of them where
// somebody is told of it instead.
func interruptible(h *hangup) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(context.Background())
	signals := h.signals
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	if !signal.Ignored(syscall.SIGHUP) { // as under nohup
		signal.Notify(signals, syscall.SIGHUP)
	}
	go func() {
		for ended := false; ; {
			if s := <-signals; h.taken(s) {
				continue
			}
			if ended {
				os.Exit(exitInterrupted)
			}
			ended = true
			cancel(errInterrupted)
		}
	}()
	return ctx, func() { cancel(nil) }
}

// app is what the commands share: the outside world, and the flags of every
// command.
type app struct {
	stdin          io.Reader
	stdout, stderr io.Writer
	env            func(string) string
	environ        []string

	server, apiKey string
	trust          trust
	color          string
	json           bool
	args           []string // of the command line

	hangup  *hangup // nil where no signals come
	out     *show.Screen
	started bool // a command was found, and its flags and arguments are sound
}

func (a *app) execute(ctx context.Context, args []string) int {
	a.args = args
	root := a.root()
	root.SetArgs(args)
	root.SetIn(a.stdin)
	root.SetOut(a.stdout)
	root.SetErr(a.stderr)
	err := root.ExecuteContext(ctx)
	return a.report(err)
}

func (a *app) root() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "wharf",
		Short: "An edge gateway for agents that run as sandboxed Wasm plugins",
		Long: `Wharf takes Tasks for agents over HTTP, writes every one to a durable log
before it says yes, runs it in a Wasm sandbox and shows what happens as a
stream of events. It is one program and one data folder.

Start with "wharf demo": it shows all of that in a few seconds.`,
		Example: `  wharf demo                              # see it work, nothing is kept
  wharf serve                             # run a node; prints an API key once
  export WHARF_API_KEY=...                # the key that it printed
  wharf task submit --follow "Hello"      # submit a Task and watch it`,
		SilenceErrors:     true,
		SilenceUsage:      true,
		PersistentPreRunE: a.begin,
	}
	cmd.SetFlagErrorFunc(wrongFlag)
	flags := cmd.PersistentFlags()
	flags.StringVar(&a.color, "color", "auto", "colours: auto (on a terminal), always or never")
	flags.BoolVar(&a.json, "json", false, "print JSON, one value a line, instead of text for people")
	cmd.AddGroup(
		&cobra.Group{ID: "start", Title: "Start here:"},
		&cobra.Group{ID: "client", Title: "Use a node:"},
		&cobra.Group{ID: "proof", Title: "Prove what happened:"},
		&cobra.Group{ID: "data", Title: "Look after a node:"},
	)
	a.add(cmd, "start", a.demoCommand(), a.serveCommand())
	a.add(cmd, "client", a.agentCommand(), a.harnessCommand(), a.taskCommand(), a.artifactCommand(), a.sessionCommand(), a.branchCommand(), a.eventCommand(), a.inboxCommand(), a.workspaceCommand(), a.fileCommand(), a.memoryCommand(), a.holdCommand(), a.keyCommand(), a.tokenCommand(), a.vaultCommand(), a.personaCommand(), a.quotaCommand(), a.nodeCommand(), a.connectorCommand(), a.webhookCommand(), a.toolServerCommand(), a.mcpCommand(), a.acpCommand(), a.a2aCommand())
	a.add(cmd, "proof", a.receiptCommand(), a.exportCommand(), a.confine(a.verifyCommand()), a.confine(a.testCommand()))
	a.add(cmd, "data", a.configCommand(), a.pluginCommand(), a.skillCommand(), a.doctorCommand(), a.backupCommand(), a.restoreCommand())
	cmd.AddCommand(a.versionCommand(), a.explainCommand(), exitCodesTopic())
	return cmd
}

func (a *app) add(root *cobra.Command, group string, commands ...*cobra.Command) {
	for _, c := range commands {
		c.GroupID = group
		root.AddCommand(c)
	}
}

// begin runs before each command, when its flags and arguments are known.
func (a *app) begin(*cobra.Command, []string) error {
	if err := checkChoice("--color", a.color, show.ColorModes()); err != nil {
		return err
	}
	a.out = show.NewScreen(a.stdout, a.color, a.env)
	a.started = true
	return nil
}

// errorScreen is what people are told on beside the results.
func (a *app) errorScreen() *show.Screen {
	return show.NewScreen(a.stderr, cmp.Or(a.color, "auto"), a.env)
}

// remote adds the flags of commands that speak to a node.
func (a *app) remote(cmd *cobra.Command) *cobra.Command {
	flags := cmd.Flags()
	flags.StringVar(&a.server, "server", "", "URL of the node (or WHARF_SERVER; default "+client.DefaultServer+")")
	flags.StringVar(&a.apiKey, "api-key", "", "API key (or WHARF_API_KEY, which other users of the machine cannot see)")
	a.trust.flags(flags)
	return cmd
}

// client returns a client for the node that flags and environment name.
func (a *app) client() (*client.Client, error) {
	c, err := a.keyless()
	if err == nil && a.key() == "" {
		return nil, errNoKey
	}
	return c, err
}

// keyless is [app.client] for what needs no key.
func (a *app) keyless() (*client.Client, error) {
	return a.dial(a.serverURL(), a.key())
}

// serverURL is where the node is that flags and environment name.
func (a *app) serverURL() string {
	return cmp.Or(a.server, a.env("WHARF_SERVER"), client.DefaultServer)
}

func (a *app) key() string { return cmp.Or(a.apiKey, a.env("WHARF_API_KEY")) }

// self returns how the user runs this program, for lines to copy.
func self() string {
	name := os.Args[0]
	if strings.Contains(filepath.ToSlash(name), "/go-build") {
		return "go run ./cmd/wharf"
	}
	if strings.ContainsRune(name, filepath.Separator) && !filepath.IsAbs(name) {
		return name // such as ./bin/wharf, which the shell finds by nothing less
	}
	return filepath.Base(name)
}
