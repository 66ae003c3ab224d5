package intake

import (
	"context"
	"crypto/rand"
	"log/slog"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	json "github.com/go-json-experiment/json"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/apart"
	"github.com/wharf-dev/wharf/runtime/background"
	"github.com/wharf-dev/wharf/runtime/desk"
	"github.com/wharf-dev/wharf/runtime/ledger"
	"github.com/wharf-dev/wharf/runtime/sandbox"
	"github.com/wharf-dev/wharf/storage"
	"github.com/wharf-dev/wharf/storage/memory"
)

const workspace = "ws_test"

// room is an intake by itself: what runs Tasks and plugins is played by the test.
type room struct {
	*Intake
	root   *desk.Caller
	desk   *desk.Desk
	ledger *ledger.Ledger

	refuse error   // of the next Task that is offered
	onRun  func()  // before a Task that was offered runs; nil for nothing
	orders []Order // those that were accepted
	runs   []int   // how many deliveries each run of the plugin was given
}

func newRoom(t *testing.T) *room {
	t.Helper()
	store := memory.New(time.Now)
	r := roomOn(t, store)
	t.Cleanup(func() {
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
	return r
}

// roomOn returns a room on a store, which may have others: they share nothing else.
func roomOn(t *testing.T, store storage.Store) *room {
	t.Helper()
	log := slog.New(slog.DiscardHandler)
	r := &room{root: &desk.Caller{Tenant: 1, Actor: "test", Scopes: []string{abi.ScopeAll}}}
	r.ledger = ledger.New(ledger.Config{Store: store, Now: time.Now, Log: log, IdleSessions: 10})
	r.desk = desk.New(store, r.ledger, time.Now, nil)
	r.Intake = New(Parts{Parts: desk.Parts{Store: store, Ledger: r.ledger, Desk: r.desk, IDs: abi.NewIDs(time.Now, rand.Reader), Now: time.Now, Log: log},
		Entropy: rand.Reader, Tenants: oneTenant{}, Tasks: r, Plugins: r, Draining: func() bool { return false }, LeftOut: func(ledger.Key) error { return nil }, Background: &background.Group{}})
	if _, err := r.desk.Commit(r.root, "", workspace, nil, 0, ledger.Record{Kind: abi.EventWorkspaceCreated, Object: abi.ObjectWorkspace, ID: workspace,
		Created: true, State: &abi.Workspace{Envelope: abi.NewEnvelope(abi.ObjectWorkspace, workspace, time.Now(), nil)}}); err != nil && !ledger.Overtaken(err) {
		t.Fatal(err)
	}
	if err := r.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := r.Drain(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return r
}

type oneTenant struct{}

func (oneTenant) All() []*abi.Tenant                 { return []*abi.Tenant{{Number: 1}} }
func (oneTenant) IDOf(storage.Tenant) string         { return "tenant_test" }
func (oneTenant) Tenant(string) (*abi.Tenant, error) { return nil, nil }

// Offer accepts a Task: all that the log is told are the records that come with it.
func (r *room) Offer(_ context.Context, o Order) (Offered, error) {
	if err := r.refuse; err != nil {
		r.refuse = nil
		return Offered{}, err
	}
	records, err := ledger.Encode(o.With...)
	if err != nil {
		return Offered{}, err
	}
	r.orders = append(r.orders, o)
	return Offered{Commit: r.ledger.Append(&storage.Batch{Frame: storage.Frame{Tenant: 1, Time: time.Now(), WorkspaceID: workspace, Records: records}})}, nil
}

// Run implements [Tasks].
func (r *room) Run(o Offered) error {
	if r.onRun != nil {
		r.onRun()
	}
	_, err := o.Commit.Wait(context.Background())
	return err
}

// Submit implements [Tasks].
func (r *room) Submit(ctx context.Context, o Order) error {
	offered, err := r.Offer(ctx, o)
	if err != nil {
		return err
	}
	return r.Run(offered)
}

// Room implements [Tasks]: there is none before its time.
func (r *room) Room() <-chan struct{} { return nil }

// Resolve implements [apart.Plugins].
func (r *room) Resolve(context.Context, string) (string, error) { return "sha256:sorter", nil }

// Ready returns a plugin that makes a Task of each delivery.
func (r *room) Ready(context.Context, string, string) (apart.Plugin, error) {
	return apart.Plugin{Digest: "sha256:sorter", Limits: sandbox.DefaultLimits(), Run: func(ctx context.Context, h sandbox.Host, _ sandbox.Limits) (sandbox.Usage, error) {
		_, answer, err := h.Call(ctx, abi.CallDeliveries, nil)
		if err != nil {
			return sandbox.Usage{}, err
		}
		var got abi.CallDeliveriesAnswer
		if err := json.Unmarshal(answer, &got); err != nil {
			return sandbox.Usage{}, err
		}
		r.runs = append(r.runs, len(got.Deliveries))
		var means abi.CallNormalizedRequest
		for _, d := range got.Deliveries {
			if d.Text == "bad" {
				return sandbox.Usage{}, &abi.Failure{Code: abi.FailurePluginTrap, Message: "unreachable"}
			}
			means.Results = append(means.Results, abi.NormalizedDelivery{ID: d.ID, Tasks: []abi.ConnectorTask{{Input: []byte(`{}`), Thread: d.Text}}})
		}
		request, err := json.Marshal(&means)
		if err == nil {
			_, _, err = h.Call(ctx, abi.CallNormalized, request)
		}
		return sandbox.Usage{}, err
	}}, nil
}

func (r *room) connector(t *testing.T) string {
	t.Helper()
	doc, err := r.CreateConnector(t.Context(), r.root, nil, abi.CreateConnectorRequest{Provider: "generic", Plugin: "sorter#run", WorkspaceID: workspace})
	if err != nil {
		t.Fatal(err)
	}
	return doc.ID
}

func (r *room) deliver(t *testing.T, connector, id, text string) Received {
	t.Helper()
	got, err := r.ReceiveDelivery(t.Context(), r.root, connector, &Incoming{Method: "POST", Header: polled{map[string]string{"webhook-id": id}}, Body: []byte(text)})
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func (r *room) wantCounts(t *testing.T, want Deliveries) {
	t.Helper()
	got := r.DeliveryStats()
	if got.Received != want.Received || got.Deduped != want.Deduped || got.Normalized != want.Normalized || got.Dead != want.Dead || got.Pending != want.Pending {
		t.Errorf("the counts are %+v, want %+v", got, want)
	}
}

// A delivery is one Task of its thread's Session, however often it comes.
func TestADeliveryIsOneTask(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRoom(t)
		id := r.connector(t)
		first := r.deliver(t, id, "a", "thread")
		synctest.Wait()
		if again := r.deliver(t, id, "a", "thread"); again.Status != DeliveryDeduped {
			t.Errorf("the second time it is %s", again.Status)
		}
		r.deliver(t, id, "b", "thread")
		synctest.Wait()
		if len(r.orders) != 2 {
			t.Fatalf("two deliveries are %d tasks", len(r.orders))
		}
		a, b := r.orders[0], r.orders[1]
		if a.ConnectorID != id || a.DeliveryID != first.ID || a.ID == b.ID || a.Request.SessionID != b.Request.SessionID || a.Caller.Actor != id {
			t.Errorf("they are %+v and %+v", a, b)
		}
		r.wantCounts(t, Deliveries{Received: 2, Deduped: 1, Normalized: 2})
	})
}

// A Task that there is no room for is offered again; one that is refused is a dead letter.
func TestADeliveryWaitsForRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRoom(t)
		id := r.connector(t)
		r.refuse = abi.Errorf(abi.CodeRateLimited, "later")
		r.deliver(t, id, "a", "thread")
		synctest.Wait()
		r.wantCounts(t, Deliveries{Received: 1, Pending: 1})
		time.Sleep(time.Minute)
		synctest.Wait()
		r.wantCounts(t, Deliveries{Received: 1, Normalized: 1})
		r.refuse = abi.Errorf(abi.CodePolicyViolation, "never")
		r.deliver(t, id, "b", "thread")
		synctest.Wait()
		r.wantCounts(t, Deliveries{Received: 2, Normalized: 1, Dead: 1})
	})
}

// While the disk has no room for new work, nothing is made of what was taken, and schedules wait: nothing fails, and a
// schedule whose time came is made up for once.
func TestConnectorsWaitForTheDisk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRoom(t)
		room := make(chan struct{})
		r.parts.Room = func(ctx context.Context) error {
			select {
			case <-room:
				return nil
			case <-ctx.Done():
				return context.Cause(ctx)
			}
		}
		id := r.connector(t)
		r.deliver(t, id, "a", "thread")
		if _, err := r.CreateConnector(t.Context(), r.root, nil, abi.CreateConnectorRequest{Provider: "generic", Plugin: "sorter#run", WorkspaceID: workspace,
			Polling: &abi.Polling{Schedule: "@every 10m"}}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(25 * time.Hour)
		synctest.Wait()
		r.wantCounts(t, Deliveries{Received: 1, Pending: 1})
		close(room)
		synctest.Wait()
		r.wantCounts(t, Deliveries{Received: 2, Normalized: 2})
		time.Sleep(10 * time.Minute)
		synctest.Wait()
		r.wantCounts(t, Deliveries{Received: 3, Normalized: 3})
	})
}

// What a plugin fails at is put aside alone: the others of its batch are settled, in order.
func TestABadDeliveryIsPutAsideAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRoom(t)
		id := r.connector(t)
		pause := func(status abi.ConnectorStatus) {
			if _, err := r.UpdateConnector(t.Context(), r.root, nil, id, abi.UpdateConnectorRequest{Status: &status}); err != nil {
				t.Fatal(err)
			}
		}
		pause(abi.ConnectorPaused)
		var want []string
		for _, text := range []string{"1", "2", "bad", "3", "4", "5"} {
			if got := r.deliver(t, id, text, text); text != "bad" {
				want = append(want, got.ID)
			}
		}
		r.wantCounts(t, Deliveries{Received: 6, Pending: 6})
		pause(abi.ConnectorActive)
		synctest.Wait()
		r.wantCounts(t, Deliveries{Received: 6, Normalized: 5, Dead: 1})
		var got []string
		for _, o := range r.orders {
			got = append(got, o.DeliveryID)
		}
		if !slices.Equal(got, want) {
			t.Errorf("the tasks are of %v, want %v", got, want)
		}
		if len(r.runs) == 0 || r.runs[0] != 6 {
			t.Errorf("the plugin ran for %v deliveries, want all at once first", r.runs)
		}
	})
}

// A Connector that is deleted while deliveries of it are being settled, or taken, leaves the
// backlog of its tenant as it was.
func TestADeletedConnectorLeavesNoBacklog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRoom(t)
		id := r.connector(t)
		r.onRun = func() {
			if err := r.DeleteConnector(context.Background(), r.root, nil, id); err != nil {
				t.Error(err)
			}
		}
		r.deliver(t, id, "one", "a")
		synctest.Wait()
		if n := r.inlets.waiting(1).Load(); n != 0 {
			t.Errorf("%d deliveries are counted", n)
		}
	})
}
