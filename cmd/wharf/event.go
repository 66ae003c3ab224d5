package main

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/cmd/wharf/internal/client"
	"github.com/wharf-dev/wharf/cmd/wharf/internal/show"
)

func (a *app) eventCommand() *cobra.Command {
	return family(page{
		use:   "event",
		short: "List and follow what happens on a node",
		long: `All that happens on a node is an event: of a Task, a Session, a Persona, a key.
"wharf task tail" shows those of one Task; docs/events.md has every kind.`,
		example: `  wharf event list --session sess_01K0...
  wharf event tail
  wharf event show 4711`,
	}, a.eventListCommand(), a.eventShowCommand(), a.eventTailCommand())
}

// eventFilter is what the flags say of the events that are wanted.
type eventFilter struct{ workspace, session, task, after string }

func (e *eventFilter) flags(f *pflag.FlagSet) {
	f.StringVar(&e.workspace, "workspace", "", "only events of this Workspace")
	f.StringVar(&e.session, "session", "", "only events of this Session")
	f.StringVar(&e.task, "task", "", "only events of this Task")
	f.StringVar(&e.after, "after", "", "the id of the last event not to show")
}

func (e *eventFilter) call(path string) client.Call {
	return client.Get(path).Narrow("workspace_id", e.workspace).Narrow("session_id", e.session).Narrow("task_id", e.task)
}

func (a *app) eventListCommand() *cobra.Command {
	var e eventFilter
	var limit int
	return a.node(page{
		use:   "list",
		short: "List events, oldest first",
		long: `List shows events, oldest first, from the beginning of what is kept or after the event
that --after names: at most --limit of them, of the given Workspace, Session and Task.`,
		example: "  wharf event list --session sess_01K0... --limit 200\n  wharf event list --after 4711 --json",
		flags: func(f *pflag.FlagSet) {
			e.flags(f)
			f.IntVar(&limit, "limit", 20, "the most events to show")
		},
		check: func(*cobra.Command, []string) error {
			if limit < 1 {
				return usagef("--limit: %d is less than 1", limit)
			}
			return nil
		},
	}, list[abi.Event]{
		call: sends(func([]string) client.Call {
			return e.call("/v1/events").Narrow("cursor", e.after).Most(limit)
		}),
		titles: []string{"EVENT", "AT", "KIND", "OF"},
		row: func(ev *abi.Event) []show.Cell {
			return []show.Cell{{Text: ev.ID}, {Text: ev.CreatedAt.UTC().Format(time.DateTime)}, {Text: string(ev.Event)}, {Text: ev.Resource.ID}}
		},
		none: "no events",
		tips: tips{abi.CodeCursorExpired: "the command without --after"},
	})
}

func (a *app) eventShowCommand() *cobra.Command {
	return a.node(page{
		use:     "show ID",
		short:   "Show an event with all that it tells",
		long:    "Show shows what an event is about, who caused it, and what it tells, as JSON.",
		example: "  wharf event show 4711\n  wharf event show 4711 --json | jq .payload",
		args:    oneArg("the id of an event (see \"wharf event list\")"),
	}, ask[abi.Event]{call: gets("/v1/events/{}"), text: a.showEvent, tips: absent("wharf event list")})
}

func (a *app) showEvent(e *abi.Event) {
	a.out.Line(e.ID, "  ", string(e.Event), "  ", stamp(e.CreatedAt))
	a.out.Pairs([2]string{"of", e.Resource.ID}, [2]string{"workspace", e.WorkspaceID}, [2]string{"session", e.SessionID}, [2]string{"task", e.TaskID},
		[2]string{"by", e.Actor}, [2]string{"trace", e.TraceID}, [2]string{"tells", show.OneLine(string(e.Payload))})
}

func (a *app) eventTailCommand() *cobra.Command {
	var e eventFilter
	return a.node(page{
		use:   "tail",
		short: "Show events as they happen, until it is interrupted",
		long: `Tail shows the events that are kept, or those after the event that --after names, and
goes on with those to come until Ctrl-C. When the connection breaks it is made again after
the last event that was seen: nothing is missed or repeated.`,
		example: "  wharf event tail\n  wharf event tail --session sess_01K0... --after 4711\n  wharf event tail --json | jq .event",
		flags:   e.flags,
	}, steps(func(ctx context.Context, c *client.Client, _ []string) error {
		stream := client.CallStream(e.call("/v1/events/stream"))
		stream.After = e.after
		stream.Broken = func(err error) {
			fmt.Fprintf(a.stderr, "wharf: %s; trying again\n", show.OneLine(err.Error()))
		}
		for ev, err := range c.Follow(ctx, stream) {
			if err != nil {
				return err
			}
			_ = a.print(ev.JSON, func() { a.out.Event(&ev.Value, time.Time{}) }) // JSON that was read can be written
		}
		return nil
	}))
}
