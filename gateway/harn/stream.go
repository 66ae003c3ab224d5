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
	"github.com/wharf-dev/wharf/gateway/api"
)

// streamEvents serves an event stream without an end.
func (a *Adapter) streamEvents(selected selector) gateway.Handler {
	return func(r *gateway.Request) error {
		after, resumed, err := a.streamCursor(r)
		if err != nil {
			return err
		}
		if r.IsUpgrade() {
			return a.upgrade(r, selected(r), after, resumed, "")
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
	if r.IsUpgrade() {
		return a.upgrade(r, byTask(r), after, resumed, task)
	}
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
func (a *Adapter) streamCursor(r *gateway.Request) (after api.Cursor, resumed bool, err error) {
	if id := r.Header("Last-Event-ID"); id != "" {
		after, err = a.parseEventID("Last-Event-ID", id)
		return after, true, err
	}
	return a.eventCursor(r, "after_event_id")
}

// follow subscribes and takes the connection over. until names the Task whose end
// ends the stream, if any.
func (a *Adapter) follow(r *gateway.Request, f api.Filter, after api.Cursor, resumed bool, until string) error {
	sub, err := a.core.Follow(r.Context(), r.Caller, f, after)
	expired := api.IsExpired(err)
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
	reads := r.Reading()
	id := r.ID
	var from source
	if sub != nil {
		from = &guarded{Stream: sub, who: r.Reauthenticate(), every: a.cfg.Heartbeat, due: time.Now().Add(a.cfg.Heartbeat)}
	}
	err = r.Stream(func(ctx context.Context, out *gateway.Stream) {
		if expired {
			(&eventStream{out: out, requestID: id}).fail(errExpired())
			return
		}
		defer sub.Close()
		fol := &follower{
			out: &eventStream{out: out, requestID: id, at: after}, sub: from, resumed: resumed,
			until: until, heartbeat: a.cfg.Heartbeat, reads: reads,
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

// source is what a follower copies: an [api.Stream], or one that is guarded.
type source interface {
	Next(ctx context.Context) ([]api.Entry, error)
	Poll(ctx context.Context, wake func()) ([]api.Entry, error)
	Start() api.Cursor
	Close()
}

// outlet is where a follower's events go: an event stream or a socket.
type outlet interface {
	// event takes an event; again says that it is history, delivered once more.
	event(ev *api.Event, again bool) error
	// flush sends what was taken.
	flush() error
	// pulse is called when there was nothing to send for a heartbeat's time.
	pulse() error
	// fail tells the client why nothing more comes.
	fail(shown *abi.Error)
}

// follower copies a subscription to a client. It holds nothing but what its outlet
// does: a client that is slow falls behind on the log.
//
// Which events are marked replayed: the protocol asks for it where a stream is
// resumed (docs/protocol.md, 5.3), so that history can be told from what happens now. So the mark is on
// what was already durable when a stream with a cursor began. A stream without a
// cursor shows its history for the first time, which is no replay. What a replay
// Task did again is marked always.
type follower struct {
	out       outlet
	sub       source
	resumed   bool
	until     string
	heartbeat time.Duration
	reads     *gateway.Reading
	restless  bool // run ends with errQuiet when there is nothing to do

	last    api.Cursor      // the last position sent
	end     api.Cursor      // the last position to send, once it is known
	beat    context.Context // ends when the next heartbeat is due
	endBeat context.CancelFunc
	due     time.Time // when the next heartbeat is
	sent    bool      // something was, since the last heartbeat
}

var (
	errGone  = errors.New("the client has left")
	errQuiet = errors.New("there was nothing to send for a heartbeat's time")
)

// run returns when the stream is over: the client left, the server drains, the
// Task has ended or the cursor expired.
func (f *follower) run(ctx context.Context) {
	if err := f.copy(ctx); err != nil {
		f.fail(ctx, err)
	}
}

// copy copies until everything is sent, or something fails.
func (f *follower) copy(ctx context.Context) error {
	defer func() {
		if f.endBeat != nil {
			f.endBeat()
			f.beat = nil
		}
	}()
	ctx = f.reads.Context(ctx)
	for !f.done() {
		events, err := f.next(ctx)
		if err == nil {
			err = f.write(ctx, events)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// done reports whether everything that the stream was to show has been sent.
func (f *follower) done() bool { return f.end != 0 && f.last >= f.end }

// next returns the next events, sending heartbeats while there are none.
func (f *follower) next(ctx context.Context) ([]api.Entry, error) {
	for {
		if f.beat == nil {
			f.beat, f.endBeat = context.WithTimeout(ctx, f.untilBeat())
		}
		events, err := f.sub.Next(f.beat)
		f.reads.Leave()
		if err == nil {
			return events, nil
		}
		f.reads.Done()
		if ctx.Err() != nil || f.beat.Err() == nil {
			return nil, err
		}
		f.endBeat()
		f.beat = nil
		if err := f.pulse(); err != nil {
			return nil, err
		}
		if f.restless && !f.sent {
			return nil, errQuiet
		}
		f.sent = false
	}
}

// pulse is a heartbeat; the next one is due a heartbeat's time later.
func (f *follower) pulse() error {
	f.due = time.Now().Add(f.heartbeat)
	return f.out.pulse()
}

// untilBeat returns the time that is left until the next heartbeat is due.
func (f *follower) untilBeat() time.Duration {
	if f.due.IsZero() {
		f.due = time.Now().Add(f.heartbeat)
	}
	return time.Until(f.due)
}

// write sends events that were read with ctx.
func (f *follower) write(ctx context.Context, entries []api.Entry) error {
	defer f.reads.Done()
	for _, entry := range entries {
		ev, err := f.show(ctx, entry)
		if err != nil {
			return err
		}
		if err := f.out.event(ev, f.resumed && ev.At <= f.sub.Start()); err != nil {
			return err
		}
		f.last = ev.At
		if last, ended := ev.Ends(f.until); ended {
			f.end = last
		}
	}
	f.sent = true
	return f.out.flush()
}

func (f *follower) show(ctx context.Context, entry api.Entry) (ev *api.Event, err error) {
	err = f.reads.Do(ctx, entry.Size(), func() { ev = entry.Show() })
	return ev, err
}

// fail tells the client why the stream ends, if there is somebody to tell.
func (f *follower) fail(ctx context.Context, err error) {
	switch {
	case api.IsExpired(err):
		f.out.fail(errExpired())
	case errors.Is(err, errShut):
		f.out.fail(errShut)
	case ctx.Err() == nil && !errors.Is(err, errGone):
		f.out.fail(abi.Errorf(abi.CodeInternalError, "the node failed to go on with this stream"))
	}
}

// sink is where an event stream is written: a gateway.Stream.
type sink interface {
	io.Writer
	Gone() bool
}

// eventStream writes server-sent events. It holds one buffer.
type eventStream struct {
	out       sink
	requestID string
	at        api.Cursor // the client's cursor, once it has what was taken

	buf   []byte
	sent  bool // something was written, ever
	quiet bool // nothing was written since the last beat
}

// writeSize is about how much one write holds: what is pending goes out together.
const writeSize = 32 << 10

// event adds one frame: id, event and data, ended by an empty line.
func (s *eventStream) event(ev *api.Event, again bool) error {
	b := append(s.buf, "id: "...)
	b = strconv.AppendUint(b, uint64(ev.At), 10)
	b = append(append(b, "\nevent: "...), ev.Kind...)
	b = append(b, "\ndata: "...)
	s.buf, s.at = append(ev.AppendJSON(b, again), "\n\n"...), ev.At
	if len(s.buf) >= writeSize {
		return s.flush()
	}
	return nil
}

func (s *eventStream) flush() error {
	if len(s.buf) == 0 {
		return nil
	}
	_, err := s.out.Write(s.buf)
	if err != nil {
		return fmt.Errorf("%w: %w", errGone, err)
	}
	s.sent, s.quiet = true, false
	s.buf = s.buf[:0]
	if cap(s.buf) > 2*writeSize {
		s.buf = nil
	}
	return nil
}

// pulse keeps an idle connection alive and finds out whether the client has left.
// A heartbeat is never the first thing that a client sees.
func (s *eventStream) pulse() error {
	if s.out.Gone() {
		return errGone
	}
	if s.quiet && s.sent {
		if _, err := io.WriteString(s.out, ": heartbeat\n\n"); err != nil {
			return fmt.Errorf("%w: %w", errGone, err)
		}
	}
	s.quiet = true
	return nil
}

// fail implements [outlet]. An EventSource connects again by itself, after the id of
// the last frame. After an expired cursor that is 0, the oldest event that is kept.
func (s *eventStream) fail(shown *abi.Error) {
	if shown.Code == abi.CodeCursorExpired {
		s.at = 0
	}
	if s.flush() != nil {
		return
	}
	_, _ = s.out.Write(errorFrame(s.at, s.requestID, shown))
}

// errorFrame is the last frame of a stream that did not end well. It is no Event of the
// log: its id is where to go on, its kind the one that every EventSource listens to.
func errorFrame(at api.Cursor, requestID string, shown *abi.Error) []byte {
	frame := fmt.Appendf(nil, "id: %d\nevent: error\ndata: ", at)
	return append(append(frame, gateway.EncodeError(requestID, shown)...), "\n\n"...)
}
