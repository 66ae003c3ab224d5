package main

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/cmd/wharf/internal/client"
	"github.com/wharf-dev/wharf/cmd/wharf/internal/show"
)

const aSession = "the id of a Session (see \"wharf session list\")"

func (a *app) sessionCommand() *cobra.Command {
	return family(page{
		use:   "session",
		short: "List, start, steer, pause, fork and end Sessions: conversations that Tasks belong to",
		long: `A Session is a conversation in a Workspace: its Messages, and the Tasks that work on
them. One that is paused takes no new Tasks; one that is closed takes nothing any
more; one that is deleted is shown nowhere. While Tasks work, more is said to them by
inject and remind, and clients that watch a Session are told which one controls it.
docs/sessions.md, docs/inbox.md and docs/live-sessions.md have the rest.`,
		example: `  wharf session create --persona persona_agent
  wharf session list --state paused
  wharf session fork sess_01K0... --at 4711`,
	}, slices.Concat([]*cobra.Command{a.sessionListCommand(), a.sessionShowCommand(), a.sessionCreateCommand(),
		a.sessionStateCommand("pause", "Have a Session take no new Tasks until it is resumed", "/wharf/v1/sessions/{}/pause",
			"Tasks that it has taken already run on, with those that they spawn. Messages are taken."),
		a.sessionStateCommand("resume", "Have a paused Session take Tasks again", "/wharf/v1/sessions/{}/resume",
			"A Session that is not paused stays as it is, and the command fails."),
		a.sessionStateCommand("close", "End a Session: it takes no more Tasks and Messages", "/v1/sessions/{}/close",
			"What it has stays readable. A Session that is closed cannot be opened again; fork it."),
		a.sessionForkCommand(), a.sessionDeleteCommand()}, a.sessionTalkCommands(), a.sessionInboxCommands(), a.sessionLiveCommands())...)
}

func (a *app) sessionListCommand() *cobra.Command {
	var workspace, persona, state string
	var limit int
	return a.node(page{
		use:   "list",
		short: "List Sessions, newest first",
		long: `List shows Sessions, newest first: at most --limit of them, of the given Workspace,
Persona and state. A state is one of ACTIVE, IDLE, PAUSED, CLOSED and FAILED.`,
		example: `  wharf session list
  wharf session list --workspace ws_01K0... --state paused --limit 100
  wharf session list --json`,
		flags: func(f *pflag.FlagSet) {
			f.StringVar(&workspace, "workspace", "", "only Sessions of this Workspace")
			f.StringVar(&persona, "persona", "", "only Sessions that name this Persona")
			f.StringVar(&state, "state", "", "only Sessions in this state")
			f.IntVar(&limit, "limit", 20, "the most Sessions to show")
		},
		check: func(*cobra.Command, []string) error {
			state = strings.ToUpper(state)
			switch {
			case state != "" && !slices.Contains(abi.SessionStates(), abi.SessionState(state)):
				return usagef("--state: %q is not a state: they are %s", state, join(abi.SessionStates()))
			case limit < 1:
				return usagef("--limit: %d is less than 1", limit)
			}
			return nil
		},
	}, list[abi.Session]{
		call: func(cmd *cobra.Command, _ []string) (client.Call, error) {
			err := a.namedPersona(cmd.Context(), &persona)
			return client.Get("/v1/sessions").Narrow("workspace_id", workspace).Narrow("persona_id", persona).Narrow("status", state).Most(limit), err
		},
		titles: []string{"SESSION", "STATE", "WORKSPACE", "PERSONA", "SUMMARY", "STARTED"},
		row:    sessionRow,
		none:   "no sessions",
	})
}

func sessionRow(s *abi.Session) []show.Cell {
	return []show.Cell{{Text: s.ID}, {Text: string(s.State), Style: sessionStyle(s.State)}, {Text: s.WorkspaceID}, {Text: s.PersonaID},
		{Text: show.OneLine(s.Summary)}, {Text: show.Ago(s.CreatedAt, time.Now())}}
}

func sessionStyle(s abi.SessionState) show.Style {
	switch s {
	case abi.SessionActive, abi.SessionIdle:
		return show.Green
	case abi.SessionFailed:
		return show.Red
	}
	return show.Yellow
}

func (a *app) sessionShowCommand() *cobra.Command {
	return a.node(page{
		use:     "show ID",
		short:   "Show a Session",
		long:    "Show shows where a Session belongs, what it was forked from, and what its Tasks may name.",
		example: "  wharf session show sess_01K0...\n  wharf session show sess_01K0... --json",
		args:    oneArg(aSession),
	}, a.session(gets("/v1/sessions/{}")))
}

// session is a request that a Session answers.
func (a *app) session(call caller) ask[abi.Session] {
	return ask[abi.Session]{call: call, text: a.showSession,
		tips: tips{abi.CodeResourceNotFound: "wharf session list", abi.CodeConflict: "wharf session show {}", abi.CodeInvalidStateTransition: "wharf session show {}"}}
}

func (a *app) showSession(s *abi.Session) {
	a.out.Line(s.ID, "  ", a.out.Paint(sessionStyle(s.State), string(s.State)))
	refs := make([]string, len(s.Refs))
	for i, r := range s.Refs {
		refs[i] = r.Kind + "=" + r.Ref
	}
	a.out.Pairs([2]string{"workspace", s.WorkspaceID}, [2]string{"persona", s.PersonaID}, [2]string{"summary", show.OneLine(s.Summary)},
		[2]string{"started", stamp(s.CreatedAt)}, [2]string{"changed", stamp(s.UpdatedAt)},
		[2]string{"forked from", s.ParentSessionID}, [2]string{"branch", s.BranchID}, [2]string{"last event", s.LastEventID},
		[2]string{"vaults", strings.Join(s.VaultIDs, " ")}, [2]string{"memories", strings.Join(s.MemoryIDs, " ")},
		[2]string{"skills", strings.Join(s.SkillIDs, " ")}, [2]string{"called", strings.Join(refs, " ")})
}

func (a *app) sessionCreateCommand() *cobra.Command {
	var req abi.CreateSessionRequest
	var refs []string
	return a.node(page{
		use:   "create",
		short: "Start a Session",
		long: `Create starts a Session and shows it. Its Tasks run as --persona, unless a Task names
another; without one they run as the node's default.`,
		example: `  wharf session create
  wharf session create --workspace ws_01K0... --persona persona_01K0... --skill skill_01K0... --json`,
		flags: func(f *pflag.FlagSet) {
			f.StringVar(&req.WorkspaceID, "workspace", "", "the Workspace that it is in (default the first that the key sees)")
			f.StringVar(&req.PersonaID, "persona", "", "the Persona that its Tasks run as")
			f.StringSliceVar(&req.SkillIDs, "skill", nil, "the only Skills that its Tasks may name (default all)")
			f.StringSliceVar(&req.Skills, "skill-bundle", nil, "skill bundles that its Tasks are to have, by name (see \"wharf skill list\")")
			f.StringSliceVar(&req.VaultIDs, "vault", nil, "Vaults whose secrets its Tasks can name")
			f.StringSliceVar(&req.MemoryIDs, "memory", nil, "Memories of others that its Tasks find as its own")
			f.StringArrayVar(&refs, "ref", nil, "what something outside calls it, KIND=REF")
		},
		check: func(cmd *cobra.Command, _ []string) (err error) {
			req.Refs, err = outsideRefs(cmd, refs)
			return err
		},
	}, steps(func(ctx context.Context, c *client.Client, _ []string) error {
		var err error
		if req.PersonaID, err = personaID(ctx, c, req.PersonaID); err != nil {
			return err
		}
		doc, err := newSession(ctx, c, req, "")
		if err != nil {
			return err
		}
		return a.print(doc.JSON, func() { a.showSession(&doc.Value) })
	}))
}

// outsideRefs reads references, KIND=REF.
func outsideRefs(cmd *cobra.Command, words []string) (refs []abi.OutsideRef, err error) {
	for _, w := range words {
		kind, ref, ok := strings.Cut(w, "=")
		if !ok {
			return nil, usagef("%s needs --ref KIND=REF, and not %q", cmd.CommandPath(), w)
		}
		refs = append(refs, abi.OutsideRef{Kind: kind, Ref: ref})
	}
	return refs, nil
}

// sessionStateCommand makes a command that changes the state of a Session.
func (a *app) sessionStateCommand(use, short, path, more string) *cobra.Command {
	return a.node(page{
		use:     use + " ID",
		short:   short,
		long:    short + ".\n" + more,
		example: "  wharf session " + use + " sess_01K0...",
		args:    oneArg(aSession),
	}, a.session(sends(func(args []string) client.Call { return client.Post(nil, path, args[0]) })))
}

func (a *app) sessionForkCommand() *cobra.Command {
	var req abi.ForkSessionRequest
	return a.node(page{
		use:   "fork ID",
		short: "Start a Session that begins with another one's Messages",
		long: `Fork starts a Session with the Messages of another one: all, or those up to an event.
What happens in one of them afterwards does not happen in the other.`,
		example: `  wharf session fork sess_01K0...
  wharf session fork sess_01K0... --at 4711 --json`,
		args: oneArg(aSession),
		flags: func(f *pflag.FlagSet) {
			f.StringVar(&req.AtEventID, "at", "", "the id of the last event that both share (default the newest)")
			f.StringVar(&req.BranchID, "branch", "", "the Branch that the fork goes along (default a new one)")
		},
	}, a.session(sends(func(args []string) client.Call { return client.Post(req, "/v1/sessions/{}/fork", args[0]) })))
}

func (a *app) sessionDeleteCommand() *cobra.Command {
	return a.node(page{
		use:   "delete ID",
		short: "Delete a Session, with its Messages and Tasks",
		long: `Delete closes a Session, shows it to nobody any more, and erases it with its Messages and its
Tasks, once those that run have ended and nothing that was forked from it is left. Receipts
stay.`,
		example: "  wharf session delete sess_01K0...",
		args:    oneArg(aSession),
	}, a.deletes("/wharf/v1/sessions/{}", "wharf session list"))
}
