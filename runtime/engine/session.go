package engine

import (
	"context"
	"fmt"
	"math"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/storage"
)

// CreateSession opens a Session in a Workspace that the caller may see.
func (e *Engine) CreateSession(ctx context.Context, c *Caller, r *Retry, req abi.CreateSessionRequest) (Doc, error) {
	if err := checkPresent("workspace_id", req.WorkspaceID); err != nil {
		return Doc{}, err
	}
	if err := e.checkWorkspace(ctx, c, req.WorkspaceID); err != nil {
		return Doc{}, err
	}
	return e.once(ctx, c, r, req.WorkspaceID, func(idem *storage.Idempotency) (Doc, error) {
		if err := checkMetadata(&req.Metadata); err != nil {
			return Doc{}, err
		}
		if req.PersonaID != "" {
			if _, err := e.persona(ctx, c.Tenant, req.PersonaID); err != nil {
				return Doc{}, err
			}
		}
		err := firstError(e.checkVaultIDs(ctx, c, req.WorkspaceID, req.VaultIDs),
			e.checkMemoryIDs(ctx, c, req.WorkspaceID, req.MemoryIDs), e.checkSkillIDs(ctx, c, req.SkillIDs))
		if err != nil {
			return Doc{}, err
		}
		s := e.newSession(req.WorkspaceID, req.PersonaID)
		s.VaultIDs, s.MemoryIDs, s.SkillIDs = req.VaultIDs, req.MemoryIDs, req.SkillIDs
		s.RootSessionID = s.ID
		if req.Metadata != nil {
			s.Metadata = req.Metadata
		}
		records := []record{{kind: abi.EventSessionCreated, object: abi.ObjectSession, id: s.ID, created: true, state: s}}
		for i := range req.InitialMessages {
			m, err := e.said(ctx, c, &req.InitialMessages[i], s.ID, "")
			if err != nil {
				return Doc{}, within(fmt.Sprintf("initial_messages[%d]", i), err)
			}
			records = append(records, messageRecord(m))
		}
		return e.commit(c, s.ID, s.WorkspaceID, idem, statusCreated, records...)
	})
}

func (e *Engine) newSession(workspace, persona string) *abi.Session {
	id := e.ids.New(abi.ObjectSession)
	return &abi.Session{
		Envelope:    abi.NewEnvelope(abi.ObjectSession, id, e.now(), nil),
		WorkspaceID: workspace, PersonaID: persona, State: abi.SessionActive,
		Transcript: "/v1/sessions/" + id + "/messages",
	}
}

// within puts the place of a nested value before an error's param.
func within(at string, err error) error {
	if own, ok := err.(*abi.Error); ok && own.Param != "" {
		own.Param = at + "." + own.Param
	}
	return err
}

// UpdateSession changes a Session's summary and metadata.
func (e *Engine) UpdateSession(ctx context.Context, c *Caller, r *Retry, id string, req abi.UpdateSessionRequest) (Doc, error) {
	return e.changeSession(ctx, c, r, id, func(s *abi.Session) (record, error) {
		if err := checkMetadata(&req.Metadata); err != nil {
			return record{}, err
		}
		if req.Metadata != nil {
			s.Metadata = req.Metadata
		}
		req.Summary.Apply(&s.Summary)
		return record{kind: abi.EventSessionUpdated}, nil
	})
}

// CloseSession ends a Session: it takes no more Tasks and Messages.
func (e *Engine) CloseSession(ctx context.Context, c *Caller, r *Retry, id string) (Doc, error) {
	return e.changeSession(ctx, c, r, id, func(s *abi.Session) (record, error) {
		if s.State == abi.SessionClosed {
			return record{}, abi.Errorf(abi.CodeInvalidStateTransition, "session %s is closed already", id)
		}
		s.State = abi.SessionClosed
		return record{kind: abi.EventSessionClosed}, nil
	})
}

// TruncateSession keeps the first N turns of a Session, in place. A turn is a
// Message.
func (e *Engine) TruncateSession(ctx context.Context, c *Caller, r *Retry, id string, req abi.TruncateSessionRequest) (Doc, error) {
	keep, err := keepTurns(req)
	if err != nil {
		return Doc{}, err
	}
	return e.changeSession(ctx, c, r, id, func(s *abi.Session) (record, error) {
		if err := sessionOpen(s); err != nil {
			return record{}, err
		}
		if err := e.store.Sync(ctx); err != nil { // for the Messages that are on their way
			return record{}, e.failed("waiting for the session's messages", err)
		}
		cut, found, err := e.store.Turn(ctx, c.Tenant, id, keep)
		if err != nil {
			return record{}, e.failed("finding the turn to cut at", err)
		}
		if !found { // there are no more turns than that: nothing is dropped
			cut = logEnd
		}
		return record{
			kind: abi.EventSessionTruncated, payload: map[string]int{"keep_turns": keep},
			transcript: storage.TranscriptOp{Kind: storage.TranscriptTruncate, At: cut},
		}, nil
	})
}

func keepTurns(req abi.TruncateSessionRequest) (int, error) {
	for _, n := range []*int{req.KeepTurns, req.Turns, req.Keep} {
		if n == nil {
			continue
		}
		if *n < 0 {
			return 0, abi.InvalidParam("keep_turns", "keep_turns must not be negative")
		}
		return *n, nil
	}
	return 0, abi.InvalidParam("keep_turns", `missing required member "keep_turns"`)
}

// changeSession changes a Session itself. change gets a copy of it and returns
// the event that tells the change; object, id and state are filled in. Nothing is handed
// over for the Session meanwhile.
func (e *Engine) changeSession(ctx context.Context, c *Caller, r *Retry, id string, change func(*abi.Session) (record, error)) (Doc, error) {
	s, release, err := e.openSession(ctx, c, id)
	if err != nil {
		return Doc{}, err
	}
	defer release()
	return e.once(ctx, c, r, s.workspace(), func(idem *storage.Idempotency) (Doc, error) {
		s.mu.Lock()
		defer s.mu.Unlock()
		next := s.state
		rec, err := change(&next)
		if err != nil {
			return Doc{}, err
		}
		next.UpdatedAt = abi.At(e.now())
		rec.object, rec.id, rec.seq, rec.state = abi.ObjectSession, id, s.seq+1, &next
		doc, err := e.commit(c, id, next.WorkspaceID, idem, statusOK, rec)
		if err != nil {
			return Doc{}, err
		}
		s.state, s.seq = next, s.seq+1
		return doc, nil
	})
}

// ForkSession opens a Session that begins with another one's transcript, whole or
// up to an event, on a Branch of its own.
func (e *Engine) ForkSession(ctx context.Context, c *Caller, r *Retry, id string, req abi.ForkSessionRequest) (Doc, error) {
	parent, release, err := e.openSession(ctx, c, id)
	if err != nil {
		return Doc{}, err
	}
	defer release()
	return e.once(ctx, c, r, parent.workspace(), func(idem *storage.Idempotency) (Doc, error) {
		if err := checkMetadata(&req.Metadata); err != nil {
			return Doc{}, err
		}
		if req.BranchID != "" { // before the Session, as a merge does
			unlock := e.locks.lock(c.Tenant, req.BranchID)
			defer unlock()
		}
		parent.mu.RLock()
		from := parent.state
		parent.mu.RUnlock()
		at, err := e.forkPoint(ctx, c, &from, req.AtEventID)
		if err != nil {
			return Doc{}, err
		}
		kept, err := e.carriedAt(ctx, c, &from, min(at, e.store.Watermark()))
		if err != nil {
			return Doc{}, err
		}
		parent.mu.Lock()
		defer parent.mu.Unlock()
		return e.fork(ctx, c, parent, at, kept, idem, req)
	})
}

// fork writes the fork and then tells the parent's watchers. The caller holds
// parent.mu.
func (e *Engine) fork(ctx context.Context, c *Caller, parent *session, at Position, kept *carried, idem *storage.Idempotency, req abi.ForkSessionRequest) (Doc, error) {
	from := &parent.state
	child := e.newSession(from.WorkspaceID, from.PersonaID)
	child.ParentSessionID, child.RootSessionID, child.Summary = from.ID, from.RootSessionID, from.Summary
	child.Metadata, child.VaultIDs, child.MemoryIDs, child.SkillIDs = from.Metadata, from.VaultIDs, from.MemoryIDs, from.SkillIDs
	if req.Metadata != nil {
		child.Metadata = req.Metadata
	}
	records := []record{{
		kind: abi.EventSessionCreated, object: abi.ObjectSession, id: child.ID, created: true, state: child,
		payload:    map[string]string{"forked_from": from.ID, "at_event_id": req.AtEventID},
		transcript: storage.TranscriptOp{Kind: storage.TranscriptCopy, From: from.ID, At: at},
	}}
	if req.BranchID == "" {
		b := e.newBranch(from.WorkspaceID, abi.BranchSession, forkRef(from.ID, req.AtEventID), c.Actor)
		b.SessionID, b.ParentBranchID = child.ID, from.BranchID
		child.BranchID = b.ID
		records = append(records, record{kind: abi.EventBranchCreated, object: abi.ObjectBranch, id: b.ID, created: true, state: b})
	} else {
		taken, err := e.takeBranch(ctx, c, req.BranchID, from.WorkspaceID, child.ID)
		if err != nil {
			return Doc{}, err
		}
		child.BranchID, records = req.BranchID, append(records, taken...)
	}
	begins, err := e.carriedRecords(ctx, c, kept, child)
	if err != nil {
		return Doc{}, err
	}
	doc, err := e.commit(c, child.ID, from.WorkspaceID, idem, statusCreated, append(records, begins...)...)
	if err != nil {
		return Doc{}, err
	}
	_, err = e.commit(c, from.ID, from.WorkspaceID, nil, 0, record{
		kind: abi.EventSessionThreadForked, object: abi.ObjectSession, id: from.ID, seq: parent.seq + 1, state: from,
		payload: map[string]string{"forked_session_id": child.ID, "branch_id": child.BranchID},
	})
	if err == nil {
		parent.seq++
	}
	return doc, err
}

func forkRef(session, event string) string {
	if event == "" {
		return "session:" + session
	}
	return "session:" + session + "@" + event
}

// forkPoint checks that an event belongs to a Session's lineage. An empty id is
// the end.
func (e *Engine) forkPoint(ctx context.Context, c *Caller, s *abi.Session, event string) (Position, error) {
	if event == "" {
		return logEnd, nil
	}
	p, ok := ParsePosition(event)
	if !ok {
		return 0, abi.InvalidParam("at_event_id", "%q is not an event id", event)
	}
	ev, err := e.Event(ctx, c, p)
	if err != nil {
		return 0, err
	}
	const maxDepth = 1000
	for depth := 0; depth < maxDepth; depth++ {
		if ev.Frame.SessionID == s.ID {
			return p, nil
		}
		if s.ParentSessionID == "" {
			break
		}
		parent, _, err := findAs[abi.Session](ctx, e, c, abi.ObjectSession, s.ParentSessionID)
		if err != nil {
			return 0, err
		}
		s = &parent
	}
	return 0, abi.InvalidParam("at_event_id", "event %s is not one of this session or of those it was forked from", event)
}

// CreateBranch records a Branch of a Session.
func (e *Engine) CreateBranch(ctx context.Context, c *Caller, r *Retry, sessionID string, req abi.CreateBranchRequest) (Doc, error) {
	err := firstError(
		checkOneOf("kind", req.Kind, abi.BranchWorkspace, abi.BranchSession, abi.BranchTask, abi.BranchSandbox),
		checkPresent("base_ref", req.BaseRef), checkMetadata(&req.Metadata))
	if err != nil {
		return Doc{}, err
	}
	s, release, err := e.openSession(ctx, c, sessionID)
	if err != nil {
		return Doc{}, err
	}
	defer release()
	workspace := s.workspace()
	return e.once(ctx, c, r, workspace, func(idem *storage.Idempotency) (Doc, error) {
		if err := e.checkBranchLineage(ctx, c, req); err != nil {
			return Doc{}, err
		}
		b := e.newBranch(workspace, req.Kind, req.BaseRef, c.Actor)
		b.SessionID, b.ParentBranchID, b.TaskID = sessionID, firstOf(req.ParentBranchID, s.branch()), req.TaskID
		if req.Metadata != nil {
			b.Metadata = req.Metadata
		}
		return e.commit(c, sessionID, workspace, idem, statusCreated,
			record{kind: abi.EventBranchCreated, object: abi.ObjectBranch, id: b.ID, created: true, state: b})
	})
}

func (e *Engine) checkBranchLineage(ctx context.Context, c *Caller, req abi.CreateBranchRequest) error {
	if req.ParentBranchID != "" {
		if _, _, err := findAs[abi.Branch](ctx, e, c, abi.ObjectBranch, req.ParentBranchID); err != nil {
			return err
		}
	}
	if req.TaskID == "" {
		return nil
	}
	_, _, err := findAs[abi.Task](ctx, e, c, abi.ObjectTask, req.TaskID)
	return err
}

func (e *Engine) newBranch(workspace string, kind abi.BranchKind, base, actor string) *abi.Branch {
	return &abi.Branch{
		Envelope:    abi.NewEnvelope(abi.ObjectBranch, e.ids.New(abi.ObjectBranch), e.now(), nil),
		WorkspaceID: workspace, Kind: kind, BaseRef: base, CreatedBy: actor,
	}
}

// commit appends records of a Session (or, with an empty session, of a
// Workspace), waits for the disk and answers with the first one's resource.
func (e *Engine) commit(c *Caller, session, workspace string, idem *storage.Idempotency, status int, records ...record) (Doc, error) {
	doc, commit, err := e.appendUnsynced(c, session, workspace, idem, status, records...)
	if err != nil {
		return Doc{}, err
	}
	position, err := commit.Wait(context.Background())
	if err != nil {
		return Doc{}, e.failed("writing to the log", err)
	}
	if records[0].object == abi.ObjectSession {
		doc.JSON = withLastEvent(doc.JSON, position+Position(len(records)-1))
	}
	return doc, nil
}

// appendUnsynced is commit without waiting for the disk.
func (e *Engine) appendUnsynced(c *Caller, session, workspace string, idem *storage.Idempotency, status int, records ...record) (Doc, storage.Commit, error) {
	encoded, err := encode(records...)
	if err != nil {
		return Doc{}, nil, err
	}
	b := batch(storage.Frame{
		Tenant: c.Tenant, Time: e.now(), WorkspaceID: workspace, SessionID: session, Actor: c.Actor, Records: encoded,
	}, idem, status, 0)
	return Doc{ID: records[0].id, JSON: encoded[0].State, Restricted: records[0].restricted}, e.store.Append(b), nil
}

// logEnd is a position after every event there will ever be.
const logEnd Position = math.MaxUint64 - 1
