package wasi

import (
	"encoding/binary"
	"math"

	"github.com/tetratelabs/wazero/api"

	"github.com/wharf-dev/wharf/runtime/sandbox/guest"
)

// The sizes of what a guest waits for and of what it is told, in bytes.
const (
	subscriptionBytes = 48
	eventBytes        = 32
)

// What a guest can wait for.
const (
	eventClock   = 0
	eventFdRead  = 1
	eventFdWrite = 2
)

// poll is one call of poll_oneoff.
type poll struct {
	out     []byte   // events that are still to be told
	late    [][]byte // subscriptions that are told after all others
	timeout int64    // ns: the shortest
}

// pollOneoff sleeps for the shortest time that the guest wants to wait for, unless it
// waits for input as well, of which the end is always there. What is told, and in which
// order, is as the engine's own WASI has it.
func pollOneoff(r *guest.Run, m api.Memory, p []uint64) errno {
	count := uint32(p[2])
	if count == 0 || count > MaxSubscriptions {
		return errnoInval
	}
	in, ok := m.Read(uint32(p[0]), count*subscriptionBytes)
	if !ok {
		return errnoFault
	}
	out, ok := m.Read(uint32(p[1]), count*eventBytes)
	if !ok {
		return errnoFault
	}
	clear(out)
	if bad := writeUint32(m, p[3], count); bad != errnoSuccess {
		return bad
	}
	w := &poll{out: out, timeout: math.MaxInt64}
	for ; len(in) > 0; in = in[subscriptionBytes:] {
		if bad := w.add(in[:subscriptionBytes]); bad != errnoSuccess {
			return bad
		}
	}
	for _, s := range w.late {
		w.report(s, eventFdRead, errnoSuccess)
	}
	if len(w.late) == 0 && w.timeout > 0 {
		r.Sleep(w.timeout)
	}
	return errnoSuccess
}

// add takes in what the guest waits for.
func (w *poll) add(s []byte) errno {
	kind, what := s[8], s[16:]
	fd := binary.LittleEndian.Uint32(what)
	switch kind {
	case eventClock:
		return w.addClock(s, what)
	case eventFdRead, eventFdWrite:
	default:
		return errnoInval
	}
	switch {
	case int32(fd) < 0:
		return errnoBadf
	case fd > 2:
		w.report(s, kind, errnoBadf)
	case kind == eventFdRead:
		w.late = append(w.late, s)
	default:
		w.report(s, kind, errnoNotsup)
	}
	return errnoSuccess
}

// addClock takes in a time to wait for, from now on: at others no guest can wake up.
func (w *poll) addClock(s, what []byte) errno {
	const absolute = 1
	switch binary.LittleEndian.Uint16(what[24:]) {
	case 0:
	case absolute:
		return errnoNotsup
	default:
		return errnoInval
	}
	w.timeout = min(w.timeout, int64(binary.LittleEndian.Uint64(what[8:])))
	w.report(s, eventClock, errnoSuccess)
	return errnoSuccess
}

// report writes the next event to the guest.
func (w *poll) report(s []byte, kind byte, answer errno) {
	copy(w.out, s[:8]) // what the guest knows it by
	w.out[8], w.out[9] = byte(answer), 0
	binary.LittleEndian.PutUint32(w.out[10:], uint32(kind))
	w.out = w.out[eventBytes:]
}
