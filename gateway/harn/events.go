package harn

import (
	"bytes"
	"slices"
	"strconv"
	"sync/atomic"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/abi/jsonw"
	"github.com/wharf-dev/wharf/gateway"
	"github.com/wharf-dev/wharf/runtime/desk"
)

// selector says which events a route is about.
type selector func(*gateway.Request) desk.Filter

func byQuery(r *gateway.Request) desk.Filter { return queryFilter(r) }

func bySession(r *gateway.Request) desk.Filter {
	return desk.Filter{SessionID: r.PathValue("session_id")}
}

func byTask(r *gateway.Request) desk.Filter {
	return desk.Filter{TaskID: r.PathValue("task_id")}
}

func (a *Adapter) listEvents(selected selector) gateway.Handler {
	return func(r *gateway.Request) error {
		limit, err := limitOf(r)
		if err != nil {
			return err
		}
		// A client that turns pages keeps its query, and adds the cursor.
		after, _, err := a.eventCursor(r, "cursor", "after_event_id")
		if err != nil {
			return err
		}
		events, more, err := a.core.Events(r.Context(), r.Caller, selected(r), after, limit)
		if err != nil {
			return err
		}
		r.Send(statusOK, a.encodeEvents(r.Caller, events, more))
		return nil
	}
}

func (a *Adapter) encodeEvents(c *desk.Caller, events []desk.Event, more bool) []byte {
	body := []byte(`{"object":"list","data":[`)
	internal := c.Can(abi.ScopeEventsInternal)
	for i, ev := range events {
		if i > 0 {
			body = append(body, ',')
		}
		body = a.events.event(ev, internal).append(body, false)
	}
	next := ""
	if more && len(events) > 0 {
		next = events[len(events)-1].Position().String()
	}
	return appendPage(body, more, next)
}

func (a *Adapter) getEvent(r *gateway.Request) error {
	id := r.PathValue("event_id")
	at, ok := desk.ParsePosition(id)
	if !ok || at == 0 {
		return abi.NotFound(abi.ObjectEvent, id)
	}
	ev, err := a.core.Event(r.Context(), r.Caller, at)
	if err != nil {
		return err
	}
	r.Send(statusOK, a.events.event(ev, r.Caller.Can(abi.ScopeEventsInternal)).append(nil, false))
	return nil
}

// eventCursor reads the position to go on after from the first of the named query
// parameters that is there. Positions are the node's, so any up to the newest is
// one that the caller can have come by honestly; it says nothing about whose
// event is there.
func (a *Adapter) eventCursor(r *gateway.Request, names ...string) (after desk.Position, given bool, err error) {
	for _, name := range names {
		if r.Query(name) != "" {
			after, err = a.parseEventID(name, r.Query(name))
			return after, true, err
		}
	}
	return 0, false, nil
}

func (a *Adapter) parseEventID(param, value string) (desk.Position, error) {
	after, ok := desk.ParsePosition(value)
	if !ok {
		return 0, abi.InvalidParam(param, "this is no event id")
	}
	if after > a.core.Stats().Watermark {
		return 0, abi.InvalidParam(param, "this node has no such event")
	}
	return after, nil
}

// An event's JSON ends with "replayed". That is a fact of the event when it tells
// what a replay did again, and else one of its delivery: what comes before, its
// head, is the same for every reader.
const (
	notReplayed = "false}"
	isReplayed  = "true}"
)

// cachedEvents is how many rendered events are kept, maxCachedEvent the largest
// kept, in bytes: together they bound the cache to 16 MiB.
const (
	cachedEvents   = 1024
	maxCachedEvent = 16 << 10
)

// eventCache keeps heads of recent events so that many readers of one stream
// cost one rendering. A slot holds the last event rendered whose position leads
// to it; readers of one stream are close together, so this is as good as an LRU
// and takes no lock. It is safe for concurrent use.
type eventCache struct {
	slots []atomic.Pointer[renderedEvent]
}

// renderedEvent is an event as it is written. It is shared: do not change it.
type renderedEvent struct {
	at       desk.Position
	internal bool
	replayed bool   // however it is delivered
	head     []byte // the JSON up to the value of "replayed"
}

// append writes the event. again says that it is history, delivered once more.
func (ev *renderedEvent) append(b []byte, again bool) []byte {
	if b = append(b, ev.head...); again || ev.replayed {
		return append(b, isReplayed...)
	}
	return append(b, notReplayed...)
}

// newEventCache returns a cache of n slots, a power of two.
func newEventCache(n int) *eventCache {
	return &eventCache{slots: make([]atomic.Pointer[renderedEvent], n)}
}

// event returns the event for readers who may or may not see internal content. One that
// cannot be read is shown without its payload: those that follow are to be seen.
func (c *eventCache) event(ev desk.Event, internal bool) *renderedEvent {
	at := ev.Position()
	slot := &c.slots[int(uint64(at)%uint64(len(c.slots)))]
	if kept := slot.Load(); kept != nil && kept.at == at && kept.internal == internal {
		return kept
	}
	shown, err := renderEvent(ev, internal)
	if err != nil {
		shown = withoutPayload(ev, internal)
	}
	if len(shown.head) <= maxCachedEvent {
		slot.Store(shown)
	}
	return shown
}

// renderEvent writes an event's head. The members are those of abi.Event, on one
// line as an event stream needs it.
func renderEvent(ev desk.Event, internal bool) (*renderedEvent, error) {
	frame, rec := ev.Frame, ev.Record()
	payload, marks, err := shownPayload(ev, internal)
	if err != nil {
		return nil, err
	}
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
	o.JSON("payload", payload)
	if (desk.Scope{Object: abi.ObjectTask}).Shows(rec) {
		o.Optional("session_id", frame.SessionID)
		o.Optional("task_id", frame.TaskID)
	}
	o.Optional("workspace_id", frame.WorkspaceID)
	o.Optional("actor", frame.Actor)
	o.Optional("idempotency_key", rec.IdempotencyKey)
	o.Optional("receipt_id", desk.ReceiptOf(ev))
	if marks != nil {
		o.JSON("replay", marks)
	}
	o.Name("replayed")
	return &renderedEvent{at: ev.Position(), internal: internal, replayed: marks != nil, head: oneLine(o.B)}, nil
}

// withoutPayload returns an event that cannot be read as it is shown: what of its payload
// is not public cannot be told from the rest.
func withoutPayload(ev desk.Event, internal bool) *renderedEvent {
	frame, rec := *ev.Frame, *ev.Record()
	rec.State, rec.Payload, rec.Restricted = nil, []byte(`{"redacted":true,"reason":"unreadable"}`), false
	frame.Records = slices.Clone(frame.Records)
	frame.Records[ev.Index] = rec
	shown, _ := renderEvent(desk.Event{Frame: &frame, Index: ev.Index}, internal) // it can be read now
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
