package pebble

import (
	"errors"
	"fmt"
	"io"
	iofs "io/fs"
	"syscall"

	"github.com/cockroachdb/errors/oserror"
	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
)

// ErrReadOnly is what writers get from a store that was opened with [OpenReadOnly].
var ErrReadOnly = errors.New("the data folder was opened to be read only")

// OpenReadOnly opens a data folder to look at it, and does not change a byte of it; the disk
// may be one that cannot be written. It refuses what [Open] refuses, with a [*FolderError] that
// says what is wrong with the folder. It also refuses a folder that a process has open.
// Subscriptions see no end of the log; writers get [ErrReadOnly].
//
// A folder of an older format is read as it is. What lies in the write-ahead log is
// read into memory, as every start does.
func OpenReadOnly(dir string, o Options) (*Store, error) {
	o = o.withDefaults()
	o.FS = readOnlyFS{o.FS}
	lock, err := o.FS.Lock(o.FS.PathJoin(dir, lockName))
	if err != nil {
		return nil, lockError(dir, err)
	}
	s := newStore(dir, o, lock)
	if err := s.openForReading(); err != nil {
		_ = lock.Close()
		return nil, fmt.Errorf("opening data folder %s: %w", dir, err)
	}
	return s, nil
}

// openForReading opens the parts of a folder, all on a disk that refuses writes.
func (s *Store) openForReading() error {
	c, format, err := survey(s.opts.FS, s.dir)
	switch {
	case err != nil:
		return err
	case c == unfinished:
		return &FolderError{Reason: "the first start on it was cut off: it holds nothing yet", Try: `"wharf serve", which makes it anew`}
	case c == vacant:
		return &FolderError{Reason: "it is not a data folder", Try: "the data folder of a node"}
	}
	s.readOnly, s.format = true, format
	s.blobs = &blobStore{fs: s.opts.FS, dir: s.opts.FS.PathJoin(s.dir, blobsDir), fail: &s.fail}
	position, clean, err := headOf(s.opts.FS, s.dir)
	if err != nil {
		return err
	}
	s.head = &head{position: position, clean: clean}
	if err := s.openDatabaseForReading(); err != nil {
		return err
	}
	if err := s.readFacts(); err != nil {
		return errors.Join(explain(err), s.db.Close())
	}
	if err := s.recoverCounts(); err != nil {
		return errors.Join(explain(err), s.db.Close())
	}
	return nil
}

// openDatabaseForReading opens Pebble without letting it change anything.
func (s *Store) openDatabaseForReading() (err error) {
	dir := s.opts.FS.PathJoin(s.dir, databaseDir)
	o := s.databaseOptions(nil)
	o.FS, o.ReadOnly, o.CacheSize = s.opts.FS, true, s.opts.CacheBytes
	gap, err := checkFiles(s.opts.FS, dir, s.head.clean, o)
	if err != nil {
		return err
	}
	if s.db, err = openPebble(dir, o); err != nil {
		return explain(err)
	}
	if gap {
		err = checkGapless(s.db)
	}
	if err != nil {
		return errors.Join(explain(err), s.db.Close())
	}
	return nil
}

// preflight reads a folder as a start would, so that whatever is refused is refused
// before a byte was written: Pebble empties its log into tables as soon as it opens,
// and no lost file could be put back after that.
func preflight(dir string, o Options) error {
	o.FS = readOnlyFS{o.FS}
	s := newStore(dir, o, nil)
	if err := s.openForReading(); err != nil {
		return err
	}
	return s.db.Close()
}

// openPebble opens Pebble. It turns a panic, which is how some damage shows itself,
// into an error.
func openPebble(dir string, o *pebble.Options) (db *pebble.DB, err error) {
	defer func() {
		if r := recover(); r != nil {
			db, err = nil, &CorruptError{Reason: fmt.Sprintf("the database does not open: %v", r)}
		}
	}()
	return pebble.Open(dir, o)
}

// readOnlyFS refuses every change.
type readOnlyFS struct{ vfs.FS }

// Create implements vfs.FS.
func (readOnlyFS) Create(string, vfs.DiskWriteCategory) (vfs.File, error) { return nil, ErrReadOnly }

// OpenReadWrite implements vfs.FS.
func (readOnlyFS) OpenReadWrite(string, vfs.DiskWriteCategory, ...vfs.OpenOption) (vfs.File, error) {
	return nil, ErrReadOnly
}

// ReuseForWrite implements vfs.FS.
func (readOnlyFS) ReuseForWrite(string, string, vfs.DiskWriteCategory) (vfs.File, error) {
	return nil, ErrReadOnly
}

// Link implements vfs.FS.
func (readOnlyFS) Link(string, string) error { return ErrReadOnly }

// Rename implements vfs.FS.
func (readOnlyFS) Rename(string, string) error { return ErrReadOnly }

// Remove implements vfs.FS.
func (readOnlyFS) Remove(string) error { return ErrReadOnly }

// RemoveAll implements vfs.FS.
func (readOnlyFS) RemoveAll(string) error { return ErrReadOnly }

// MkdirAll implements vfs.FS.
func (readOnlyFS) MkdirAll(string, iofs.FileMode) error { return ErrReadOnly }

// Unwrap implements vfs.FS.
func (f readOnlyFS) Unwrap() vfs.FS { return f.FS }

// Lock implements vfs.FS. It makes no file: a folder without one is not open, because a process
// that opens it makes the file first. Where the file cannot be written, Lock takes a lock of
// readers.
func (f readOnlyFS) Lock(name string) (io.Closer, error) {
	if _, err := f.FS.Stat(name); oserror.IsNotExist(err) {
		return io.NopCloser(nil), nil
	}
	lock, err := f.FS.Lock(name)
	if oserror.IsPermission(err) || errors.Is(err, syscall.EROFS) {
		return lockShared(name)
	}
	return lock, err
}
