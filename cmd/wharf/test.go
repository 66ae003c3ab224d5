package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/wharf-dev/wharf/abi/plainly"
	"github.com/wharf-dev/wharf/cmd/wharf/internal/show"
	"github.com/wharf-dev/wharf/runtime/alone"
	"github.com/wharf-dev/wharf/runtime/bundle"
	"github.com/wharf-dev/wharf/runtime/journal"
	"github.com/wharf-dev/wharf/runtime/replay"
	"github.com/wharf-dev/wharf/runtime/sandbox"
)

func (a *app) testCommand() *cobra.Command {
	var dir, module string
	var how testHow
	cmd := page{
		use:   "test",
		short: "Run recorded Tasks against a new build of a plugin",
		long: `Test runs what was recorded again, with another build of the plugin: every host
call is answered from the record, and all places are shown in which the new build
does otherwise. Requests are the same that mean the same: the order of members,
white space and how numbers are written make no difference. --strict wants the
same bytes, as a replay does, and stops at the first that differ. It needs no
node, no data folder, no model and no network, so it can run wherever a plugin is
built.

--accept keeps the differences, each record's in a file beside it, RECORD.accepted:
a build that does the same as then passes. The record stays as it is. A run that
trapped, spent its gas or made a call that the record does not answer is not kept.

--replay names a run bundle (*.zip, from "wharf export") or a record (*.json,
from GET /wharf/v1/tasks/ID/record), or a folder of them.

The exit code is 0 when all Tasks do the same, or what was accepted, 1 when one does not, and 2 when
one cannot be run. With --json it prints a JSON object for each Task.`,
		example: `  wharf test --replay testdata/runs --against plugin.wasm
  wharf test --replay testdata/runs --against plugin.wasm --accept
  wharf test --replay run.zip --against plugin.wasm --json | jq .divergence`,
	}.command(func(cmd *cobra.Command, _ []string) error {
		if dir == "" || module == "" {
			return usagef("test needs --replay and --against")
		}
		if how.strict && how.accept {
			return usagef("--accept keeps what differs in its meaning: leave --strict out")
		}
		return undecided(a.test(cmd.Context(), dir, module, how, mostFor(cmd)))
	})
	cmd.Flags().StringVar(&dir, "replay", "", "a run bundle, a record, or a folder of them")
	cmd.Flags().StringVar(&module, "against", "", "the module to run, a .wasm file")
	cmd.Flags().BoolVar(&how.strict, "strict", false, "compare bytes, and not what they mean")
	cmd.Flags().BoolVar(&how.accept, "accept", false, "keep the differences, in a file beside each record")
	return cmd
}

// testHow says how Tasks are compared with their records.
type testHow struct{ strict, accept bool }

// The results of one Task.
const (
	testSame     = "same"
	testAccepted = "accepted"
	testDiffers  = "differs"
	testFailed   = "failed"
)

// testResult is what became of one recorded Task.
type testResult struct {
	File       string              `json:"file"`
	TaskID     string              `json:"task_id,omitzero"`
	Result     string              `json:"result"`
	Calls      int                 `json:"calls"`
	End        *journal.End        `json:"end,omitzero"`
	Divergence *journal.Divergence `json:"divergence,omitzero"` // the first in which bytes differ
	// Deviations are all places in which it did something that means something else; none with --strict.
	Deviations []alone.Deviation `json:"deviations,omitzero"`
	Incomplete string            `json:"incomplete,omitzero"`   // why there may be more of them
	Unaccepted string            `json:"not_accepted,omitzero"` // why its differences are not kept
	Error      string            `json:"error,omitzero"`
	bytesAlone string            // why it was compared by bytes and by nothing else
	report     *alone.Report     // of the comparison by meaning, when that was done to its end
}

func (a *app) test(ctx context.Context, dir, module string, how testHow, most sandbox.Limits) error {
	files, err := recordFiles(dir)
	if err != nil {
		return err
	}
	wasm, err := os.ReadFile(module)
	if err != nil {
		return fmt.Errorf("reading the module: %w", err)
	}
	runtime, err := sandbox.New(ctx, sandbox.Config{Source: always(wasm)})
	if err != nil {
		return fmt.Errorf("making a sandbox: %w", err)
	}
	defer runtime.Close(context.WithoutCancel(ctx))
	compiled, err := runtime.Compile(ctx, wasm)
	if err != nil {
		return fmt.Errorf("compiling %s: %w", module, err)
	}
	options := replay.Options{Module: compiled.Digest(), Rewriter: runtime.Rewriter(), Most: most}
	counts := map[string]int{}
	for _, file := range files {
		r := testFile(ctx, compiled, options, how, file)
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		counts[r.Result]++
		if err := a.print(&r, func() { a.showTest(&r, counts[testDiffers] == 1) }); err != nil {
			return err
		}
	}
	return a.concludeTest(counts)
}

// always gives a sandbox that has one module the bytes of it, which it reads for the lines of
// a trap.
func always(wasm []byte) func(context.Context, string) ([]byte, error) {
	return func(context.Context, string) ([]byte, error) { return wasm, nil }
}

// recordFiles lists the files that a folder holds below it, or the one file.
func recordFiles(path string) ([]string, error) {
	var files []string
	err := filepath.WalkDir(path, func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if ext := filepath.Ext(name); !entry.IsDir() && (name == path || ext == ".zip" || ext == ".json") {
			files = append(files, name)
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("looking for recorded Tasks: %w", err)
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("%s holds no run bundle (*.zip) and no record (*.json)", path)
	}
	return files, nil
}

func testFile(ctx context.Context, m *sandbox.Module, o replay.Options, how testHow, file string) testResult {
	r := testResult{File: file}
	record, err := readRecord(file)
	if err == nil {
		r.TaskID = record.TaskID
		err = r.run(ctx, m, o, how.strict, record)
	}
	switch {
	case err != nil:
	case r.Result == testDiffers && !how.strict:
		err = r.hold(record, how.accept)
	case how.accept:
		err = r.forget()
	}
	if err != nil {
		r.Result, r.Error = testFailed, plainly.Say(err)
	}
	return r
}

func (r *testResult) run(ctx context.Context, m *sandbox.Module, o replay.Options, strict bool, record *journal.Record) error {
	done, err := replay.Run(ctx, m, record, o)
	if err != nil {
		return adviseCapped(err)
	}
	r.Result, r.Calls, r.End, r.Divergence = testSame, len(done.Entries), &done.End, done.Divergence
	if done.Divergence == nil {
		return nil
	}
	r.Result = testDiffers
	if strict {
		return nil
	}
	if r.bytesAlone = bytesAlone(o.Module, record); r.bytesAlone == "" {
		r.compareMeaning(ctx, m, o.Most, record)
	}
	return nil
}

// bytesAlone says why a Task is compared by its bytes and by nothing else; "" when it is not.
func bytesAlone(module string, record *journal.Record) string {
	switch {
	case module == record.Program.Module:
		return "it is the module of the record, which has to do the same to the byte"
	case record.End == nil || record.End.Stopped:
		return "the Task was stopped, so how it would have gone on is not known"
	case record.Program.Skill != nil:
		return "the schema of its Skill has its say about the end"
	}
	return ""
}

// compareMeaning runs a Task whose bytes differ once more, to find all places in which it does
// something that means something else. Where that cannot be told, it differs, and why is said.
func (r *testResult) compareMeaning(ctx context.Context, m *sandbox.Module, most sandbox.Limits, record *journal.Record) {
	report, err := alone.Run(ctx, m, record.Program.Export, alone.Options{Record: record, Limits: most})
	if report != nil {
		r.Deviations = report.Deviations
	}
	if err != nil {
		r.Incomplete = plainly.Say(err)
		return
	}
	r.report = report
	if report.Stopped || len(r.Deviations) > 0 {
		return
	}
	r.Result, r.Calls, r.Divergence, r.End = testSame, len(report.Calls), nil, record.End
}

// readRecord reads a record out of a run bundle, or one that lies there by itself.
func readRecord(file string) (*journal.Record, error) {
	if filepath.Ext(file) == ".zip" {
		return bundleRecord(file)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("reading a record: %w", err)
	}
	record, err := journal.ReadRecord(text, false)
	if err != nil {
		return nil, fmt.Errorf("reading the record in %s: %w", file, err)
	}
	if record.TaskID == "" || record.Program.Export == "" {
		return nil, fmt.Errorf("%s is not the record of a Task", file)
	}
	return record, nil
}

func bundleRecord(file string) (record *journal.Record, err error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, fmt.Errorf("opening a bundle: %w", err)
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	info, err := f.Stat()
	if err != nil {
		return nil, fmt.Errorf("opening a bundle: %w", err)
	}
	contents, err := bundle.Read(f, info.Size())
	if err != nil {
		return nil, fmt.Errorf("reading the bundle %s: %w", file, err)
	}
	return contents.Record, nil
}

// showTest writes a line about a Task, and the whole difference if it is the first.
func (a *app) showTest(r *testResult, first bool) {
	name := cmp.Or(r.TaskID, r.File)
	switch r.Result {
	case testSame:
		a.out.Line(a.out.Paint(show.Green, "same    "), name, fmt.Sprintf("  %d calls, %s", r.Calls, r.ending()))
	case testAccepted:
		a.out.Line(a.out.Paint(show.Yellow, "accepted "), name, fmt.Sprintf("  %s, in %s", numbered(len(r.Deviations), "difference"), r.File+acceptedFile))
	case testDiffers:
		a.out.Line(a.out.Paint(show.Red, "differs "), name, "  ", show.OneLine(r.Divergence.Error()))
		switch {
		case len(r.Deviations) > 0:
			a.showDeviations(r.Deviations)
		case first:
			a.showPatch(r.Divergence.Diff)
			a.out.Stack(r.End.Failure)
		}
		if r.Incomplete != "" {
			a.out.Line("    ", a.out.Paint(show.Yellow, "it was not compared to its end"), ": ", show.OneLine(r.Incomplete))
		}
		if r.Unaccepted != "" {
			a.out.Line("    ", a.out.Paint(show.Red, "not accepted"), ": ", show.OneLine(r.Unaccepted))
		}
	default:
		a.out.Line(a.out.Paint(show.Yellow, "failed  "), name, "  ", show.OneLine(r.Error))
	}
}

func (r *testResult) ending() string {
	switch {
	case r.End.Stopped:
		return "as far as it was recorded"
	case r.End.Failure != nil:
		return string(r.End.Status) + " with " + r.End.Failure.Code
	}
	return string(r.End.Status)
}

func (a *app) concludeTest(counts map[string]int) error {
	if !a.json {
		a.out.Gap()
		text := fmt.Sprintf("%d the same, %d differ, %d could not be run", counts[testSame], counts[testDiffers], counts[testFailed])
		if counts[testAccepted] > 0 {
			text = fmt.Sprintf("%d accepted, ", counts[testAccepted]) + text
		}
		a.out.Line(text)
	}
	switch {
	case counts[testFailed] > 0:
		return &silentError{exitUndecided}
	case counts[testDiffers] > 0:
		return &silentError{exitFailed}
	}
	return nil
}
