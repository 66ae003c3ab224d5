package pebble

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"

	"github.com/cockroachdb/errors/oserror"
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
		return nil, false, plain(err)
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
	return ended(it, err)
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
	return ended(it, err)
}

// ended closes an iterator and returns err, or what kept the iterator from going on.
func ended(it *pebble.Iterator, err error) error { return plain(errors.Join(err, it.Close())) }

// fileError says that a file of the database is not what was written.
type fileError struct {
	name string // in the data folder
	err  error
}

// Error implements the error interface.
func (e *fileError) Error() string { return e.name + " is damaged: " + oneLine(e.err) }

// Unwrap returns what the database has said.
func (e *fileError) Unwrap() error { return e.err }

// plain names the file when one is damaged. Pebble carries the file along with the error,
// and its text tells instead of it where in the code it was found.
func plain(err error) error {
	var own *fileError
	if err == nil || errors.As(err, &own) {
		return err
	}
	if info := pebble.ExtractDataCorruptionInfo(err); info != nil {
		return damagedFile(*info, err)
	}
	return err
}

func damagedFile(info pebble.DataCorruptionInfo, err error) error {
	return &fileError{databaseDir + "/" + filepath.Base(info.Path), err}
}

// damaged ends the store's working life when a file of the database does not read: what
// is made of it would be damaged too.
func (s *Store) damaged(info pebble.DataCorruptionInfo) { s.failed(damagedFile(info, info.Details)) }

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

// Fatalf implements pebble.Logger. Despite its name, it returns.
func (l *databaseLog) Fatalf(format string, args ...any) {
	l.s.failed(fmt.Errorf(format, args...))
}

// checkFiles looks at the files of which Pebble reads only as much as it understands,
// and at that which it cannot do without though it holds no data.
//
// Pebble takes an end of its list of files that does not read for one that was cut off
// by a crash, forgets the files that follow and deletes them. After a clean close there
// is no such crash. After any other the frames must be without a gap: torn says that
// this is to be checked.
func checkFiles(fs vfs.FS, dir string, clean bool, o *pebble.Options) (torn bool, err error) {
	desc, err := pebble.Peek(dir, fs)
	if err != nil {
		return false, explain(err)
	}
	if err := checkOptions(fs, dir, desc.OptionsFilename, o); err != nil {
		return false, err
	}
	name := databaseDir + "/" + fs.PathBase(desc.ManifestFilename)
	switch err := readManifest(fs, desc.ManifestFilename); {
	case err == nil:
		return false, nil
	case oserror.IsNotExist(err):
		return false, lost("%s is missing, the list of the database's files", name)
	case clean:
		return false, lost("%s does not read to its end: %v", name, err)
	}
	return true, nil
}

// checkOptions reads the newest file of settings. Pebble writes one at every start and
// needs none: it only refuses those that differ in what cannot be changed.
func checkOptions(fs vfs.FS, dir, name string, o *pebble.Options) error {
	if name == "" {
		return nil
	}
	text, err := readFile(fs, name)
	if err != nil {
		return fmt.Errorf("reading %s: %w", name, err)
	}
	o = o.Clone()
	o.EnsureDefaults()
	if err := o.CheckCompatibility(dir, string(text)); err != nil {
		name = databaseDir + "/" + fs.PathBase(name)
		return &FolderError{Err: err, Reason: fmt.Sprintf("%s is damaged: %v", name, err),
			Try: "removing " + name + ": it holds settings and no data, and every start writes it anew"}
	}
	return nil
}

// explain puts into a line what kept a database from being opened. What the operating
// system has refused stays as it is.
func explain(err error) error {
	var own *FolderError
	var refused syscall.Errno
	switch {
	case err == nil, errors.As(err, &own), errors.Is(err, storage.ErrFailed):
		return err
	case errors.As(err, &refused) && refused != syscall.ENOENT:
		return fmt.Errorf("%w", err) // without the stack that Pebble's errors carry
	}
	return &FolderError{Reason: "the database is damaged: " + named(oneLine(err)), Try: tryRestore, Err: err}
}

// Explain turns an error about a damaged file of the database, which shows only when the file
// is read, into a [*FolderError]. Other errors stay as they are.
func Explain(err error) error {
	var own *FolderError
	var damaged *fileError
	if errors.As(err, &own) || !errors.As(err, &damaged) {
		return err
	}
	return &FolderError{Reason: damaged.Error(), Try: tryRestore, Err: err}
}

// tableNumber finds the number of a table that is not there.
var tableNumber = regexp.MustCompile(`\bfile (\d{6,}) \(type sstable\)`)

// named puts the name of a table before a text that tells its number alone.
func named(text string) string {
	if found := tableNumber.FindStringSubmatch(text); found != nil {
		return databaseDir + "/" + found[1] + ".sst: " + text
	}
	return text
}

// oneLine returns what an error says on one line.
func oneLine(err error) string {
	text := strings.ReplaceAll(err.Error(), "<corruption detail carrier>", "") // what Pebble names the file with
	return strings.Join(strings.Fields(text), " ")
}

// checkEnds looks for the first and the last event of a log: tables and logs that were
// lost as a whole leave no other trace.
func checkEnds(r pebble.Reader, floor, last storage.Position) error {
	if last == 0 || floor == last {
		return nil
	}
	var begins, ends bool
	err := eachTenant(r, func(t storage.Tenant) error {
		_, ok, err := lookup(r, frameKey(nil, t, floor+1))
		begins = begins || ok
		if err != nil || ends {
			return err
		}
		ends, err = endsAt(r, t, last)
		return err
	})
	if err == nil && !begins {
		_, begins, err = gapAt(r, floor+1)
	}
	if err == nil && !ends {
		_, ends, err = gapAt(r, last)
	}
	switch {
	case err != nil:
		return err
	case !begins:
		return lost("the log begins at position %s, which is not there: a file %s/*.sst or *.log is missing", floor+1, databaseDir)
	case !ends:
		return lost("the log ends at position %s, which is not there: a file %s/*.sst or *.log is missing", last, databaseDir)
	}
	return nil
}

// endsAt reports whether the last frame of a tenant that begins at or before p ends there.
func endsAt(r pebble.Reader, t storage.Tenant, p storage.Position) (ends bool, err error) {
	it, err := r.NewIter(&pebble.IterOptions{LowerBound: frameKey(nil, t, 0), UpperBound: frameKey(nil, t, p+1)})
	if err != nil {
		return false, err
	}
	if it.Last() {
		var f *storage.Frame
		if f, _, err = decodeFrame(t, lastPosition(it.Key()), it.Value()); err == nil {
			ends = lastOf(f) == p
		}
	}
	return ends, ended(it, err)
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
