package sessions

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"unicode/utf8"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/desk"
	"github.com/wharf-dev/wharf/runtime/ledger"
	"github.com/wharf-dev/wharf/runtime/personas"
	"github.com/wharf-dev/wharf/runtime/references"
	"github.com/wharf-dev/wharf/storage"
)

// CreateSession opens a Session in a Workspace that the caller may see.
func (k *Keeper) CreateSession(ctx context.Context, c *desk.Caller, r *desk.Retry, req abi.CreateSessionRequest) (desk.Doc, error) {
	if err := k.checkPlace(ctx, c, req.WorkspaceID); err != nil {
		return desk.Doc{}, err
	}
	return k.parts.Desk.Once(ctx, c, r, req.WorkspaceID, func(idem *storage.Idempotency) (desk.Doc, error) {
		s, records, err := k.draft(ctx, c, &req)
		if err != nil {
			return desk.Doc{}, err
		}
		return k.commitNew(ctx, c, idem, s, records)
	})
}

func (k *Keeper) checkPlace(ctx context.Context, c *desk.Caller, workspace string) error {
	if err := desk.CheckPresent("workspace_id", workspace); err != nil {
		return err
	}
	return k.parts.Desk.CheckWorkspace(ctx, c, workspace)
}

// draft checks what is asked for, and returns the Session with the records that make it.
func (k *Keeper) draft(ctx context.Context, c *desk.Caller, req *abi.CreateSessionRequest) (*abi.Session, []ledger.Record, error) {
	if err := k.checkNew(ctx, c, req); err != nil {
		return nil, nil, err
	}
	s := k.newSession(req.WorkspaceID, req.PersonaID)
	s.VaultIDs, s.MemoryIDs, s.SkillIDs, s.Skills = req.VaultIDs, req.MemoryIDs, req.SkillIDs, req.Skills
	s.RootSessionID, s.Refs, s.Name, s.Context = s.ID, req.Refs, req.Name, req.Context
	if req.Metadata != nil {
		s.Metadata = req.Metadata
	}
	records := []ledger.Record{{Kind: abi.EventSessionCreated, Object: abi.ObjectSession, ID: s.ID, Created: true, State: s}}
	for i := range req.InitialMessages {
		m, err := k.NewClientMessage(ctx, c, &req.InitialMessages[i], s.ID, "")
		if err != nil {
			return nil, nil, desk.Within(fmt.Sprintf("initial_messages[%d]", i), err)
		}
		records = append(records, MessageRecord(m))
	}
	return s, records, nil
}

// checkNew checks what a new Session is to have and to name.
func (k *Keeper) checkNew(ctx context.Context, c *desk.Caller, req *abi.CreateSessionRequest) error {
	if err := cmp.Or(desk.CheckMetadata(&req.Metadata), checkWords(req.Name, req.Context)); err != nil {
		return err
	}
	if req.PersonaID != "" {
		p, err := k.parts.PersonaIn(ctx, c.Tenant, req.WorkspaceID, req.PersonaID)
		if err != nil {
			return err
		}
		if err := personas.CheckServes(&p.Persona); err != nil {
			return err
		}
	}
	return cmp.Or(k.parts.CheckVaultIDs(ctx, c, req.WorkspaceID, req.VaultIDs),
		k.checkMemoryIDs(ctx, c, req.WorkspaceID, req.MemoryIDs), k.checkSkillIDs(ctx, c.Tenant, req.WorkspaceID, req.SkillIDs),
		k.parts.CheckSkillNames(c.Tenant, req.WorkspaceID, req.Skills), references.Check(req.Refs))
}

// Limits of what a Session is called and says.
const (
	maxName    = 100      // characters
	maxContext = 16 << 10 // bytes: each of its Tasks holds them
)

func checkWords(name, context string) error {
	if utf8.RuneCountInString(name) > maxName {
		return abi.InvalidParam("name", "name has at most %d characters", maxName)
	}
	if len(context) > maxContext {
		return abi.InvalidParam("context", "context has at most %d bytes; more belongs to the instructions of a persona", maxContext)
	}
	return nil
}

func (k *Keeper) newSession(workspace, persona string) *abi.Session {
	id := k.parts.IDs.New(abi.ObjectSession)
	return &abi.Session{
		Envelope:    abi.NewEnvelope(abi.ObjectSession, id, k.parts.Now(), nil),
		WorkspaceID: workspace, PersonaID: persona, State: abi.SessionActive,
		Transcript: abi.TranscriptName + id,
	}
}

// UpdateSession changes a Session's summary, skills, settings and metadata.
func (k *Keeper) UpdateSession(ctx context.Context, c *desk.Caller, r *desk.Retry, id string, req abi.UpdateSessionRequest) (desk.Doc, error) {
	return k.changeSession(ctx, c, r, id, func(s *abi.Session) (ledger.Record, error) {
		if err := desk.CheckMetadata(&req.Metadata); err != nil {
			return ledger.Record{}, err
		}
		if req.Metadata != nil {
			s.Metadata = req.Metadata
		}
		if req.Skills != nil {
			s.Skills = req.Skills
		}
		if err := k.changeSettings(ctx, c, s, &req); err != nil {
			return ledger.Record{}, err
		}
		req.Summary.Apply(&s.Summary)
		req.Name.Apply(&s.Name)
		req.Context.Apply(&s.Context)
		if err := checkWords(s.Name, s.Context); err != nil {
			return ledger.Record{}, err
		}
		return ledger.Record{Kind: abi.EventSessionUpdated}, k.parts.CheckSkillNames(c.Tenant, s.WorkspaceID, req.Skills)
	})
}

// changeSettings changes what Tasks of a Session have that name nothing else.
func (k *Keeper) changeSettings(ctx context.Context, c *desk.Caller, s *abi.Session, req *abi.UpdateSessionRequest) error {
	if req.PersonaID.To != "" {
		if err := k.checkPersona(ctx, c.Tenant, s.WorkspaceID, req.PersonaID.To); err != nil {
			return err
		}
	}
	model, err := k.modelNamed(req.Model.To)
	if err != nil {
		return err
	}
	req.PersonaID.Apply(&s.PersonaID)
	if req.Model.Given {
		s.Model = model
	}
	return nil
}

// checkPersona refuses a Persona as which no Task of a Workspace could run.
func (k *Keeper) checkPersona(ctx context.Context, t storage.Tenant, workspace, id string) error {
	p, err := k.parts.PersonaIn(ctx, t, workspace, id)
	if err != nil {
		return err
	}
	return cmp.Or(personas.CheckServes(&p.Persona), k.parts.CheckReceipts(&p.Persona))
}

// CloseSession ends a Session: it takes no more Tasks and Messages.
func (k *Keeper) CloseSession(ctx context.Context, c *desk.Caller, r *desk.Retry, id string) (desk.Doc, error) {
	return k.changeSession(ctx, c, r, id, func(s *abi.Session) (ledger.Record, error) {
		if s.State == abi.SessionClosed {
			return ledger.Record{}, abi.Errorf(abi.CodeInvalidStateTransition, "session %s is closed already", id)
		}
		s.State = abi.SessionClosed
		return ledger.Record{Kind: abi.EventSessionClosed}, nil
	})
}

// TruncateSession keeps the first N turns of a Session, in place. A turn is a
// Message.
func (k *Keeper) TruncateSession(ctx context.Context, c *desk.Caller, r *desk.Retry, id string, req abi.TruncateSessionRequest) (desk.Doc, error) {
	keep, err := keepTurns(req)
	if err != nil {
		return desk.Doc{}, err
	}
	return k.changeSession(ctx, c, r, id, func(s *abi.Session) (ledger.Record, error) {
		if err := desk.SessionOpen(s); err != nil {
			return ledger.Record{}, err
		}
		if err := k.parts.Store.Sync(ctx); err != nil { // for the Messages that are on their way
			return ledger.Record{}, k.parts.Ledger.Failed("waiting for the session's messages", err)
		}
		cut, found, err := k.parts.Store.Turn(ctx, c.Tenant, id, keep)
		if err != nil {
			return ledger.Record{}, k.parts.Ledger.Failed("finding the turn to cut at", err)
		}
		if !found { // there are no more turns than that: nothing is dropped
			cut = logEnd
		}
		return ledger.Record{
			Kind: abi.EventSessionTruncated, Payload: abi.Truncated{KeepTurns: keep},
			Transcript: storage.TranscriptOp{Kind: storage.TranscriptTruncate, At: cut},
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
func (k *Keeper) changeSession(ctx context.Context, c *desk.Caller, r *desk.Retry, id string, change func(*abi.Session) (ledger.Record, error)) (desk.Doc, error) {
	s, release, err := k.parts.Desk.OpenSession(ctx, c, id)
	if err != nil {
		return desk.Doc{}, err
	}
	defer release()
	return k.parts.Desk.Once(ctx, c, r, s.Workspace(), func(idem *storage.Idempotency) (doc desk.Doc, err error) {
		err = s.Change(ctx, func(next *abi.Session, sequence uint64) error {
			rec, err := change(next)
			if err != nil {
				return err
			}
			next.UpdatedAt = abi.At(k.parts.Now())
			rec.Object, rec.ID, rec.Sequence, rec.State = abi.ObjectSession, id, sequence, next
			doc, err = k.parts.Desk.Commit(c, id, next.WorkspaceID, idem, desk.StatusOK, rec)
			return err
		})
		return doc, err
	})
}

// ForkSession opens a Session that begins with another one's transcript, whole or
// up to an event, on a Branch of its own.
func (k *Keeper) ForkSession(ctx context.Context, c *desk.Caller, r *desk.Retry, id string, req abi.ForkSessionRequest) (desk.Doc, error) {
	parent, release, err := k.parts.Desk.OpenSession(ctx, c, id)
	if err != nil {
		return desk.Doc{}, err
	}
	defer release()
	return k.parts.Desk.Once(ctx, c, r, parent.Workspace(), func(idem *storage.Idempotency) (doc desk.Doc, err error) {
		if err := desk.CheckMetadata(&req.Metadata); err != nil {
			return desk.Doc{}, err
		}
		if req.BranchID != "" { // before the Session, as a merge does
			unlock := k.parts.Ledger.Lock(c.Tenant, req.BranchID)
			defer unlock()
		}
		from := parent.State()
		at, err := k.ForkPoint(ctx, c, &from, req.AtEventID)
		if err != nil {
			return desk.Doc{}, err
		}
		kept, err := k.carriedAt(ctx, c, &from, min(at, k.parts.Store.Watermark()))
		if err != nil {
			return desk.Doc{}, err
		}
		var child *abi.Session
		asItIs := func(now *abi.Session) error {
			from = *now
			return nil
		}
		err = parent.While(asItIs, func() error {
			doc, child, err = k.fork(ctx, c, &from, at, kept, idem, req)
			return err
		})
		if err != nil {
			return desk.Doc{}, err
		}
		return doc, k.tellForked(ctx, c, parent, child)
	})
}

// tellForked tells the watchers of a Session of a fork, which is on disk.
func (k *Keeper) tellForked(ctx context.Context, c *desk.Caller, parent *ledger.Session, child *abi.Session) error {
	return parent.Change(ctx, func(from *abi.Session, sequence uint64) error {
		_, err := k.parts.Desk.Commit(c, from.ID, from.WorkspaceID, nil, 0, ledger.Record{
			Kind: abi.EventSessionThreadForked, Object: abi.ObjectSession, ID: from.ID, Sequence: sequence, State: from,
			Payload: abi.ThreadForked{SessionID: child.ID, BranchID: child.BranchID},
		})
		return err
	})
}

// fork writes the fork of a Session.
func (k *Keeper) fork(ctx context.Context, c *desk.Caller, from *abi.Session, at desk.Position, kept *carried, idem *storage.Idempotency, req abi.ForkSessionRequest) (desk.Doc, *abi.Session, error) {
	child := k.newSession(from.WorkspaceID, from.PersonaID)
	child.ParentSessionID, child.RootSessionID, child.Summary = from.ID, from.RootSessionID, from.Summary
	child.Metadata, child.VaultIDs, child.MemoryIDs, child.SkillIDs, child.Skills = from.Metadata, from.VaultIDs, from.MemoryIDs, from.SkillIDs, from.Skills
	child.Name, child.Context, child.Model = req.Name, from.Context, from.Model
	if err := checkWords(child.Name, ""); err != nil {
		return desk.Doc{}, nil, err
	}
	if req.Metadata != nil {
		child.Metadata = req.Metadata
	}
	records := []ledger.Record{{
		Kind: abi.EventSessionCreated, Object: abi.ObjectSession, ID: child.ID, Created: true, State: child,
		Payload:    abi.ForkedFrom{SessionID: from.ID, AtEventID: req.AtEventID},
		Transcript: storage.TranscriptOp{Kind: storage.TranscriptCopy, From: from.ID, At: at},
	}}
	if req.BranchID == "" {
		b := k.newBranch(from.WorkspaceID, abi.BranchSession, forkRef(from.ID, req.AtEventID), c.Actor)
		b.SessionID, b.ParentBranchID = child.ID, from.BranchID
		child.BranchID = b.ID
		records = append(records, ledger.Record{Kind: abi.EventBranchCreated, Object: abi.ObjectBranch, ID: b.ID, Created: true, State: b})
	} else {
		taken, err := k.takeBranch(ctx, c, req.BranchID, from.WorkspaceID, child.ID)
		if err != nil {
			return desk.Doc{}, nil, err
		}
		child.BranchID, records = req.BranchID, append(records, taken...)
	}
	begins, err := k.carriedRecords(ctx, c, kept, child)
	if err != nil {
		return desk.Doc{}, nil, err
	}
	doc, err := k.parts.Desk.Commit(c, child.ID, from.WorkspaceID, idem, desk.StatusCreated, append(records, begins...)...)
	return doc, child, err
}

func forkRef(session, event string) string {
	if event == "" {
		return "session:" + session
	}
	return "session:" + session + "@" + event
}

// ForkPoint checks that an event belongs to a Session's lineage. An empty id is
// the end.
func (k *Keeper) ForkPoint(ctx context.Context, c *desk.Caller, s *abi.Session, event string) (desk.Position, error) {
	if event == "" {
		return logEnd, nil
	}
	p, ok := desk.ParsePosition(event)
	if !ok {
		return 0, abi.InvalidParam("at_event_id", "%q is not an event id", event)
	}
	ev, err := k.parts.Desk.Event(ctx, c, p)
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
		parent, _, err := desk.Find[abi.Session](ctx, k.parts.Desk, c, abi.ObjectSession, s.ParentSessionID)
		if err != nil {
			return 0, err
		}
		s = &parent
	}
	return 0, abi.InvalidParam("at_event_id", "event %s is not one of this session or of those it was forked from", event)
}

// CreateBranch records a Branch of a Session.
func (k *Keeper) CreateBranch(ctx context.Context, c *desk.Caller, r *desk.Retry, sessionID string, req abi.CreateBranchRequest) (desk.Doc, error) {
	err := cmp.Or(
		desk.CheckOneOf("kind", req.Kind, abi.BranchWorkspace, abi.BranchSession, abi.BranchTask, abi.BranchSandbox),
		desk.CheckPresent("base_ref", req.BaseRef), desk.CheckMetadata(&req.Metadata))
	if err != nil {
		return desk.Doc{}, err
	}
	s, release, err := k.parts.Desk.OpenSession(ctx, c, sessionID)
	if err != nil {
		return desk.Doc{}, err
	}
	defer release()
	workspace := s.Workspace()
	return k.parts.Desk.Once(ctx, c, r, workspace, func(idem *storage.Idempotency) (desk.Doc, error) {
		if err := k.checkBranchLineage(ctx, c, req); err != nil {
			return desk.Doc{}, err
		}
		b := k.newBranch(workspace, req.Kind, req.BaseRef, c.Actor)
		b.SessionID, b.ParentBranchID, b.TaskID = sessionID, cmp.Or(req.ParentBranchID, s.Branch()), req.TaskID
		if req.Metadata != nil {
			b.Metadata = req.Metadata
		}
		return k.parts.Desk.Commit(c, sessionID, workspace, idem, desk.StatusCreated,
			ledger.Record{Kind: abi.EventBranchCreated, Object: abi.ObjectBranch, ID: b.ID, Created: true, State: b})
	})
}

func (k *Keeper) checkBranchLineage(ctx context.Context, c *desk.Caller, req abi.CreateBranchRequest) error {
	if req.ParentBranchID != "" {
		if _, _, err := desk.Find[abi.Branch](ctx, k.parts.Desk, c, abi.ObjectBranch, req.ParentBranchID); err != nil {
			return err
		}
	}
	if req.TaskID == "" {
		return nil
	}
	_, _, err := desk.Find[abi.Task](ctx, k.parts.Desk, c, abi.ObjectTask, req.TaskID)
	return err
}

func (k *Keeper) newBranch(workspace string, kind abi.BranchKind, base, actor string) *abi.Branch {
	return &abi.Branch{
		Envelope:    abi.NewEnvelope(abi.ObjectBranch, k.parts.IDs.New(abi.ObjectBranch), k.parts.Now(), nil),
		WorkspaceID: workspace, Kind: kind, BaseRef: base, CreatedBy: actor,
	}
}

// logEnd is a position after every event there will ever be.
const logEnd desk.Position = math.MaxUint64 - 1
