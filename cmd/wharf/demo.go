package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/wharf-dev/wharf"
	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/cmd/wharf/internal/client"
	"github.com/wharf-dev/wharf/cmd/wharf/internal/config"
	"github.com/wharf-dev/wharf/cmd/wharf/internal/node"
	"github.com/wharf-dev/wharf/cmd/wharf/internal/show"
)

// demo is one run of the demo command.
type demo struct {
	*app
	persona string
	keep    bool
	file    string // "" for the README that the program carries
	size    int64  // of the document
	dir     string // the temporary folder, "" with --server
	node    *node.Node
	stop    func() error

	client *client.Client
	upload time.Duration
	accept time.Duration
	sent   time.Time // when the Task was sent
	seen   time.Time // when its end was seen
	task   abi.Task
}

func (a *app) demoCommand() *cobra.Command {
	d := &demo{app: a}
	cmd := page{
		use:   "demo [FILE]",
		short: "Send a document through a node of its own and watch",
		long: `Demo starts a node on a free loopback port with a temporary data folder, submits
FILE (a text or Markdown document; by default Wharf's own README) as a Task,
shows the events as they arrive, what came of it and where the time went, and
how to do the same by hand. Nothing is left behind, except compiled plugins in
the user's cache folder, which make the next start fast.

The Persona is persona_digest, which answers with an outline of the document,
its key sentences and its links; --persona names another. With --server the
demo uses a node that runs already. With --json every event is a line of JSON,
and the last line is the Outcome.`,
		example: `  wharf demo
  wharf demo report.md
  wharf demo --persona persona_echo notes.txt
  wharf demo --json | jq -r .event
  wharf demo --server http://127.0.0.1:8080 report.md`,
		args: optionalArg,
	}.command(func(cmd *cobra.Command, args []string) error {
		if len(args) == 1 {
			d.file = args[0]
		}
		return d.run(cmd.Context())
	})
	flags := cmd.Flags()
	flags.StringVar(&d.persona, "persona", "persona_digest", "the Persona that gets the document")
	flags.BoolVar(&d.keep, "keep", false, "keep the temporary data folder, and say where it is")
	return a.remote(cmd)
}

func (d *demo) run(ctx context.Context) (err error) {
	if d.keep && d.server != "" {
		return usagef("--keep is about the demo's own data folder: leave --server out")
	}
	if d.file != "" {
		if info, err := os.Stat(d.file); err != nil {
			return usagef("%s cannot be read: %w", d.file, err)
		} else if info.IsDir() {
			return usagef("%s is a folder: give a document", d.file)
		}
	}
	defer func() { err = errors.Join(err, d.cleanUp()) }()
	if err := d.connect(ctx); err != nil {
		return err
	}
	return d.perform(ctx)
}

// connect makes a client for the node to use, starting one unless --server names it.
func (d *demo) connect(ctx context.Context) (err error) {
	if d.server != "" {
		d.client, err = d.app.client()
		return err
	}
	if d.dir, err = os.MkdirTemp("", "wharf-demo-"); err != nil {
		return fmt.Errorf("making a temporary folder: %w", err)
	}
	cache, key := cachePlaces()
	eff, err := config.Defaults(map[string]string{
		"listen": "127.0.0.1:0", "data": filepath.Join(d.dir, "data"), "shutdown.grace": "0",
		"plugins.cache": cache, "plugins.cache_key": key,
	})
	if err != nil {
		return err
	}
	log := slog.New(handler(d.stderr, true, &slog.HandlerOptions{Level: slog.LevelWarn}))
	d.node, err = node.Start(ctx, node.Options{Config: eff.Config, Version: thisBuild().Version, Log: log})
	if err != nil {
		return startAdvice(err)
	}
	d.stop = serveInBackground(d.node)
	if err := d.warm(ctx); err != nil {
		return err
	}
	d.client, err = client.New(d.node.URL(), d.node.NewKey)
	return err
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

// patienceBeforeNote is how long compiling may take before the user is told what
// the demo waits for.
const patienceBeforeNote = 300 * time.Millisecond

func (d *demo) warm(ctx context.Context) error {
	note := time.AfterFunc(patienceBeforeNote, func() {
		fmt.Fprintln(d.stderr, "compiling the bundled plugins for this machine, which is done once ...")
	})
	defer note.Stop()
	return d.node.Warm(ctx)
}

// cachePlaces returns where compiled plugins are kept between demos, and the key that they
// are authenticated with: nowhere when there is no place for them.
func cachePlaces() (dir, key string) {
	base, err := os.UserCacheDir()
	if err != nil {
		return "", ""
	}
	base = filepath.Join(base, "wharf")
	dir = filepath.Join(base, "modules")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", ""
	}
	return dir, filepath.Join(base, cacheKeyFile)
}

// cacheKeyFile is the key of the demos' compiled plugins, in the user's cache folder.
const cacheKeyFile = "modules.key"

func (d *demo) cleanUp() error {
	var err error
	if d.stop != nil {
		err = d.stop()
	}
	if d.dir == "" {
		return err
	}
	if d.keep {
		fmt.Fprintf(d.stderr, "\nthe data folder is kept: %s serve --data %s\n", self(), filepath.Join(d.dir, "data"))
		return err
	}
	return errors.Join(err, os.RemoveAll(d.dir))
}

func (d *demo) perform(ctx context.Context) error {
	session, err := newSession(ctx, d.client, abi.CreateSessionRequest{}, "")
	if err != nil {
		return err
	}
	file, err := d.document()
	if err != nil {
		return err
	}
	info, err := os.Stat(file)
	if err != nil {
		return fmt.Errorf("reading the document: %w", err)
	}
	d.size = info.Size()
	began := time.Now()
	input, err := buildInput(ctx, d.client, submission{file: file}, session.Value.ID)
	if err != nil {
		return err
	}
	d.upload = time.Since(began)
	d.sent = time.Now()
	task, err := d.client.Submit(ctx, abi.SubmitTaskRequest{
		Input: input, SessionID: session.Value.ID, PersonaID: d.persona,
	}, client.SubmitOptions{})
	if err != nil {
		return hint(err, abi.CodeResourceNotFound, "--persona persona_digest or persona_echo")
	}
	d.accept = time.Since(d.sent)
	d.task = task.Value
	d.introduce(file)
	if _, err := d.follow(ctx, d.client, d.task.ID, followOptions{since: d.task.CreatedAt}); err != nil {
		return err
	}
	d.seen = time.Now()
	return d.conclude(ctx)
}

// document returns the path of the document, writing the README that the program
// carries to the temporary folder when no other is named.
func (d *demo) document() (string, error) {
	if d.file != "" {
		return d.file, nil
	}
	dir := d.dir
	if dir == "" {
		var err error
		if dir, err = os.MkdirTemp("", "wharf-demo-"); err != nil {
			return "", fmt.Errorf("making a temporary folder: %w", err)
		}
		d.dir = dir
	}
	name := filepath.Join(dir, "README.md")
	if err := os.WriteFile(name, []byte(wharf.Readme()), 0o600); err != nil {
		return "", fmt.Errorf("writing the document: %w", err)
	}
	return name, nil
}

func (d *demo) introduce(file string) {
	if d.json {
		return
	}
	where := d.client.Server()
	if d.node != nil {
		where += ", with a temporary data folder"
	}
	d.out.Line(d.out.Paint(show.Bold, filepath.Base(file)), " (", show.Bytes(d.size), ") goes to ", d.out.Paint(show.Bold, d.persona))
	d.out.Pairs([2]string{"node", where}, [2]string{"task", d.task.ID})
	d.out.Title("events")
}

// demoAnswerLines is how much of a long answer the demo shows: what comes after it
// should still be seen.
const demoAnswerLines = 40

func (d *demo) conclude(ctx context.Context) error {
	task, err := d.client.Task(ctx, d.task.ID)
	if err != nil {
		return err
	}
	outcome, err := d.client.Outcome(ctx, task.Value.OutcomeID)
	if err != nil {
		return err
	}
	if err := d.print(outcome.JSON, func() {
		d.showOutcome(&outcome.Value, demoAnswerLines)
		d.showTimes(&outcome.Value)
		d.showNext()
	}); err != nil {
		return err
	}
	return endCode(task.Value.Status)
}
