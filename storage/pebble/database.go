package pebble

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"syscall"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/record"
	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/wharf-dev/wharf/storage"
)

func clone(b []byte) []byte { return bytes.Clone(b) }

// lookup returns a copy of the value of key, and whether there is one.
func lookup(r pebble.Reader, key []byte) ([]byte, bool, error) {
	v, closer, err := r.Get(key)
	if errors.Is(err, pebble.ErrNotFound) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, err
	}
	v = append([]byte{}, v...)
	return v, true, closer.Close()
}

// scan calls f with every pair from lower up to but not including upper. What f
// is given is valid until it returns.
func scan(r pebble.Reader, lower, upper []byte, f func(key, value []byte) error) error {
	it, err := r.NewIter(&pebble.IterOptions{LowerBound: lower, UpperBound: upper})
	if err != nil {
		return err
	}
	for ok := it.First(); ok && err == nil; ok = it.Next() {
		err = f(it.Key(), it.Value())
	}
	return errors.Join(err, it.Close())
}

// eachTenant calls f with every tenant that has any key. It costs one seek for
// each of them.
func eachTenant(r pebble.Reader, f func(storage.Tenant) error) error {
	it, err := r.NewIter(nil)
	if err != nil {
		return err
	}
	for ok := it.First(); ok && err == nil; {
		if len(it.Key()) < prefixLen {
			err = &CorruptError{Key: clone(it.Key()), Reason: "the key is too short"}
			break
		}
		t := tenantOf(it.Key())
		if err = f(t); t == ^storage.Tenant(0) {
			break
		}
		ok = it.SeekGE(appendPrefix(nil, t+1, 0))
	}
	return errors.Join(err, it.Close())
}

// databaseLog is what Pebble writes its messages to. What Pebble calls fatal ends
// the store, not the process.
type databaseLog struct{ s *Store }

// Infof implements pebble.Logger.
func (l *databaseLog) Infof(format string, args ...any) {
	l.s.log.Debug("database", slog.String("message", fmt.Sprintf(format, args...)))
}

// Errorf implements pebble.Logger.
func (l *databaseLog) Errorf(format string, args ...any) {
	l.s.log.Warn("database", slog.String("message", fmt.Sprintf(format, args...)))
}

// Fatalf implements pebble.Logger. Unlike what its name says elsewhere, it returns.
func (l *databaseLog) Fatalf(format string, args ...any) {
	l.s.failed(fmt.Errorf(format, args...))
}

// checkManifest refuses a database whose list of files does not read to its end.
// Pebble takes such an end for one that was cut off by a crash, forgets the files
// that follow and deletes them. After a clean close there is no such crash. After
// any other, the frames must still be without a gap.
func checkManifest(fs vfs.FS, dir string, clean bool, o *pebble.Options) error {
	desc, err := pebble.Peek(dir, fs)
	if err != nil || !desc.Exists {
		return err
	}
	err = readManifest(fs, desc.ManifestFilename)
	if err == nil {
		return nil
	}
	if clean {
		return &CorruptError{Reason: fmt.Sprintf("its list of files does not read to its end: %v", err)}
	}
	o.ReadOnly = true
	db, err := pebble.Open(dir, o)
	if err != nil {
		return err
	}
	return errors.Join(checkGapless(db), db.Close())
}

// readManifest reads a list of files to its end.
func readManifest(fs vfs.FS, name string) error {
	f, err := fs.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	records := record.NewReader(f, 0)
	for {
		r, err := records.Next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		if _, err := io.Copy(io.Discard, r); err != nil {
			return err
		}
	}
}

// syncDir makes the names in a folder durable.
func syncDir(fs vfs.FS, dir string) error {
	d, err := fs.OpenDir(dir)
	if err != nil {
		return fmt.Errorf("syncing folder %s: %w", dir, err)
	}
	if err := errors.Join(d.Sync(), d.Close()); err != nil {
		return fmt.Errorf("syncing folder %s: %w", dir, err)
	}
	return nil
}

// LockedError says that a data folder is open already.
type LockedError struct{ Dir string }

// Error implements the error interface.
func (e *LockedError) Error() string {
	return "data folder " + e.Dir + " is in use by another process"
}

// lockError puts into words why the lock could not be taken. vfs has no typed error
// for a lock that this very process holds.
func lockError(dir string, err error) error {
	if errors.Is(err, syscall.EAGAIN) || strings.Contains(err.Error(), "held by current process") {
		return &LockedError{Dir: dir}
	}
	return fmt.Errorf("locking data folder %s: %w", dir, err)
}
