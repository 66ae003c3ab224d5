package openharness

import (
	"context"
	"errors"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/gateway"
	"github.com/wharf-dev/wharf/gateway/api"
)

// teller makes server-sent events of the events of the log.
type teller interface {
	// tell appends what an event is told as: one frame, several or none. over says that nothing
	// comes after it.
	tell(b []byte, ev *api.Event) (frames []byte, over bool)
}

// tellerFunc is a teller that has no end.
type tellerFunc func(b []byte, ev *api.Event) []byte

func (f tellerFunc) tell(b []byte, ev *api.Event) ([]byte, bool) { return f(b, ev), false }

// writeSize is about how much one write holds: what is pending goes out together.
const writeSize = 32 << 10

// streaming is a stream of server-sent events on its way to a client. It holds one buffer and a
// place in the log: a client that is slow falls behind and loses nothing.
type streaming struct {
	out       *gateway.Stream
	sub       *api.Stream
	reads     *gateway.Reading
	teller    teller
	who       func() (*api.Caller, error)
	scope     string
	heartbeat time.Duration

	buf  []byte
	sent bool // something was, since the last heartbeat
}

var (
	errLeft = errors.New("the client has left")
	errOver = errors.New("everything was told")
)

// stream answers with what a teller makes of the events that a filter lets through, after a
// cursor. It lasts no longer than the credential that has opened it.
func (a *Adapter) stream(r *gateway.Request, f api.Filter, after api.Cursor, t teller) error {
	sub, err := a.core.Follow(r.Context(), r.Caller, f, after)
	if err != nil {
		return err
	}
	if r.HTTP.IsHead() {
		sub.Close()
		r.HTTP.SetContentType(gateway.MediaEventStream)
		return nil
	}
	s := &streaming{sub: sub, reads: r.Reading(), teller: t, who: r.Reauthenticate(), scope: r.Route.Scope, heartbeat: a.cfg.Heartbeat}
	err = r.Stream(func(ctx context.Context, out *gateway.Stream) {
		defer sub.Close()
		s.out = out
		s.run(ctx)
	})
	if err != nil {
		sub.Close()
	}
	return err
}

// run copies until everything is told, or something fails.
func (s *streaming) run(ctx context.Context) {
	ctx = s.reads.Context(ctx)
	for {
		beat, cancel := context.WithTimeout(ctx, s.heartbeat)
		err := s.until(beat, ctx)
		cancel()
		if err == nil {
			err = s.pulse()
		}
		if err != nil {
			s.end(err)
			return
		}
	}
}

// until copies for a heartbeat's time.
func (s *streaming) until(beat, ctx context.Context) error {
	for {
		entries, err := s.sub.Next(beat)
		s.reads.Leave()
		if err != nil {
			s.reads.Done()
			if beat.Err() != nil && ctx.Err() == nil {
				return nil
			}
			return err
		}
		if err := s.write(ctx, entries); err != nil {
			return err
		}
		if beat.Err() != nil {
			return nil
		}
	}
}

// write sends what entries are told as.
func (s *streaming) write(ctx context.Context, entries []api.Entry) error {
	defer s.reads.Done()
	for _, entry := range entries {
		var ev *api.Event
		if err := s.reads.Do(ctx, entry.Size(), func() { ev = entry.Show() }); err != nil {
			return err
		}
		var over bool
		if s.buf, over = s.teller.tell(s.buf, ev); over || len(s.buf) >= writeSize {
			if err := s.flush(); err != nil {
				return err
			}
		}
		if over {
			return errOver
		}
	}
	return s.flush()
}

func (s *streaming) flush() error {
	if len(s.buf) == 0 {
		return nil
	}
	if _, err := s.out.Write(s.buf); err != nil {
		return errLeft
	}
	if s.sent, s.buf = true, s.buf[:0]; cap(s.buf) > 2*writeSize {
		s.buf = nil
	}
	return nil
}

// pulse says that a quiet stream lives, and finds out whether its client has left and whether its
// credential still opens it.
func (s *streaming) pulse() error {
	if s.out.Gone() {
		return errLeft
	}
	caller, err := s.who()
	if err == nil {
		err = gateway.Require(caller, s.scope)
	}
	if err != nil {
		return err
	}
	if !s.sent {
		if _, err := io.WriteString(s.out, ": \n\n"); err != nil {
			return errLeft
		}
	}
	s.sent = false
	return nil
}

// end tells a client why nothing more comes, where it could not know.
func (s *streaming) end(err error) {
	shown, ok := errors.AsType[*abi.Error](err)
	switch {
	case errors.Is(err, errOver), errors.Is(err, errLeft):
		return
	case !ok && errors.Is(err, context.Canceled):
		return // the node drains: the client comes again
	case !ok:
		shown = abi.Errorf(abi.CodeInternalError, "the node failed to go on with this stream")
	}
	code, _ := codeOf(shown)
	s.buf = frame(s.buf, "", "error", appendJSON(nil, happening{Type: "error", Code: code, Message: shown.Message}))
	_ = s.flush()
}

// frame appends a server-sent event. data is one line.
func frame(b []byte, id, event string, data []byte) []byte {
	b = append(append(b, "event: "...), event...)
	if id != "" {
		b = append(append(b, "\nid: "...), id...)
	}
	return append(append(append(b, "\ndata: "...), data...), "\n\n"...)
}

// resumeAt reads where a stream goes on: after the Last-Event-ID, or from otherwise on. An id is a
// position of the log, and behind a dot how many events came of it before.
func resumeAt(r *gateway.Request, otherwise api.Cursor) (after api.Cursor, n int, err error) {
	id := r.Header("Last-Event-ID")
	if id == "" {
		return otherwise, 0, nil
	}
	at, nth, dotted := strings.Cut(id, ".")
	after, ok := api.ParseCursor(at)
	if dotted {
		var wrong error
		n, wrong = strconv.Atoi(nth)
		ok = ok && wrong == nil && n > 0
	}
	if !ok {
		return 0, 0, abi.InvalidParam("Last-Event-ID", "%q is no id of an event of this stream", id)
	}
	return after, n, nil
}
