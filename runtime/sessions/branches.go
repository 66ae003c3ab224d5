package sessions

import (
	"cmp"
	"context"
	"errors"
	"slices"

	json "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/desk"
	"github.com/wharf-dev/wharf/runtime/ledger"
	"github.com/wharf-dev/wharf/storage"
)

// maxMerged bounds how many Messages of a fork a merge looks at, and maxMergedBytes
// what those that it appends take: a merge is one batch.
const (
	maxMerged      = 1000
	maxMergedBytes = 8 << 20
)

// MergeBranch ends a Branch by saying where it went. When a fork of a Session went
// along it, the Messages that are new in the fork are appended to the Session that it
// was forked from, in the same batch.
func (k *Keeper) MergeBranch(ctx context.Context, c *desk.Caller, r *desk.Retry, id string, req abi.MergeBranchRequest) (desk.Doc, error) {
	if req.Strategy != "" {
		if err := desk.CheckOneOf("strategy", req.Strategy, abi.MergeAppend); err != nil {
			return desk.Doc{}, err
		}
	}
	return k.endBranch(ctx, c, r, id, func(b *abi.Branch, idem *storage.Idempotency, told ledger.Record) (desk.Doc, error) {
		told.Kind = abi.EventBranchMerged
		b.MergedAt = b.UpdatedAt
		fork, err := k.forkOn(ctx, c, b)
		if err != nil {
			return desk.Doc{}, err
		}
		if fork == nil {
			b.MergedInto = cmp.Or(b.ParentBranchID, b.BaseRef)
			return k.parts.Desk.Commit(c, b.SessionID, b.WorkspaceID, idem, desk.StatusOK, told)
		}
		return k.mergeFork(ctx, c, fork, b, idem, told, req.Strategy)
	})
}

// AbandonBranch ends a Branch that is not continued. What lies on it stays.
func (k *Keeper) AbandonBranch(ctx context.Context, c *desk.Caller, r *desk.Retry, id string, req abi.AbandonBranchRequest) (desk.Doc, error) {
	return k.endBranch(ctx, c, r, id, func(b *abi.Branch, idem *storage.Idempotency, told ledger.Record) (desk.Doc, error) {
		told.Kind, told.Payload = abi.EventBranchAbandoned, &req
		b.AbandonedAt = b.UpdatedAt
		return k.parts.Desk.Commit(c, b.SessionID, b.WorkspaceID, idem, desk.StatusOK, told)
	})
}

// endBranch hands a Branch that is open to end, with the record that states it.
func (k *Keeper) endBranch(ctx context.Context, c *desk.Caller, r *desk.Retry, id string,
	end func(b *abi.Branch, idem *storage.Idempotency, told ledger.Record) (desk.Doc, error)) (desk.Doc, error) {
	b, _, err := desk.Find[abi.Branch](ctx, k.parts.Desk, c, abi.ObjectBranch, id)
	if err != nil {
		return desk.Doc{}, err
	}
	return k.parts.Desk.Once(ctx, c, r, b.WorkspaceID, func(idem *storage.Idempotency) (desk.Doc, error) {
		return ledger.Change(k.parts.Ledger, c.Tenant, id, func() (desk.Doc, error) {
			b, res, err := desk.Find[abi.Branch](ctx, k.parts.Desk, c, abi.ObjectBranch, id)
			if err == nil {
				err = branchOpen(&b)
			}
			if err != nil {
				return desk.Doc{}, err
			}
			b.UpdatedAt = abi.At(k.parts.Now())
			return end(&b, idem, ledger.Record{Object: abi.ObjectBranch, ID: id, Sequence: res.Sequence + 1, State: &b})
		})
	})
}

func branchOpen(b *abi.Branch) error {
	switch {
	case !b.MergedAt.IsZero():
		return abi.Errorf(abi.CodeConflict, "branch %s was merged already, into %s", b.ID, b.MergedInto)
	case !b.AbandonedAt.IsZero():
		return abi.Errorf(abi.CodeConflict, "branch %s was abandoned", b.ID)
	}
	return nil
}

// forked is a Session that was forked from another.
type forked struct {
	abi.Session
	created storage.Position
	// point is the last position of the other's transcript that the fork has.
	point storage.Position
}

// forkOn returns the fork that goes along a Branch, nil if there is none.
func (k *Keeper) forkOn(ctx context.Context, c *desk.Caller, b *abi.Branch) (*forked, error) {
	if b.Kind != abi.BranchSession || b.SessionID == "" {
		return nil, nil
	}
	s, res, err := desk.Find[abi.Session](ctx, k.parts.Desk, c, abi.ObjectSession, b.SessionID)
	if err != nil || s.ParentSessionID == "" {
		return nil, err
	}
	ev, err := k.parts.Store.Event(ctx, c.Tenant, res.Origin)
	if errors.Is(err, storage.ErrCursorExpired) { // all of what is this old was there already
		return &forked{s, res.Origin, res.Origin}, nil
	}
	if err != nil {
		return nil, k.parts.Ledger.Failed("reading where the session was forked", err)
	}
	return &forked{s, res.Origin, min(ev.Record().Transcript.At, res.Origin)}, nil
}

// mergeFork appends what is new in a fork to the Session that it was forked from.
// The caller holds the Branch's lock.
func (k *Keeper) mergeFork(ctx context.Context, c *desk.Caller, fork *forked, b *abi.Branch, idem *storage.Idempotency, told ledger.Record, strategy abi.MergeStrategy) (desk.Doc, error) {
	parent, release, err := k.parts.Desk.OpenSession(ctx, c, fork.ParentSessionID)
	if err != nil {
		return desk.Doc{}, err
	}
	defer release()
	var doc desk.Doc
	err = parent.Change(ctx, func(next *abi.Session, sequence uint64) (err error) {
		doc, err = k.mergeInto(ctx, c, fork, b, next, sequence, idem, told, strategy)
		return err
	})
	return doc, err
}

// mergeInto writes a merge, with the event of that sequence by which the Session tells it.
func (k *Keeper) mergeInto(ctx context.Context, c *desk.Caller, fork *forked, b *abi.Branch, next *abi.Session, sequence uint64,
	idem *storage.Idempotency, told ledger.Record, strategy abi.MergeStrategy) (desk.Doc, error) {
	if err := desk.SessionOpen(next); err != nil {
		return desk.Doc{}, err
	}
	if err := k.parts.Store.Sync(ctx); err != nil { // for the Messages that are on their way
		return desk.Doc{}, k.parts.Ledger.Failed("waiting for the sessions' messages", err)
	}
	said, err := k.saidIn(ctx, c.Tenant, fork)
	if err != nil {
		return desk.Doc{}, err
	}
	if strategy != abi.MergeAppend {
		if err := k.checkUnmoved(ctx, c.Tenant, fork, said); err != nil {
			return desk.Doc{}, err
		}
	}
	records, err := k.merged(ctx, c.Tenant, fork, b, said)
	if err != nil {
		return desk.Doc{}, err
	}
	b.MergedInto = cmp.Or(next.BranchID, "session:"+next.ID)
	next.UpdatedAt = b.UpdatedAt
	records = append([]ledger.Record{told}, append(records, ledger.Record{
		Kind: abi.EventSessionThreadMerged, Object: abi.ObjectSession, ID: next.ID, Sequence: sequence, State: next,
		Payload: &abi.ThreadMerged{SessionID: fork.ID, BranchID: b.ID, Messages: len(records)},
	})...)
	return k.parts.Desk.Commit(c, next.ID, next.WorkspaceID, idem, desk.StatusOK, records...)
}

// saidIn returns the Messages that a fork has besides those that it began with.
func (k *Keeper) saidIn(ctx context.Context, t storage.Tenant, fork *forked) ([]storage.Resource, error) {
	said, more, err := k.transcript(ctx, t, fork.ID, fork.created, maxMerged)
	if err != nil {
		return nil, k.parts.Ledger.Failed("reading the transcript of the fork", err)
	}
	if more {
		return nil, abi.Errorf(abi.CodePayloadTooLarge, "session %s has more than %d messages since it was forked: a merge takes no more", fork.ID, maxMerged)
	}
	return said, nil
}

// transcript returns up to so many Messages of a Session after a position, and whether
// there are more: also when there is more in them than a merge takes.
func (k *Keeper) transcript(ctx context.Context, t storage.Tenant, session string, after desk.Position, limit int) (all []storage.Resource, more bool, err error) {
	page := storage.Page{After: after.String(), Limit: limit}
	for size := 0; ; {
		var some []storage.Resource
		if some, more, err = k.parts.Store.Transcript(ctx, t, session, page); err != nil {
			return nil, false, err
		}
		for _, m := range some {
			page.After, size = m.Origin.String(), size+len(m.State)
		}
		all = append(all, some...)
		if page.Limit -= len(some); !more || page.Limit <= 0 || size > 2*maxMergedBytes {
			return all, more, nil
		}
	}
}

// checkUnmoved refuses a merge into a Session that has Messages since the fork which
// the fork does not have.
func (k *Keeper) checkUnmoved(ctx context.Context, t storage.Tenant, fork *forked, said []storage.Resource) error {
	page, _, err := k.transcript(ctx, t, fork.ParentSessionID, fork.point, len(said)+1)
	if err != nil {
		return k.parts.Ledger.Failed("reading the transcript to merge into", err)
	}
	for _, m := range page {
		if slices.ContainsFunc(said, func(own storage.Resource) bool { return own.ID == m.ID }) {
			continue
		}
		refused := abi.Errorf(abi.CodeConflict, "session %s went on since it was forked: to have the fork's messages after its own, say {\"strategy\": \"append\"}", fork.ParentSessionID)
		refused.Details, _ = json.Marshal(map[string]string{
			"session_id": fork.ParentSessionID, "forked_session_id": fork.ID, "forked_at": fork.point.String(), "message_id": m.ID})
		return refused
	}
	return nil
}

// merged returns the records that append a fork's Messages to the Session that it was
// forked from, without those that were merged into it before.
func (k *Keeper) merged(ctx context.Context, t storage.Tenant, fork *forked, b *abi.Branch, said []storage.Resource) ([]ledger.Record, error) {
	var records []ledger.Record
	size := 0
	from := abi.MergedFrom{SessionID: fork.ID, BranchID: b.ID}
	for _, m := range said {
		if m.Position > m.Origin { // a Message is stated again where it is merged into, and nowhere else
			continue
		}
		seq, _, err := k.parts.Store.Sequence(ctx, t, abi.ResourcePointer{Object: abi.ObjectMessage, ID: m.ID})
		if err != nil {
			return nil, k.parts.Ledger.Failed("reading a message of the fork", err)
		}
		if size += len(m.State); size > maxMergedBytes {
			return nil, abi.Errorf(abi.CodePayloadTooLarge, "the new messages of session %s have more than %d bytes: a merge takes no more", fork.ID, maxMergedBytes)
		}
		records = append(records, ledger.Record{
			Kind: abi.EventSessionMessageAppended, Object: abi.ObjectMessage, ID: m.ID, Sequence: seq + 1, Restricted: m.Restricted,
			State: jsontext.Value(m.State), Payload: from, Transcript: storage.TranscriptOp{Kind: storage.TranscriptAppend},
		})
	}
	return records, nil
}

// BranchLineage returns a Branch and those that it came from, up to the root. A page
// goes on after the Branch that the last one ended with.
func (k *Keeper) BranchLineage(ctx context.Context, c *desk.Caller, id string, p desk.Page) (desk.DocList, error) {
	b, res, err := desk.Find[abi.Branch](ctx, k.parts.Desk, c, abi.ObjectBranch, id)
	if err == nil && p.After != "" {
		b, res, err = k.parentBranch(ctx, c, p.After)
	}
	if err != nil {
		return desk.DocList{}, err
	}
	var list desk.DocList
	for b.ID != "" {
		if list.Add(desk.Doc{ID: b.ID, JSON: res.State}, p.Limit) {
			return list.End(b.ID, b.ParentBranchID != ""), nil
		}
		if b, res, err = k.parentBranch(ctx, c, b.ID); err != nil {
			return desk.DocList{}, err
		}
	}
	return list.End("", false), nil
}

// parentBranch returns the Branch that another came from; one without an id where
// there is none, or none that the caller may see.
func (k *Keeper) parentBranch(ctx context.Context, c *desk.Caller, id string) (abi.Branch, storage.Resource, error) {
	b, res, err := desk.Find[abi.Branch](ctx, k.parts.Desk, c, abi.ObjectBranch, id)
	if err != nil || b.ParentBranchID == "" {
		return abi.Branch{}, res, err
	}
	b, res, err = desk.Find[abi.Branch](ctx, k.parts.Desk, c, abi.ObjectBranch, b.ParentBranchID)
	if ledger.IsNotFound(err) {
		return abi.Branch{}, res, nil
	}
	return b, res, err
}

// takeBranch gives the Branch that a fork was asked to go along to it: one of kind
// session is that of one fork. It returns the record to commit, if there is one. The
// caller holds the Branch's lock.
func (k *Keeper) takeBranch(ctx context.Context, c *desk.Caller, id, workspace, session string) ([]ledger.Record, error) {
	b, res, err := desk.Find[abi.Branch](ctx, k.parts.Desk, c, abi.ObjectBranch, id)
	if err == nil && b.WorkspaceID != workspace {
		err = abi.InvalidParam("branch_id", "branch %s belongs to another workspace", id)
	}
	if err == nil {
		err = branchOpen(&b)
	}
	if err == nil && b.Kind == abi.BranchSession {
		err = k.checkUntaken(ctx, c, &b)
	}
	if err != nil || b.Kind != abi.BranchSession {
		return nil, err
	}
	b.SessionID, b.UpdatedAt = session, abi.At(k.parts.Now())
	return []ledger.Record{{Kind: abi.EventBranchUpdated, Object: abi.ObjectBranch, ID: id, Sequence: res.Sequence + 1, State: &b}}, nil
}

// checkUntaken refuses a Branch that a fork goes along already.
func (k *Keeper) checkUntaken(ctx context.Context, c *desk.Caller, b *abi.Branch) error {
	s, _, err := desk.Find[abi.Session](ctx, k.parts.Desk, c, abi.ObjectSession, b.SessionID)
	if err == nil && s.BranchID == b.ID {
		return abi.Errorf(abi.CodeConflict, "session %s goes along branch %s already", s.ID, b.ID)
	}
	return err
}

// CheckLineage checks the Branch and the parent Task that a submit names.
func (k *Keeper) CheckLineage(ctx context.Context, c *desk.Caller, workspace string, req *abi.SubmitTaskRequest) error {
	if req.BranchID != "" {
		b, _, err := desk.Find[abi.Branch](ctx, k.parts.Desk, c, abi.ObjectBranch, req.BranchID)
		if err != nil {
			return err
		}
		if b.WorkspaceID != workspace {
			return abi.InvalidParam("branch_id", "branch %s belongs to another workspace", req.BranchID)
		}
	}
	if req.ParentTaskID == "" {
		return nil
	}
	_, _, err := desk.Find[abi.Task](ctx, k.parts.Desk, c, abi.ObjectTask, req.ParentTaskID)
	return err
}
