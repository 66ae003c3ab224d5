package pebble

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/wharf-dev/wharf/storage"
)

// failure remembers the first thing that went wrong. It is never taken back.
type failure struct {
	once  sync.Once
	cause error
	done  chan struct{} // closed once cause is set
}

func (f *failure) init() { f.done = make(chan struct{}) }

// set records err if it is the first, and reports whether it was.
func (f *failure) set(err error) (first bool) {
	f.once.Do(func() {
		f.cause = fmt.Errorf("%w: %w", storage.ErrFailed, err)
		first = true
		close(f.done)
	})
	return first
}

// err returns what every operation fails with, or nil.
func (f *failure) err() error {
	select {
	case <-f.done:
		return f.cause
	default:
		return nil
	}
}

// failed ends the store's working life: whoever waits is told, and nothing is
// written any more.
func (s *Store) failed(err error) {
	if !s.fail.set(err) {
		return
	}
	s.log.Error("storage has failed and refuses further work", "error", err)
	s.queue.abandon()
	s.topics.rouseAll()
}

// backoff keeps Pebble from trying a failing disk again without a pause.
const backoff = 50 * time.Millisecond

// backgroundError is told when a flush or a compaction could not be written.
func (s *Store) backgroundError(err error) {
	if s.fail.err() != nil {
		time.Sleep(backoff)
		return
	}
	s.failed(fmt.Errorf("writing tables: %w", err))
}

// watermark is the position up to which everything is durable.
type watermark struct {
	at   atomic.Uint64
	done chan struct{} // closed when the store closes

	mu   sync.Mutex
	wake chan struct{} // closed when at rises; nil while nobody waits
}

func (w *watermark) init() { w.done = make(chan struct{}) }

func (w *watermark) position() storage.Position { return storage.Position(w.at.Load()) }

// raise moves the watermark to p and wakes whoever waits for it to move.
func (w *watermark) raise(p storage.Position) {
	w.at.Store(uint64(p))
	w.mu.Lock()
	if w.wake != nil {
		close(w.wake)
		w.wake = nil
	}
	w.mu.Unlock()
}

func (w *watermark) close() { close(w.done) }

// wait returns when everything up to p is durable.
func (w *watermark) wait(ctx context.Context, p storage.Position, f *failure) error {
	for w.position() < p {
		wake := w.next()
		if w.position() >= p {
			return nil
		}
		select {
		case <-wake:
		case <-f.done:
			return f.cause
		case <-w.done:
			return storage.ErrClosed
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// next returns a channel that is closed when the watermark rises.
func (w *watermark) next() <-chan struct{} {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.wake == nil {
		w.wake = make(chan struct{})
	}
	return w.wake
}
