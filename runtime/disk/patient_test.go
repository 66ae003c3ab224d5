package disk_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/wharf-dev/wharf/runtime/disk"
	"github.com/wharf-dev/wharf/storage"
)

// refusing are blobs of a disk that fails so often, half-way through a value.
type refusing struct {
	storage.Blobs
	with  error
	times int
	kept  []byte
	tries int
}

func (r *refusing) Put(_ context.Context, from io.Reader, _ *storage.Hash) (h storage.Hash, size int64, err error) {
	if r.tries++; r.tries <= r.times {
		_, _ = io.CopyN(io.Discard, from, 3)
		return h, 0, errors.Join(storage.ErrNotStored, r.with)
	}
	r.kept, err = io.ReadAll(from)
	return h, int64(len(r.kept)), err
}

func TestPatient(t *testing.T) {
	for name, c := range map[string]struct {
		blobs refusing
		from  io.Reader
		leave time.Duration
		tries int
		fails error
	}{
		"room":              {refusing{}, bytes.NewReader([]byte("value")), time.Hour, 1, nil},
		"full for a while":  {refusing{with: syscall.ENOSPC, times: 20}, bytes.NewReader([]byte("value")), time.Hour, 21, nil},
		"quota for a while": {refusing{with: syscall.EDQUOT, times: 2}, bytes.NewReader([]byte("value")), time.Hour, 3, nil},
		"broken":            {refusing{with: syscall.EIO, times: 1}, bytes.NewReader([]byte("value")), time.Hour, 1, syscall.EIO},
		"read once":         {refusing{with: syscall.ENOSPC, times: 1}, io.MultiReader(bytes.NewReader([]byte("value"))), time.Hour, 1, syscall.ENOSPC},
		"full for ever":     {refusing{with: syscall.ENOSPC, times: 1 << 30}, bytes.NewReader([]byte("value")), time.Second, 4, context.DeadlineExceeded},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithTimeout(t.Context(), c.leave)
				defer cancel()
				_, _, err := disk.Patient{Blobs: &c.blobs}.Put(ctx, c.from, nil)
				if !errors.Is(err, c.fails) || c.blobs.tries != c.tries {
					t.Errorf("after %d tries: %v", c.blobs.tries, err)
				}
				if c.fails == nil && string(c.blobs.kept) != "value" {
					t.Errorf("%q was kept", c.blobs.kept)
				}
			})
		})
	}
}
