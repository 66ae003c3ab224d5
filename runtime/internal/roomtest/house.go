package roomtest

import (
	"context"
	"crypto/rand"
	"errors"
	"log/slog"
	"runtime"
	"slices"
	"testing"
	"time"

	json "github.com/go-json-experiment/json"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/desk"
	"github.com/wharf-dev/wharf/runtime/ledger"
	"github.com/wharf-dev/wharf/storage"
)

// What every house has from the start.
const (
	Tenant    = storage.Tenant(1)
	TenantID  = "tenant_test"
	Workspace = "ws_test"
	Session   = "sess_test" // of Workspace
	Persona   = "persona_test"
)

// House is what rooms stand in: the parts that they share, over one store.
type House struct {
	desk.Parts
	reopen func() storage.Store
}

// New returns a house over an empty store. Its Reopen stands for the death of the node.
func New[S interface {
	storage.Store
	Reopen() S
}](t testing.TB, store S) *House {
	t.Helper()
	h := &House{}
	h.reopen = func() storage.Store {
		store = store.Reopen()
		return store
	}
	h.furnish(store)
	t.Cleanup(func() { _ = h.Store.Close() })
	now := time.Now()
	h.State(t, "", "", abi.EventWorkspaceCreated, abi.ObjectWorkspace, Workspace, &abi.Workspace{Envelope: abi.NewEnvelope(abi.ObjectWorkspace, Workspace, now, nil)})
	h.NewSession(t, Session, Workspace)
	return h
}

// yielding lets others come in between whatever a room reads and what it does then.
type yielding struct{ storage.Store }

func (y yielding) Get(ctx context.Context, t storage.Tenant, o abi.Object, id string) (storage.Resource, error) {
	res, err := y.Store.Get(ctx, t, o, id)
	yield()
	return res, err
}

func (y yielding) Append(b *storage.Batch) storage.Commit {
	yield()
	return y.Store.Append(b)
}

func yield() {
	for range 20 {
		runtime.Gosched()
	}
}

func (h *House) furnish(store storage.Store) {
	store = yielding{store}
	log := slog.New(slog.DiscardHandler)
	l := ledger.New(ledger.Config{Store: store, Now: time.Now, Log: log, IdleSessions: 10, KeepKeys: 24 * time.Hour})
	h.Parts = desk.Parts{Store: store, Ledger: l, Desk: desk.New(store, l, time.Now, nil), IDs: abi.NewIDs(time.Now, rand.Reader), Now: time.Now, Log: log}
}

// Crash ends the node and begins another one over what is on disk. Rooms made before it are
// those of the dead one: make them anew.
func (h *House) Crash() { h.furnish(h.reopen()) }

// State has the log state a resource of the tenant, as the room would that makes it.
func (h *House) State(t testing.TB, workspace, session string, kind abi.EventKind, o abi.Object, id string, state any) {
	t.Helper()
	_, known, err := h.Store.Sequence(t.Context(), Tenant, abi.ResourcePointer{Object: o, ID: id})
	if err == nil {
		_, err = h.Desk.CommitNext(t.Context(), storage.Frame{Tenant: Tenant, WorkspaceID: workspace, SessionID: session, Actor: h.Root().Actor}, nil, 0,
			ledger.Record{Kind: kind, Object: o, ID: id, Created: !known, State: state})
	}
	if err != nil {
		t.Fatal(err)
	}
}

// NewWorkspace makes a Workspace.
func (h *House) NewWorkspace(t testing.TB, id string) {
	t.Helper()
	h.State(t, "", "", abi.EventWorkspaceCreated, abi.ObjectWorkspace, id, &abi.Workspace{Envelope: abi.NewEnvelope(abi.ObjectWorkspace, id, h.Now(), nil)})
}

// NewSession makes a Session of a Workspace.
func (h *House) NewSession(t testing.TB, id, workspace string) {
	t.Helper()
	h.State(t, workspace, id, abi.EventSessionCreated, abi.ObjectSession, id, &abi.Session{
		Envelope: abi.NewEnvelope(abi.ObjectSession, id, h.Now(), nil), WorkspaceID: workspace, PersonaID: Persona, State: abi.SessionIdle})
}

// Kinds returns the kinds of the events that a filter lets through, oldest first.
func (h *House) Kinds(t testing.TB, f desk.Filter) (kinds []abi.EventKind) {
	t.Helper()
	events, more, err := h.Desk.Events(t.Context(), h.Root(), f, 0, 1000)
	if err != nil || more {
		t.Fatal(err, more)
	}
	for _, ev := range events {
		kinds = append(kinds, ev.Record().Kind)
	}
	return kinds
}

// Root returns a caller who may do everything in the tenant, and see all of it.
func (h *House) Root() *desk.Caller {
	return &desk.Caller{Tenant: Tenant, TenantID: TenantID, Actor: "root", KeyID: "key_root", Scopes: []string{abi.ScopeAll}}
}

// Bound returns a caller who sees some Workspaces of the tenant only, and may do all there.
func (h *House) Bound(workspaces ...string) *desk.Caller {
	c := h.Root()
	c.Actor, c.KeyID, c.Workspaces = "bound", "key_bound", workspaces
	return c
}

// With returns a caller of the tenant who has some scopes only.
func (h *House) With(scopes ...string) *desk.Caller {
	c := h.Root()
	c.Actor, c.KeyID, c.Scopes = "scoped", "key_scoped", scopes
	return c
}

// Strangers are callers who have no part in Workspace: to them what is in it is not there.
func (h *House) Strangers() map[string]*desk.Caller {
	other := h.Root()
	other.Tenant, other.TenantID = 2, "tenant_other"
	return map[string]*desk.Caller{
		"of another tenant":          other,
		"bound to another workspace": h.Bound("ws_other"),
	}
}

// WantCode fails a test whose error is not an [abi.Error] of a code, and returns it.
func WantCode(t testing.TB, err error, code abi.ErrorCode) *abi.Error {
	t.Helper()
	own, ok := errors.AsType[*abi.Error](err)
	if !ok || own.Code != code {
		t.Fatalf("the error is %v, want %s", err, code)
	}
	return own
}

// WantParam fails a test whose error does not name a parameter that is wrong.
func WantParam(t testing.TB, err error, param string) {
	t.Helper()
	own, ok := errors.AsType[*abi.Error](err)
	if !ok || own.Param != param {
		t.Fatalf("the error is %v, want one about %s", err, param)
	}
}

// As reads a document.
func As[T any](t testing.TB, doc desk.Doc) (v T) {
	t.Helper()
	if err := json.Unmarshal(doc.JSON, &v); err != nil {
		t.Fatalf("%v: %s", err, doc.JSON)
	}
	return v
}

// Run is a run whose calls a test makes: a hostcall.Run.
type Run struct {
	State   abi.Session     // what Session returns
	Puts    []string        // Artifacts that it has put
	Flushed int             // how often it was flushed
	Has     []abi.TaskSkill // what Skills returns
}

// Flush counts.
func (r *Run) Flush() error {
	r.Flushed++
	return nil
}

// HasPut reports whether an Artifact is among Puts.
func (r *Run) HasPut(artifact string) bool { return slices.Contains(r.Puts, artifact) }

// Session returns State.
func (r *Run) Session() abi.Session { return r.State }

// Skills returns Has.
func (r *Run) Skills() []abi.TaskSkill { return r.Has }

// Task returns a Task of Session, as it was accepted.
func (h *House) Task() *abi.Task {
	return &abi.Task{Envelope: abi.NewEnvelope(abi.ObjectTask, "task_test", h.Now(), nil), WorkspaceID: Workspace, SessionID: Session, PersonaID: Persona}
}

// Retry returns an Idempotency-Key with a body.
func Retry(key, body string) *desk.Retry {
	return &desk.Retry{Key: key, Scope: "POST /v1/things", Fingerprint: ledger.CanonicalHash([]byte(body))}
}
