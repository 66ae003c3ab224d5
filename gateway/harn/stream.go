package harn

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/gateway"
	"github.com/wharf-dev/wharf/runtime/engine"
)

// streamEvents serves an event stream without an end.
func (a *Adapter) streamEvents(selected selector) gateway.Handler {
	return func(r *gateway.Request) error {
		after, resumed, err := a.streamCursor(r)
		if err != nil {
			return err
		}
		return a.follow(r, selected(r), after, resumed, "")
	}
}

// streamTask serves the stream of one Task, which ends with the Task. There is
// nothing more to come for a client that has seen the end: 204 tells an
// EventSource not to come back.
func (a *Adapter) streamTask(r *gateway.Request) error {
	after, resumed, err := a.streamCursor(r)
	if err != nil {
		return err
	}
	task := byTask(r).TaskID
	doc, err := a.core.Get(r.Context(), r.Caller, abi.ObjectTask, task)
	if err != nil {
		return err
	}
	if ended(doc) {
		left, _, err := a.core.Events(r.Context(), r.Caller, byTask(r), after, 1)
		if err == nil && len(left) == 0 {
			r.HTTP.SetStatusCode(statusNoContent)
			return nil
		}
	}
	return a.follow(r, byTask(r), after, resumed, task)
}

// streamCursor reads where a stream begins: after Last-Event-ID, or for those who
// cannot set it after_event_id, else at the beginning of what is kept.
func (a *Adapter) streamCursor(r *gateway.Request) (after engine.Position, resumed bool, err error) {
	if id := r.Header("Last-Event-ID"); id != "" {
		after, err = a.parseEventID("Last-Event-ID", id)
		return after, true, err
	}
	return a.eventCursor(r, "after_event_id")
}

// follow subscribes and takes the connection over. until names the Task whose end
// ends the stream, if any.
func (a *Adapter) follow(r *gateway.Request, f engine.Filter, after engine.Position, resumed bool, until string) error {
	sub, err := a.core.Subscribe(r.Context(), r.Caller, f, after)
	expired := isExpired(err)
	if err != nil && !expired {
		return err
	}
	if r.HTTP.IsHead() {
		r.HTTP.SetContentType(gateway.MediaEventStream)
		if sub != nil {
			sub.Close()
		}
		return nil
	}
	id, internal := r.ID, r.Caller.Can(abi.ScopeEventsInternal)
	err = r.Stream(func(ctx context.Context, out *gateway.Stream) {
		if expired {
			_, _ = out.Write(errorFrame(id, errExpired()))
			return
		}
		defer sub.Close()
		fol := &follower{
			out: out, sub: sub, events: a.events, internal: internal, resumed: resumed,
			until: until, heartbeat: a.cfg.Heartbeat, requestID: id,
		}
		fol.run(ctx)
	})
	if err != nil && sub != nil {
		sub.Close()
	}
	return err
}

func errExpired() *abi.Error {
	return abi.Errorf(abi.CodeCursorExpired, "the cursor lies before the oldest event that is kept: read the resource and stream from now on")
}

func isExpired(err error) bool {
	if shown, ok := errors.AsType[*abi.Error](err); ok {
		return shown.Code == abi.CodeCursorExpired
	}
	return errors.Is(err, engine.ErrCursorExpired)
}

// sink is where a follower writes: a gateway.Stream.
type sink interface {
	io.Writer
	Gone() bool
}

// follower copies a subscription to a client. It holds one buffer and nothing
// else: a client that is slow falls behind on the log.
//
// Which events are marked replayed: the narrative asks for it where a stream is
// resumed, so that history can be told from what happens now. So the mark is on
// what was already durable when a stream with a cursor began. A stream without a
// cursor shows its history for the first time, which is no replay. What a replay
// Task did again is marked always.
type follower struct {
	out       sink
	sub       engine.Subscription
	events    *eventCache
	internal  bool
	resumed   bool
	until     string
	heartbeat time.Duration
	requestID string

	buf     []byte
	sent    bool            // something was written, ever
	quiet   bool            // nothing was written since the last beat
	last    engine.Position // the last position sent
	end     engine.Position // the last position to send, once it is known
	beat    context.Context // ends when the next heartbeat is due
	endBeat context.CancelFunc
}

// writeSize is about how much one write holds: what is pending goes out together.
const writeSize = 32 << 10

var errGone = errors.New("the client has left")

// run returns when the stream is over: the client left, the server drains, the
// Task has ended or the cursor expired.
func (f *follower) run(ctx context.Context) {
	defer func() {
		if f.endBeat != nil {
			f.endBeat()
		}
	}()
	for !f.done() {
		events, err := f.next(ctx)
		if err == nil {
			err = f.write(events)
		}
		if err != nil {
			f.fail(ctx, err)
			return
		}
	}
}

// done reports whether everything that the stream was to show has been sent.
func (f *follower) done() bool { return f.end != 0 && f.last >= f.end }

// next returns the next events, sending heartbeats while there are none.
func (f *follower) next(ctx context.Context) ([]engine.Event, error) {
	for {
		if f.beat == nil {
			f.beat, f.endBeat = context.WithTimeout(ctx, f.heartbeat)
		}
		events, err := f.sub.Next(f.beat)
		if err == nil {
			return events, nil
		}
		if ctx.Err() != nil || f.beat.Err() == nil {
			return nil, err
		}
		f.endBeat()
		f.beat = nil
		if err := f.pulse(); err != nil {
			return nil, err
		}
	}
}

// pulse keeps an idle connection alive and finds out whether the client has left.
// A heartbeat is never the first thing that a client sees.
func (f *follower) pulse() error {
	if f.out.Gone() {
		return errGone
	}
	if f.quiet && f.sent {
		if _, err := io.WriteString(f.out, ": heartbeat\n\n"); err != nil {
			return fmt.Errorf("%w: %w", errGone, err)
		}
	}
	f.quiet = true
	return nil
}

func (f *follower) write(events []engine.Event) error {
	for _, ev := range events {
		if err := f.append(ev); err != nil {
			return err
		}
		if len(f.buf) >= writeSize {
			if err := f.flush(); err != nil {
				return err
			}
		}
	}
	return f.flush()
}

// append adds one frame: id, event and data, ended by an empty line.
func (f *follower) append(ev engine.Event) error {
	shown, err := f.events.event(ev, f.internal)
	if err != nil {
		return err
	}
	b := append(f.buf, "id: "...)
	b = strconv.AppendUint(b, uint64(ev.Position()), 10)
	b = append(append(b, "\nevent: "...), ev.Record().Kind...)
	b = append(b, "\ndata: "...)
	b = shown.append(b, f.resumed && ev.Position() <= f.sub.Start())
	f.buf = append(b, "\n\n"...)
	f.last = ev.Position()
	f.watchEnd(ev)
	return nil
}

// watchEnd learns where a Task's stream ends: with the frame that ended the Task,
// for what the Task resulted in was appended together with its end.
func (f *follower) watchEnd(ev engine.Event) {
	rec := ev.Record()
	if f.until == "" || rec.Resource.ID != f.until {
		return
	}
	switch rec.Kind {
	case abi.EventTaskCompleted, abi.EventTaskFailed, abi.EventTaskCanceled:
		f.end = ev.Frame.First + engine.Position(len(ev.Frame.Records)-1)
	}
}

func (f *follower) flush() error {
	if len(f.buf) == 0 {
		return nil
	}
	_, err := f.out.Write(f.buf)
	if err != nil {
		return fmt.Errorf("%w: %w", errGone, err)
	}
	f.sent, f.quiet = true, false
	f.buf = f.buf[:0]
	if cap(f.buf) > 2*writeSize {
		f.buf = nil
	}
	return nil
}

// fail tells the client why the stream ends, if there is somebody to tell.
func (f *follower) fail(ctx context.Context, err error) {
	switch {
	case isExpired(err):
		_, _ = f.out.Write(errorFrame(f.requestID, errExpired()))
	case ctx.Err() == nil && !errors.Is(err, errGone):
		_, _ = f.out.Write(errorFrame(f.requestID, abi.Errorf(abi.CodeInternalError, "the node failed to go on with this stream")))
	}
}

// errorFrame is an event of its own kind, without an id: it is no Event of the log.
func errorFrame(requestID string, shown *abi.Error) []byte {
	frame := append([]byte("event: error\ndata: "), gateway.EncodeError(requestID, shown)...)
	return append(frame, "\n\n"...)
}
