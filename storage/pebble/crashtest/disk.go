package crashtest

import (
	"math/rand/v2"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/wharf-dev/wharf/storage/pebble"
)

// Disk is a disk in memory.
type Disk struct{ fs *vfs.MemFS }

// NewDisk returns an empty disk.
func NewDisk() *Disk { return &Disk{vfs.NewCrashableMem()} }

// Open opens the store on the disk.
func (d *Disk) Open() (*pebble.Store, error) {
	return pebble.Open("/data", pebble.Options{FS: d.fs, CacheBytes: 1 << 20, MemtableBytes: 1 << 20})
}

// Crash returns the disk as it may be found after a power cut at this moment: all
// that was synced, and each unsynced write with probability kept, 0 to 1. The
// disk itself goes on.
func (d *Disk) Crash(seed uint64, kept float64) *Disk {
	return &Disk{d.fs.CrashClone(vfs.CrashCloneCfg{
		UnsyncedDataPercent: int(kept * 100),
		RNG:                 rand.New(rand.NewPCG(seed, 1)),
	})}
}
