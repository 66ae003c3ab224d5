package engine

import (
	"bytes"
	"context"
	"slices"
	"strings"
	"time"

	json "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/storage"
)

const (
	// maxTerms is how many words one query may look for.
	maxTerms = 32
	// maxSearches bounds the searches that one query makes of the store, each of which
	// looks at a bounded number of Memories: most of those found may have expired.
	maxSearches = 5
	// scanMemories is how many Memories a list without an owner is narrowed down from:
	// one page costs no more, and goes on where it has stopped.
	scanMemories = 2000
)

// MemoryFilter narrows a list of Memories. Empty members do not narrow.
type MemoryFilter struct {
	Filter
	Scope   abi.MemoryScope
	OwnerID string
	Text    string // every word of it is in the content; one that ends in * begins a word
}

// CreateMemory keeps what a client knows for those that may use it.
func (e *Engine) CreateMemory(ctx context.Context, c *Caller, r *Retry, req abi.CreateMemoryRequest) (Doc, error) {
	if err := e.checkNewMemory(&req); err != nil {
		return Doc{}, err
	}
	workspace, session, err := e.checkMemoryOwner(ctx, c, req.Scope, req.OwnerID)
	if err != nil {
		return Doc{}, err
	}
	if err := e.checkReference(ctx, c, req.Content); err != nil {
		return Doc{}, err
	}
	return e.once(ctx, c, r, workspace, func(idem *storage.Idempotency) (Doc, error) {
		now := e.now()
		if !req.ExpiresAt.IsZero() && !req.ExpiresAt.After(now) {
			return Doc{}, abi.InvalidParam("expires_at", "expires_at lies in the past")
		}
		m := &abi.Memory{
			Envelope: abi.NewEnvelope(abi.ObjectMemory, e.ids.New(abi.ObjectMemory), now, req.Metadata),
			Scope:    req.Scope, OwnerID: req.OwnerID, Content: req.Content, Provenance: namedBy(req.Provenance, c.Actor),
			Visibility: req.Visibility, Confidence: req.Confidence, RedactionPolicy: req.RedactionPolicy, EmbeddingRef: req.EmbeddingRef,
			WorkspaceID: workspace, SessionID: session,
		}
		if !req.ExpiresAt.IsZero() {
			m.ExpiresAt = abi.At(req.ExpiresAt)
		}
		doc, err := e.commit(c, session, workspace, idem, statusCreated, record{kind: abi.EventMemoryCreated, object: abi.ObjectMemory,
			id: m.ID, created: true, restricted: m.Visibility != abi.VisibilityPublic, state: m})
		doc.Restricted = true // as every Memory that is read
		return doc, err
	})
}

func (e *Engine) checkNewMemory(req *abi.CreateMemoryRequest) error {
	setDefault(&req.Visibility, abi.VisibilityPublic)
	err := firstError(
		checkOneOf("scope", req.Scope, abi.MemoryPersona, abi.MemorySession, abi.MemoryWorkspace, abi.MemoryTenant),
		checkPresent("owner_id", req.OwnerID), checkMetadata(&req.Metadata), checkVisibility("visibility", req.Visibility),
		checkObject("provenance", req.Provenance, true), checkObject("redaction_policy", req.RedactionPolicy, false))
	if err != nil {
		return err
	}
	switch kind := req.Content.Kind(); {
	case kind != '"' && kind != '{':
		return abi.InvalidParam("content", "content is a string or an object")
	case req.Confidence < 0 || req.Confidence > 1:
		return abi.InvalidParam("confidence", "confidence is 0 to 1")
	}
	return nil
}

// checkObject accepts a JSON object, and nothing at all unless it is required.
func checkObject(param string, v jsontext.Value, required bool) error {
	switch {
	case len(v) == 0 && required:
		return abi.InvalidParam(param, "missing required member %q", param)
	case len(v) > 0 && v.Kind() != '{':
		return abi.InvalidParam(param, "%s must be a JSON object", param)
	}
	return nil
}

// checkMemoryOwner checks that the caller may keep something for an owner, and
// returns the Workspace and Session that the owner belongs to.
func (e *Engine) checkMemoryOwner(ctx context.Context, c *Caller, scope abi.MemoryScope, id string) (workspace, session string, err error) {
	switch scope {
	case abi.MemorySession:
		s, _, err := findAs[abi.Session](ctx, e, c, abi.ObjectSession, id)
		return s.WorkspaceID, id, err
	case abi.MemoryWorkspace:
		return id, "", e.checkWorkspace(ctx, c, id)
	}
	if err := c.ownsTenantWide(); err != nil {
		return "", "", err
	}
	if scope == abi.MemoryPersona {
		_, err = e.persona(ctx, c.Tenant, id)
	} else if id != c.TenantID {
		err = abi.NotFound(abi.ObjectTenant, id)
	}
	return "", "", err
}

// ownsTenantWide refuses a key that is bound to Workspaces what reaches beyond them.
func (c *Caller) ownsTenantWide() error {
	if len(c.Workspaces) > 0 {
		return abi.Errorf(abi.CodePermissionDenied, "this key is bound to workspaces and cannot change what others share")
	}
	return nil
}

// checkReference checks that the Artifact that a content refers to is there.
func (e *Engine) checkReference(ctx context.Context, c *Caller, content jsontext.Value) error {
	var ref struct {
		Type       abi.PartType `json:"type"`
		ArtifactID string       `json:"artifact_id"`
	}
	if content.Kind() != '{' || json.Unmarshal(content, &ref) != nil || ref.Type != abi.PartArtifactRef {
		return nil
	}
	_, err := e.Get(ctx, c, abi.ObjectArtifact, ref.ArtifactID)
	return err
}

// namedBy puts who says so into a provenance, whatever it says itself.
func namedBy(provenance jsontext.Value, actor string) jsontext.Value {
	members := map[string]jsontext.Value{}
	_ = json.Unmarshal(provenance, &members) // it is an object
	members["actor"], _ = jsontext.AppendQuote(nil, actor)
	named, _ := json.Marshal(members, json.Deterministic(true))
	return named
}

// ListMemories returns the Memories that a filter lets through and the caller may
// see, newest first. A page may hold fewer than there are and still have a next.
func (e *Engine) ListMemories(ctx context.Context, c *Caller, f MemoryFilter, p Page) (DocList, error) {
	terms, err := termsOf("q", f.Text)
	if err != nil {
		return DocList{}, err
	}
	if f.Scope != "" {
		if err := checkOneOf("scope", f.Scope, abi.MemoryPersona, abi.MemorySession, abi.MemoryWorkspace, abi.MemoryTenant); err != nil {
			return DocList{}, err
		}
	}
	l := &memoryList{e: e, c: c, f: f, terms: terms, limit: p.Limit}
	switch {
	case f.OwnerID != "":
		return l.result(e.search(ctx, c.Tenant, storage.Query{Owner: f.OwnerID, Terms: terms, After: p.After, Limit: p.Limit}, l.add(ctx)))
	case len(terms) > 0 || f.Scope != "":
		return l.result(e.walkMemories(ctx, c, f.Filter, p, l.add(ctx)))
	}
	return e.List(ctx, c, abi.ObjectMemory, f.Filter, p)
}

// memoryList is a page that is being filled.
type memoryList struct {
	e     *Engine
	c     *Caller
	f     MemoryFilter
	terms []storage.Term
	limit int
	list  DocList
}

func (l *memoryList) result(next string, err error) (DocList, error) {
	return l.list.end(next, next != ""), err
}

// add returns what takes the Memories that belong to the page, and reports whether
// there is room for more.
func (l *memoryList) add(ctx context.Context) func(storage.Resource) (bool, error) {
	return func(res storage.Resource) (bool, error) {
		doc, ok, err := l.e.listed(ctx, l.c, abi.ObjectMemory, l.f.Filter, res)
		if err == nil && ok {
			ok, err = l.matches(res.State)
		}
		full := false
		switch {
		case err != nil && (l.e.halted(ctx, err) || !aboutOne(err)):
			return true, err
		case err != nil:
			l.list.leaveOut(l.c, res.ID)
		case ok:
			full = l.list.add(doc, l.limit)
		}
		return !full, nil
	}
}

// matches reports whether a Memory is what the filter asks for. What a reader may
// not see cannot be found by what it says either.
func (l *memoryList) matches(state []byte) (bool, error) {
	var m abi.Memory
	if err := decode(state, &m); err != nil {
		return false, err
	}
	if l.f.Scope != "" && m.Scope != l.f.Scope || l.f.OwnerID != "" && m.OwnerID != l.f.OwnerID {
		return false, nil
	}
	if len(l.terms) == 0 {
		return true, nil
	}
	seen := m.Visibility == abi.VisibilityPublic || m.Visibility == abi.VisibilityInternal && l.c.Can(abi.ScopeEventsInternal)
	return seen && m.RedactedAt.IsZero() && holdsAll(storage.Words(m.Content), l.terms), nil
}

func holdsAll(words []string, terms []storage.Term) bool {
	return !slices.ContainsFunc(terms, func(t storage.Term) bool {
		at, found := slices.BinarySearch(words, t.Word)
		return !found && !(t.Prefix && at < len(words) && strings.HasPrefix(words[at], t.Word))
	})
}

// termsOf returns the words that a query looks for.
func termsOf(param, text string) ([]storage.Term, error) {
	terms := storage.Terms(text)
	if len(terms) > maxTerms {
		return nil, abi.InvalidParam(param, "%s has more than %d words", param, maxTerms)
	}
	return terms, nil
}

// search calls f with the Memories that a query finds, newest first, until it
// returns false. It returns the id after which to go on, "" at the end.
func (e *Engine) search(ctx context.Context, t storage.Tenant, q storage.Query, f func(storage.Resource) (bool, error)) (next string, err error) {
	for range maxSearches {
		found, after, err := e.store.Search(ctx, t, q)
		if err != nil {
			return "", e.failed("searching the memories", err)
		}
		for i, res := range found {
			goOn, err := f(res)
			if err != nil {
				return "", err
			}
			if !goOn && (after != "" || i < len(found)-1) {
				return res.ID, nil
			}
		}
		if q.After = after; after == "" {
			break
		}
	}
	return q.After, nil
}

// walkMemories does what search does for those that have no owner in common.
func (e *Engine) walkMemories(ctx context.Context, c *Caller, f Filter, p Page, take func(storage.Resource) (bool, error)) (next string, err error) {
	if f.WorkspaceID == "" && len(c.Workspaces) == 1 {
		f.WorkspaceID = c.Workspaces[0]
	}
	scope, page := f.scopeFor(abi.ObjectMemory), storage.Page{After: p.After, Limit: 200}
	for scanned := 0; scanned < scanMemories; scanned += page.Limit {
		list, more, err := e.store.List(ctx, c.Tenant, abi.ObjectMemory, scope, page)
		if err != nil {
			return "", e.failed("listing", err)
		}
		for i, res := range list {
			page.After = res.ID
			goOn, err := take(res)
			if err != nil {
				return "", err
			}
			if !goOn && (more || i < len(list)-1) {
				return res.ID, nil
			}
		}
		if !more {
			return "", nil
		}
	}
	return page.After, nil
}

// RedactMemory takes the content of a Memory away. That it was there stays known;
// no query finds it any more. The events that told it are kept as long as events
// are (retention.events), for replays of the Tasks that read it.
func (e *Engine) RedactMemory(ctx context.Context, c *Caller, r *Retry, id string) error {
	m, _, err := findAs[abi.Memory](ctx, e, c, abi.ObjectMemory, id)
	if err != nil || !m.RedactedAt.IsZero() {
		return err
	}
	if m.WorkspaceID == "" {
		if err := c.ownsTenantWide(); err != nil {
			return err
		}
	}
	_, err = e.once(ctx, c, r, m.WorkspaceID, func(idem *storage.Idempotency) (Doc, error) {
		unlock := e.locks.lock(c.Tenant, id)
		defer unlock()
		m, res, err := findAs[abi.Memory](ctx, e, c, abi.ObjectMemory, id)
		if err != nil || !m.RedactedAt.IsZero() {
			return Doc{}, err
		}
		m.Content, m.RedactedAt = jsontext.Value("null"), abi.At(e.now())
		m.UpdatedAt = m.RedactedAt
		return e.commit(c, m.SessionID, m.WorkspaceID, idem, statusNoContent,
			record{kind: abi.EventMemoryRedacted, object: abi.ObjectMemory, id: id, seq: res.Sequence + 1, state: &m})
	})
	return err
}

// alive reports whether a Memory has neither expired nor been redacted.
func alive(m *abi.Memory, now time.Time) bool {
	return m.RedactedAt.IsZero() && (m.ExpiresAt.IsZero() || m.ExpiresAt.After(now))
}

// expired reports whether a Memory's time is over. Most have none.
func (e *Engine) expired(state []byte) bool {
	if !bytes.Contains(state, []byte(`"expires_at"`)) {
		return false
	}
	var m struct {
		ExpiresAt abi.Time `json:"expires_at"`
	}
	return json.Unmarshal(state, &m) == nil && !m.ExpiresAt.IsZero() && !m.ExpiresAt.After(e.now())
}
