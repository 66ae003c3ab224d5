package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/abi/plainly"
	"github.com/wharf-dev/wharf/cmd/wharf/internal/client"
	"github.com/wharf-dev/wharf/cmd/wharf/internal/show"
	"github.com/wharf-dev/wharf/runtime/alone"
	"github.com/wharf-dev/wharf/runtime/journal"
)

const (
	// casesFolder is where the test cases of a plugin lie.
	casesFolder = "testdata"
	// maxCase is more than a case or a file of answers may have, so that it is refused with the reason.
	maxCase = 4<<20 + 1
)

// caseFile and answersFile are the names of test cases, and of those files among them that are none.
var (
	caseFile    = regexp.MustCompile(`\.ya?ml$`)
	answersFile = regexp.MustCompile(`(^|\.)answers\.ya?ml$`)
	taskID      = regexp.MustCompile(`^[A-Za-z0-9_-]{1,128}$`)
)

// pluginTest is what "wharf plugin test" was asked.
type pluginTest struct {
	path                   string
	run                    string
	update, accept, strict bool
	record                 string
	pattern                *regexp.Regexp
}

func (a *app) pluginTestCommand() *cobra.Command {
	var p pluginTest
	cmd := page{
		use:   "test [FOLDER|FILE]",
		short: "Run the test cases of a plugin",
		long: `Test runs the cases in the testdata folder of a plugin, testdata/*.yaml: each says
what a Task is submitted with, what host calls are answered with, and what the
plugin has to do. It needs no node, no data folder, no model and no network.
docs/testing-plugins.md describes the files. FOLDER has a wharf.toml; it is the
current one unless another is given. FILE is a module, beside a testdata folder.

Values are compared by what they mean, and all differences are shown; --strict
makes the order of members count.

--accept keeps the differences: what the plugin does now is what a case expects
from then on, where its run came to its end. A case whose run trapped, spent its
gas or made a call that nothing answers stays as it is, and fails. --update takes
more: it writes such failures into the cases, too, and fills in cases that expect
nothing yet.

--record makes a case of a Task of a node that has ended: the key needs the scope
events:internal.

The exit code is 0 when all cases pass, 1 when one does not, and 2 when one
cannot be run. With --json it prints a JSON object for each case.`,
		example: `  wharf plugin test
  wharf plugin test my-plugin --run greet
  wharf plugin test my-plugin --update
  wharf plugin test my-plugin --run task_01K0... --accept
  wharf plugin test my-plugin --record task_01K0...`,
		args:  optionalArg,
		check: func(_ *cobra.Command, args []string) error { return p.check(args) },
	}.command(func(cmd *cobra.Command, _ []string) error {
		if p.record != "" {
			return undecided(a.recordCase(cmd.Context(), &p))
		}
		return undecided(a.testPlugin(cmd.Context(), &p))
	})
	f := cmd.Flags()
	f.StringVar(&p.run, "run", "", "run the cases whose names this regular expression finds")
	f.BoolVar(&p.update, "update", false, "write what the plugin did into the cases, failures too")
	f.BoolVar(&p.accept, "accept", false, "keep the differences of runs that came to their end")
	f.BoolVar(&p.strict, "strict", false, "the order of members counts")
	f.StringVar(&p.record, "record", "", "make a case of this Task of a node")
	return a.remote(cmd)
}

func (p *pluginTest) check(args []string) (err error) {
	p.path = "."
	if len(args) > 0 {
		p.path = args[0]
	}
	if p.pattern, err = regexp.Compile(p.run); err != nil {
		return usagef("--run: %w", err)
	}
	switch {
	case p.record != "" && (p.update || p.accept || p.run != "" || p.strict):
		return usagef("--record makes a case, and runs no others: leave --run, --update, --accept and --strict out")
	case p.update && p.accept:
		return usagef("--update takes all that --accept takes, and failures too: give one of them")
	case p.record != "" && !taskID.MatchString(p.record):
		return usagef("--record: %q is not the id of a task", p.record)
	}
	return nil
}

// The results of a case.
const (
	casePassed   = "passed"
	caseUpdated  = "updated"
	caseAccepted = "accepted"
	caseFailed   = "failed"
	caseError    = "error"
)

// caseResult is what became of one case.
type caseResult struct {
	Case        string               `json:"case"`
	File        string               `json:"file"`
	Result      string               `json:"result"`
	Differences []journal.Difference `json:"differences,omitzero"`
	Error       string               `json:"error,omitzero"`           // why it could not be run, or not be accepted
	Add         string               `json:"missing_answers,omitzero"` // what to add to the answers
	Unused      []string             `json:"unused_answers,omitzero"`
	Calls       int                  `json:"calls"`
	Gas         uint64               `json:"gas"`
	TookUS      int64                `json:"took_us"`
}

// tester runs the cases of a plugin.
type tester struct {
	plugin *localPlugin
	module *localModule
	root   *os.Root // of the plugin's folder
	ask    *pluginTest
}

func newTester(ctx context.Context, p *pluginTest) (*tester, error) {
	plugin, err := readPlugin(p.path)
	if err != nil {
		return nil, err
	}
	t := &tester{plugin: plugin, ask: p}
	if t.root, err = os.OpenRoot(plugin.folder); err != nil {
		return nil, fmt.Errorf("reading the test cases: %w", err)
	}
	if t.module, err = newLocalModule(ctx, plugin); err != nil {
		return nil, errors.Join(err, t.root.Close())
	}
	return t, nil
}

func (t *tester) close() {
	t.module.close()
	_ = t.root.Close() // what was written to it is closed
}

func (a *app) testPlugin(ctx context.Context, p *pluginTest) error {
	t, err := newTester(ctx, p)
	if err != nil {
		return err
	}
	defer t.close()
	names, err := t.cases()
	if err != nil {
		return err
	}
	counts := map[string]int{}
	for _, name := range names {
		r := t.test(ctx, name)
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		counts[r.Result]++
		if err := a.print(r, func() { a.showCase(r) }); err != nil {
			return err
		}
	}
	return a.concludeCases(counts)
}

// cases lists the names of the files that are to be run.
func (t *tester) cases() ([]string, error) {
	entries, err := fs.ReadDir(t.root.FS(), casesFolder)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("looking for test cases: %w", err)
	}
	var names []string
	for _, e := range entries {
		if name := e.Name(); !e.IsDir() && caseFile.MatchString(name) && !answersFile.MatchString(name) {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return nil, advise(fmt.Errorf("there is no test case in %s", filepath.Join(t.plugin.folder, casesFolder)),
			"write one, as docs/testing-plugins.md has it, or make one of a Task with --record")
	}
	all := len(names)
	names = slices.DeleteFunc(names, func(name string) bool { return !t.ask.pattern.MatchString(caseName(name)) })
	if len(names) == 0 {
		return nil, fmt.Errorf("--run %s finds none of the %s", t.ask.run, numbered(all, "test case"))
	}
	return names, nil
}

func caseName(file string) string { return strings.TrimSuffix(file, path.Ext(file)) }

// test runs one case.
func (t *tester) test(ctx context.Context, name string) *caseResult {
	r := &caseResult{Case: caseName(name), File: filepath.Join(t.plugin.folder, casesFolder, name)}
	if err := t.judge(ctx, name, r); err != nil {
		r.Result, r.Error = caseError, plainly.Say(err)
		if lacking, ok := errors.AsType[*alone.Missing](err); ok {
			r.Add = lacking.Add
		}
	}
	return r
}

func (t *tester) judge(ctx context.Context, name string, r *caseResult) error {
	text, err := t.read(name)
	if err != nil {
		return err
	}
	c, err := alone.ReadCase(r.File, text, t.read)
	if err != nil {
		return err
	}
	export := c.Export
	if export == "" {
		export = t.plugin.export
	}
	o, err := c.Options(t.plugin.name, export, t.plugin.options)
	if err != nil {
		return err
	}
	report, err := alone.Run(ctx, t.module.module, export, o)
	if report != nil {
		r.Unused, r.Calls, r.Gas, r.TookUS = report.Unused, report.HostCalls, report.Gas, report.TookUS
	}
	if err != nil {
		return err
	}
	if r.Differences, err = c.Compare(report, t.ask.strict); err != nil {
		return err
	}
	switch {
	case t.ask.update:
		return t.update(name, c, text, report, r)
	case len(r.Differences) == 0:
		r.Result = casePassed
	case t.ask.accept:
		return t.accept(name, c, text, report, r)
	default:
		r.Result = caseFailed
	}
	return nil
}

// accept writes what the plugin does now into a case from which it differs. What ended before the plugin
// was done is not what it does, unless the case expects just that.
func (t *tester) accept(name string, c *alone.Case, text []byte, report *alone.Report, r *caseResult) error {
	if f := report.Unfinished(); f != nil && !c.Fails(f.Code) {
		r.Result, r.Error = caseFailed, fmt.Sprintf("the run did not come to its end (%s): mend the plugin, or use --update if it has to fail so", f.Code)
		return nil
	}
	err := t.update(name, c, text, report, r)
	if r.Result == caseUpdated {
		r.Result = caseAccepted
	}
	return err
}

// update writes what the plugin did into a case. One that expects it already stays as it is.
func (t *tester) update(name string, c *alone.Case, text []byte, report *alone.Report, r *caseResult) error {
	r.Result = casePassed
	if len(r.Differences) == 0 && !c.ExpectsNothing() {
		return nil
	}
	updated, err := c.Updated(report)
	if err != nil || string(updated) == string(text) {
		return err
	}
	if err := t.unchanged(name, text); err != nil {
		return err
	}
	r.Result = caseUpdated
	return t.write(name, updated)
}

// unchanged returns an error for a case that is not to be written over: it may not be written, or somebody has
// changed it since it was read.
func (t *tester) unchanged(name string, text []byte) error {
	info, err := t.root.Lstat(path.Join(casesFolder, name))
	if err != nil {
		return fmt.Errorf("writing the test case: %w", err)
	}
	if info.Mode()&fs.ModeSymlink != 0 || info.Mode().Perm()&0o200 == 0 {
		return advise(fmt.Errorf("%s is read-only, or a link: it stays as it is", name), "chmod u+w, or change the file that it leads to")
	}
	now, err := t.read(name)
	if err == nil && string(now) != string(text) {
		err = errors.New("somebody has changed it while it was run: run it again")
	}
	return err
}

// read reads a file that lies with the cases.
func (t *tester) read(name string) ([]byte, error) {
	return readWithin(t.root, path.Join(casesFolder, name), maxCase)
}

// write puts a file in its place whole: who is interrupted has the old one or the new one. Two that write
// at once write beside each other, and the last one's is there.
func (t *tester) write(name string, text []byte) error {
	beside := path.Join(casesFolder, "."+name+".new-"+rand.Text())
	err := t.root.MkdirAll(casesFolder, 0o755)
	if err == nil {
		err = t.writeBeside(beside, text)
	}
	if err == nil {
		err = t.root.Rename(beside, path.Join(casesFolder, name))
	}
	if err != nil {
		_ = t.root.Remove(beside) // it may not be there
		return fmt.Errorf("writing the test case: %w", err)
	}
	return nil
}

func (t *tester) writeBeside(name string, text []byte) error {
	f, err := t.root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	return errors.Join(err, f.Sync(), f.Close())
}

func (a *app) showCase(r *caseResult) {
	took := fmt.Sprintf("  %s, %s", numbered(r.Calls, "host call"), micros(r.TookUS))
	switch r.Result {
	case casePassed:
		a.out.Line(a.out.Paint(show.Green, "passed   "), r.Case, a.out.Paint(show.Dim, took))
	case caseUpdated, caseAccepted:
		a.out.Line(a.out.Paint(show.Yellow, fmt.Sprintf("%-9s", r.Result)), r.Case, a.out.Paint(show.Dim, took))
		a.showDifferences(r.Differences)
	case caseFailed:
		a.out.Line(a.out.Paint(show.Red, "failed   "), r.Case, a.out.Paint(show.Dim, "  "+r.File))
		a.showDifferences(r.Differences)
		if r.Error != "" {
			a.out.Line("    ", a.out.Paint(show.Red, "not accepted"), ": ", show.OneLine(r.Error))
		}
	default:
		a.out.Line(a.out.Paint(show.Red, "error    "), r.Case, "  ", show.OneLine(r.Error))
		if r.Add != "" {
			a.out.Line("    add to the answers of ", r.File, ":")
			a.out.Block("      ", strings.TrimRight(r.Add, "\n"))
		}
	}
	for _, unused := range r.Unused {
		a.out.Line("    ", a.out.Paint(show.Yellow, "not used"), ": ", unused)
	}
}

func (a *app) concludeCases(counts map[string]int) error {
	if !a.json {
		a.out.Gap()
		text := fmt.Sprintf("%d passed, %d failed, %d could not be run", counts[casePassed], counts[caseFailed], counts[caseError])
		for _, written := range []string{caseAccepted, caseUpdated} {
			if counts[written] > 0 {
				text = fmt.Sprintf("%d %s, ", counts[written], written) + text
			}
		}
		a.out.Line(text)
	}
	switch {
	case counts[caseError] > 0:
		return &silentError{exitUndecided}
	case counts[caseFailed] > 0:
		return &silentError{exitFailed}
	}
	return nil
}

// madeCase is a case that was made of a Task.
type madeCase struct {
	File       string            `json:"file"`
	TaskID     string            `json:"task_id"`
	Deviations []alone.Deviation `json:"deviations,omitzero"` // of this build, which the case expects, from the Task
}

// recordCase makes a case of a Task of a node.
func (a *app) recordCase(ctx context.Context, p *pluginTest) error {
	t, err := newTester(ctx, p)
	if err != nil {
		return err
	}
	defer t.close()
	name := p.record + ".yaml"
	if _, err := t.root.Stat(path.Join(casesFolder, name)); err == nil {
		return fmt.Errorf("there is a case %s already: remove it first", filepath.Join(t.plugin.folder, casesFolder, name))
	}
	c, err := a.client()
	if err != nil {
		return err
	}
	record, err := endedRecord(ctx, c, p.record)
	if err != nil {
		return hint(err, abi.CodeResourceNotFound, "wharf task list")
	}
	o := t.plugin.options
	o.Record = record
	again, err := alone.Run(ctx, t.module.module, record.Program.Export, o)
	if err != nil {
		return fmt.Errorf("running the task %s again, with this build: %w", p.record, err)
	}
	made := &madeCase{File: filepath.Join(t.plugin.folder, casesFolder, name), TaskID: p.record, Deviations: again.Deviations}
	text, err := alone.CaseOf(record, again)
	if err != nil {
		return fmt.Errorf("making a case of %s: %w", p.record, err)
	}
	if err := t.write(name, text); err != nil {
		return err
	}
	err = a.print(made, func() {
		a.out.Line("wrote ", a.out.Paint(show.Bold, made.File))
		if len(made.Deviations) > 0 {
			a.out.Line("The case expects what this build does, which is not what the Task did.")
			a.showDeviations(made.Deviations)
		}
	})
	if err == nil && len(made.Deviations) > 0 {
		return &silentError{exitFailed}
	}
	return err
}

// endedRecord returns the record of a Task of its own: a replay has none.
func endedRecord(ctx context.Context, c *client.Client, id string) (*journal.Record, error) {
	task, err := c.Task(ctx, id)
	switch {
	case err != nil:
		return nil, err
	case task.Value.Replay != nil:
		return nil, fmt.Errorf("%s is a replay: make a case of its source, %s", id, task.Value.Replay.SourceTaskID)
	case !task.Value.Status.Terminal():
		return nil, fmt.Errorf("task %s has not ended", id)
	}
	doc, err := c.Record(ctx, id)
	return &doc.Value, err
}
