package pebble

import (
	"context"
	"errors"
	"sync"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/wharf-dev/wharf/storage"
)

// When Sync returns, everything that was handed over before is durable, whoever waited
// for it and however often.
func TestSyncWaitsForAllThatWasHandedOver(t *testing.T) {
	s := openTest(t, vfs.NewMem())
	if err := s.Sync(t.Context()); err != nil {
		t.Fatalf("before the first batch: %v", err)
	}
	over, end := context.WithCancel(t.Context())
	end()
	var writers sync.WaitGroup
	for w := range 8 {
		writers.Go(func() {
			for i := range 50 {
				c := s.Append(accept(1, w*50+i))
				if err := s.Sync(t.Context()); err != nil {
					t.Error(err)
				}
				for range 2 { // the context has ended: only what is known is told
					if p, err := c.Wait(over); err != nil || p == 0 || p > s.Watermark() {
						t.Errorf("after Sync a batch is at %d, %v; the watermark is %d", p, err, s.Watermark())
					}
				}
			}
		})
	}
	writers.Wait()
}

// Sync ends with its context, and says so when the store has failed or closed.
func TestSyncEnds(t *testing.T) {
	s := openTest(t, vfs.NewMem())
	last := make(chan struct{})
	s.queue.mu.Lock()
	s.queue.last = last // a batch that never gets durable
	s.queue.mu.Unlock()
	over, end := context.WithCancel(t.Context())
	end()
	if err := s.Sync(over); !errors.Is(err, context.Canceled) {
		t.Errorf("with a context that has ended: %v", err)
	}
	s.failed(errors.New("the disk is gone"))
	if err := s.Sync(t.Context()); !errors.Is(err, storage.ErrFailed) {
		t.Errorf("after a failure: %v", err)
	}
}
