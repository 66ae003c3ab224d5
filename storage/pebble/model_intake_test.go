package pebble

import (
	"fmt"
	"slices"
	"time"

	"pgregory.net/rapid"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/storage"
)

// projectIntake is the model's own form of the rules for deliveries.
func (m *machine) projectIntake(t storage.Tenant, op storage.IntakeOp, at storage.Position) {
	if op.Kind == storage.IntakeNone {
		return
	}
	if op.Kind == storage.IntakeDrop {
		delete(m.backlogs[t], op.Connector)
		return
	}
	o := m.backlogs[t][op.Connector]
	if o == nil {
		o = &owed{}
		m.backlogs[t][op.Connector] = o
	}
	switch op.Kind {
	case storage.IntakeReceive:
		m.seen[t][op.Delivery] = at
		o.pending = append(o.pending, at)
	case storage.IntakePend:
		o.pending = append(o.pending, at)
	case storage.IntakeSettle:
		o.pending = slices.DeleteFunc(o.pending, func(p storage.Position) bool { return p == op.At })
		o.tally = op.Tally
	case storage.IntakeTally:
		o.tally = op.Tally
	}
}

// modelConnectors is how many Connectors the model has; one id has no compact form.
const modelConnectors = 3

func modelConnector(n int) string {
	if n == 0 {
		return "a-stranger's"
	}
	return newID(abi.ObjectConnector, n)
}

func (m *machine) intake(t *rapid.T, tenant storage.Tenant, ops ...storage.IntakeOp) {
	f := storage.Frame{Tenant: tenant, WorkspaceID: newID(abi.ObjectWorkspace, 1)}
	for _, op := range ops {
		id := m.next(abi.ObjectDelivery)
		f.Records = append(f.Records, storage.Record{Kind: abi.EventConnectorDeliveryReceived, Resource: ptr(abi.ObjectDelivery, id),
			Payload: doc(t, id), Restricted: true, Intake: op})
	}
	m.append(t, f)
}

func (m *machine) connector(t *rapid.T) string {
	return modelConnector(rapid.IntRange(0, modelConnectors-1).Draw(t, "connector"))
}

func (m *machine) delivery(t *rapid.T) storage.DeliveryKey {
	return storage.DeliveryKey{byte(rapid.IntRange(0, 9).Draw(t, "delivery")), 15: 7}
}

// Receive takes deliveries, some of them again: that is for the caller to know.
func (m *machine) Receive(t *rapid.T) {
	ops := make([]storage.IntakeOp, rapid.IntRange(1, 3).Draw(t, "deliveries"))
	for i := range ops {
		ops[i] = storage.IntakeOp{Kind: storage.IntakeReceive, Connector: m.connector(t), Delivery: m.delivery(t)}
	}
	m.intake(t, m.tenant(t), ops...)
}

// Pend makes an event pending that takes no delivery.
func (m *machine) Pend(t *rapid.T) {
	m.intake(t, m.tenant(t), storage.IntakeOp{Kind: storage.IntakePend, Connector: m.connector(t)})
}

// Settle settles what is pending, or what is not.
func (m *machine) Settle(t *rapid.T) {
	tenant, connector := m.tenant(t), m.connector(t)
	at := storage.Position(rapid.IntRange(1, int(m.last)+1).Draw(t, "at"))
	if o := m.backlogs[tenant][connector]; o != nil && len(o.pending) > 0 && rapid.Bool().Draw(t, "pending") {
		at = rapid.SampledFrom(o.pending).Draw(t, "settled")
	}
	if at == m.last+1 {
		t.Skip("nothing is there yet")
	}
	m.intake(t, tenant, storage.IntakeOp{Kind: storage.IntakeSettle, Connector: connector, At: at, Tally: fmt.Sprint("settled ", m.last)})
}

// Tally keeps a tally and nothing else.
func (m *machine) Tally(t *rapid.T) {
	m.intake(t, m.tenant(t), storage.IntakeOp{Kind: storage.IntakeTally, Connector: m.connector(t), Tally: fmt.Sprint("counted ", m.last)})
}

// Drop forgets a Connector.
func (m *machine) Drop(t *rapid.T) {
	m.intake(t, m.tenant(t), storage.IntakeOp{Kind: storage.IntakeDrop, Connector: m.connector(t)})
}

// Deliveries asks what was seen, and what is pending, in pages.
func (m *machine) Deliveries(t *rapid.T) {
	tenant, key := m.tenant(t), m.delivery(t)
	want, known := m.seen[tenant][key]
	got, ok, err := m.store.Seen(ctx, tenant, key, epoch)
	if err != nil || ok != known || got != want {
		t.Fatalf("Seen(%x) = %s, %v, %v, want %s, %v", key, got, ok, err, want, known)
	}
	if _, ok, err := m.store.Seen(ctx, tenant, key, m.now.Add(time.Second)); ok || err != nil {
		t.Fatalf("Seen(%x) since after the last event: %v, %v", key, ok, err)
	}
	m.pendings(t, tenant, m.connector(t))
}

func (m *machine) pendings(t *rapid.T, tenant storage.Tenant, connector string) {
	var want []storage.Position
	if o := m.backlogs[tenant][connector]; o != nil {
		want = o.pending
	}
	after, limit := storage.Position(0), rapid.IntRange(1, 4).Draw(t, "limit")
	for more := true; more; {
		events, again, err := m.store.Pending(ctx, tenant, connector, after, limit)
		if err != nil || len(events) > limit || len(events) > len(want) || again != (len(want) > len(events)) {
			t.Fatalf("Pending after %s = %d events, more %v, %v; %v are there", after, len(events), again, err, want)
		}
		for i, ev := range events {
			if after = ev.Position(); after != want[i] {
				t.Fatalf("pending is %s, want %s", after, want[i])
			}
		}
		want, more = want[len(events):], again
	}
}

// Counted asks for all backlogs at once.
func (m *machine) Counted(t *rapid.T) {
	got, want := map[string]string{}, map[string]string{}
	err := m.store.Backlogs(ctx, func(tenant storage.Tenant, connector string, pending int, tally []byte) error {
		got[fmt.Sprint(tenant, " ", connector)] = fmt.Sprintf("%d %s", pending, tally)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for tenant, connectors := range m.backlogs {
		for connector, o := range connectors {
			if len(o.pending) > 0 || o.tally != "" {
				want[fmt.Sprint(tenant, " ", connector)] = fmt.Sprintf("%d %s", len(o.pending), o.tally)
			}
		}
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Fatalf("the backlogs are %v, want %v", got, want)
	}
}

// frameOf returns the frame that holds a position.
func (m *machine) frameOf(p storage.Position) *storage.Frame {
	i := slices.IndexFunc(m.frames, func(f *storage.Frame) bool { return f.First+storage.Position(len(f.Records)) > p })
	return m.frames[i]
}
