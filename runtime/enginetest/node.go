package enginetest

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"slices"
	"sync"
	"testing"
	"time"

	json "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/abi/eventstest"
	"github.com/wharf-dev/wharf/runtime/desk"
	"github.com/wharf-dev/wharf/runtime/engine"
	"github.com/wharf-dev/wharf/runtime/receipt"
	"github.com/wharf-dev/wharf/runtime/tenancy"
	"github.com/wharf-dev/wharf/storage"
	"github.com/wharf-dev/wharf/storage/pebble"
	"github.com/wharf-dev/wharf/storage/pebble/crashtest"
)

// RootKey is the API key of every node, which may do everything.
const RootKey = "a-root-key-for-tests"

// Node is an engine on a disk in memory.
type Node struct {
	*engine.Engine
	Disk  *crashtest.Disk // nil for a node on a store that the test has opened
	Store *pebble.Store
	Root  *desk.Caller // who has RootKey

	Forged bool // the test has written events that no node writes
}

// Configure changes what a node is made of, in the order in which it is given.
type Configure = func(*engine.Config, *engine.Parts)

// New starts a node on a disk of its own, with the guest [Echo] besides the given ones, and stops
// it at the end of the test.
func New(t testing.TB, g Guests, configure ...Configure) *Node {
	t.Helper()
	if g["echo"] == nil {
		g["echo"] = Echo
	}
	n := Boot(t, crashtest.NewDisk(), g, configure...)
	t.Cleanup(func() { n.Stop(t) })
	return n
}

// Boot starts a node on a disk; a second one on the same disk stands for a restart. The test stops
// it.
func Boot(t testing.TB, disk *crashtest.Disk, g Guests, configure ...Configure) *Node {
	t.Helper()
	store, err := disk.Open()
	if err != nil {
		t.Fatal(err)
	}
	n := BootOn(t, store, g, configure...)
	n.Disk = disk
	return n
}

// BootOn starts a node on an open store, which the node closes when it is stopped.
func BootOn(t testing.TB, store *pebble.Store, g Guests, configure ...Configure) *Node {
	t.Helper()
	config := engine.Config{DefaultPersona: "persona_echo"}
	keys, err := receipt.OpenKeyring(t.TempDir(), "test", time.Now())
	if err != nil {
		t.Fatal(err)
	}
	parts := engine.Parts{Store: store, Modules: g, Personas: g.Personas(), Keys: keys, Backup: store.Checkpoint,
		Log: slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelError}))}
	for _, f := range configure {
		f(&config, &parts)
	}
	e, err := engine.New(config, parts)
	if err != nil {
		t.Fatal(err)
	}
	n := &Node{Engine: e, Store: store}
	ctx := context.Background()
	if _, err := e.Bootstrap(ctx, RootKey); err != nil {
		t.Fatal(err)
	}
	if err := e.Start(ctx); err != nil {
		t.Fatal(err)
	}
	if n.Root, err = e.Authenticate(ctx, RootKey); err != nil {
		t.Fatal(err)
	}
	return n
}

// Stop ends a node cleanly, and gives what runs no time.
func (n *Node) Stop(t testing.TB) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := n.Drain(ctx); err != nil {
		t.Fatal(err)
	}
	if !n.Forged {
		n.checkEvents(t)
	}
	if err := n.Store.Close(); err != nil {
		t.Fatal(err)
	}
}

// Session creates a Session in the default Workspace.
func (n *Node) Session(t testing.TB) string {
	t.Helper()
	doc, err := n.CreateSession(t.Context(), n.Root, nil, abi.CreateSessionRequest{WorkspaceID: tenancy.DefaultWorkspace})
	if err != nil {
		t.Fatal(err)
	}
	return doc.ID
}

// Submit submits a Task that says hi to a Persona, the default one when it is "".
func (n *Node) Submit(t testing.TB, session, persona string) string {
	t.Helper()
	doc, err := n.SubmitTask(t.Context(), n.Root, nil, abi.SubmitTaskRequest{SessionID: session, PersonaID: persona, Input: Text("hi")})
	if err != nil {
		t.Fatal(err)
	}
	return doc.ID
}

// Wait waits for the end of a Task.
func (n *Node) Wait(t testing.TB, id string) abi.Task {
	t.Helper()
	doc, err := n.WaitTask(t.Context(), n.Root, id)
	if err != nil {
		t.Fatal(err)
	}
	return As[abi.Task](t, doc)
}

// Until waits until a Task is told something. is is asked of each of its events, in their order, until it holds.
func (n *Node) Until(t testing.TB, task string, is func(*storage.Record) bool) {
	t.Helper()
	sub, err := n.Subscribe(t.Context(), n.Root, desk.Filter{TaskID: task}, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer sub.Close()
	for {
		events, err := sub.Next(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if slices.ContainsFunc(events, func(ev desk.Event) bool { return is(ev.Record()) }) {
			return
		}
	}
}

// Kinds lists the events of a stream.
func (n *Node) Kinds(t testing.TB, f desk.Filter) (kinds []string) {
	t.Helper()
	events, more, err := n.Events(t.Context(), n.Root, f, 0, 1000)
	if err != nil || more {
		t.Fatal(err, more)
	}
	for _, ev := range events {
		kinds = append(kinds, string(ev.Record().Kind))
	}
	return kinds
}

// Text is a Message of a user as the input of a Task. It quotes nothing.
func Text(s string) jsontext.Value {
	return jsontext.Value(`{"role":"user","parts":[{"type":"text","text":"` + s + `"}]}`)
}

// As decodes what the engine answered with.
func As[T any](t testing.TB, doc desk.Doc) (v T) {
	t.Helper()
	if err := json.Unmarshal(doc.JSON, &v); err != nil {
		t.Fatalf("%v: %s", err, doc.JSON)
	}
	return v
}

// WantCode wants an error for a client with a code, and returns it.
func WantCode(t testing.TB, err error, code abi.ErrorCode) *abi.Error {
	t.Helper()
	var own *abi.Error
	if !errors.As(err, &own) || own.Code != code {
		t.Fatalf("error %v, want %s", err, code)
	}
	return own
}

// theChecker is one for all nodes: to read the schemas takes longer than most tests.
var theChecker = sync.OnceValues(eventstest.NewChecker)

// checkEvents holds every event of a node that ends against its documentation. A log that cannot
// be read to its end was damaged by the test.
func (n *Node) checkEvents(t testing.TB) {
	t.Helper()
	checker, err := theChecker()
	if err != nil {
		t.Fatal(err)
	}
	ctx := context.Background()
	tenants, _, err := n.Store.List(ctx, storage.SystemTenant, abi.ObjectTenant, storage.Scope{}, storage.Page{Limit: 1000})
	if err != nil {
		return
	}
	for _, of := range tenants {
		var tenant abi.Tenant
		if json.Unmarshal(of.State, &tenant) != nil {
			continue
		}
		for after, more := storage.Position(0), true; more; {
			var page []storage.Event
			if page, more, err = n.Store.Events(ctx, storage.Tenant(tenant.Number), storage.Scope{}, after, 200); err != nil {
				return
			}
			for _, ev := range page {
				after = ev.Position()
				if err := check(checker, ev.Record()); err != nil {
					t.Errorf("event %s: %v", after, err)
					return
				}
			}
		}
	}
}

func check(checker *eventstest.Checker, rec *storage.Record) error {
	var states abi.Object
	if rec.State != nil {
		states = rec.Resource.Object
	}
	return checker.Check(rec.Kind, states, rec.Payload)
}
