package api

import (
	"context"
	"errors"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/desk"
)

// Stream follows the log: first what is kept after a cursor, then what happens. It holds
// nothing but a place in the log, so a reader that is slow falls behind and loses nothing. It
// is used by one goroutine at a time.
type Stream struct {
	api      *API
	sub      desk.Subscription
	internal bool
}

// Entry is an event of a stream that nobody has looked at: showing a large one is long work,
// for which its reader chooses the time.
type Entry struct {
	ev       desk.Event
	api      *API
	internal bool
}

// Follow begins a stream of the events that a filter lets through, after a cursor. The error
// is an [abi.CodeCursorExpired] when events after the cursor are not kept any more.
func (a *API) Follow(ctx context.Context, c *Caller, f Filter, after Cursor) (*Stream, error) {
	sub, err := a.core.Subscribe(ctx, c, f, desk.Position(after))
	if err != nil {
		return nil, expired(err)
	}
	return &Stream{api: a, sub: sub, internal: seesInternal(c)}, nil
}

// Next returns the entries after the last ones returned, at least one; it waits until there
// are any. It fails with an [abi.CodeCursorExpired] when retention has overtaken the reader.
func (s *Stream) Next(ctx context.Context) ([]Entry, error) { return s.entries(s.sub.Next(ctx)) }

// Poll returns what Next would, and does not wait: when there is nothing yet it returns no
// entries, and wake is called once there may be some, or an error. wake must neither block nor
// use the stream; it is not called any more when Close has returned.
func (s *Stream) Poll(ctx context.Context, wake func()) ([]Entry, error) {
	return s.entries(s.sub.Poll(ctx, wake))
}

func (s *Stream) entries(events []desk.Event, err error) ([]Entry, error) {
	if err != nil {
		return nil, expired(err)
	}
	entries := make([]Entry, len(events))
	for i, ev := range events {
		entries[i] = Entry{ev, s.api, s.internal}
	}
	return entries, nil
}

// Start is the cursor at which the stream began: entries up to it are history.
func (s *Stream) Start() Cursor { return Cursor(s.sub.Start()) }

// Close ends the stream.
func (s *Stream) Close() { s.sub.Close() }

// Kind is what the event reports.
func (e Entry) Kind() abi.EventKind { return e.ev.Record().Kind }

// At is the event's place in the log.
func (e Entry) At() Cursor { return Cursor(e.ev.Position()) }

// Size is about how many bytes the event has.
func (e Entry) Size() int {
	rec := e.ev.Record()
	return len(rec.State) + len(rec.Payload)
}

// About is the resource that the event is about.
func (e Entry) About() abi.ResourcePointer { return e.ev.Record().Resource }

// Workspace is the id of the Workspace that the event happened in, "" for none.
func (e Entry) Workspace() string { return e.ev.Frame.WorkspaceID }

// Show returns the event as the stream's caller may see it.
func (e Entry) Show() *Event { return e.api.events.event(e.ev, e.internal) }

// expired puts the end of a reader that retention has overtaken into the words that clients read.
func expired(err error) error {
	if !errors.Is(err, desk.ErrCursorExpired) {
		return err
	}
	return abi.Errorf(abi.CodeCursorExpired, "the cursor lies before the oldest event that is kept: read the resource and stream from now on")
}

// IsExpired reports whether an error says that events after a cursor are not kept any more.
func IsExpired(err error) bool {
	shown, ok := errors.AsType[*abi.Error](err)
	return ok && shown.Code == abi.CodeCursorExpired
}
