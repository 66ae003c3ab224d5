package storagetest

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"io"
	"strings"
	"sync"
	"testing/iotest"

	"github.com/wharf-dev/wharf/storage"
)

func blobTests() []test {
	return []test{
		{"a blob is kept by its hash", blobs},
		{"a Put that fails keeps nothing", failedPuts},
	}
}

func blobs(h *harness) {
	content := bytes.Repeat([]byte("0123456789"), 50_000)
	want := storage.Hash(sha256.Sum256(content))
	var writers sync.WaitGroup
	for range 8 {
		writers.Go(func() {
			got, size, err := h.store.Blobs().Put(ctx, iotest.HalfReader(bytes.NewReader(content)), &want)
			if err != nil || got != want || size != int64(len(content)) {
				h.Errorf("Put = %x, %d, %v", got, size, err)
			}
		})
	}
	writers.Wait()
	if got, size, err := h.store.Blobs().Put(ctx, strings.NewReader(""), nil); err != nil || size != 0 || got != sha256.Sum256(nil) {
		h.Errorf("the empty blob: %x, %d, %v", got, size, err)
	}
	for range 2 {
		b, err := h.store.Blobs().Open(ctx, want)
		h.must(err)
		if err := errors.Join(b.Verify(ctx), iotest.TestReader(b, content)); err != nil {
			h.Error(err)
		}
		if b.Size() != int64(len(content)) {
			h.Errorf("Size = %d", b.Size())
		}
		h.must(b.Close())
		h.crash()
	}
}

func failedPuts(h *harness) {
	broken := errors.New("the reader is broken")
	some := storage.Hash(sha256.Sum256([]byte("some")))
	for name, put := range map[string]struct {
		ctx  context.Context
		r    io.Reader
		hash *storage.Hash
		want error
	}{
		"a reader that fails":     {ctx, io.MultiReader(strings.NewReader("some"), iotest.ErrReader(broken)), nil, broken},
		"content of another hash": {ctx, strings.NewReader("some"), &storage.Hash{}, storage.ErrBlobMismatch},
		"a caller that has left":  {gone(), strings.NewReader("some"), nil, context.Canceled},
	} {
		_, _, err := h.store.Blobs().Put(put.ctx, put.r, put.hash)
		h.want(name, err, put.want)
		_, err = h.store.Blobs().Open(ctx, some)
		h.want(name+": its content", err, storage.ErrNotFound)
		if lost, ok := errors.AsType[*storage.ContentError](err); !ok || !lost.Missing {
			h.Errorf("%s: %v does not say what is missing", name, err)
		}
	}
}
