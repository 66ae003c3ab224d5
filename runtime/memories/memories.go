package memories

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	json "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/abi/jsonw"
	"github.com/wharf-dev/wharf/runtime/desk"
	"github.com/wharf-dev/wharf/runtime/ledger"
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

// Filter narrows a list of Memories. Empty members do not narrow.
type Filter struct {
	desk.Filter
	Scope   abi.MemoryScope
	OwnerID string
	Text    string // every word of it is in the content; one that ends in * begins a word
}

// CreateMemory keeps what a client knows for those that may use it.
func (k *Keeper) CreateMemory(ctx context.Context, c *desk.Caller, r *desk.Retry, req abi.CreateMemoryRequest) (desk.Doc, error) {
	if err := k.checkNewMemory(&req); err != nil {
		return desk.Doc{}, err
	}
	workspace, session, err := k.checkMemoryOwner(ctx, c, req.Scope, req.OwnerID)
	if err != nil {
		return desk.Doc{}, err
	}
	if err := k.checkReference(ctx, c, req.Content); err != nil {
		return desk.Doc{}, err
	}
	return k.parts.Desk.Once(ctx, c, r, workspace, func(idem *storage.Idempotency) (desk.Doc, error) {
		now := k.parts.Now()
		if !req.ExpiresAt.IsZero() && !req.ExpiresAt.After(now) {
			return desk.Doc{}, abi.InvalidParam("expires_at", "expires_at lies in the past")
		}
		m := &abi.Memory{
			Envelope: abi.NewEnvelope(abi.ObjectMemory, k.parts.IDs.New(abi.ObjectMemory), now, req.Metadata),
			Scope:    req.Scope, OwnerID: req.OwnerID, Content: req.Content, Provenance: namedBy(req.Provenance, c.Actor),
			Visibility: req.Visibility, Confidence: req.Confidence, RedactionPolicy: req.RedactionPolicy, EmbeddingRef: req.EmbeddingRef,
			WorkspaceID: workspace, SessionID: session,
		}
		if !req.ExpiresAt.IsZero() {
			m.ExpiresAt = abi.At(req.ExpiresAt)
		}
		doc, err := k.parts.Desk.Commit(c, session, workspace, idem, desk.StatusCreated, ledger.Record{Kind: abi.EventMemoryCreated, Object: abi.ObjectMemory,
			ID: m.ID, Created: true, Restricted: m.Visibility != abi.VisibilityPublic, State: m})
		doc.Restricted = true // as every Memory that is read
		return doc, err
	})
}

func (k *Keeper) checkNewMemory(req *abi.CreateMemoryRequest) error {
	req.Visibility = cmp.Or(req.Visibility, abi.VisibilityPublic)
	err := cmp.Or(
		desk.CheckOneOf("scope", req.Scope, abi.MemoryPersona, abi.MemorySession, abi.MemoryWorkspace, abi.MemoryTenant),
		desk.CheckPresent("owner_id", req.OwnerID), desk.CheckMetadata(&req.Metadata), desk.CheckVisibility("visibility", req.Visibility),
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
func (k *Keeper) checkMemoryOwner(ctx context.Context, c *desk.Caller, scope abi.MemoryScope, id string) (workspace, session string, err error) {
	switch scope {
	case abi.MemorySession:
		s, _, err := desk.Find[abi.Session](ctx, k.parts.Desk, c, abi.ObjectSession, id)
		return s.WorkspaceID, id, err
	case abi.MemoryWorkspace:
		return id, "", k.parts.Desk.CheckWorkspace(ctx, c, id)
	case abi.MemoryPersona:
		workspace, err = k.checkPersonaOwner(ctx, c, id)
		return workspace, "", err
	}
	if err := c.OwnsTenantWide(); err != nil {
		return "", "", err
	}
	if id != c.TenantID {
		err = abi.NotFound(abi.ObjectTenant, id)
	}
	return "", "", err
}

// checkPersonaOwner is checkMemoryOwner for what a Persona knows, which belongs where it does.
func (k *Keeper) checkPersonaOwner(ctx context.Context, c *desk.Caller, id string) (workspace string, err error) {
	p, err := k.parts.Persona(ctx, c.Tenant, id)
	switch {
	case err != nil:
		return "", err
	case p.WorkspaceID == "":
		return "", c.OwnsTenantWide()
	case !c.Sees(p.WorkspaceID):
		return "", abi.NotFound(abi.ObjectPersona, id)
	}
	return p.WorkspaceID, nil
}

// checkReference checks that the Artifact that a content refers to is there.
func (k *Keeper) checkReference(ctx context.Context, c *desk.Caller, content jsontext.Value) error {
	var ref struct {
		Type       abi.PartType `json:"type"`
		ArtifactID string       `json:"artifact_id"`
	}
	if content.Kind() != '{' || json.Unmarshal(content, &ref) != nil || ref.Type != abi.PartArtifactRef {
		return nil
	}
	_, err := k.parts.Desk.Get(ctx, c, abi.ObjectArtifact, ref.ArtifactID)
	return err
}

// namedBy puts who says so into a provenance, whatever it says itself.
func namedBy(provenance jsontext.Value, actor string) jsontext.Value {
	members := map[string]jsontext.Value{}
	_ = json.Unmarshal(provenance, &members) // it is an object
	members["actor"] = jsonw.String(nil, actor)
	named, _ := json.Marshal(members, json.Deterministic(true))
	return named
}

// ListMemories returns the Memories that a filter lets through and the caller may
// see, newest first. A page may hold fewer than there are and still have a next.
func (k *Keeper) ListMemories(ctx context.Context, c *desk.Caller, f Filter, p desk.Page) (desk.DocList, error) {
	terms, err := termsOf("q", f.Text)
	if err != nil {
		return desk.DocList{}, err
	}
	if f.Scope != "" {
		if err := desk.CheckOneOf("scope", f.Scope, abi.MemoryPersona, abi.MemorySession, abi.MemoryWorkspace, abi.MemoryTenant); err != nil {
			return desk.DocList{}, err
		}
	}
	l := &memoryList{k: k, c: c, f: f, terms: terms, limit: p.Limit}
	switch {
	case f.OwnerID != "":
		return l.result(k.search(ctx, c.Tenant, storage.Query{Owner: f.OwnerID, Terms: terms, After: p.After, Limit: p.Limit}, l.add(ctx)))
	case len(terms) > 0 || f.Scope != "":
		return l.result(k.walkMemories(ctx, c, f.Filter, p, l.add(ctx)))
	}
	return k.parts.Desk.List(ctx, c, abi.ObjectMemory, f.Filter, p)
}

// memoryList is a page that is being filled.
type memoryList struct {
	k     *Keeper
	c     *desk.Caller
	f     Filter
	terms []storage.Term
	limit int
	list  desk.DocList
}

func (l *memoryList) result(next string, err error) (desk.DocList, error) {
	return l.list.End(next, next != ""), err
}

// add returns what takes the Memories that belong to the page, and reports whether
// there is room for more.
func (l *memoryList) add(ctx context.Context) func(storage.Resource) (bool, error) {
	return func(res storage.Resource) (bool, error) {
		doc, ok, err := l.k.parts.Desk.Listed(ctx, l.c, abi.ObjectMemory, l.f.Filter, res)
		if err == nil && ok {
			ok, err = l.matches(res.State)
		}
		full := false
		switch {
		case err != nil && (l.k.parts.Ledger.Halted(ctx, err) || !desk.AboutOne(err)):
			return true, err
		case err != nil:
			l.list.LeaveOut(l.c, res.ID)
		case ok:
			full = l.list.Add(doc, l.limit)
		}
		return !full, nil
	}
}

// matches reports whether a Memory is what the filter asks for. What a reader may
// not see cannot be found by what it says either.
func (l *memoryList) matches(state []byte) (bool, error) {
	var m abi.Memory
	if err := ledger.Decode(state, &m); err != nil {
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

// holdsAll reports whether sorted words hold every term.
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
func (k *Keeper) search(ctx context.Context, t storage.Tenant, q storage.Query, f func(storage.Resource) (bool, error)) (next string, err error) {
	for range maxSearches {
		found, after, err := k.parts.Store.Search(ctx, t, q)
		if err != nil {
			return "", k.parts.Ledger.Failed("searching the memories", err)
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
func (k *Keeper) walkMemories(ctx context.Context, c *desk.Caller, f desk.Filter, p desk.Page, take func(storage.Resource) (bool, error)) (next string, err error) {
	if f.WorkspaceID == "" && len(c.Workspaces) == 1 {
		f.WorkspaceID = c.Workspaces[0]
	}
	scope, page := f.ScopeFor(abi.ObjectMemory), storage.Page{After: p.After, Limit: 200}
	for scanned := 0; scanned < scanMemories; scanned += page.Limit {
		list, more, err := k.parts.Store.List(ctx, c.Tenant, abi.ObjectMemory, scope, page)
		if err != nil {
			return "", k.parts.Ledger.Failed("listing", err)
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
func (k *Keeper) RedactMemory(ctx context.Context, c *desk.Caller, r *desk.Retry, id string) error {
	m, _, err := desk.Find[abi.Memory](ctx, k.parts.Desk, c, abi.ObjectMemory, id)
	if err != nil || !m.RedactedAt.IsZero() {
		return err
	}
	if m.WorkspaceID == "" {
		if err := c.OwnsTenantWide(); err != nil {
			return err
		}
	}
	_, err = k.parts.Desk.Once(ctx, c, r, m.WorkspaceID, func(idem *storage.Idempotency) (desk.Doc, error) {
		return ledger.Change(k.parts.Ledger, c.Tenant, id, func() (desk.Doc, error) {
			m, res, err := desk.Find[abi.Memory](ctx, k.parts.Desk, c, abi.ObjectMemory, id)
			if err != nil || !m.RedactedAt.IsZero() {
				return desk.Doc{}, err
			}
			m.Content, m.RedactedAt = jsontext.Value("null"), abi.At(k.parts.Now())
			m.UpdatedAt = m.RedactedAt
			return k.parts.Desk.CommitLasting(c, m.SessionID, m.WorkspaceID, idem, desk.StatusNoContent,
				ledger.Record{Kind: abi.EventMemoryRedacted, Object: abi.ObjectMemory, ID: id, Sequence: res.Sequence + 1, State: &m})
		})
	})
	return err
}

// Alive reports whether a Memory has neither expired nor been redacted.
func Alive(m *abi.Memory, now time.Time) bool {
	return m.RedactedAt.IsZero() && (m.ExpiresAt.IsZero() || m.ExpiresAt.After(now))
}
