package engine

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	json "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/desk"
	"github.com/wharf-dev/wharf/runtime/ledger"
	"github.com/wharf-dev/wharf/runtime/memories"
	"github.com/wharf-dev/wharf/runtime/provider"
	"github.com/wharf-dev/wharf/storage"
)

// memoryOwner returns whom a Task's Memory of a scope belongs to.
func (r *run) memoryOwner(scope abi.MemoryScope) (string, error) {
	t := &r.task.about
	switch scope {
	case abi.MemoryPersona:
		return t.PersonaID, nil
	case abi.MemorySession:
		return t.SessionID, nil
	case abi.MemoryWorkspace:
		return t.WorkspaceID, nil
	case abi.MemoryTenant:
		return r.engine.tenants.IDOf(r.task.tenant), nil
	}
	return "", provider.Malformed(desk.CheckOneOf("scope", scope, abi.MemoryPersona, abi.MemorySession, abi.MemoryWorkspace, abi.MemoryTenant))
}

func (r *run) callMemoryQuery(ctx context.Context, c *liveCall) ([]byte, error) {
	req, err := ask[abi.CallMemoryQueryRequest](c)
	if err != nil {
		return nil, err
	}
	owner, err := r.memoryOwner(req.Scope)
	if err != nil {
		return nil, err
	}
	req.Limit = cmp.Or(req.Limit, 10)
	if req.Limit < 1 || req.Limit > 100 {
		return nil, provider.Malformed(abi.InvalidParam("limit", "limit is 1 to 100"))
	}
	found, err := r.engine.findMemories(ctx, r.task, req, owner)
	if err != nil {
		return nil, err
	}
	return json.Marshal(found)
}

// findMemories returns the newest Memories of an owner that hold every word.
func (e *Engine) findMemories(ctx context.Context, t *task, req abi.CallMemoryQueryRequest, owner string) (*abi.CallMemoryQueryAnswer, error) {
	terms, err := memories.TermsOf("text", req.Text)
	if err != nil {
		return nil, provider.Malformed(err)
	}
	found, size := &abi.CallMemoryQueryAnswer{Memories: []abi.Memory{}}, 0
	_, err = e.SearchMemories(ctx, t.tenant, storage.Query{Owner: owner, Terms: terms, Limit: req.Limit}, func(res storage.Resource) (bool, error) {
		m, err := toldMemory(&res)
		if err != nil {
			found.Unreadable = append(found.Unreadable, res.ID)
			return true, nil
		}
		if m.Scope == req.Scope && m.Visibility != abi.VisibilityReceiptOnly && memories.Alive(&m, e.now()) {
			found.Memories = append(found.Memories, m)
			size += len(res.State)
		}
		return len(found.Memories) < req.Limit && size < maxTold, nil
	})
	if err != nil || req.Scope != abi.MemorySession {
		return found, err
	}
	return found, e.addNamed(ctx, t, found, terms, req.Limit, size)
}

// addNamed adds the Memories that a Session names to those found that are its own.
func (e *Engine) addNamed(ctx context.Context, t *task, found *abi.CallMemoryQueryAnswer, terms []storage.Term, limit, size int) error {
	for _, id := range t.session.State().MemoryIDs {
		if len(found.Memories) >= limit || size >= maxTold {
			break
		}
		res, err := e.ledger.Find(ctx, t.tenant, abi.ObjectMemory, id)
		if ledger.IsNotFound(err) {
			continue
		}
		var m abi.Memory
		if err == nil {
			m, err = toldMemory(&res)
		}
		switch {
		case ledger.IsUnreadable(err):
			found.Unreadable = append(found.Unreadable, id)
		case err != nil:
			return err
		case memories.Alive(&m, e.now()) && m.OwnerID != t.about.SessionID && memories.HoldsAll(storage.Words(m.Content), terms):
			found.Memories = append(found.Memories, m)
			size += len(res.State)
		}
	}
	return nil
}

// maxMemorySeconds is a hundred years.
const maxMemorySeconds = 100 * 366 * 24 * 3600

func (r *run) callMemoryWrite(_ context.Context, c *liveCall) ([]byte, error) {
	req, err := ask[abi.CallMemoryWriteRequest](c)
	if err != nil {
		return nil, err
	}
	owner, err := r.memoryOwner(req.Scope)
	if err != nil {
		return nil, err
	}
	if err := checkMemory(&req); err != nil {
		return nil, provider.Malformed(err)
	}
	m := r.newMemory(&req, owner)
	c.states = &ledger.Record{Kind: abi.EventAgentMemoryWrite, Object: abi.ObjectMemory, ID: m.ID, Created: true, State: m}
	return json.Marshal(abi.CallMemoryWriteAnswer{MemoryID: m.ID})
}

func checkMemory(req *abi.CallMemoryWriteRequest) error {
	req.Visibility = cmp.Or(req.Visibility, abi.VisibilityInternal)
	if err := cmp.Or(desk.CheckMetadata(&req.Metadata), desk.CheckVisibility("visibility", req.Visibility)); err != nil {
		return err
	}
	switch kind := req.Content.Kind(); {
	case kind != '"' && kind != '{':
		return abi.InvalidParam("content", "content is a string or an object")
	case req.ExpiresInSeconds < 0 || req.ExpiresInSeconds > maxMemorySeconds:
		return abi.InvalidParam("expires_in_seconds", "expires_in_seconds is 0 to %d", maxMemorySeconds)
	case req.Confidence < 0 || req.Confidence > 1:
		return abi.InvalidParam("confidence", "confidence is 0 to 1")
	}
	return nil
}

func (r *run) newMemory(req *abi.CallMemoryWriteRequest, owner string) *abi.Memory {
	e, t := r.engine, &r.task.about
	m := &abi.Memory{
		Envelope: abi.NewEnvelope(abi.ObjectMemory, e.ids.New(abi.ObjectMemory), e.now(), req.Metadata),
		Scope:    req.Scope, OwnerID: owner, Content: req.Content.Clone(), Visibility: req.Visibility, Confidence: req.Confidence,
		Provenance: jsontext.Value(`{"task_id":"` + t.ID + `","persona_id":"` + t.PersonaID + `"}`),
	}
	if req.Scope == abi.MemorySession || req.Scope == abi.MemoryWorkspace {
		m.WorkspaceID = t.WorkspaceID
	}
	if req.Scope == abi.MemorySession {
		m.SessionID = t.SessionID
	}
	if req.ExpiresInSeconds > 0 {
		m.ExpiresAt = abi.At(m.CreatedAt.Add(time.Duration(req.ExpiresInSeconds * float64(time.Second))))
	}
	return m
}

// maxTold is how many bytes of Messages or Memories one call tells. The newest is told,
// however large it is.
const maxTold = 16 << 20

// tooMuch returns how many of the oldest are left out, for those after them are enough.
func tooMuch(stored []storage.Resource) int {
	size := 0
	for i, res := range slices.Backward(stored) {
		if size += len(res.State); size > maxTold {
			return min(i+1, len(stored)-1)
		}
	}
	return 0
}

// lastMessages returns the newest Messages of a Task's Session, oldest first. What it
// reads does not grow with the Session.
func (e *Engine) lastMessages(ctx context.Context, t *task, last int) ([]byte, error) {
	var stored []storage.Resource // the newest first
	size, earlier := 0, true
	for page := (storage.Page{Newest: true}); earlier && len(stored) < last && size <= maxTold; {
		page.Limit = last - len(stored)
		list, more, err := e.store.Transcript(ctx, t.tenant, t.about.SessionID, page)
		if err != nil {
			return nil, fmt.Errorf("reading the transcript: %w", err)
		}
		for _, res := range list {
			page.After = res.Origin.String()
			stored, size = append(stored, res), size+len(res.State)
		}
		earlier = more
	}
	slices.Reverse(stored)
	over := tooMuch(stored)
	return json.Marshal(toldMessages(stored[over:], earlier || over > 0))
}
