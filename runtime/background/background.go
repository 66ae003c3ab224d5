package background

import (
	"context"

	"github.com/wharf-dev/wharf/runtime/lockrank"
)

// Group owns goroutines: it has begun each, and a drain waits for all of them.
// Once it drains it begins no more. Its zero value is ready.
type Group struct {
	mu      lockrank.Mutex[lockrank.Last]
	running int
	ended   bool          // no more are begun
	idle    chan struct{} // closed when ended and nothing runs; nil until then
}

// Go runs do on a goroutine of its own. Nothing happens once the owner drains: the next
// start of the node finds out what is to be done.
func (b *Group) Go(do func()) {
	if b.begin() {
		go b.finish(do)
	}
}

// Owned returns what does as Go does, on the goroutine that calls it: that of a timer.
func (b *Group) Owned(do func()) func() {
	return func() {
		if b.begin() {
			b.finish(do)
		}
	}
}

func (b *Group) begin() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.ended {
		b.running++
	}
	return !b.ended
}

func (b *Group) finish(do func()) {
	defer func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		if b.running--; b.running == 0 && b.ended {
			close(b.idle)
		}
	}()
	do()
}

// End begins no more. The channel closes when nothing runs.
func (b *Group) End() <-chan struct{} {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.ended {
		return b.idle
	}
	b.ended, b.idle = true, make(chan struct{})
	if b.running == 0 {
		close(b.idle)
	}
	return b.idle
}

// Wait waits for done, or for the end of ctx.
func Wait(ctx context.Context, done <-chan struct{}) error {
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
