package pebble

import (
	"context"
	"errors"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/wharf-dev/wharf/storage"
)

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
