package sandbox

import (
	"context"
	"sync"

	"github.com/wharf-dev/wharf/runtime/sandbox/rewrite"
	"github.com/wharf-dev/wharf/runtime/sandbox/stack"
)

// Bounds of what a module's debug information is read for, as long as the module is in
// memory: a plugin can trap in each Run, and in another place each time.
const (
	maxReadings = 64   // times that it is read
	maxLocated  = 2048 // places that are kept
)

// locator says where code of a module is from. It reads the module for that when something
// traps, in a place that is new, and keeps nothing of it but the places.
type locator struct {
	wasm    func() ([]byte, error) // the module as it was written
	options rewrite.Options

	mu       sync.Mutex // held while the module is read: one at a time
	known    map[uint32][]stack.Place
	readings int
}

// newLocator returns nil where nobody has the bytes of modules.
func (r *Runtime) newLocator(digest string, o rewrite.Options) *locator {
	if r.source == nil {
		return nil
	}
	return &locator{options: o, known: map[uint32][]stack.Place{}, wasm: func() ([]byte, error) {
		return r.source(context.Background(), digest)
	}}
}

// locate says where the code at some offsets of the rewritten module is from. What cannot be
// read has no place.
func (l *locator) locate(offsets []uint32) map[uint32][]stack.Place {
	if l == nil {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if unknown := l.unknown(offsets); len(unknown) > 0 && l.readings < maxReadings && len(l.known)+len(unknown) <= maxLocated {
		l.readings++
		l.read(unknown)
	}
	places := map[uint32][]stack.Place{}
	for _, at := range offsets {
		places[at] = l.known[at]
	}
	return places
}

func (l *locator) unknown(offsets []uint32) (unknown []uint32) {
	for _, at := range offsets {
		if _, ok := l.known[at]; !ok {
			unknown = append(unknown, at)
		}
	}
	return unknown
}

func (l *locator) read(offsets []uint32) {
	for _, at := range offsets {
		l.known[at] = nil
	}
	wasm, err := l.wasm()
	if err != nil {
		return
	}
	origins, err := rewrite.Origins(wasm, l.options, offsets)
	if err != nil {
		return
	}
	var asked []uint32
	for _, o := range origins {
		asked = append(asked, o.Offset)
	}
	found := stack.Places(wasm, asked)
	for at, o := range origins {
		l.known[at] = found[o.Offset]
	}
}
