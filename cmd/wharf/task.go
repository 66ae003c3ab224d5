package main

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/cmd/wharf/internal/client"
	"github.com/wharf-dev/wharf/cmd/wharf/internal/show"
)

func (a *app) taskCommand() *cobra.Command {
	return family(page{
		use:   "task",
		short: "Submit Tasks, look at them, watch, answer, cancel, replay and fork them",
		long: `A Task is one piece of work for a Persona. It is accepted durably, runs in a
sandbox, and ends as COMPLETED, FAILED or CANCELED with an Outcome. In between it
may wait for an answer. What it did is recorded: a Task can be run again exactly,
run again with other answers, and continued from any point.`,
		example: `  wharf task submit --follow --file README.md
  wharf task list --status FAILED
  wharf task tail task_01K0...
  wharf task answer task_01K0... --approve
  wharf task replay task_01K0... --wait`,
	}, a.taskSubmitCommand(), a.taskGetCommand(), a.taskListCommand(),
		a.taskTailCommand(), a.taskAnswerCommand(), a.taskCancelCommand(), a.taskDeleteCommand(),
		a.taskReplayCommand(), a.taskForkCommand(), a.taskDiffCommand(), a.taskReceiptsCommand())
}

func (a *app) taskGetCommand() *cobra.Command {
	var outcome bool
	return a.node(page{
		use:   "get ID",
		short: "Show a Task, and its Outcome when it has ended",
		long: `Get shows a Task as it is now and, when it has ended, what came of it.

With --json it prints the Task; with --json --outcome the Outcome instead, with
the Messages and Artifacts that the Task made.`,
		example: `  wharf task get task_01K0...
  wharf task get task_01K0... --json --outcome`,
		args: oneArg("the id of a Task"),
		flags: func(f *pflag.FlagSet) {
			f.BoolVar(&outcome, "outcome", false, "with --json: print the Outcome instead of the Task")
		},
	}, steps(func(ctx context.Context, c *client.Client, args []string) error {
		return a.taskGet(ctx, c, args[0], outcome)
	}))
}

func (a *app) taskGet(ctx context.Context, c *client.Client, id string, outcome bool) error {
	task, err := c.Task(ctx, id)
	if err != nil {
		return hint(err, abi.CodeResourceNotFound, "wharf task list")
	}
	if a.json && !outcome {
		return a.print(task.JSON, nil)
	}
	var result client.Doc[abi.Outcome]
	if task.Value.OutcomeID != "" {
		if result, err = c.Outcome(ctx, task.Value.OutcomeID); err != nil {
			return err
		}
	}
	if a.json && result.JSON == nil {
		return advise(errNotEnded(id), "wharf task tail "+id)
	}
	return a.print(result.JSON, func() {
		a.showTask(&task.Value)
		a.showOutcome(&result.Value)
	})
}

// showTask writes what there is to say of a Task, with more pairs at the end.
func (a *app) showTask(t *abi.Task, more ...[2]string) {
	a.out.Line(t.ID, "  ", a.out.Paint(show.StatusStyle(t.Status), string(t.Status)))
	a.out.Pairs(append([][2]string{
		{"persona", t.PersonaID}, {"version", t.PersonaVersion}, {"module", t.Module}, {"session", t.SessionID},
		{"submitted", stamp(t.CreatedAt) + " by " + t.CreatedBy},
		{"started", stamp(t.StartedAt)}, {"completed", stamp(t.CompletedAt)},
		{"canceled", stamp(t.CanceledAt)}, {"deadline", stamp(t.DeadlineAt)},
		{"origin", origin(t)}, {"receipt", t.ReceiptID},
	}, more...)...)
	a.showWaiting(t.ID, t.Waiting)
}

// origin says which Task another was made from, "" for none.
func origin(t *abi.Task) string {
	switch {
	case t.Replay != nil:
		return string(t.Replay.Mode) + " replay of " + t.Replay.SourceTaskID
	case t.Fork != nil:
		return fmt.Sprintf("fork of %s after %d calls", t.Fork.SourceTaskID, t.Fork.Calls)
	}
	return ""
}

// showOutcome writes what came of a Task; nothing when it has not ended.
func (a *app) showOutcome(o *abi.Outcome) {
	if o.ID == "" {
		return
	}
	style := show.Green
	if o.Status != abi.OutcomeSucceeded {
		style = show.Red
	}
	a.out.Title("outcome  " + a.out.Paint(style, string(o.Status)))
	a.out.Line("  ", show.OneLine(o.Summary))
	if o.Failure != nil {
		a.out.Pairs([2]string{"code", o.Failure.Code}, [2]string{"more", moreAbout(o.Failure.Code)})
		a.showDivergence(o.Failure)
		a.out.Stack(o.Failure)
	}
	a.out.Artifacts(o)
	if len(o.Messages) > 0 {
		a.out.Title("answer")
		a.out.Answer(o)
	}
}

func stamp(t abi.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.Local().Format("2006-01-02 15:04:05.000")
}

func (a *app) taskListCommand() *cobra.Command {
	var f client.TaskFilter
	var statuses []string
	var limit int
	return a.node(page{
		use:   "list",
		short: "List Tasks, newest first",
		long: `List shows Tasks, newest first: at most --limit of them, of the given Session,
Workspace and statuses. A status is one of SUBMITTED, WORKING, INPUT_REQUIRED,
AUTH_REQUIRED, COMPLETED, FAILED and CANCELED.`,
		example: `  wharf task list
  wharf task list --status FAILED,CANCELED --limit 100
  wharf task list --session sess_01K0... --json`,
		flags: func(flags *pflag.FlagSet) {
			flags.StringSliceVar(&statuses, "status", nil, "only Tasks in one of these statuses")
			flags.StringVar(&f.SessionID, "session", "", "only Tasks of this Session")
			flags.StringVar(&f.WorkspaceID, "workspace", "", "only Tasks of this Workspace")
			flags.IntVar(&limit, "limit", 20, "the most Tasks to show")
		},
		check: func(*cobra.Command, []string) (err error) {
			if f.Statuses, err = parseStatuses(statuses); err == nil && limit < 1 {
				err = usagef("--limit: %d is less than 1", limit)
			}
			return err
		},
	}, steps(func(ctx context.Context, c *client.Client, _ []string) error {
		tasks, err := c.Tasks(ctx, f, limit)
		if err != nil {
			return err
		}
		return a.printTasks(ctx, c, tasks)
	}))
}

// wideTasks is how wide a terminal has to be to show the Sessions of Tasks in the same lines.
const wideTasks = 112

func (a *app) printTasks(ctx context.Context, c *client.Client, tasks []client.Doc[abi.Task]) error {
	if a.json {
		return a.printRows(nil, "", rowsOf(tasks, func(*abi.Task) []show.Cell { return nil }))
	}
	names := personaNames(ctx, c)
	titles, narrow := []string{"TASK", "STATUS", "PERSONA", "SUBMITTED", "SESSION"}, a.out.Terminal() && a.out.Width() < wideTasks
	if narrow {
		titles = titles[:4]
	}
	return a.printRows(titles, "no tasks", rowsOf(tasks, func(t *abi.Task) []show.Cell {
		return []show.Cell{{Text: t.ID}, {Text: string(t.Status), Style: show.StatusStyle(t.Status)},
			{Text: cmp.Or(names[t.PersonaID], t.PersonaID)}, {Text: show.Ago(t.CreatedAt, time.Now())}, {Text: t.SessionID}}[:len(titles)]
	}))
}

func (a *app) taskCancelCommand() *cobra.Command {
	var reason string
	return a.node(page{
		use:   "cancel ID",
		short: "End a Task that has not ended",
		long: `Cancel ends a Task as CANCELED. A plugin that runs for it is stopped, and what
it still answers does not count. A Task that has ended stays as it is, and the
command fails.`,
		example: `  wharf task cancel task_01K0... --reason "no longer needed"`,
		args:    oneArg("the id of a Task"),
		flags:   func(f *pflag.FlagSet) { f.StringVar(&reason, "reason", "", "why, for whoever reads the log") },
	}, ask[abi.Task]{
		call: sends(func(args []string) client.Call {
			return client.Post(abi.CancelTaskRequest{Reason: reason}, "/v1/tasks/{}/cancel", args[0])
		}),
		text: func(t *abi.Task) { a.showTask(t) },
		tips: tips{abi.CodeResourceNotFound: "wharf task list", abi.CodeConflict: "wharf task get {}"},
	})
}
