package engine

import (
	"context"
	"slices"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/desk"
	"github.com/wharf-dev/wharf/runtime/journal"
	"github.com/wharf-dev/wharf/runtime/ledger"
	"github.com/wharf-dev/wharf/storage"
)

// ForkTask accepts a Task that shares the record of another up to an event, and
// is live from there. Unless it stays in the same Session, it gets a fork of it.
func (e *Engine) ForkTask(ctx context.Context, c *desk.Caller, r *desk.Retry, id string, req abi.ForkTaskRequest) (desk.Doc, error) {
	source, _, err := desk.Find[abi.Task](ctx, e.Desk, c, abi.ObjectTask, id)
	if err != nil {
		return desk.Doc{}, err
	}
	if source.Replay != nil {
		return desk.Doc{}, abi.Errorf(abi.CodeInvalidRequest, "task %s is a replay: fork its source, %s", id, source.Replay.SourceTaskID)
	}
	rec, err := e.taskRecord(ctx, c.Tenant, &source)
	if err != nil {
		return desk.Doc{}, desk.Refusal(err)
	}
	calls := journal.Closed(rec.Entries)
	if req.AtEventID != "" {
		if err := e.checkForkPoint(ctx, c, &source, req.AtEventID); err != nil {
			return desk.Doc{}, err
		}
		if calls, err = callsUpTo(rec, "at_event_id", req.AtEventID); err != nil {
			return desk.Doc{}, err
		}
	}
	if calls > 0 && rec.Entries[calls-1].Call == abi.CallGate {
		calls-- // what was approved for one Task is not approved for another
	}
	if req.AtEventID == "" && calls > 0 && !source.Status.Terminal() { // what it does meanwhile is not shared
		req.AtEventID = rec.Entries[calls-1].EventID
	}
	sessionID, err := e.forkedSession(ctx, c, r, &source, req)
	if err != nil {
		return desk.Doc{}, err
	}
	return e.submit(ctx, c, r, sessionID, func(*ledger.Session) (*task, *abi.Message, error) {
		if err := e.open(); err != nil {
			return nil, nil, err
		}
		t, err := e.newFork(ctx, c, &source, sessionID, calls, req)
		return t, nil, err
	})
}

// checkForkPoint refuses to fork a Task at an event that is not one of its Session's.
// Event 0 is before all.
func (e *Engine) checkForkPoint(ctx context.Context, c *desk.Caller, source *abi.Task, event string) error {
	if event == "0" {
		return nil
	}
	s, _, err := desk.Find[abi.Session](ctx, e.Desk, c, abi.ObjectSession, source.SessionID)
	if err == nil {
		_, err = e.ForkPoint(ctx, c, &s, event)
	}
	return err
}

// forkedSession returns the Session that a forked Task lives in.
func (e *Engine) forkedSession(ctx context.Context, c *desk.Caller, r *desk.Retry, source *abi.Task, req abi.ForkTaskRequest) (string, error) {
	if req.SameSession {
		return source.SessionID, nil
	}
	at := req.AtEventID
	if at == "0" { // the Session as it was when the source was submitted
		res, err := e.ledger.Find(ctx, c.Tenant, abi.ObjectTask, source.ID)
		if err != nil {
			return "", err
		}
		at = res.Origin.String()
	}
	var retry *desk.Retry
	if r != nil {
		retry = &desk.Retry{Key: r.Key, Method: r.Method, Target: r.Target + "/session", Body: r.Body}
	}
	doc, err := e.ForkSession(ctx, c, retry, source.SessionID, abi.ForkSessionRequest{AtEventID: at})
	return doc.ID, err
}

func (e *Engine) newFork(ctx context.Context, c *desk.Caller, source *abi.Task, session string, calls int, req abi.ForkTaskRequest) (*task, error) {
	if err := desk.CheckMetadata(&req.Metadata); err != nil {
		return nil, err
	}
	t := &abi.Task{
		Envelope:  abi.NewEnvelope(abi.ObjectTask, e.ids.New(abi.ObjectTask), e.now(), req.Metadata),
		SessionID: session, WorkspaceID: source.WorkspaceID, CreatedBy: c.Actor, PersonaID: source.PersonaID,
		ParentTaskID: source.ID, InputMessageID: source.InputMessageID, Module: source.Module, PersonaVersion: source.PersonaVersion,
		Fork: &abi.TaskFork{SourceTaskID: source.ID, AtEventID: req.AtEventID, Calls: calls},
	}
	return e.derivedTask(ctx, c.Tenant, t, source)
}

// ReplaySession accepts an exact replay of every Task of a Session that has ended, oldest
// first, and returns the replay Tasks. It ends early when they are a full page: the next
// request goes on after the Task that the list's Next names.
func (e *Engine) ReplaySession(ctx context.Context, c *desk.Caller, r *desk.Retry, id string, req abi.ReplaySessionRequest, after string) (desk.DocList, error) {
	s, release, err := e.OpenSession(ctx, c, id)
	if err != nil {
		return desk.DocList{}, err
	}
	defer release()
	sources, err := e.replayable(ctx, c, id)
	if err != nil {
		return desk.DocList{}, err
	}
	sources = slices.DeleteFunc(sources, func(source string) bool { return source <= after })
	var list desk.DocList
	for i, source := range sources {
		var retry *desk.Retry
		if r != nil {
			retry = &desk.Retry{Key: r.Key, Method: r.Method, Target: r.Target + "/" + source, Body: r.Body}
		}
		doc, err := e.ReplayTask(ctx, c, retry, source, abi.ReplayTaskRequest{Reason: req.Reason})
		if err != nil {
			return desk.DocList{}, err
		}
		if list.Add(doc, maxSessionReplay) {
			list = list.End(source, i < len(sources)-1)
			break
		}
	}
	return list, e.tellSessionReplayed(c, s, list)
}

// tellSessionReplayed tells a Session's watchers of its replay.
func (e *Engine) tellSessionReplayed(c *desk.Caller, s *ledger.Session, list desk.DocList) error {
	ids := make([]string, len(list.Docs))
	for i, doc := range list.Docs {
		ids[i] = doc.ID
	}
	return s.Change(func(same *abi.Session, sequence uint64) error {
		_, err := e.Commit(c, same.ID, same.WorkspaceID, nil, 0, ledger.Record{
			Kind: abi.EventSessionReplayed, Object: abi.ObjectSession, ID: same.ID, Sequence: sequence, State: same,
			Payload: map[string]any{"replay_task_ids": ids},
		})
		return err
	})
}

// replayable lists a Session's Tasks that can be replayed, oldest first.
func (e *Engine) replayable(ctx context.Context, c *desk.Caller, session string) ([]string, error) {
	var ids []string
	page := storage.Page{Limit: 200}
	for {
		list, more, err := e.store.List(ctx, c.Tenant, abi.ObjectTask, desk.Scope{Object: abi.ObjectSession, ID: session}, page)
		if err != nil {
			return nil, e.ledger.Failed("listing the session's tasks", err)
		}
		for _, res := range list {
			page.After = res.ID
			var t abi.Task
			if err := ledger.Decode(res.State, &t); err != nil {
				return nil, err
			}
			if checkReplayable(&t) == nil && !t.StartedAt.IsZero() {
				ids = append([]string{t.ID}, ids...)
			}
		}
		if len(ids) > maxSessionReplay {
			return nil, abi.Errorf(abi.CodePayloadTooLarge, "the session has more than %d tasks: replay them one by one", maxSessionReplay)
		}
		if !more {
			return ids, nil
		}
	}
}

// maxSessionReplay is how many Tasks one request replays.
const maxSessionReplay = 1000
