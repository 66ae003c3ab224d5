// Package eventstream answers requests with server-sent events of what is in the log: for adapters
// whose protocols each have words of their own for it.
package eventstream

import (
	"context"
	"errors"
	"io"
	"time"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/gateway"
	"github.com/wharf-dev/wharf/gateway/api"
)

// Teller makes server-sent events of the events of the log. It is used by one goroutine at a time.
type Teller interface {
	// Tell appends what an event is told as: one frame, several or none. over says that nothing
	// comes after it.
	Tell(ctx context.Context, b []byte, ev *api.Event) (frames []byte, over bool)
	// Fail appends why nothing more comes, where a client could not know.
	Fail(b []byte, err *abi.Error) []byte
}

// Options are how a stream is told.
type Options struct {
	Filter    api.Filter
	After     api.Cursor
	Scope     string // what the credential must have as long as the stream lasts
	Heartbeat time.Duration
	First     []byte // frames that come before all others
}

// writeSize is about how much one write holds: what is pending goes out together.
const writeSize = 32 << 10

// stream is a stream on its way to a client. It holds one buffer and a place in the log: a client that is
// slow falls behind and loses nothing.
type stream struct {
	out       *gateway.Stream
	sub       *api.Stream
	reads     *gateway.Reading
	teller    Teller
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

// Serve answers with what a teller makes of the events that a filter lets through, after a cursor.
// It lasts no longer than the credential that has opened it. To HEAD it answers with the headers
// alone.
func Serve(r *gateway.Request, core *api.API, o Options, t Teller) error {
	sub, err := core.Follow(r.Context(), r.Caller, o.Filter, o.After)
	if err != nil {
		return err
	}
	if r.HTTP.IsHead() {
		sub.Close()
		r.HTTP.SetContentType(gateway.MediaEventStream)
		return nil
	}
	s := &stream{sub: sub, reads: r.Reading(), teller: t, who: r.Reauthenticate(), scope: o.Scope, heartbeat: o.Heartbeat, buf: o.First}
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
func (s *stream) run(ctx context.Context) {
	ctx = s.reads.Context(ctx)
	if err := s.flush(); err != nil {
		return
	}
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
func (s *stream) until(beat, ctx context.Context) error {
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
func (s *stream) write(ctx context.Context, entries []api.Entry) error {
	defer s.reads.Done()
	for _, entry := range entries {
		var ev *api.Event
		if err := s.reads.Do(ctx, entry.Size(), func() { ev = entry.Show() }); err != nil {
			return err
		}
		var over bool
		if s.buf, over = s.teller.Tell(ctx, s.buf, ev); over || len(s.buf) >= writeSize {
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

func (s *stream) flush() error {
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
func (s *stream) pulse() error {
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
func (s *stream) end(err error) {
	shown, ok := errors.AsType[*abi.Error](err)
	switch {
	case errors.Is(err, errOver), errors.Is(err, errLeft):
		return
	case !ok && errors.Is(err, context.Canceled):
		return // the node drains: the client comes again
	case !ok:
		shown = abi.Errorf(abi.CodeInternalError, "the node failed to go on with this stream")
	}
	s.buf = s.teller.Fail(s.buf, shown)
	_ = s.flush()
}
