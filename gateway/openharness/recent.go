package openharness

import (
	"slices"
	"time"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/gateway"
	"github.com/wharf-dev/wharf/gateway/api"
)

// The log is read back from its end in windows that become wider, so that what is recent costs
// the same however long the log is. Older events than are looked at are reached by `since`, or in
// Harn's own lists of events.
const (
	firstWindow = 1 << 10 // positions
	mostLooked  = 10_000  // events of the Workspace
)

// recent returns what take makes of the newest events of a harness, newest first, at least as
// many as are needed, if there are. since is zero for any time.
func recent[T any](a *Adapter, r *gateway.Request, h *abi.Harness, needed int, since time.Time, take func(*api.Event) (T, bool)) ([]T, error) {
	now := a.core.Now()
	var found []T
	for window := api.Cursor(firstWindow); ; window *= 4 {
		from := now - min(window, now)
		some, looked, oldest, err := within(a, r, h, from, now, take)
		if api.IsExpired(err) {
			from = 0
			some, looked, oldest, err = within(a, r, h, from, now, take)
		}
		if err != nil {
			return nil, err
		}
		if looked > mostLooked && found != nil {
			return found, nil
		}
		found = some
		if from == 0 || looked >= mostLooked || len(found) >= needed || !since.IsZero() && !oldest.IsZero() && oldest.Before(since) {
			return found, nil
		}
	}
}

// within looks at the events of a harness between two positions.
func within[T any](a *Adapter, r *gateway.Request, h *abi.Harness, from, to api.Cursor, take func(*api.Event) (T, bool)) (found []T, looked int, oldest time.Time, err error) {
	for more := true; more && from < to && looked <= 4*mostLooked; {
		var events []*api.Event
		if events, more, err = a.core.Events(r.Context(), r.Caller, api.Filter{WorkspaceID: h.WorkspaceID}, from, 500); err != nil {
			return nil, 0, oldest, err
		}
		for _, ev := range events {
			if oldest.IsZero() {
				oldest = ev.Time
			}
			if one, ok := take(ev); ok && ev.At <= to {
				found = append(found, one)
			}
			from = ev.At
		}
		looked += len(events)
	}
	slices.Reverse(found)
	return found, looked, oldest, nil
}

// sinceOf reads from when on something is asked for.
func sinceOf(r *gateway.Request) (at time.Time, err error) {
	if !r.HasQuery("since") {
		return at, nil
	}
	at, err = time.Parse(time.RFC3339, r.Query("since"))
	if err != nil {
		return at, abi.InvalidParam("since", "since is a time such as 2026-01-31T12:00:00Z")
	}
	return at, nil
}
