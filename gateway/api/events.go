package api

import (
	"bytes"
	"context"
	"slices"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/abi/jsonw"
	"github.com/wharf-dev/wharf/runtime/desk"
	"github.com/wharf-dev/wharf/runtime/redact"
	"github.com/wharf-dev/wharf/runtime/tooluse"
)

// Cursor is an event's place in the log. Its decimal string is the event's id. 0 is before the
// oldest event that is kept.
type Cursor uint64

// String returns the id of the event at the cursor.
func (c Cursor) String() string { return strconv.FormatUint(uint64(c), 10) }

// ParseCursor reads an event id; ok is false for anything else.
func ParseCursor(id string) (c Cursor, ok bool) {
	at, ok := desk.ParsePosition(id)
	return Cursor(at), ok
}

// Now is the cursor of what happens from now on: every event up to it is history.
func (a *API) Now() Cursor { return Cursor(a.core.Stats().Watermark) }

// Event is an event of the log as its caller may see it. It is shared between readers: do not
// change it.
type Event struct {
	At       Cursor
	Time     time.Time
	Kind     abi.EventKind
	Resource abi.ResourcePointer
	// Stated is the resource as the event states it, for a permission request; else nil.
	Stated []byte
	// Redone says that the event tells what a replay did again.
	Redone bool
	// SessionID and TaskID say in which streams the event is, besides that of what it is about; "" for none.
	SessionID, TaskID string

	internal bool
	ends     Cursor // the last event of the Task that this one ends, else 0
	head     []byte // the JSON up to the value of "replayed"
	payload  []byte // the part of head that is the value of "payload"
}

// Payload returns the value of the event's payload, on one line.
func (ev *Event) Payload() jsontext.Value { return ev.payload }

// An event's JSON ends with "replayed". That is a fact of the event when it tells
// what a replay did again, and else one of its delivery: what comes before, its
// head, is the same for every reader.
const (
	notReplayed = "false}"
	isReplayed  = "true}"
)

// AppendJSON writes the event on one line, with the members of [abi.Event]. again says that it
// is history, delivered once more.
func (ev *Event) AppendJSON(b []byte, again bool) []byte {
	if b = append(b, ev.head...); again || ev.Redone {
		return append(b, isReplayed...)
	}
	return append(b, notReplayed...)
}

// Ends reports whether the event ends that Task, and which is the Task's last event: what the
// Task resulted in was written together with its end.
func (ev *Event) Ends(task string) (last Cursor, ok bool) {
	return ev.ends, ev.ends != 0 && ev.Resource.ID == task
}

// Event returns one event.
func (a *API) Event(ctx context.Context, c *Caller, at Cursor) (*Event, error) {
	ev, err := a.core.Event(ctx, c, desk.Position(at))
	if err != nil {
		return nil, err
	}
	return a.events.event(ev, seesInternal(c)), nil
}

// Events returns up to limit events after a cursor, oldest first; more says that there are
// others.
func (a *API) Events(ctx context.Context, c *Caller, f Filter, after Cursor, limit int) (events []*Event, more bool, err error) {
	read, more, err := a.core.Events(ctx, c, f, desk.Position(after), limit)
	if err != nil {
		return nil, false, err
	}
	events = make([]*Event, len(read))
	for i, ev := range read {
		events[i] = a.events.event(ev, seesInternal(c))
	}
	return events, more, nil
}

func seesInternal(c *Caller) bool { return c.Can(abi.ScopeEventsInternal) }

// cachedEvents is how many rendered events are kept, maxCachedEvent the largest
// kept, in bytes: together they bound the cache of each adapter to 16 MiB.
const (
	cachedEvents   = 1024
	maxCachedEvent = 16 << 10
)

// eventCache keeps recent events so that many readers of one stream
// cost one rendering. A slot holds the last event rendered whose position leads
// to it; readers of one stream are close together, so this is as good as an LRU
// and takes no lock. It is safe for concurrent use.
type eventCache struct {
	links Links
	slots []atomic.Pointer[Event]
}

// newEventCache returns a cache of n slots, a power of two, for events with an adapter's links.
func newEventCache(l Links, n int) *eventCache {
	return &eventCache{links: l, slots: make([]atomic.Pointer[Event], n)}
}

// event returns the event for readers who may or may not see internal content. One that
// cannot be read is shown without its payload: those that follow are to be seen.
func (c *eventCache) event(ev desk.Event, internal bool) *Event {
	at := Cursor(ev.Position())
	slot := &c.slots[int(uint64(at)%uint64(len(c.slots)))]
	if kept := slot.Load(); kept != nil && kept.At == at && kept.internal == internal {
		return kept
	}
	shown, err := c.links.render(ev, internal)
	if err != nil {
		shown = c.links.withoutPayload(ev, internal)
	}
	if len(shown.head)+len(shown.Stated) <= maxCachedEvent {
		slot.Store(shown)
	}
	return shown
}

// render makes an event as it is shown.
func (l Links) render(ev desk.Event, internal bool) (*Event, error) {
	rec := ev.Record()
	payload, marks, err := l.shownPayload(ev, internal)
	if err != nil {
		return nil, err
	}
	shown := &Event{
		At: Cursor(ev.Position()), Time: ev.Frame.Time, Kind: rec.Kind, Resource: rec.Resource,
		Redone: marks != nil, internal: internal, ends: endOf(ev),
	}
	shown.write(ev, payload, marks)
	if rec.Resource.Object == abi.ObjectPermissionRequest && rec.State != nil {
		shown.Stated, err = stated(ev, internal)
	}
	return shown, err
}

// write writes an event's JSON up to the value of "replayed". The members are those of
// abi.Event, on one line as an event stream needs it.
func (shown *Event) write(ev desk.Event, payload, marks []byte) {
	frame, rec := ev.Frame, ev.Record()
	o := jsonw.Begin(make([]byte, 0, len(payload)+512))
	o.Name("id")
	o.B = append(strconv.AppendUint(append(o.B, '"'), uint64(ev.Position()), 10), '"', ',')
	o.Text("object", string(abi.ObjectEvent))
	o.Time("created_at", frame.Time)
	o.Time("updated_at", frame.Time)
	o.B = append(o.B, `"metadata":{},`...)
	o.Text("event", string(rec.Kind))
	o.Name("resource")
	about := jsonw.Begin(o.B)
	about.Text("object", string(rec.Resource.Object))
	about.Text("id", rec.Resource.ID)
	o.B = append(about.End(), ',')
	o.Uint("sequence", rec.Sequence)
	o.Name("payload")
	begin := len(o.B)
	o.B = append(o.B, oneLine(payload)...)
	end := len(o.B)
	o.B = append(o.B, ',')
	if (desk.Scope{Object: abi.ObjectSession}).Shows(rec) {
		shown.SessionID = frame.SessionID
	}
	if (desk.Scope{Object: abi.ObjectTask}).Shows(rec) {
		shown.TaskID = frame.TaskID
	}
	o.Optional("session_id", shown.SessionID)
	o.Optional("task_id", shown.TaskID)
	o.Optional("workspace_id", frame.WorkspaceID)
	o.Optional("actor", frame.Actor)
	o.Optional("idempotency_key", rec.IdempotencyKey)
	o.Optional("receipt_id", desk.ReceiptOf(ev))
	if call := callOf(ev); call != nil {
		o.Text("trace_id", tooluse.TraceID(frame.TaskID))
		o.Text("span_id", tooluse.SpanID(frame.TaskID, call.Index))
		o.Optional("previous_event_id", call.begun(ev))
	}
	if marks != nil {
		o.JSON("replay", marks)
	}
	o.Name("replayed")
	shown.head = oneLine(o.B)
	shown.payload = shown.head[begin:end:end]
}

// endOf returns the last event of the Task that an event ends.
func endOf(ev desk.Event) Cursor {
	rec := ev.Record()
	switch rec.Kind {
	case abi.EventTaskCompleted, abi.EventTaskFailed, abi.EventTaskCanceled:
		return Cursor(ev.Frame.Last(desk.Scope{Object: abi.ObjectTask, ID: rec.Resource.ID}))
	}
	return 0
}

// stated returns the resource that an event states.
func stated(ev desk.Event, internal bool) ([]byte, error) {
	rec := ev.Record()
	state := redact.State(rec.Resource.Object, rec.State, internal)
	if !rec.Restricted {
		return state, nil
	}
	return redact.Document(state, internal)
}

// withoutPayload returns an event that cannot be read as it is shown: what of its payload
// is not public cannot be told from the rest.
func (l Links) withoutPayload(ev desk.Event, internal bool) *Event {
	frame, rec := *ev.Frame, *ev.Record()
	rec.State, rec.Payload, rec.Restricted = nil, []byte(`{"redacted":true,"reason":"unreadable"}`), false
	frame.Records = slices.Clone(frame.Records)
	frame.Records[ev.Index] = rec
	shown, _ := l.render(desk.Event{Frame: &frame, Index: ev.Index}, internal) // it can be read now
	return shown
}

// appendPayload joins the stated resource, under its object's name, with the
// members of payload, which is a JSON object or nil.
func appendPayload(b []byte, name string, state, payload []byte) []byte {
	if members := bytes.TrimSpace(payload); len(members) > 2 {
		payload = bytes.TrimSpace(members[1 : len(members)-1])
	} else {
		payload = nil
	}
	b = append(b, '{')
	if state != nil {
		b = append(append(jsonw.String(b, name), ':'), state...)
		if len(payload) > 0 {
			b = append(b, ',')
		}
	}
	return append(append(b, payload...), '}')
}

// oneLine removes line breaks, which in JSON can only be white space between
// tokens. What Wharf writes has none; a client's own text may.
func oneLine(head []byte) []byte {
	if bytes.IndexByte(head, '\n') < 0 && bytes.IndexByte(head, '\r') < 0 {
		return head
	}
	clean := head[:0]
	for _, c := range head {
		if c != '\n' && c != '\r' {
			clean = append(clean, c)
		}
	}
	return clean
}
