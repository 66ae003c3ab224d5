package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/cmd/wharf/internal/client"
	"github.com/wharf-dev/wharf/cmd/wharf/internal/compare"
	"github.com/wharf-dev/wharf/cmd/wharf/internal/show"
	"github.com/wharf-dev/wharf/runtime/journal"
)

func (a *app) taskDiffCommand() *cobra.Command {
	var strict bool
	return a.node(page{
		use:   "diff A B",
		short: "Show where two Tasks took different ways",
		long: `Diff compares what two Tasks recorded: what they were submitted with, each host
call with its answer, and how they ended. A call that only one of them has made is
shown as one: those after it are compared with the calls that ask the same.
Requests and answers are the same that mean the same: the order of members, white
space and how numbers are written make no difference, unless --strict wants the
same bytes. It shows the first call that differs in full, and of those after it
all places that differ. When the Tasks ran, for whom and with which build of the
plugin is shown but does not count as a difference. Of a replay, answers that were
overridden are shown by their hash.

The exit code is 0 when they are the same, 1 when they differ, and 2 when they
cannot be compared. The key needs the scope events:internal.`,
		example: `  wharf task diff task_01K0A... task_01K0B...
  wharf task diff task_01K0A... task_01K0B... --json | jq .changes`,
		args:  twoArgs("the ids of two Tasks"),
		flags: func(f *pflag.FlagSet) { f.BoolVar(&strict, "strict", false, "compare bytes, and not what they mean") },
	}, judgement{steps(func(ctx context.Context, c *client.Client, ids []string) error {
		return a.taskDiff(ctx, c, ids, strict)
	})})
}

func (a *app) taskDiff(ctx context.Context, c *client.Client, ids []string, strict bool) (err error) {
	var records [2]*journal.Record
	for i, id := range ids {
		if records[i], err = recordOf(ctx, c, id); err != nil {
			return hint(err, abi.CodeResourceNotFound, "wharf task list")
		}
	}
	r := compare.Records(records[0], records[1], strict)
	if err := a.print(&r, func() { a.showDiff(&r) }); err != nil {
		return err
	}
	if !r.Same {
		return &silentError{exitFailed}
	}
	return nil
}

// recordOf returns what a Task recorded. A replay records nothing itself: it is its
// source's record with the answers that were overridden.
func recordOf(ctx context.Context, c *client.Client, id string) (*journal.Record, error) {
	task, err := c.Task(ctx, id)
	if err != nil {
		return nil, err
	}
	if task.Value.Replay != nil {
		return replayRecord(ctx, c, &task.Value)
	}
	doc, err := c.Record(ctx, id)
	return &doc.Value, err
}

func replayRecord(ctx context.Context, c *client.Client, t *abi.Task) (*journal.Record, error) {
	if !t.Status.Terminal() {
		return nil, fmt.Errorf("the replay %s has not ended", t.ID)
	}
	source, err := c.Record(ctx, t.Replay.SourceTaskID)
	if err != nil {
		return nil, err
	}
	events, err := c.TaskEvents(ctx, t.ID)
	if err != nil {
		return nil, err
	}
	record := &source.Value
	record.TaskID, record.Program.Module = t.ID, t.Module
	record.Entries = replayedEntries(record.Entries, t, events)
	record.End = &journal.End{Status: t.Status, Failure: t.Failure, Calls: len(record.Entries)}
	return record, nil
}

// replayedEntries are the calls that a replay got to, as its events tell them. What lies
// before its checkpoint was restored. A call that was not answered is told by no event:
// one that followed its record came to it, and stopped there.
func replayedEntries(recorded []journal.Entry, t *abi.Task, events []client.Doc[abi.Event]) []journal.Entry {
	reached := min(t.Replay.Checkpoint, len(recorded))
	for i := range events {
		e := &events[i].Value
		var told struct {
			Index  int    `json:"replayed_index"`
			Answer string `json:"answer_sha256"`
		}
		if e.Event != abi.EventReplayEventReplayed || json.Unmarshal(e.Payload, &told) != nil || told.Index < 0 || told.Index >= len(recorded) {
			continue
		}
		reached = max(reached, told.Index+1)
		if entry := &recorded[told.Index]; told.Answer != journal.HashOf(entry.Answer) {
			entry.Status, entry.Answer = abi.CallOK, journal.Text(replacedBy(e, told.Answer))
		}
	}
	diverged := t.Failure != nil && t.Failure.Code == abi.FailureDivergence
	if reached == len(recorded)-1 && recorded[reached].Open && !diverged {
		reached++
	}
	return recorded[:reached]
}

// replacedBy stands for an answer that the events of a replay do not show.
func replacedBy(e *abi.Event, hash string) string {
	if e.Replay != nil && e.Replay.OverrideKey != "" {
		return "(what the override of " + e.Replay.OverrideKey + " says, " + hash + ")"
	}
	return "(made anew, " + hash + ")"
}

// showDivergence shows both sides where a run left its record.
func (a *app) showDivergence(f *abi.Failure) {
	var d journal.Divergence
	if f.Code != abi.FailureDivergence || json.Unmarshal(f.Details, &d) != nil || d.Diff == "" {
		return
	}
	a.out.Title("what was recorded, and what was asked")
	a.showPatch(d.Diff)
	a.out.Pairs([2]string{"recorded by", d.RecordedModule + "  " + d.RecordedABI}, [2]string{"asked by", d.ActualModule + "  " + d.ActualABI})
}

func (a *app) showDiff(r *compare.Result) {
	a.showSide("a", &r.A)
	a.showSide("b", &r.B)
	if r.A.Module != r.B.Module {
		a.out.Gap()
		a.out.Line("they ran different builds of the plugin")
	}
	if r.Input != "" {
		a.out.Title("they were submitted with different input")
		a.showPatch(r.Input)
	}
	if len(r.Changes) > 0 {
		first := r.Changes[0]
		a.out.Title(fmt.Sprintf("call %d is the first that differs: %s", first.Index, changeText(first)))
		a.showPatch(r.Diff)
		a.showChanges(r.Changes[1:])
	}
	if r.Same {
		a.out.Gap()
		a.out.Line(a.out.Paint(show.Green, "the same"), fmt.Sprintf(": %d calls, and the end", r.Shared))
	} else if r.Ends {
		a.out.Title("they ended in different ways")
	}
}

func (a *app) showSide(name string, s *compare.Side) {
	end := "has not ended"
	if s.End != nil {
		end = string(s.End.Status)
		if s.End.Failure != nil {
			end += ": " + s.End.Failure.Code + ": " + s.End.Failure.Message
		}
	}
	a.out.Line(a.out.Paint(show.Bold, name), "  ", s.TaskID)
	a.out.Pairs([2]string{"plugin", s.Plugin + "  " + show.Cut(s.Module, 20)}, [2]string{"calls", fmt.Sprint(s.Calls)}, [2]string{"end", end})
}

func changeText(c compare.Change) string {
	switch c.Kind {
	case compare.OnlyA:
		return c.A + ", which only a made"
	case compare.OnlyB:
		return c.B + ", which only b made"
	case compare.Call:
		return "a called " + c.A + ", b called " + c.B
	case compare.Request:
		return c.A + " was asked something else"
	}
	return c.A + " was answered otherwise"
}

// maxChanges is how many differing calls are listed.
const maxChanges = 20

func (a *app) showChanges(changes []compare.Change) {
	if len(changes) == 0 {
		return
	}
	a.out.Title("after it")
	for i, c := range changes {
		if i == maxChanges {
			a.out.Line(fmt.Sprintf("  … and %d calls more (--json has them all)", len(changes)-i))
			return
		}
		a.out.Line(fmt.Sprintf("  call %d: %s", c.Index, show.OneLine(changeText(c))))
		a.showDifferences(c.Differences)
	}
}

// showPatch writes a diff, with a's lines in red and b's in green.
func (a *app) showPatch(patch string) {
	for line := range strings.SplitSeq(strings.TrimRight(show.Clean(patch), "\n"), "\n") {
		style := show.Plain
		switch {
		case strings.HasPrefix(line, "-"):
			style = show.Red
		case strings.HasPrefix(line, "+"):
			style = show.Green
		}
		a.out.Line("  ", a.out.Paint(style, line))
	}
}
