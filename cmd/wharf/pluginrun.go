package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/spf13/cobra"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/cmd/wharf/internal/show"
	"github.com/wharf-dev/wharf/runtime/alone"
	"github.com/wharf-dev/wharf/runtime/journal"
	"github.com/wharf-dev/wharf/runtime/sandbox"
	"github.com/wharf-dev/wharf/runtime/sandbox/stack"
)

// pluginRun is what "wharf plugin run" was asked.
type pluginRun struct {
	path, input     string
	hasInput        bool
	export          string
	answers, replay string
	grants          []string
	file            string
	jsonInput       bool
	strict          bool
	full            bool
}

func (a *app) pluginRunCommand() *cobra.Command {
	var p pluginRun
	cmd := page{
		use:   "run FILE|FOLDER [INPUT]",
		short: "Run a plugin without a node",
		long: `Run runs a plugin: a module (a .wasm file), or the one that the wharf.toml of a
folder names. It needs no node, no data folder, no model and no network. It shows
host calls and log lines as the plugin makes them, then its output, and what the
run took.

INPUT is text, which the plugin gets as a user's Message; - reads it from the
standard input, and --file from a file. With --json-input it is JSON.

Time, random bytes and ids come from a fixed seed: a run does the same every
time. What a plugin hands out (output, message.append, artifact.put, state.set and
the like) is taken. Any other host call is answered by the file that --answers
names, by the recorded Task that --replay names (a run bundle or a record), or by
what --grant allows: clock, random, or http.fetch=HOST, for GET and HEAD, and
http.fetch=POST:HOST for another method. A call that nothing answers ends the run
and says what to write into the file. docs/testing-plugins.md describes the file.

With --replay all places are shown in which the run left the record. Requests are
compared by what they mean; --strict makes the order of members count.

The exit code is 0 when the plugin did well, 1 when it failed or left the record,
and 2 when it could not be run. With --json it prints one JSON object at the end.`,
		example: `  wharf plugin run plugin.wasm "Hello"
  wharf plugin run my-plugin "Hello" --answers answers.yaml
  wharf plugin run my-plugin "Hello" --grant clock --grant http.fetch=api.example.com
  wharf plugin run my-plugin '{"celsius": 20}' --json-input --json | jq .output
  wharf plugin run my-plugin --replay run.zip`,
		args:  between(1, 2, "a module, a .wasm file, or a folder with a manifest"),
		check: func(_ *cobra.Command, args []string) error { return p.check(args) },
	}.command(func(cmd *cobra.Command, _ []string) error {
		return undecided(a.runPlugin(cmd.Context(), &p))
	})
	f := cmd.Flags()
	f.StringVar(&p.export, "export", "", "the export to call (default: the manifest's first, or "+abi.DefaultExport+")")
	f.StringVar(&p.answers, "answers", "", "a file of what host calls are answered with, YAML or JSON")
	f.StringVar(&p.replay, "replay", "", "a run bundle or a record, which answers host calls")
	f.StringArrayVar(&p.grants, "grant", nil, "what the plugin may reach: clock, random, http.fetch=HOST")
	f.StringVar(&p.file, "file", "", "a file that holds the input")
	f.BoolVar(&p.jsonInput, "json-input", false, "the input is JSON, not text")
	f.BoolVar(&p.strict, "strict", false, "with --replay, the order of members counts")
	f.BoolVar(&p.full, "full", false, "show requests and answers whole")
	return cmd
}

func (p *pluginRun) check(args []string) error {
	p.path = args[0]
	if p.hasInput = len(args) > 1; p.hasInput {
		p.input = args[1]
	}
	switch {
	case p.hasInput && p.file != "":
		return usagef("give the input once: as an argument or with --file")
	case p.replay != "" && (p.hasInput || p.file != "" || p.jsonInput):
		return usagef("--replay has the Task's input: leave the input out")
	case p.strict && p.replay == "":
		return usagef("--strict says how --replay compares: give --replay too")
	case p.replay != "" && len(p.grants) > 0:
		return usagef("--replay answers from the record: leave --grant out")
	case p.jsonInput && !p.hasInput && p.file == "":
		return usagef("--json-input: give the input as an argument or with --file")
	}
	return nil
}

func (a *app) runPlugin(ctx context.Context, p *pluginRun) error {
	plugin, err := readPlugin(p.path)
	if err != nil {
		return err
	}
	grants, err := readGrants(p.grants, plugin.name)
	if err != nil {
		return err
	}
	defer grants.close()
	o, err := a.runOptions(p, plugin, grants)
	if err != nil {
		return err
	}
	export := p.export
	if export == "" && o.Record != nil {
		export = o.Record.Program.Export
	}
	if export == "" {
		export = plugin.export
	}
	m, err := newLocalModule(ctx, plugin)
	if err != nil {
		return err
	}
	defer m.close()
	if !a.json {
		o.OnCall = func(c *alone.Call) { a.showLocalCall(c, p.full) }
	}
	report, err := alone.Run(ctx, m.module, export, o)
	if report != nil {
		if err := a.print(report, func() { a.showRun(report) }); err != nil {
			return err
		}
	}
	switch {
	case err != nil:
		return err
	case report.Failure != nil || len(report.Deviations) > 0:
		return &silentError{exitFailed}
	}
	return nil
}

// localModule is a plugin that was compiled.
type localModule struct {
	module *sandbox.Module
	close  func()
}

func newLocalModule(ctx context.Context, plugin *localPlugin) (*localModule, error) {
	runtime, err := sandbox.New(ctx, sandbox.Config{Source: always(plugin.wasm)}) // so that stacks have lines
	if err != nil {
		return nil, fmt.Errorf("making a sandbox: %w", err)
	}
	m := &localModule{close: func() { _ = runtime.Close(context.WithoutCancel(ctx)) }} // the process ends
	if m.module, err = runtime.Compile(ctx, plugin.wasm); err != nil {
		m.close()
		return nil, advise(fmt.Errorf("loading the module of %s: %w", plugin.name, err), "wharf plugin vet FILE")
	}
	return m, nil
}

// runOptions puts together what a run is told.
func (a *app) runOptions(p *pluginRun, plugin *localPlugin, g *granted) (alone.Options, error) {
	o := plugin.options
	o.Live, o.Strict = g.live, p.strict
	if g.live[abi.CallClock] != nil {
		o.Started = time.Now() // what it reads through WASI, too
	}
	if g.live[abi.CallRandom] != nil {
		o.Seed = make([]byte, 32)
		if _, err := rand.Read(o.Seed); err != nil {
			return o, fmt.Errorf("reading the machine's randomness: %w", err)
		}
	}
	if p.answers != "" {
		text, err := os.ReadFile(p.answers)
		if err != nil {
			return o, fmt.Errorf("reading the answers: %w", err)
		}
		if o.Answers, err = alone.ReadAnswers(p.answers, text); err != nil {
			return o, err
		}
	}
	if p.replay != "" {
		record, err := readRecord(p.replay)
		o.Record = record
		return o, err
	}
	input, err := a.localInput(p)
	if err != nil {
		return o, err
	}
	o.Given, err = alone.Given(plugin.name, plugin.export, input)
	return o, err
}

// localInput is the input of a Task that a run stands for.
func (a *app) localInput(p *pluginRun) (jsontext.Value, error) {
	text := []byte(p.input)
	var err error
	switch {
	case p.file != "":
		text, err = os.ReadFile(p.file)
	case p.input == "-":
		text, err = io.ReadAll(a.stdin)
	}
	if err != nil {
		return nil, fmt.Errorf("reading the input: %w", err)
	}
	if !p.jsonInput {
		return alone.Message(string(text))
	}
	v := jsontext.Value(bytes.TrimSpace(text))
	if !v.IsValid() {
		return nil, usagef("--json-input: the input is not JSON")
	}
	return v, nil
}

// shownBytes is how much of a request or an answer people see.
const shownBytes = 400

func (a *app) showLocalCall(c *alone.Call, whole bool) {
	text := func(v jsontext.Value) string {
		t := show.OneLine(string(v))
		if !whole && len([]rune(t)) > shownBytes {
			t = show.Cut(t, shownBytes)
		}
		return t
	}
	if c.Index < 0 {
		a.showLog(c)
		return
	}
	if c.From == alone.FromHost && c.Call == abi.CallInput {
		return // it is what the command line says
	}
	a.out.Line(a.out.Paint(show.Bold, c.Call), "  ", text(c.Request))
	status := a.out.Paint(show.Green, alone.StatusName(c.Status))
	if c.Status != abi.CallOK {
		status = a.out.Paint(show.Red, alone.StatusName(c.Status))
	}
	from := c.From
	if from == "" {
		from = "malformed"
	}
	a.out.Line("  → ", status, a.out.Paint(show.Dim, " ("+from+")  "), text(c.Answer))
}

func (a *app) showLog(c *alone.Call) {
	var line alone.Log
	if json.Unmarshal(c.Request, &line) != nil {
		return
	}
	first, rest, _ := strings.Cut(strings.TrimRight(line.Message, "\n"), "\n")
	a.out.Line(a.out.Paint(show.Cyan, "log "+line.Level), "  ", first)
	if rest != "" {
		a.out.Block("  ", rest)
	}
}

// showRun writes how a run ended.
func (a *app) showRun(r *alone.Report) {
	if r.Output != nil && r.Output.Summary != "" {
		a.out.Title("output")
		a.out.Block("  ", r.Output.Summary)
	}
	if r.Failure != nil {
		a.showLocalFailure(r.Failure)
	}
	a.showDeviations(r.Deviations)
	if r.Stopped {
		a.out.Gap()
		a.out.Line("the record stops here: the Task had not ended")
	}
	for _, unused := range r.Unused {
		a.out.Line(a.out.Paint(show.Yellow, "not used"), ": ", unused)
	}
	a.out.Gap()
	a.out.Line(a.out.Paint(show.Dim, fmt.Sprintf("%s, %d gas, %s of memory, in %s", numbered(r.HostCalls, "host call"), r.Gas, show.Bytes(int64(r.Memory)), micros(r.TookUS))))
}

func (a *app) showLocalFailure(f *abi.Failure) {
	a.out.Title("failed")
	a.out.Pairs([2]string{"code", f.Code}, [2]string{"message", show.OneLine(f.Message)})
	var details struct {
		Stack []stack.Frame `json:"stack"`
		Text  string        `json:"text"` // what was said last on stderr
	}
	if json.Unmarshal(f.Details, &details) != nil {
		return
	}
	if details.Text != "" {
		a.out.Block("  | ", strings.TrimRight(details.Text, "\n"))
	}
	for _, frame := range details.Stack {
		style, place := show.Bold, ""
		if !frame.Own {
			style = show.Dim
		}
		if frame.File != "" {
			place = fmt.Sprintf("  %s:%d", frame.File, frame.Line)
		}
		a.out.Line("  at ", a.out.Paint(style, show.OneLine(frame.Function)), place)
	}
}

func (a *app) showDeviations(deviations []alone.Deviation) {
	if len(deviations) == 0 {
		return
	}
	a.out.Title(numbered(len(deviations), "difference") + " from the record")
	for _, d := range deviations {
		a.out.Line("  ", deviationText(&d))
		a.showDifferences(d.Differences)
	}
}

func deviationText(d *alone.Deviation) string {
	switch d.Kind {
	case alone.NotRecorded:
		return fmt.Sprintf("call %d, %s, is not in the record: %s", d.Made, d.Call, show.Cut(show.OneLine(string(d.Request)), shownBytes))
	case alone.NotMade:
		return fmt.Sprintf("call %d of the record, %s, was not made: %s", d.Recorded, d.Call, show.Cut(show.OneLine(string(d.Request)), shownBytes))
	case alone.EndedOtherwise:
		return "it ended in another way"
	case alone.MadeElsewhere:
		return fmt.Sprintf("call %d, %s, was made at another place than in the record", d.Made, d.Call)
	}
	return fmt.Sprintf("call %d, %s, was asked something else", d.Made, d.Call)
}

// showDifferences writes what was wanted in red, and what came in green.
func (a *app) showDifferences(differences []journal.Difference) {
	for _, d := range differences {
		at := d.Path
		if at == "" {
			at = "(the whole)"
		}
		if d.Order {
			a.out.Line("    ", at, "  has its members in another order")
			continue
		}
		a.out.Line("    ", a.out.Paint(show.Bold, show.OneLine(at)))
		for _, side := range []struct {
			sign  string
			style show.Style
			value jsontext.Value
		}{{"- ", show.Red, d.Want}, {"+ ", show.Green, d.Got}} {
			if side.value != nil {
				a.out.Line("      ", a.out.Paint(side.style, side.sign+show.Cut(show.OneLine(string(side.value)), shownBytes)))
			}
		}
	}
}
