package engine

import (
	"context"
	"errors"

	"github.com/wharf-dev/wharf/runtime/lockrank"
)

// background owns goroutines: it has begun each, and a drain waits for all of them.
// Once it drains it begins no more. Its zero value is ready.
type background struct {
	mu      lockrank.Mutex[lockLast]
	running int
	ended   bool          // no more are begun
	idle    chan struct{} // closed when ended and nothing runs; nil until then
}

// Go runs do on a goroutine of its own. Nothing happens once the owner drains: the next
// start of the node finds out what is to be done.
func (b *background) Go(do func()) {
	if b.begin() {
		go b.finish(do)
	}
}

// owned returns what does as Go does, on the goroutine that calls it: that of a timer.
func (b *background) owned(do func()) func() {
	return func() {
		if b.begin() {
			b.finish(do)
		}
	}
}

func (b *background) begin() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.ended {
		b.running++
	}
	return !b.ended
}

func (b *background) finish(do func()) {
	defer func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		if b.running--; b.running == 0 && b.ended {
			close(b.idle)
		}
	}()
	do()
}

// end begins no more. The channel closes when nothing runs.
func (b *background) end() <-chan struct{} {
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

// undone logs why something was not done that the engine does by itself. While the node
// drains that is no fault: the next start does it.
func (e *Engine) undone(what string, key owner, err error) {
	if err == nil || errors.Is(err, ErrTerminal) || errors.Is(err, errNotWaiting) || e.draining.Load() {
		return
	}
	e.log.Error(what, "task", key.id, "error", err)
}

// waitFor waits for done, or for the end of ctx.
func waitFor(ctx context.Context, done <-chan struct{}) error {
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
