package crashtest

import (
	"errors"
	"io"
	"math/rand/v2"
	"sync/atomic"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"

	"github.com/wharf-dev/wharf/storage/pebble"
)

// Disk is a disk in memory.
type Disk struct {
	fs      *vfs.MemFS
	refuses atomic.Pointer[error]
}

// NewDisk returns an empty disk.
func NewDisk() *Disk { return &Disk{fs: vfs.NewCrashableMem()} }

// Refuse lets every write from now on fail with err; nil lets them through again.
func (d *Disk) Refuse(err error) { d.refuses.Store(&err) }

// MaybeError implements errorfs.Injector.
func (d *Disk) MaybeError(op errorfs.Op) error {
	if err := d.refuses.Load(); err != nil && op.Kind.ReadOrWrite() == errorfs.OpIsWrite {
		return *err
	}
	return nil
}

// String implements errorfs.Injector.
func (d *Disk) String() string { return "disk" }

// Open opens the store on the disk.
func (d *Disk) Open() (*pebble.Store, error) {
	return pebble.Open("/data", pebble.Options{FS: errorfs.Wrap(d.fs, d), CacheBytes: 1 << 20, MemtableBytes: 1 << 20})
}

// Blob returns the path of a blob, by the hex form of its hash.
func (d *Disk) Blob(hash string) string { return "/data/blobs/" + hash[:2] + "/" + hash }

// Damage replaces the content of a file by what f makes of it, in place, as a failing
// disk or a careless hand does. A nil f removes the file.
func (d *Disk) Damage(path string, f func([]byte) []byte) error {
	if f == nil {
		return d.fs.Remove(path)
	}
	old, err := d.fs.Open(path)
	if err != nil {
		return err
	}
	content, err := io.ReadAll(old)
	if err := errors.Join(err, old.Close()); err != nil {
		return err
	}
	file, err := d.fs.Create(path, vfs.WriteCategoryUnspecified)
	if err != nil {
		return err
	}
	_, err = file.Write(f(content))
	return errors.Join(err, file.Close())
}

// Crash returns the disk as it may be found after a power cut at this moment: all
// that was synced, and each unsynced write with probability kept, 0 to 1. The
// disk itself goes on.
func (d *Disk) Crash(seed uint64, kept float64) *Disk {
	return &Disk{fs: d.fs.CrashClone(vfs.CrashCloneCfg{
		UnsyncedDataPercent: int(kept * 100),
		RNG:                 rand.New(rand.NewPCG(seed, 1)),
	})}
}
