package pebble

import (
	"context"
	"os"
	"sync"

	"github.com/wharf-dev/wharf/storage"
)

// maxVerified bounds how many files are known to be whole; each takes some hundred bytes.
const maxVerified = 8 << 10

// identity tells a file from what it may become: one that is written to, cut or put in
// the place of another has another identity. What a disk forgets by itself keeps it.
type identity struct {
	hash   storage.Hash
	size   int64
	mtime  int64 // nanoseconds
	number uint64
}

func identify(h storage.Hash, info os.FileInfo) identity {
	return identity{h, info.Size(), info.ModTime().UnixNano(), fileNumber(info)}
}

// verified remembers which files were found whole, so that reading ranges of a large
// one costs hashing it once. It is safe for concurrent use.
type verified struct {
	mu    sync.Mutex
	whole map[identity]bool
	// busy has the files that are being hashed; the channels are closed at the end.
	busy map[identity]chan struct{}
}

// once calls verify unless the file is known to be whole. Of several callers with one
// file, one reads it.
func (v *verified) once(ctx context.Context, id identity, verify func(context.Context) error) error {
	for {
		wait, known := v.begin(id)
		if known {
			return nil
		}
		if wait == nil {
			err := verify(ctx)
			v.end(id, err == nil)
			return err
		}
		select {
		case <-wait:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// begin returns what to wait for, or nil when the caller is the one to read the file.
func (v *verified) begin(id identity) (wait chan struct{}, known bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.whole[id] {
		return nil, true
	}
	if wait = v.busy[id]; wait != nil {
		return wait, false
	}
	if v.busy == nil {
		v.busy, v.whole = map[identity]chan struct{}{}, map[identity]bool{}
	}
	v.busy[id] = make(chan struct{})
	return nil, false
}

func (v *verified) end(id identity, whole bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	close(v.busy[id])
	delete(v.busy, id)
	if !whole {
		return
	}
	for old := range v.whole {
		if len(v.whole) < maxVerified {
			break
		}
		delete(v.whole, old) // any: it is hashed again when it is asked for
	}
	v.whole[id] = true
}
