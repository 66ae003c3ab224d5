package openharness

import (
	"sync/atomic"

	"github.com/wharf-dev/wharf/gateway/api"
	"github.com/wharf-dev/wharf/gateway/openharness/mapper"
)

// keptEvents is how many events are kept as they were read, and maxKeptEvent the largest kept, in
// bytes: together they bound what is kept to some 8 MiB.
const (
	keptEvents   = 512
	maxKeptEvent = 8 << 10
)

// eventCache keeps recent events as mappers take them, so that many readers of one execution cost
// one reading. A slot holds the last event whose position leads to it: readers of one stream are
// close together. It is safe for concurrent use.
type eventCache struct {
	slots [keptEvents]atomic.Pointer[keptEvent]
}

// keptEvent is an event as somebody may see it, and what was read of that. The API shares what it
// shows between those who may see the same, so that it also says for whom the event is.
type keptEvent struct {
	of   *api.Event
	read *mapper.Event
}

// read returns an event as mappers take it; nil for one that is told as nothing.
func (c *eventCache) read(ev *api.Event) *mapper.Event {
	if !mapper.Tells(ev.Kind) {
		return nil
	}
	slot := &c.slots[uint64(ev.At)%keptEvents]
	if kept := slot.Load(); kept != nil && kept.of == ev {
		return kept.read
	}
	text := ev.AppendJSON(nil, false)
	read := mapper.Read(ev.Kind, text)
	if len(text) <= maxKeptEvent {
		slot.Store(&keptEvent{ev, read})
	}
	return read
}
