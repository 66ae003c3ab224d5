package engine_test

import (
	"context"
	"iter"
	"log/slog"
	"slices"
	"testing"
	"time"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/desk"
	"github.com/wharf-dev/wharf/runtime/engine"
	"github.com/wharf-dev/wharf/runtime/enginetest"
	"github.com/wharf-dev/wharf/runtime/intake"
	"github.com/wharf-dev/wharf/runtime/sandbox"
	"github.com/wharf-dev/wharf/storage"
)

// overtaking is a store on which something else happens once, right after one has looked.
type overtaking struct {
	storage.Store
	atSeen func()
}

// Seen implements [storage.Store].
func (o *overtaking) Seen(ctx context.Context, t storage.Tenant, k storage.DeliveryKey, since time.Time) (storage.Position, bool, error) {
	at, seen, err := o.Store.Seen(ctx, t, k, since)
	once(&o.atSeen)
	return at, seen, err
}

func once(what *func()) {
	if then := *what; then != nil {
		*what = nil
		then()
	}
}

// twoEngines returns a node, another engine on its store, and what is between the node and the
// store.
func twoEngines(t *testing.T, g enginetest.Guests) (*enginetest.Node, *engine.Engine, *overtaking) {
	t.Helper()
	store := &overtaking{}
	var parts engine.Parts
	one := enginetest.New(t, g, func(_ *engine.Config, p *engine.Parts) {
		persona := abi.Persona{Name: "poll", Version: "1", EntryWorkflow: "hand", AutonomyTier: abi.TierActAuto, ReceiptPolicy: abi.ReceiptOptional}
		persona.Envelope = abi.NewEnvelope(abi.ObjectPersona, "persona_poll", time.Now(), nil)
		p.Personas = append(p.Personas, persona)
		store.Store, parts = p.Store, *p
		p.Store = store
	})
	parts.Log = slog.New(slog.DiscardHandler)
	other, err := engine.New(engine.Config{DefaultPersona: "persona_echo"}, parts)
	if err != nil {
		t.Fatal(err)
	}
	return one, other, store
}

func start(t *testing.T, e *engine.Engine) {
	t.Helper()
	if _, err := e.Bootstrap(t.Context(), enginetest.RootKey); err != nil {
		t.Fatal(err)
	}
	if err := e.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.Drain(context.Background()); err != nil {
			t.Error(err)
		}
	})
}

// hook is the header of a delivery with an id.
type hook string

// Get implements [intake.IncomingHeader].
func (h hook) Get(name string) []byte {
	if name == "webhook-id" {
		return []byte(h)
	}
	return nil
}

// All implements [intake.IncomingHeader].
func (h hook) All() iter.Seq2[[]byte, []byte] {
	return func(yield func([]byte, []byte) bool) { yield([]byte("webhook-id"), []byte(h)) }
}

// A poll hands over several deliveries, one of which another writer takes at that moment: it is
// taken once, and so are the others.
func TestAPollIsOvertaken(t *testing.T) {
	var answers []string
	hand := func(ctx context.Context, h sandbox.Host) error {
		if err := enginetest.Call(ctx, h, abi.CallMessageAppend, `{"role":"assistant","parts":[{"type":"text","text":"polled"}]}`); err != nil {
			return err
		}
		_, answer, err := h.Call(ctx, abi.CallDeliver, []byte(`{"deliveries":[{"id":"a","text":"a"},{"id":"b","text":"b"},{"id":"c","text":"c"}]}`))
		if err != nil {
			return err
		}
		answers = append(answers, string(answer))
		return enginetest.Echo(ctx, h)
	}
	one, other, store := twoEngines(t, enginetest.Guests{"hand": hand, "sorter": enginetest.Echo})
	doc, err := one.CreateConnector(t.Context(), one.Root, nil, abi.CreateConnectorRequest{Provider: "generic", Plugin: "sorter#" + abi.DefaultExport})
	if err != nil {
		t.Fatal(err)
	}
	paused := abi.ConnectorPaused
	if _, err := one.UpdateConnector(t.Context(), one.Root, nil, doc.ID, abi.UpdateConnectorRequest{Status: &paused}); err != nil {
		t.Fatal(err)
	}
	start(t, other)
	session := one.Session(t)
	store.atSeen = func() {
		got, err := other.ReceiveDelivery(t.Context(), one.Root, doc.ID, &intake.Incoming{Method: "POST", Header: hook("b"), Body: []byte("b")})
		if err != nil || got.Status != intake.DeliveryAccepted {
			t.Errorf("%+v, %v", got, err)
		}
	}
	task := abi.DerivedID(abi.ObjectTask, time.Now(), "poll")
	err = one.Accept(t.Context(), intake.Order{Caller: one.Root, ID: task, ConnectorID: doc.ID,
		Request: abi.SubmitTaskRequest{Input: enginetest.Text("poll"), SessionID: session, PersonaID: "persona_poll"}})
	if err != nil {
		t.Fatal(err)
	}
	if ended := one.Wait(t, task); ended.Status != abi.TaskCompleted {
		t.Fatalf("the poll is %s: %v", ended.Status, ended.Failure)
	}
	if !slices.Equal(answers, []string{`{"received":2,"deduped":1}`}) {
		t.Errorf("the poll was answered %v", answers)
	}
	taken, said := 0, 0
	for _, kind := range one.Kinds(t, desk.Filter{}) {
		switch kind {
		case string(abi.EventConnectorDeliveryReceived):
			taken++
		case string(abi.EventAgentMessage):
			said++
		}
	}
	if taken != 3 || said != 2 {
		t.Errorf("%d deliveries were taken, and %d Messages said", taken, said)
	}
}
