package pebble

import (
	"crypto/sha256"
	"math/rand/v2"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/wharf-dev/wharf/storage"
	"github.com/wharf-dev/wharf/storage/storagetest"
)

// contract opens a folder in memory, whose disk loses part of what was not synced.
type contract struct {
	fs    *vfs.MemFS
	store *Store
	rng   *rand.Rand
}

// Open implements [storagetest.Engine].
func (c *contract) Open() (storage.Store, error) {
	o := testOptions(c.fs)
	o.MemtableBytes = 64 << 10
	o.markEvery, o.markLag = 2, 3
	s, err := Open("data", o)
	if err != nil {
		return nil, err
	}
	c.store = s
	return s, nil
}

// Crash implements [storagetest.Engine].
func (c *contract) Crash() error {
	c.fs = c.fs.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: 50, RNG: c.rng})
	_ = c.store.Close() // of the process that is gone
	return nil
}

// Weigh implements [storagetest.Weigher].
func (c *contract) Weigh(f *storage.Frame) int64 {
	n := int64(0)
	refs := make(outline, len(f.Records))
	stand := func(v []byte) *blobRef {
		if len(v) <= c.store.opts.MaxInlineBytes {
			return nil
		}
		n += int64(len(v))
		return &blobRef{hash: sha256.Sum256(v), size: uint64(len(v))}
	}
	for i := range f.Records {
		refs[i].state, refs[i].payload = stand(f.Records[i].State), stand(f.Records[i].Payload)
	}
	_, value := encodeAt(f, refs)
	return n + int64(len(value))
}

func TestContract(t *testing.T) {
	storagetest.Run(t, func() storagetest.Engine {
		return &contract{fs: vfs.NewCrashableMem(), rng: rand.New(rand.NewPCG(1, 2))}
	})
}
