package pebble

import (
	"errors"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/cockroachdb/errors/oserror"
	"github.com/cockroachdb/pebble/v2/vfs"
)

// guardFS stands between Pebble and the disk, because Pebble ends the process when
// it cannot write its log or make it durable. The guard reports such a failure to
// the store and tells Pebble that all is well. From then on it lets nothing through
// to the disk: log writes vanish, so that what is on disk ends where the failure
// was, and all other changes are refused, so that no background work acts on a state
// that was never made durable. The store acknowledges nothing after the report.
//
// While the database opens, no failure gets to Pebble at all: it would wait for ever
// for the tables that it cannot write, or take its parts down while its own goroutines
// still use them, and with them the process. What fails then is reported, and never
// returns.
type guardFS struct {
	vfs.FS
	fail    *failure
	report  func(error)
	opening *atomic.Bool
	// recycling is held while an old log gets the name of a new one, and while old logs are removed.
	recycling sync.Mutex
	// grows is by how much a log is grown at a time.
	grows int64
}

// errFrozen is what changes of the disk meet after a failure.
var errFrozen = errors.New("nothing is written after a failure")

// isLog reports whether name is that of a write-ahead log.
func isLog(name string) bool { return strings.HasSuffix(name, ".log") }

// frozen returns errFrozen after a failure.
func (g *guardFS) frozen() error {
	if g.fail.err() != nil {
		return errFrozen
	}
	return nil
}

// mutate does f unless the disk is frozen.
func (g *guardFS) mutate(f func() error) error {
	err := g.frozen()
	if err == nil {
		err = f()
	}
	return g.halt(err)
}

// halt returns err, unless the database is being opened: then it reports a failure of
// the disk and does not return.
func (g *guardFS) halt(err error) error {
	if err == nil || oserror.IsNotExist(err) || !g.opening.Load() {
		return err
	}
	g.report(err)
	select {}
}

// open does f, which opens a file for writing, and puts the guard around it. A log
// that cannot be opened becomes one that vanishes.
func (g *guardFS) open(name string, f func() (vfs.File, error)) (vfs.File, error) {
	file, err := vfs.File(nil), g.frozen()
	if err == nil {
		file, err = f()
	}
	switch {
	case !isLog(name) && err != nil:
		return nil, g.halt(err)
	case !isLog(name):
		return &guardedFile{File: file, guard: g}, nil
	case err != nil:
		g.report(fmt.Errorf("opening the log %s: %w", filepath.Base(name), err))
		return &guardedLog{File: vfs.NewMemFile(nil), guard: g}, nil
	}
	return &guardedLog{File: file, guard: g}, nil
}

// Create implements vfs.FS.
func (g *guardFS) Create(name string, c vfs.DiskWriteCategory) (vfs.File, error) {
	return g.open(name, func() (vfs.File, error) { return g.FS.Create(name, c) })
}

// OpenReadWrite implements vfs.FS.
func (g *guardFS) OpenReadWrite(name string, c vfs.DiskWriteCategory, o ...vfs.OpenOption) (vfs.File, error) {
	return g.open(name, func() (vfs.File, error) { return g.FS.OpenReadWrite(name, c, o...) })
}

// ReuseForWrite implements vfs.FS.
func (g *guardFS) ReuseForWrite(old, name string, c vfs.DiskWriteCategory) (vfs.File, error) {
	g.recycling.Lock()
	defer g.recycling.Unlock()
	if _, err := g.FS.Stat(old); oserror.IsNotExist(err) { // it was removed, for what was in it
		return g.Create(name, c)
	}
	return g.open(name, func() (vfs.File, error) { return g.FS.ReuseForWrite(old, name, c) })
}

// OpenDir implements vfs.FS.
func (g *guardFS) OpenDir(name string) (vfs.File, error) {
	d, err := g.FS.OpenDir(name)
	if err != nil {
		return nil, err
	}
	return &guardedDir{File: d, guard: g, name: name}, nil
}

// Link implements vfs.FS.
func (g *guardFS) Link(old, name string) error {
	return g.mutate(func() error { return g.FS.Link(old, name) })
}

// Rename implements vfs.FS.
func (g *guardFS) Rename(old, name string) error {
	return g.mutate(func() error { return g.FS.Rename(old, name) })
}

// Remove implements vfs.FS.
func (g *guardFS) Remove(name string) error {
	return g.mutate(func() error { return g.FS.Remove(name) })
}

// RemoveAll implements vfs.FS.
func (g *guardFS) RemoveAll(name string) error {
	return g.mutate(func() error { return g.FS.RemoveAll(name) })
}

// Unwrap implements vfs.FS.
func (g *guardFS) Unwrap() vfs.FS { return g.FS }

// guardedFile is a file that freezes.
type guardedFile struct {
	vfs.File
	guard *guardFS
}

// Write implements io.Writer.
func (f *guardedFile) Write(p []byte) (n int, err error) {
	err = f.guard.mutate(func() error {
		n, err = f.File.Write(p)
		return err
	})
	return n, err
}

// Sync implements vfs.File.
func (f *guardedFile) Sync() error { return f.guard.mutate(f.File.Sync) }

// SyncData implements vfs.File.
func (f *guardedFile) SyncData() error { return f.guard.mutate(f.File.SyncData) }

// guardedDir is a folder whose names cannot be made durable only once.
type guardedDir struct {
	vfs.File
	guard *guardFS
	name  string
}

// Sync implements vfs.File.
func (d *guardedDir) Sync() error {
	if d.guard.frozen() != nil {
		return nil
	}
	if err := d.File.Sync(); err != nil {
		d.guard.report(fmt.Errorf("syncing folder %s: %w", filepath.Base(d.name), err))
	}
	return nil
}

// guardedLog is a write-ahead log that never fails as far as Pebble can tell. It is grown ahead of what is written:
// a sync of a file that has got longer makes the file system's own journal durable as well, which takes as long again.
type guardedLog struct {
	vfs.File
	guard   *guardFS
	written int64
	grown   int64 // how long the file is at least, as far as is known
}

// growShare is which part of what is collected in memory, and of a log with it, a log is grown by.
const growShare = 16

// grow makes room for n more bytes. Behind what was written there are zeros, at which Pebble sees the log end. Where the file system cannot, or the disk is full, the file grows as it is
// written, and whoever writes it meets what is wrong.
func (f *guardedLog) grow(n int) {
	f.written += int64(n)
	if f.written <= f.grown {
		return
	}
	length := max(f.guard.grows, int64(n))
	if fd := f.Fd(); fd == vfs.InvalidFd || extend(fd, f.grown, length) != nil {
		f.grown = math.MaxInt64
		return
	}
	f.grown += length
}

// attempt does f unless the disk is frozen, and reports how it went to the store
// alone.
func (f *guardedLog) attempt(what string, do func() error) {
	if f.guard.frozen() != nil {
		return
	}
	if err := do(); err != nil {
		f.guard.report(fmt.Errorf("%s the log: %w", what, err))
	}
}

// Write implements io.Writer.
func (f *guardedLog) Write(p []byte) (int, error) {
	f.attempt("writing", func() error {
		f.grow(len(p))
		n, err := f.File.Write(p)
		if err == nil && n < len(p) {
			err = io.ErrShortWrite
		}
		return err
	})
	return len(p), nil
}

// Sync implements vfs.File.
func (f *guardedLog) Sync() error {
	f.attempt("syncing", f.File.Sync)
	return nil
}

// SyncData implements vfs.File.
func (f *guardedLog) SyncData() error {
	f.attempt("syncing", f.File.SyncData)
	return nil
}

// SyncTo implements vfs.File.
func (f *guardedLog) SyncTo(length int64) (full bool, err error) {
	f.attempt("syncing", func() error {
		full, err = f.File.SyncTo(length)
		return err
	})
	return full, nil
}

// Preallocate implements vfs.File. Not setting room aside is not a failure.
func (f *guardedLog) Preallocate(offset, length int64) error {
	if f.guard.frozen() == nil {
		return f.File.Preallocate(offset, length)
	}
	return nil
}

// Close implements io.Closer.
func (f *guardedLog) Close() error {
	if err := f.File.Close(); err != nil {
		f.guard.report(fmt.Errorf("closing the log: %w", err))
	}
	return nil
}
