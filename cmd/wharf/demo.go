package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/wharf-dev/wharf"
	"github.com/wharf-dev/wharf/cmd/wharf/internal/client"
	"github.com/wharf-dev/wharf/plugins"
)

// demo is one run of the demo command.
type demo struct {
	*app
	persona string
	keep    bool
	record  string // the file that what is shown is written to; "" for none
	file    string // "" for the README that the program carries
	dir     string // the temporary folder
	bank    *demoBank
	node    *demoNode // nil with --server
	client  *client.Client
	tell    *demoTeller

	session string
	task    string // the run that is replayed and proved
	request string // what the agent waits for
	seen    string // the last event of the Task that was seen
	bundle  string // the file of the run
	keys    string // the file of the keys that the node signs with
}

func (a *app) demoCommand() *cobra.Command {
	d := &demo{app: a}
	cmd := page{
		use:   "demo [FILE]",
		short: "See in a few seconds what a node does for agents",
		long: `Demo starts a node on a free loopback port with a temporary data folder, and shows,
a line each: FILE (a text or Markdown document; by default Wharf's own README)
goes in, and an agent sends back its outline. A second agent means to pay a bill
at a bank, which the demo plays; the node holds it until a person agrees, whom
the demo plays, too. The node is killed (kill -9) while the agent waits for the
bank, and started again: the agent goes on, and has paid once. Then the run is
played again from its record, and its record is proved with the node off.

Nothing is left behind, except compiled plugins in the user's cache folder, which
make the next start fast; --keep keeps the data folder.

The document goes to persona_digest, which answers with an outline; --persona
names another Persona. With --server the demo uses a node that runs already,
with WHARF_API_KEY: it kills nothing there, and shows what goes without. With
--json each step is an object on a line of its own, and --record also writes
what is shown into a file, without colours and times.`,
		example: `  wharf demo
  wharf demo report.md
  wharf demo --persona persona_echo notes.txt
  wharf demo --record demo.txt
  wharf demo --json | jq -r .step
  wharf demo --server http://127.0.0.1:8080 report.md`,
		args: optionalArg,
	}.command(func(cmd *cobra.Command, args []string) error {
		if len(args) == 1 {
			d.file = args[0]
		}
		return d.run(cmd.Context())
	})
	flags := cmd.Flags()
	flags.StringVar(&d.persona, "persona", plugins.PersonaDigest, "the Persona that gets the document")
	flags.BoolVar(&d.keep, "keep", false, "keep the temporary data folder, and say where it is")
	flags.StringVar(&d.record, "record", "", "a file to write what is shown to, too")
	return a.remote(cmd)
}

func (d *demo) check() error {
	if d.keep && d.server != "" {
		return usagef("--keep is about the demo's own data folder: leave --server out")
	}
	if d.json && d.record != "" {
		return usagef("--record keeps the text for people: leave --json out")
	}
	if d.file == "" {
		return nil
	}
	info, err := os.Stat(d.file)
	if err != nil {
		return usagef("%s cannot be read: %w", d.file, err)
	}
	if info.IsDir() {
		return usagef("%s is a folder: give a document", d.file)
	}
	return nil
}

func (d *demo) run(ctx context.Context) (err error) {
	if err := d.check(); err != nil {
		return err
	}
	if d.dir, err = os.MkdirTemp("", "wharf-demo-"); err != nil {
		return fmt.Errorf("making a temporary folder: %w", err)
	}
	d.tell = newDemoTeller(d.app)
	defer func() { err = errors.Join(err, d.cleanUp()) }()
	if d.file == "" {
		if err := os.WriteFile(d.document(), []byte(wharf.Readme()), 0o600); err != nil {
			return fmt.Errorf("writing the document: %w", err)
		}
	}
	d.introduce()
	steps := d.story()
	if d.server != "" {
		if d.client, err = d.app.client(); err != nil {
			return err
		}
		steps = d.visit()
	}
	for _, s := range steps {
		if err := d.step(ctx, s); err != nil {
			return err
		}
	}
	d.conclude()
	return d.writeRecord()
}

// step does a step, for as long as the node lives.
func (d *demo) step(ctx context.Context, s demoStep) error {
	if d.node != nil && d.node.demoLife != nil {
		living, stop := d.node.while(ctx)
		defer stop()
		ctx = living
	}
	return d.tell.step(ctx, s)
}

// document is the file that goes in.
func (d *demo) document() string {
	if d.file != "" {
		return d.file
	}
	return filepath.Join(d.dir, "README.md")
}

func (d *demo) introduce() {
	if d.server != "" {
		d.tell.line("Wharf runs agents. This is what ", d.server, " does for them:")
	} else {
		d.tell.line("Wharf runs agents. This is what it does for them, on a node of its own:")
	}
	d.tell.line()
}

// conclude says what it meant, and what to do next. Each command works as it stands there.
func (d *demo) conclude() {
	d.tell.title("what just happened")
	d.tell.line("  What an agent is told and what it does is on the disk before it counts. So a")
	d.tell.line("  crash loses nothing and does nothing twice, a run can be played again without")
	d.tell.line("  touching the world, and its signed record convinces whoever doubts it.")
	d.tell.title("try next")
	if d.server != "" {
		d.tell.line("  ", self(), " task list --server ", d.server)
		return
	}
	const key = "WHARF_API_KEY=a-key-to-try-with "
	d.tell.line("  ", key, self(), " serve")
	d.tell.title("and in a second terminal")
	d.tell.line("  ", key, self(), " task submit --follow Hello")
}

func (d *demo) writeRecord() error {
	if d.record == "" {
		return nil
	}
	if err := os.WriteFile(d.record, d.tell.recorded(), 0o644); err != nil {
		return fmt.Errorf("writing the record of the demo: %w", err)
	}
	return nil
}

// cleanUp ends what was started, and removes the folder unless it is kept.
func (d *demo) cleanUp() error {
	if d.node != nil && d.node.demoLife != nil {
		d.node.kill()
	}
	if d.bank != nil {
		d.bank.close()
	}
	if d.keep && d.node != nil {
		d.tell.aside(fmt.Sprintf("the data folder is kept: WHARF_API_KEY=%s %s serve --config %s", d.node.key, self(), d.node.config))
		return nil
	}
	return os.RemoveAll(d.dir)
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
