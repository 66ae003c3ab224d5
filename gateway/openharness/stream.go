package openharness

import (
	"context"
	"strconv"
	"strings"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/gateway"
	"github.com/wharf-dev/wharf/gateway/api"
	"github.com/wharf-dev/wharf/gateway/internal/eventstream"
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

// framed is a teller as streams have it: an error is an event of its own.
type framed struct{ teller }

func (f framed) Tell(_ context.Context, b []byte, ev *api.Event) ([]byte, bool) { return f.tell(b, ev) }

func (framed) Fail(b []byte, err *abi.Error) []byte {
	code, _ := codeOf(err)
	return frame(b, "", "error", appendJSON(nil, happening{Type: "error", Code: code, Message: err.Message}))
}

// stream answers with what a teller makes of the events that a filter lets through, after a
// cursor. It lasts no longer than the credential that has opened it.
func (a *Adapter) stream(r *gateway.Request, f api.Filter, after api.Cursor, t teller) error {
	return eventstream.Serve(r, a.core, eventstream.Options{Filter: f, After: after, Scope: r.Route.Scope, Heartbeat: a.cfg.Heartbeat}, framed{t})
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
