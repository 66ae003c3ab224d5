package engine

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	json "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/provider"
	"github.com/wharf-dev/wharf/storage"
)

// scanMemories is how many Memories of a scope are looked through for one query,
// newest first: no query's cost grows with all there are.
const scanMemories = 2000

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
		return r.engine.tenantID(r.task.tenant), nil
	}
	return "", provider.Malformed(checkOneOf("scope", scope, abi.MemoryPersona, abi.MemorySession, abi.MemoryWorkspace, abi.MemoryTenant))
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
	setDefault(&req.Limit, 10)
	if req.Limit < 1 || req.Limit > 100 {
		return nil, provider.Malformed(abi.InvalidParam("limit", "limit is 1 to 100"))
	}
	found, err := r.engine.findMemories(ctx, r.task, req, owner)
	if err != nil {
		return nil, err
	}
	return json.Marshal(abi.CallMemoryQueryAnswer{Memories: found})
}

// findMemories returns the newest Memories of an owner that hold every word.
func (e *Engine) findMemories(ctx context.Context, t *task, req abi.CallMemoryQueryRequest, owner string) ([]abi.Memory, error) {
	found := []abi.Memory{}
	words := strings.Fields(strings.ToLower(req.Text))
	page := storage.Page{Limit: 200}
	for scanned := 0; scanned < scanMemories && len(found) < req.Limit; scanned += page.Limit {
		list, more, err := e.store.List(ctx, t.tenant, abi.ObjectMemory, memoryList(t, req.Scope), page)
		if err != nil {
			return nil, fmt.Errorf("reading memories: %w", err)
		}
		for _, res := range list {
			page.After = res.ID
			m, ok, err := e.recalls(res, req.Scope, owner, words)
			if err != nil {
				return nil, err
			}
			if ok && len(found) < req.Limit {
				found = append(found, m)
			}
		}
		if !more {
			break
		}
	}
	return found, nil
}

// memoryList is the narrowest list that holds a scope's Memories.
func memoryList(t *task, scope abi.MemoryScope) Scope {
	switch scope {
	case abi.MemorySession:
		return Scope{Object: abi.ObjectSession, ID: t.about.SessionID}
	case abi.MemoryWorkspace:
		return Scope{Object: abi.ObjectWorkspace, ID: t.about.WorkspaceID}
	}
	return Scope{}
}

// recalls reports whether a Memory is one of the owner's, alive, and holds the words.
func (e *Engine) recalls(res storage.Resource, scope abi.MemoryScope, owner string, words []string) (m abi.Memory, ok bool, err error) {
	if err := decode(res.State, &m); err != nil {
		return m, false, err
	}
	if m.Visibility == abi.VisibilityReceiptOnly || m.Scope != scope || m.OwnerID != owner || !m.RedactedAt.IsZero() || !m.ExpiresAt.IsZero() && !m.ExpiresAt.After(e.now()) {
		return m, false, nil
	}
	content := strings.ToLower(string(m.Content))
	missing := func(word string) bool { return !strings.Contains(content, word) }
	return m, !slices.ContainsFunc(words, missing), nil
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
	c.states = &record{kind: abi.EventAgentMemoryWrite, object: abi.ObjectMemory, id: m.ID, created: true, state: m}
	return json.Marshal(abi.CallMemoryWriteAnswer{MemoryID: m.ID})
}

func checkMemory(req *abi.CallMemoryWriteRequest) error {
	setDefault(&req.Visibility, abi.VisibilityInternal)
	if err := firstError(checkMetadata(&req.Metadata), checkVisibility("visibility", req.Visibility)); err != nil {
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

// lastMessages returns the newest Messages of a Task's Session, oldest first.
func (e *Engine) lastMessages(ctx context.Context, t *task, last int) ([]byte, error) {
	var messages []abi.Message
	page := storage.Page{Limit: 200}
	earlier := false
	for {
		list, more, err := e.store.Transcript(ctx, t.tenant, t.about.SessionID, page)
		if err != nil {
			return nil, fmt.Errorf("reading the transcript: %w", err)
		}
		for _, res := range list {
			page.After = res.Position.String()
			state, err := forPlugins(res.State)
			if err != nil {
				return nil, err
			}
			var m abi.Message
			if err := decode(state, &m); err != nil {
				return nil, err
			}
			messages = append(messages, m)
		}
		if over := len(messages) - last; over > 0 {
			messages, earlier = slices.Clone(messages[over:]), true
		}
		if !more {
			break
		}
	}
	if messages == nil {
		messages = []abi.Message{}
	}
	return json.Marshal(abi.CallTranscriptReadAnswer{Messages: messages, Earlier: earlier})
}

// RedactMemory takes the content of a Memory away. That it was there stays known;
// no query finds it any more. The events that told it are kept as long as events
// are (retention.events), for replays of the Tasks that read it.
func (e *Engine) RedactMemory(ctx context.Context, c *Caller, r *Retry, id string) error {
	unlock := e.locks.lock(c.Tenant, id)
	defer unlock()
	m, res, err := findAs[abi.Memory](ctx, e, c, abi.ObjectMemory, id)
	if err != nil || !m.RedactedAt.IsZero() {
		return err
	}
	_, err = e.once(ctx, c, r, m.WorkspaceID, func(idem *storage.Idempotency) (Doc, error) {
		m.Content, m.RedactedAt = jsontext.Value("null"), abi.At(e.now())
		m.UpdatedAt = m.RedactedAt
		return e.commit(c, m.SessionID, m.WorkspaceID, idem, statusNoContent,
			record{kind: abi.EventMemoryRedacted, object: abi.ObjectMemory, id: id, seq: res.Sequence + 1, state: &m})
	})
	return err
}
