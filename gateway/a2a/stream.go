package a2a

import (
	"bytes"
	"context"
	"slices"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/gateway"
	"github.com/wharf-dev/wharf/gateway/api"
	"github.com/wharf-dev/wharf/gateway/internal/eventstream"
)

// teller tells a stream of a Task.
type teller struct {
	a         *Adapter
	v         *viewer
	d         dialect
	contextID string
	operation string
	id        []byte // of the JSON-RPC request
	requestID string
}

// Tell implements eventstream.Teller.
func (t *teller) Tell(ctx context.Context, b []byte, ev *api.Event) ([]byte, bool) {
	if !tells(ev.Kind) || ev.Redone {
		return b, false
	}
	told, err := t.a.told.words(ctx, t.v, t.d, ev, t.contextID)
	if err != nil {
		shown, ok := err.(*abi.Error)
		if !ok {
			shown = refuse(reasonInternal, "the node failed to go on with this stream")
		}
		return t.Fail(b, shown), true
	}
	if told.text == nil {
		return b, false
	}
	return t.frame(b, ev.At.String(), told.text), told.over
}

// frame appends a server-sent event.
func (t *teller) frame(b []byte, id string, text []byte) []byte {
	b = append(append(append(b, "id: "...), id...), "\ndata: "...)
	if t.d.rpc {
		b = append(append(append(b, `{"jsonrpc":"2.0","id":`...), t.id...), `,"result":`...)
	}
	b = append(b, text...)
	if t.d.rpc {
		b = append(b, '}')
	}
	return append(b, "\n\n"...)
}

// Fail implements eventstream.Teller. By REST an error is an event of its own.
func (t *teller) Fail(b []byte, err *abi.Error) []byte {
	answer := shape(gateway.Refused{ID: t.requestID, Operation: t.operation, Call: t.id}, err)
	if !t.d.rpc {
		b = append(b, "event: error\n"...)
	}
	return append(append(append(b, "data: "...), answer.Body...), "\n\n"...)
}

// sendStream answers with the Task that a message is about, and then with what happens to it.
func (c *call) sendStream() error {
	p, history, err := c.readSend()
	if err != nil {
		return err
	}
	s, err := c.send(p)
	if err != nil {
		return err
	}
	if push := p.Configuration.Push; push != nil {
		if err := c.attach(push, s); err != nil {
			return err
		}
	}
	if s.replayed {
		return c.subscribed(s.task.ID, "", history)
	}
	if p.Message.TaskID != "" { // as it is after the message
		if s.task, err = c.taskOf(s.task.ID, ""); err != nil {
			return err
		}
	}
	return c.follow(s.task, s.context, s.after, history)
}

func (c *call) subscribe() error {
	var p taskParams
	if err := c.decode(&p); err != nil {
		return err
	}
	history, err := historyOf(p.HistoryLength)
	if err != nil {
		return err
	}
	if last := c.r.Header("Last-Event-ID"); last != "" {
		return c.resume(&p, last)
	}
	t, err := c.taskOf(p.ID, p.Tenant)
	if err != nil {
		return err
	}
	if t.Status.Terminal() {
		return refuse(reasonUnsupported, "the task %q has ended: get it", t.ID)
	}
	return c.subscribed(p.ID, p.Tenant, history)
}

// subscribed answers with a Task as it is, and then with what happens to it.
func (c *call) subscribed(id, workspace string, history int) error {
	t, after, err := c.still(id, workspace)
	if err != nil {
		return err
	}
	contextID, err := c.viewer().contextOf(c.r.Context(), t.SessionID)
	if err != nil {
		return err
	}
	return c.follow(t, contextID, after, history)
}

// still returns a Task, and a cursor behind which lies all that has happened to it since.
func (c *call) still(id, workspace string) (*abi.Task, api.Cursor, error) {
	t, err := c.taskOf(id, workspace)
	for range 8 { // else it is told again what it shows already
		at := c.core.Now()
		if err != nil {
			return nil, 0, err
		}
		before := t
		if t, err = c.taskOf(id, workspace); err == nil && t.UpdatedAt.Equal(before.UpdatedAt) && t.Status == before.Status {
			return t, at, nil
		}
	}
	return t, c.core.Now(), err
}

// resume goes on after the last event that a client has seen, also of a Task that has ended since.
func (c *call) resume(p *taskParams, last string) error {
	after, ok := api.ParseCursor(last)
	if !ok {
		return invalid("Last-Event-ID", "%q is no id of an event of a stream", last)
	}
	t, err := c.taskOf(p.ID, p.Tenant)
	if err != nil {
		return err
	}
	if t.Status.Terminal() {
		left, err := c.endsAfter(t.ID, after)
		if err != nil {
			return err
		}
		if !left {
			return refuse(reasonUnsupported, "the task %q has ended, and everything was told: get it", t.ID)
		}
	}
	contextID, err := c.viewer().contextOf(c.r.Context(), t.SessionID)
	if err != nil {
		return err
	}
	return c.stream(t.ID, contextID, after, nil)
}

// endsAfter reports whether the end of a Task that has ended comes after a cursor. What it is told of its children
// may follow that.
func (c *call) endsAfter(id string, after api.Cursor) (bool, error) {
	for {
		events, more, err := c.core.Events(c.r.Context(), c.r.Caller, api.Filter{TaskID: id}, after, 100)
		if err != nil || slices.ContainsFunc(events, func(ev *api.Event) bool { return settles(ev.Kind) }) {
			return err == nil, err
		}
		if !more || len(events) == 0 {
			return false, nil
		}
		after = events[len(events)-1].At
	}
}

// follow tells a Task as it is, and what happens to it after a cursor.
func (c *call) follow(t *abi.Task, contextID string, after api.Cursor, history int) error {
	shown, err := c.viewer().task(c.r.Context(), t, contextID, shows{history, true})
	if err != nil {
		return err
	}
	first, err := c.dialect.encode(&happening{Task: shown})
	if err != nil {
		return err
	}
	if t.Status.Terminal() {
		c.r.Send(200, c.teller(contextID).frame(nil, after.String(), first))
		c.r.HTTP.SetContentType(gateway.MediaEventStream)
		return nil
	}
	return c.stream(t.ID, contextID, after, c.teller(contextID).frame(nil, after.String(), first))
}

func (c *call) teller(contextID string) *teller {
	return &teller{a: c.Adapter, v: c.viewer(), d: c.dialect, contextID: contextID, operation: c.r.Route.Operation, id: bytes.Clone(c.r.Call), requestID: c.r.ID}
}

func (c *call) stream(id, contextID string, after api.Cursor, first []byte) error {
	return eventstream.Serve(c.r, c.core, eventstream.Options{Filter: api.Filter{TaskID: id}, After: after, Scope: c.scope, Heartbeat: c.cfg.Heartbeat, First: first},
		c.teller(contextID))
}
