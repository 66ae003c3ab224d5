package disk

import (
	"context"
	"io"
	"time"

	"github.com/wharf-dev/wharf/storage"
)

const (
	firstWait   = 100 * time.Millisecond
	longestWait = 10 * time.Second
)

// Patient are blobs for the calls of running Tasks: a value that a full disk refuses is stored when there
// is room, unless ctx ends before. For a value that cannot be read again, and for any other error, they are
// as they were.
type Patient struct{ storage.Blobs }

// Later waits a moment, for somebody who tries again what a full disk has refused; false when ctx ends before.
func Later(ctx context.Context) bool { return sleep(ctx, longestWait/10) }

func sleep(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// Put implements [storage.Blobs].
func (p Patient) Put(ctx context.Context, r io.Reader, want *storage.Hash) (storage.Hash, int64, error) {
	again, _ := r.(io.ReadSeeker)
	for wait := firstWait; ; wait = min(2*wait, longestWait) {
		h, size, err := p.Blobs.Put(ctx, r, want)
		if again == nil || !IsFull(err) {
			return h, size, err
		}
		if !sleep(ctx, wait) {
			return h, size, context.Cause(ctx)
		}
		if _, err := again.Seek(0, io.SeekStart); err != nil {
			return h, size, err
		}
	}
}
