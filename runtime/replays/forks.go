package replays

import (
	"context"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/desk"
	"github.com/wharf-dev/wharf/runtime/journal"
)

// ForkTask accepts a Task that shares the record of another up to an event, and
// is live from there. Unless it stays in the same Session, it gets a fork of it.
func (k *Keeper) ForkTask(ctx context.Context, c *desk.Caller, r *desk.Retry, id string, req abi.ForkTaskRequest) (desk.Doc, error) {
	source, _, err := desk.Find[abi.Task](ctx, k.parts.Desk, c, abi.ObjectTask, id)
	if err != nil {
		return desk.Doc{}, err
	}
	if source.Replay != nil {
		return desk.Doc{}, abi.Errorf(abi.CodeInvalidRequest, "task %s is a replay: fork its source, %s", id, source.Replay.SourceTaskID)
	}
	rec, err := k.parts.Records.Of(ctx, c.Tenant, &source)
	if err != nil {
		return desk.Doc{}, desk.Refusal(err)
	}
	calls := journal.Closed(rec.Entries)
	if req.AtEventID != "" {
		if err := k.checkForkPoint(ctx, c, &source, req.AtEventID); err != nil {
			return desk.Doc{}, err
		}
		if calls, err = callsUpTo(rec, "at_event_id", req.AtEventID); err != nil {
			return desk.Doc{}, err
		}
	}
	for calls > 0 && (rec.Entries[calls-1].Call == abi.CallGate || rec.Entries[calls-1].Call == abi.CallHooks) {
		calls-- // what was approved for one Task is not approved for another
	}
	if req.AtEventID == "" && calls > 0 && !source.Status.Terminal() { // what it does meanwhile is not shared
		req.AtEventID = rec.Entries[calls-1].EventID
	}
	sessionID, err := k.forkedSession(ctx, c, r, &source, req)
	if err != nil {
		return desk.Doc{}, err
	}
	return k.parts.Submit(ctx, c, r, sessionID, func() (*Derived, error) { return k.newFork(ctx, c, &source, sessionID, calls, req) })
}

// checkForkPoint refuses to fork a Task at an event that is not one of its Session's.
// Event 0 is before all.
func (k *Keeper) checkForkPoint(ctx context.Context, c *desk.Caller, source *abi.Task, event string) error {
	if event == "0" {
		return nil
	}
	s, _, err := desk.Find[abi.Session](ctx, k.parts.Desk, c, abi.ObjectSession, source.SessionID)
	if err == nil {
		_, err = k.parts.Sessions.ForkPoint(ctx, c, &s, event)
	}
	return err
}

// forkedSession returns the Session that a forked Task lives in.
func (k *Keeper) forkedSession(ctx context.Context, c *desk.Caller, r *desk.Retry, source *abi.Task, req abi.ForkTaskRequest) (string, error) {
	if req.SameSession {
		return source.SessionID, k.parts.Controls(c, source.SessionID)
	}
	at := req.AtEventID
	if at == "0" { // the Session as it was when the source was submitted
		res, err := k.parts.Ledger.Find(ctx, c.Tenant, abi.ObjectTask, source.ID)
		if err != nil {
			return "", err
		}
		at = res.Origin.String()
	}
	doc, err := k.parts.Sessions.ForkSession(ctx, c, r.Part("session"), source.SessionID, abi.ForkSessionRequest{AtEventID: at})
	return doc.ID, err
}

func (k *Keeper) newFork(ctx context.Context, c *desk.Caller, source *abi.Task, session string, calls int, req abi.ForkTaskRequest) (*Derived, error) {
	if err := desk.CheckMetadata(&req.Metadata); err != nil {
		return nil, err
	}
	t := &abi.Task{
		Envelope:  abi.NewEnvelope(abi.ObjectTask, k.parts.IDs.New(abi.ObjectTask), k.parts.Now(), req.Metadata),
		SessionID: session, WorkspaceID: source.WorkspaceID, CreatedBy: c.Actor, PersonaID: source.PersonaID,
		ParentTaskID: source.ID, InputMessageID: source.InputMessageID, Module: source.Module, PersonaVersion: source.PersonaVersion,
		Fork: &abi.TaskFork{SourceTaskID: source.ID, AtEventID: req.AtEventID, Calls: calls}, Run: source.Run,
	}
	return k.derived(ctx, c.Tenant, t, source)
}

// callsUpTo returns how many calls were complete at an event.
func callsUpTo(rec *journal.Record, param, event string) (int, error) {
	at, ok := desk.ParsePosition(event)
	if !ok {
		return 0, abi.InvalidParam(param, "%q is not an event id", event)
	}
	n := 0
	for i := range rec.Entries {
		p, _ := desk.ParsePosition(rec.Entries[i].EventID)
		if rec.Entries[i].Open || p > at {
			break
		}
		n++
	}
	return n, nil
}
