package acp

import (
	"strconv"
	"strings"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/gateway/api"
)

// mark is the place of an update: the k-th that an event is told as.
type mark struct {
	event api.Cursor
	k     int
}

// String returns the mark as clients have it.
func (m mark) String() string { return m.event.String() + "." + strconv.Itoa(m.k) }

// before reports whether the mark lies before another: an update with that one comes after it.
func (m mark) before(other mark) bool {
	return m.event < other.event || m.event == other.event && m.k < other.k
}

// parseMark reads what a client has as the mark of an update.
func parseMark(s string) (m mark, err error) {
	event, k, _ := strings.Cut(s, ".")
	at, ok := api.ParseCursor(event)
	n, err := strconv.ParseUint(k, 10, 31)
	if !ok || err != nil {
		return mark{}, abi.InvalidParam("_meta.harn.after", "%q is not the eventId of an update", s)
	}
	return mark{at, int(n)}, nil
}

// tellsAll has all that was before told, tellsNothing none of it.
func tellsAll(mark) bool     { return true }
func tellsNothing(mark) bool { return false }
