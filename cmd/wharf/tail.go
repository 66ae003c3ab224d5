package main

import (
	"context"
	"fmt"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/cmd/wharf/internal/client"
	"github.com/wharf-dev/wharf/cmd/wharf/internal/show"
)

func (a *app) taskTailCommand() *cobra.Command {
	var after string
	return a.node(page{
		use:   "tail ID",
		short: "Show a Task's events, and those to come, until it ends",
		long: `Tail shows the events of a Task from its beginning, or after the event that
--after names, and goes on until the Task ends. When the connection breaks it is
made again, after the last event that was seen: nothing is missed or repeated.
When the node stays away for about a minute, tail gives up with code 3.

It ends with code 0 when the Task is COMPLETED, and 1 when it FAILED or was
CANCELED.`,
		example: `  wharf task tail task_01K0...
  wharf task tail task_01K0... --json | jq .event
  wharf task tail task_01K0... --after 1042`,
		args:  oneArg("the id of a Task"),
		flags: func(f *pflag.FlagSet) { f.StringVar(&after, "after", "", "id of the last event not to show") },
	}, steps(func(ctx context.Context, c *client.Client, args []string) error {
		end, err := a.follow(ctx, c, args[0], followOptions{after: after})
		if err != nil {
			return hint(err, abi.CodeResourceNotFound, "wharf task list")
		}
		return endCode(end)
	}))
}

// followOptions says how events are shown.
type followOptions struct {
	after string
	since time.Time                      // see show.Screen.Event
	quiet bool                           // show nothing
	each  func(e *client.Doc[abi.Event]) // called with every event; may be nil
}

// follow shows the events of a Task until it ends and returns how it did. It is
// "" when the stream had no more to say: the Task has ended before.
func (a *app) follow(ctx context.Context, c *client.Client, id string, o followOptions) (abi.TaskStatus, error) {
	stream := client.TaskStream(id)
	stream.After = o.after
	stream.Broken = func(err error) {
		fmt.Fprintf(a.stderr, "wharf: %s; trying again\n", show.OneLine(err.Error()))
	}
	for e, err := range c.Follow(ctx, stream) {
		if err != nil {
			return "", left(err, id)
		}
		if o.each != nil {
			o.each(&e)
		}
		if !o.quiet {
			_ = a.print(e.JSON, func() { // JSON that was read can be written
				a.out.Event(&e.Value, o.since)
				a.out.FailedIn(&e.Value)
				a.showQuestion(ctx, c, &e.Value)
			})
		}
		if end := endOf(&e.Value, id); end != "" {
			return end, nil
		}
	}
	return "", nil
}

// showQuestion says what to type when an event tells that a Task waits for somebody,
// unless that is over.
func (a *app) showQuestion(ctx context.Context, c *client.Client, e *abi.Event) {
	if e.Event != abi.EventTaskInputRequired && e.Event != abi.EventTaskAuthRequired {
		return
	}
	var told struct {
		Task abi.Task `json:"task"`
	}
	if json.Unmarshal(e.Payload, &told) != nil || told.Task.Waiting == nil {
		return
	}
	now, err := c.Task(ctx, told.Task.ID)
	if err != nil || now.Value.Waiting == nil || now.Value.Waiting.RequestID != told.Task.Waiting.RequestID {
		return
	}
	if command := howToAnswer(told.Task.ID, told.Task.Waiting); command != "" {
		a.out.Line("    ", a.out.Paint(show.Bold, "answer it: "), command)
	}
}

// endOf returns the terminal status that e reports of a Task, "" if none.
func endOf(e *abi.Event, task string) abi.TaskStatus {
	if e.TaskID != task && e.Resource.ID != task {
		return ""
	}
	switch e.Event {
	case abi.EventTaskCompleted:
		return abi.TaskCompleted
	case abi.EventTaskFailed:
		return abi.TaskFailed
	case abi.EventTaskCanceled:
		return abi.TaskCanceled
	}
	return ""
}

// endCode turns the end of a Task into the end of the command.
func endCode(end abi.TaskStatus) error {
	if end == abi.TaskFailed || end == abi.TaskCanceled {
		return &silentError{exitFailed}
	}
	return nil
}
