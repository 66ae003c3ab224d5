package main

import (
	"context"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/cmd/wharf/internal/client"
	"github.com/wharf-dev/wharf/cmd/wharf/internal/show"
)

func (a *app) holdCommand() *cobra.Command {
	return family(page{
		use:   "hold",
		short: "Keep something from being deleted",
		long: `A Hold keeps a Workspace, a Session, a Task or an Artifact from being deleted until it is
released: by anybody, and by retention. That on a Workspace or a Session is for all that is in
it. The key needs the scope holds:write, which no key has unless it was given on purpose.`,
		example: `  wharf hold place task_01K0... --reason "case 4711"
  wharf hold list
  wharf hold release task_01K0...`,
	}, a.holdPlaceCommand(), a.holdListCommand(), a.holdReleaseCommand())
}

func (a *app) holdPlaceCommand() *cobra.Command {
	var req abi.PlaceHoldRequest
	return a.node(page{
		use:   "place ID",
		short: "Have something kept until its Hold is released",
		long: `Place puts a Hold on a Workspace, a Session, a Task or an Artifact. What has one already keeps
it, and gets the new reason.`,
		example: `  wharf hold place ws_01K0... --reason "case 4711"`,
		args:    oneArg("the id of a Workspace, a Session, a Task or an Artifact"),
		flags:   func(f *pflag.FlagSet) { f.StringVar(&req.Reason, "reason", "", "why, for whoever reads it later") },
		check: func(*cobra.Command, []string) error {
			if req.Reason == "" {
				return usagef("--reason is missing: say why nobody may delete it")
			}
			return nil
		},
	}, ask[abi.Hold]{
		call: sends(func(args []string) client.Call {
			req.ResourceID = args[0]
			return client.Post(req, "/wharf/v1/holds")
		}),
		text: func(h *abi.Hold) { a.out.Line(h.Resource.ID, " is kept: ", show.OneLine(h.Reason)) },
	})
}

func (a *app) holdListCommand() *cobra.Command {
	var workspace string
	var limit int
	return a.node(page{
		use:     "list",
		short:   "List Holds, newest first",
		long:    "List shows Holds, newest first, with those that were released: at most --limit of them.",
		example: "  wharf hold list\n  wharf hold list --workspace ws_01K0... --json",
		flags: func(f *pflag.FlagSet) {
			f.StringVar(&workspace, "workspace", "", "only Holds in this Workspace")
			f.IntVar(&limit, "limit", 20, "the most Holds to show")
		},
		check: func(*cobra.Command, []string) error {
			if limit < 1 {
				return usagef("--limit: %d is less than 1", limit)
			}
			return nil
		},
	}, list[abi.Hold]{
		call: sends(func([]string) client.Call {
			return client.Get("/wharf/v1/holds").Narrow("workspace_id", workspace).Most(limit)
		}),
		titles: []string{"ON", "REASON", "PLACED", "RELEASED"},
		row: func(h *abi.Hold) []show.Cell {
			released := ""
			if !h.ReleasedAt.IsZero() {
				released = show.Ago(h.ReleasedAt, time.Now())
			}
			return []show.Cell{{Text: h.Resource.ID}, {Text: show.OneLine(h.Reason)}, {Text: show.Ago(h.CreatedAt, time.Now())}, {Text: released}}
		},
		none: "no holds",
	})
}

func (a *app) holdReleaseCommand() *cobra.Command {
	return a.node(page{
		use:   "release ID",
		short: "Let something be deleted again",
		long: `Release takes the Hold from a Workspace, a Session, a Task or an Artifact. The Hold stays in
the list, and says who has released it.`,
		example: "  wharf hold release task_01K0...",
		args:    oneArg("the id of what the Hold is on"),
	}, ask[abi.Hold]{
		call: sends(func(args []string) client.Call {
			return client.Post(nil, "/wharf/v1/holds/{}/release", abi.IDPrefix(abi.ObjectHold)+args[0])
		}),
		text: func(h *abi.Hold) { a.out.Line(h.Resource.ID, " can be deleted again") },
		tips: tips{abi.CodeResourceNotFound: "wharf hold list"},
	})
}

func (a *app) taskDeleteCommand() *cobra.Command {
	return a.node(page{
		use:   "delete ID",
		short: "Delete a Task that has ended, with all that belongs to it",
		long: `Delete has a Task shown to nobody any more, and erases it: its events, its Outcome, its
Artifacts, and all content that nothing else refers to. While replays or forks of it are left,
what they share stays. Its Messages stay with their Session, and its receipt stays.`,
		example: "  wharf task delete task_01K0...",
		args:    oneArg("the id of a Task"),
	}, a.deletes("/wharf/v1/tasks/{}", "wharf task list"))
}

func (a *app) artifactDeleteCommand() *cobra.Command {
	return a.node(page{
		use:   "delete ID",
		short: "Delete an Artifact, and its content",
		long: `Delete has an Artifact shown to nobody any more, and erases its content: at once, or with the
Task whose plugin made it, for a replay of that needs it until then.`,
		example: "  wharf artifact delete art_01K0...",
		args:    oneArg(anArtifact),
	}, a.deletes("/wharf/v1/artifacts/{}", "wharf artifact list"))
}

// deletes sends a DELETE for what the argument names; list says what to look at when there is no such thing.
func (a *app) deletes(path, list string) action {
	return steps(func(ctx context.Context, c *client.Client, args []string) error {
		if err := c.Send(ctx, client.Delete(path, args[0])); err != nil {
			return hint(err, abi.CodeResourceNotFound, list)
		}
		if !a.json {
			a.out.Line(args[0], " is deleted")
		}
		return nil
	})
}
