package engine

import (
	"context"
	"errors"
	"slices"

	json "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi"
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
func (e *Engine) MergeBranch(ctx context.Context, c *Caller, r *Retry, id string, req abi.MergeBranchRequest) (Doc, error) {
	if req.Strategy != "" {
		if err := checkOneOf("strategy", req.Strategy, abi.MergeAppend); err != nil {
			return Doc{}, err
		}
	}
	return e.endBranch(ctx, c, r, id, func(b *abi.Branch, idem *storage.Idempotency, told record) (Doc, error) {
		told.kind = abi.EventBranchMerged
		b.MergedAt = b.UpdatedAt
		fork, err := e.forkOn(ctx, c, b)
		if err != nil {
			return Doc{}, err
		}
		if fork == nil {
			b.MergedInto = firstOf(b.ParentBranchID, b.BaseRef)
			return e.commit(c, b.SessionID, b.WorkspaceID, idem, statusOK, told)
		}
		return e.mergeFork(ctx, c, fork, b, idem, told, req.Strategy)
	})
}

// AbandonBranch ends a Branch whose way is not gone on with. What lies on it stays.
func (e *Engine) AbandonBranch(ctx context.Context, c *Caller, r *Retry, id string, req abi.AbandonBranchRequest) (Doc, error) {
	return e.endBranch(ctx, c, r, id, func(b *abi.Branch, idem *storage.Idempotency, told record) (Doc, error) {
		told.kind, told.payload = abi.EventBranchAbandoned, &req
		b.AbandonedAt = b.UpdatedAt
		return e.commit(c, b.SessionID, b.WorkspaceID, idem, statusOK, told)
	})
}

// endBranch hands a Branch that is open to end, with the record that states it.
func (e *Engine) endBranch(ctx context.Context, c *Caller, r *Retry, id string,
	end func(b *abi.Branch, idem *storage.Idempotency, told record) (Doc, error)) (Doc, error) {
	b, _, err := findAs[abi.Branch](ctx, e, c, abi.ObjectBranch, id)
	if err != nil {
		return Doc{}, err
	}
	return e.once(ctx, c, r, b.WorkspaceID, func(idem *storage.Idempotency) (Doc, error) {
		unlock := e.locks.lock(c.Tenant, id)
		defer unlock()
		b, res, err := findAs[abi.Branch](ctx, e, c, abi.ObjectBranch, id)
		if err == nil {
			err = branchOpen(&b)
		}
		if err != nil {
			return Doc{}, err
		}
		b.UpdatedAt = abi.At(e.now())
		return end(&b, idem, record{object: abi.ObjectBranch, id: id, seq: res.Sequence + 1, state: &b})
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
func (e *Engine) forkOn(ctx context.Context, c *Caller, b *abi.Branch) (*forked, error) {
	if b.Kind != abi.BranchSession || b.SessionID == "" {
		return nil, nil
	}
	s, res, err := findAs[abi.Session](ctx, e, c, abi.ObjectSession, b.SessionID)
	if err != nil || s.ParentSessionID == "" {
		return nil, err
	}
	ev, err := e.store.Event(ctx, c.Tenant, res.Origin)
	if errors.Is(err, storage.ErrCursorExpired) { // all of what is this old was there already
		return &forked{s, res.Origin, res.Origin}, nil
	}
	if err != nil {
		return nil, e.failed("reading where the session was forked", err)
	}
	return &forked{s, res.Origin, min(ev.Record().Transcript.At, res.Origin)}, nil
}

// mergeFork appends what is new in a fork to the Session that it was forked from.
// The caller holds the Branch's lock.
func (e *Engine) mergeFork(ctx context.Context, c *Caller, fork *forked, b *abi.Branch, idem *storage.Idempotency, told record, strategy abi.MergeStrategy) (Doc, error) {
	parent, release, err := e.openSession(ctx, c, fork.ParentSessionID)
	if err != nil {
		return Doc{}, err
	}
	defer release()
	parent.mu.Lock()
	defer parent.mu.Unlock()
	next := parent.state
	if err := sessionOpen(&next); err != nil {
		return Doc{}, err
	}
	if err := e.store.Sync(ctx); err != nil { // for the Messages that are on their way
		return Doc{}, e.failed("waiting for the sessions' messages", err)
	}
	said, err := e.saidIn(ctx, c.Tenant, fork)
	if err != nil {
		return Doc{}, err
	}
	if strategy != abi.MergeAppend {
		if err := e.checkUnmoved(ctx, c.Tenant, fork, said); err != nil {
			return Doc{}, err
		}
	}
	records, err := e.merged(ctx, c.Tenant, fork, b, said)
	if err != nil {
		return Doc{}, err
	}
	b.MergedInto = firstOf(next.BranchID, "session:"+next.ID)
	next.UpdatedAt = b.UpdatedAt
	records = append([]record{told}, append(records, record{
		kind: abi.EventSessionThreadMerged, object: abi.ObjectSession, id: next.ID, seq: parent.seq + 1, state: &next,
		payload: &threadMerged{fork.ID, b.ID, len(records)},
	})...)
	doc, err := e.commit(c, next.ID, next.WorkspaceID, idem, statusOK, records...)
	if err == nil {
		parent.state, parent.seq = next, parent.seq+1
	}
	return doc, err
}

// threadMerged is the payload of the event that tells a merge to the Session that
// was merged into.
type threadMerged struct {
	Session  string `json:"merged_session_id"`
	Branch   string `json:"branch_id"`
	Messages int    `json:"messages"`
}

// saidIn returns the Messages that a fork has besides those that it began with.
func (e *Engine) saidIn(ctx context.Context, t storage.Tenant, fork *forked) ([]storage.Resource, error) {
	said, more, err := e.transcript(ctx, t, fork.ID, fork.created, maxMerged)
	if err != nil {
		return nil, e.failed("reading the transcript of the fork", err)
	}
	if more {
		return nil, abi.Errorf(abi.CodePayloadTooLarge, "session %s has more than %d messages since it was forked: a merge takes no more", fork.ID, maxMerged)
	}
	return said, nil
}

// transcript returns up to so many Messages of a Session after a position, and whether
// there are more: also when there is more in them than a merge takes.
func (e *Engine) transcript(ctx context.Context, t storage.Tenant, session string, after Position, limit int) (all []storage.Resource, more bool, err error) {
	page := storage.Page{After: after.String(), Limit: limit}
	for size := 0; ; {
		var some []storage.Resource
		if some, more, err = e.store.Transcript(ctx, t, session, page); err != nil {
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
func (e *Engine) checkUnmoved(ctx context.Context, t storage.Tenant, fork *forked, said []storage.Resource) error {
	page, _, err := e.transcript(ctx, t, fork.ParentSessionID, fork.point, len(said)+1)
	if err != nil {
		return e.failed("reading the transcript to merge into", err)
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
func (e *Engine) merged(ctx context.Context, t storage.Tenant, fork *forked, b *abi.Branch, said []storage.Resource) ([]record, error) {
	var records []record
	size := 0
	from := map[string]string{"merged_from": fork.ID, "branch_id": b.ID}
	for _, m := range said {
		if m.Position > m.Origin { // a Message is stated again where it is merged into, and nowhere else
			continue
		}
		seq, _, err := e.store.Sequence(ctx, t, abi.ResourcePointer{Object: abi.ObjectMessage, ID: m.ID})
		if err != nil {
			return nil, e.failed("reading a message of the fork", err)
		}
		if size += len(m.State); size > maxMergedBytes {
			return nil, abi.Errorf(abi.CodePayloadTooLarge, "the new messages of session %s have more than %d bytes: a merge takes no more", fork.ID, maxMergedBytes)
		}
		records = append(records, record{
			kind: abi.EventSessionMessageAppended, object: abi.ObjectMessage, id: m.ID, seq: seq + 1, restricted: m.Restricted,
			state: jsontext.Value(m.State), payload: from, transcript: storage.TranscriptOp{Kind: storage.TranscriptAppend},
		})
	}
	return records, nil
}

// BranchLineage returns a Branch and those that it came from, up to the root. A page
// goes on after the Branch that the last one ended with.
func (e *Engine) BranchLineage(ctx context.Context, c *Caller, id string, p Page) (DocList, error) {
	b, res, err := findAs[abi.Branch](ctx, e, c, abi.ObjectBranch, id)
	if err == nil && p.After != "" {
		b, res, err = e.parentBranch(ctx, c, p.After)
	}
	if err != nil {
		return DocList{}, err
	}
	var list DocList
	for b.ID != "" {
		if list.add(Doc{ID: b.ID, JSON: res.State}, p.Limit) {
			return list.end(b.ID, b.ParentBranchID != ""), nil
		}
		if b, res, err = e.parentBranch(ctx, c, b.ID); err != nil {
			return DocList{}, err
		}
	}
	return list.end("", false), nil
}

// parentBranch returns the Branch that another came from; one without an id where
// there is none, or none that the caller may see.
func (e *Engine) parentBranch(ctx context.Context, c *Caller, id string) (abi.Branch, storage.Resource, error) {
	b, res, err := findAs[abi.Branch](ctx, e, c, abi.ObjectBranch, id)
	if err != nil || b.ParentBranchID == "" {
		return abi.Branch{}, res, err
	}
	b, res, err = findAs[abi.Branch](ctx, e, c, abi.ObjectBranch, b.ParentBranchID)
	if isNotFound(err) {
		return abi.Branch{}, res, nil
	}
	return b, res, err
}

// takeBranch gives the Branch that a fork was asked to go along to it: one of kind
// session is that of one fork. It returns the record to commit, if there is one. The
// caller holds the Branch's lock.
func (e *Engine) takeBranch(ctx context.Context, c *Caller, id, workspace, session string) ([]record, error) {
	b, res, err := findAs[abi.Branch](ctx, e, c, abi.ObjectBranch, id)
	if err == nil && b.WorkspaceID != workspace {
		err = abi.InvalidParam("branch_id", "branch %s belongs to another workspace", id)
	}
	if err == nil {
		err = branchOpen(&b)
	}
	if err == nil && b.Kind == abi.BranchSession {
		err = e.checkUntaken(ctx, c, &b)
	}
	if err != nil || b.Kind != abi.BranchSession {
		return nil, err
	}
	b.SessionID, b.UpdatedAt = session, abi.At(e.now())
	return []record{{kind: abi.EventBranchUpdated, object: abi.ObjectBranch, id: id, seq: res.Sequence + 1, state: &b}}, nil
}

// checkUntaken refuses a Branch that a fork goes along already.
func (e *Engine) checkUntaken(ctx context.Context, c *Caller, b *abi.Branch) error {
	s, _, err := findAs[abi.Session](ctx, e, c, abi.ObjectSession, b.SessionID)
	if err == nil && s.BranchID == b.ID {
		return abi.Errorf(abi.CodeConflict, "session %s goes along branch %s already", s.ID, b.ID)
	}
	return err
}
