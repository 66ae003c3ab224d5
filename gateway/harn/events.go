package harn

import (
	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/gateway"
	"github.com/wharf-dev/wharf/gateway/api"
)

// selector says which events a route is about.
type selector func(*gateway.Request) api.Filter

func byQuery(r *gateway.Request) api.Filter { return queryFilter(r) }

func bySession(r *gateway.Request) api.Filter {
	return api.Filter{SessionID: r.PathValue("session_id")}
}

func byTask(r *gateway.Request) api.Filter {
	return api.Filter{TaskID: r.PathValue("task_id")}
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
		r.Send(statusOK, encodeEvents(events, more))
		return nil
	}
}

func encodeEvents(events []*api.Event, more bool) []byte {
	body := []byte(`{"object":"list","data":[`)
	for i, ev := range events {
		if i > 0 {
			body = append(body, ',')
		}
		body = ev.AppendJSON(body, false)
	}
	next := ""
	if more && len(events) > 0 {
		next = events[len(events)-1].At.String()
	}
	return appendPage(body, more, next)
}

func (a *Adapter) getEvent(r *gateway.Request) error {
	id := r.PathValue("event_id")
	at, ok := api.ParseCursor(id)
	if !ok || at == 0 {
		return abi.NotFound(abi.ObjectEvent, id)
	}
	ev, err := a.core.Event(r.Context(), r.Caller, at)
	if err != nil {
		return err
	}
	r.Send(statusOK, ev.AppendJSON(nil, false))
	return nil
}

// eventCursor reads the position to go on after from the first of the named query
// parameters that is there. Positions are the node's, so any up to the newest is
// one that the caller can have come by honestly; it says nothing about whose
// event is there.
func (a *Adapter) eventCursor(r *gateway.Request, names ...string) (after api.Cursor, given bool, err error) {
	for _, name := range names {
		if r.Query(name) != "" {
			after, err = a.parseEventID(name, r.Query(name))
			return after, true, err
		}
	}
	return 0, false, nil
}

func (a *Adapter) parseEventID(param, value string) (api.Cursor, error) {
	after, ok := api.ParseCursor(value)
	if !ok {
		return 0, abi.InvalidParam(param, "this is no event id")
	}
	if after > a.core.Now() {
		return 0, abi.InvalidParam(param, "this node has no such event")
	}
	return after, nil
}
