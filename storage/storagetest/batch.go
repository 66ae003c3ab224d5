package storagetest

import (
	"bytes"
	"fmt"
	"slices"
	"time"

	"github.com/oklog/ulid/v2"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/storage"
)

// id returns the id number n of an object; they sort by n.
func id(o abi.Object, n int) string {
	var u ulid.ULID
	_ = u.SetTime(uint64(Epoch.UnixMilli())) // fails only in the year 10889
	u[14], u[15] = byte(n>>8), byte(n)
	return abi.IDPrefix(o) + u.String()
}

func pointer(o abi.Object, id string) abi.ResourcePointer {
	return abi.ResourcePointer{Object: o, ID: id}
}

// at returns the second number n of the tests.
func at(n int) time.Time { return Epoch.Add(time.Duration(n) * time.Second) }

// state returns some JSON that states a resource.
func state(id string, version int) []byte {
	return fmt.Appendf(nil, `{"id":%q,"version":%d}`, id, version)
}

// frame returns a frame of Session 1 at second n.
func frame(n int, task string, records ...storage.Record) *storage.Batch {
	return &storage.Batch{Frame: storage.Frame{
		Tenant: 1, Time: at(n), WorkspaceID: id(abi.ObjectWorkspace, 1), SessionID: id(abi.ObjectSession, 1), TaskID: task,
		Actor: "user_1", Records: records,
	}}
}

// submit returns a batch as the acceptance of Task n makes it: two events and an answer.
func submit(n int) *storage.Batch {
	task, msg := id(abi.ObjectTask, n), id(abi.ObjectMessage, n)
	b := frame(n, task,
		storage.Record{Kind: abi.EventUserMessage, Resource: pointer(abi.ObjectMessage, msg), Created: true,
			State: state(msg, 0), Transcript: storage.TranscriptOp{Kind: storage.TranscriptAppend}},
		storage.Record{Kind: abi.EventTaskSubmitted, Resource: pointer(abi.ObjectTask, task), Created: true,
			State: state(task, 0), IdempotencyKey: fmt.Sprint("key-", n)})
	b.Idempotency = &storage.Idempotency{Key: key(n), Body: [32]byte{byte(n)}, Expires: Epoch.Add(24 * time.Hour), Status: 202, Record: 1}
	return b
}

// saidAtOnce returns a batch that appends several Messages to a transcript.
func saidAtOnce(numbers ...int) *storage.Batch {
	var records []storage.Record
	for _, n := range numbers {
		msg := id(abi.ObjectMessage, n)
		records = append(records, storage.Record{Kind: abi.EventUserMessage, Resource: pointer(abi.ObjectMessage, msg), Created: true,
			State: state(msg, 0), Transcript: storage.TranscriptOp{Kind: storage.TranscriptAppend}})
	}
	return frame(0, "", records...)
}

// key returns the idempotency key number n.
func key(n int) storage.Key { return storage.Key{byte(n >> 8), byte(n), 31: 1} }

// finish returns a batch that ends Task n.
func finish(n int) *storage.Batch {
	task := id(abi.ObjectTask, n)
	return frame(n, task, storage.Record{Kind: abi.EventTaskCompleted, Resource: pointer(abi.ObjectTask, task), Sequence: 1, State: state(task, 1)})
}

// note returns two events of a Session and a Task that state nothing.
func note(session, task, n int) *storage.Batch {
	r := pointer(abi.ObjectTask, id(abi.ObjectTask, task))
	b := frame(0, r.ID,
		storage.Record{Kind: abi.EventLog, Resource: r, Sequence: uint64(2*n + 1), Hint: true, Payload: fmt.Appendf(nil, `{"n":%d}`, n)},
		storage.Record{Kind: abi.EventProgress, Resource: r, Sequence: uint64(2*n + 2), Hint: true})
	b.Frame.SessionID = id(abi.ObjectSession, session)
	return b
}

// memory returns a batch that makes Memory n.
func memory(n int, content string) *storage.Batch {
	m := id(abi.ObjectMemory, n)
	return frame(0, "", storage.Record{Kind: abi.EventMemoryCreated, Resource: pointer(abi.ObjectMemory, m), Created: true,
		State: fmt.Appendf(nil, `{"id":%q,"owner_id":%q,"content":%q}`, m, id(abi.ObjectSession, 1), content)})
}

// redact returns a batch that takes the content of Memory n away.
func redact(n int) *storage.Batch {
	m := id(abi.ObjectMemory, n)
	return frame(0, "", storage.Record{Kind: abi.EventMemoryRedacted, Resource: pointer(abi.ObjectMemory, m), Sequence: 1,
		State: fmt.Appendf(nil, `{"id":%q,"owner_id":%q,"content":null,"redacted_at":"2026-01-01T00:00:00Z"}`, m, id(abi.ObjectSession, 1))})
}

// connector is the Connector of the tests that need one.
var connector = id(abi.ObjectConnector, 1)

// delivery returns the key of delivery n.
func delivery(n int) storage.DeliveryKey { return storage.DeliveryKey{byte(n >> 8), byte(n), 15: 1} }

// take returns a batch in which the Connector does something with what it has received.
func take(n int, op storage.IntakeOp) *storage.Batch {
	b := frame(0, "", storage.Record{Kind: abi.EventConnectorDeliveryReceived, Resource: pointer(abi.ObjectDelivery, id(abi.ObjectDelivery, n)),
		Payload: []byte(`{"delivery":{}}`), Intake: op})
	b.Frame.SessionID = ""
	return b
}

// receive returns a batch in which the Connector takes delivery n.
func receive(n int) *storage.Batch {
	return take(n, storage.IntakeOp{Kind: storage.IntakeReceive, Connector: connector, Delivery: delivery(n)})
}

// settle returns a batch that settles what is pending at a position.
func settle(n int, p storage.Position, tally string) *storage.Batch {
	return take(n, storage.IntakeOp{Kind: storage.IntakeSettle, Connector: connector, At: p, Tally: tally})
}

// cloned returns a copy of a batch for another store to own.
func cloned(b *storage.Batch) *storage.Batch {
	c := *b
	c.Expect = slices.Clone(b.Expect)
	c.Frame.Records = slices.Clone(b.Frame.Records)
	for i := range c.Frame.Records {
		r := &c.Frame.Records[i]
		r.State, r.Payload = bytes.Clone(r.State), bytes.Clone(r.Payload)
	}
	if b.Idempotency != nil {
		i := *b.Idempotency
		i.Answer = bytes.Clone(i.Answer)
		c.Idempotency = &i
	}
	return &c
}

// told is what a reader sees of an event: of its frame's other records it sees nothing.
type told struct {
	Position                              storage.Position
	Tenant                                storage.Tenant
	Time                                  time.Time
	WorkspaceID, SessionID, TaskID, Actor string
	Record                                storage.Record
}

func seen(ev storage.Event) told {
	f := ev.Frame
	return told{ev.Position(), f.Tenant, f.Time, f.WorkspaceID, f.SessionID, f.TaskID, f.Actor, *ev.Record()}
}

func allSeen(events []storage.Event) (all []told) {
	for _, ev := range events {
		all = append(all, seen(ev))
	}
	return all
}

// positions returns where events are.
func positions(events []storage.Event) (all []storage.Position) {
	for _, ev := range events {
		all = append(all, ev.Position())
	}
	return all
}

// ids returns the ids of resources.
func ids(list []storage.Resource) (all []string) {
	for _, r := range list {
		all = append(all, r.ID)
	}
	return all
}
