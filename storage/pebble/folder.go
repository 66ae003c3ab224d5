package pebble

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"

	"github.com/cockroachdb/errors/oserror"
	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/storage"
)

// FolderError says why a data folder is not opened. Nothing was written to it, except by a
// first start that could not make it.
type FolderError struct {
	Reason string // names the file
	Try    string // what to do about it, "" when the reason says it
	Err    error  // the cause, nil when there is none
}

// Error implements the error interface.
func (e *FolderError) Error() string { return e.Reason }

// Unwrap returns the cause.
func (e *FolderError) Unwrap() error { return e.Err }

// What to do about a folder that lacks something.
const (
	tryRestore = `"wharf restore" with a backup, or put the file back if it lies somewhere`
	tryNewer   = "a newer Wharf: docs/upgrading.md"
)

// lost says that what belongs to a data folder is not there, or not whole.
func lost(format string, args ...any) error {
	reason := fmt.Sprintf(format, args...)
	return &FolderError{Reason: reason, Try: tryRestore, Err: &CorruptError{Reason: reason}}
}

// condition is what a folder looks like from outside.
type condition int

const (
	vacant     condition = iota // nothing of a store is there
	unfinished                  // its making was cut off; nothing was ever written to it
	made                        // it has a database, and all that must lie beside it
)

// survey looks at a folder without opening its database and without writing. It
// refuses one that lacks a file which every data folder has, and one whose format is
// newer than this program.
//
// A database is made under another name and gets its own when all else is there. So
// a folder that holds something but no database has lost it, unless the one that is
// being made lies there.
func survey(fs vfs.FS, dir string) (c condition, format uint32, err error) {
	names, err := list(fs, dir)
	if err != nil {
		return vacant, 0, err
	}
	if format, err = readFormat(fs, dir, names); err != nil {
		return vacant, format, err
	}
	database, err := list(fs, fs.PathJoin(dir, databaseDir))
	if err != nil {
		return vacant, format, err
	}
	database = slices.DeleteFunc(database, func(name string) bool { return name == lockName })
	blobs, err := list(fs, fs.PathJoin(dir, blobsDir))
	if err != nil {
		return vacant, format, err
	}
	blobs = slices.DeleteFunc(blobs, func(name string) bool { return name == unfinishedDir })
	switch used := slices.Contains(names, headName) || format != 0 || len(blobs) > 0; {
	case len(database) > 0:
		return made, format, checkDatabase(database)
	case slices.Contains(names, unfinishedDatabase):
		return unfinished, format, nil
	case used && slices.Contains(names, databaseDir):
		return vacant, format, lost("%s is empty: the database is gone", databaseDir)
	case used:
		return vacant, format, lost("%s is missing: the database is gone", databaseDir)
	}
	return vacant, format, nil
}

// list returns the names in a folder, none when it is missing.
func list(fs vfs.FS, dir string) ([]string, error) {
	names, err := fs.List(dir)
	if oserror.IsNotExist(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("looking into %s: %w", dir, err)
	}
	return names, nil
}

// The files by whose names Pebble knows what its folder holds. They are empty:
// without them it takes the folder for that of another database, and removes it.
const (
	manifestMarker = "marker.manifest."
	formatMarker   = "marker.format-version."
)

// checkDatabase refuses a database whose folder lacks a marker.
func checkDatabase(names []string) error {
	for _, marker := range []string{manifestMarker, formatMarker} {
		if !slices.ContainsFunc(names, func(name string) bool { return len(name) > len(marker) && name[:len(marker)] == marker }) {
			return &FolderError{
				Reason: fmt.Sprintf("%s/%s* is missing, an empty file that names what belongs to the database", databaseDir, marker),
				Try:    tryRestore + "; remove the folder if no node has ever come up on it",
			}
		}
	}
	return nil
}

// formatFile is the file that says which format a folder has, as a decimal number on
// a line. It is read before anything else, so that a program which is too old for the
// folder leaves it alone.
const formatFile = "FORMAT"

// Formats of before: the first two had no such file.
const (
	formatUnchunked  = 1
	formatChunked    = 2
	formatUnprepared = 3
)

// readFormat returns the number in the format file, 0 if there is no such file.
func readFormat(fs vfs.FS, dir string, names []string) (uint32, error) {
	if !slices.Contains(names, formatFile) {
		return 0, nil
	}
	text, err := readFile(fs, fs.PathJoin(dir, formatFile))
	if err != nil {
		return 0, fmt.Errorf("reading %s: %w", formatFile, err)
	}
	n, err := strconv.ParseUint(string(bytes.TrimSuffix(text, []byte("\n"))), 10, 32)
	if err != nil || n <= formatChunked {
		return 0, lost("%s is damaged: it must hold the number of the folder's format on a line", formatFile)
	}
	return uint32(n), checkKnown(uint32(n))
}

// checkKnown refuses a format that is newer than this program.
func checkKnown(format uint32) error {
	if format <= formatVersion {
		return nil
	}
	return &FolderError{
		Reason: fmt.Sprintf("the folder has format %d, and this program knows no format above %d", format, formatVersion), Try: tryNewer}
}

// firstFrames is how many frames tell of each tenant whether it was written with the
// dictionary of today.
const firstFrames = 16

// checkDictionary refuses a folder of a program that packed frames with another
// dictionary 1 than that of today: they unpack to nonsense. The dictionary was replaced
// while nothing was released, and before any program wrote format 3, so it is enough
// to look at the first frames of older folders. What they state is JSON.
func checkDictionary(r pebble.Reader) error {
	return eachTenant(r, func(t storage.Tenant) error {
		n, prefix := 0, appendPrefix(nil, t, spaceFrame)
		err := scan(r, prefix, keyAfter(prefix), func(key, value []byte) error {
			f, _, err := decodeFrame(t, lastPosition(key), value)
			if n++; err != nil || n > firstFrames {
				return io.EOF // damage is reported where it is read
			}
			for _, record := range f.Records {
				if record.State != nil && !jsontext.Value(record.State).IsValid() {
					return &FolderError{Reason: "its first events were packed with a dictionary that was replaced before the first release",
						Try: `a new folder: only the program that wrote this one can read it`}
				}
			}
			return nil
		})
		if errors.Is(err, io.EOF) {
			return nil
		}
		return err
	})
}

// writeFormat writes the format file, whole or not at all.
func writeFormat(fs vfs.FS, dir string) error {
	name := fs.PathJoin(dir, formatFile)
	if err := writeFile(fs, name+".new", strconv.AppendUint(nil, formatVersion, 10), '\n'); err != nil {
		return fmt.Errorf("writing %s: %w", formatFile, err)
	}
	if err := fs.Rename(name+".new", name); err != nil {
		return fmt.Errorf("writing %s: %w", formatFile, err)
	}
	return syncDir(fs, dir)
}

func readFile(fs vfs.FS, name string) ([]byte, error) {
	f, err := fs.Open(name)
	if err != nil {
		return nil, err
	}
	text, err := io.ReadAll(f)
	return text, errors.Join(err, f.Close())
}

func writeFile(fs vfs.FS, name string, text []byte, end ...byte) error {
	f, err := fs.Create(name, vfs.WriteCategoryUnspecified)
	if err != nil {
		return err
	}
	_, err = f.Write(append(text, end...))
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

// unfinishedDatabase is the name of a database that is being made.
const unfinishedDatabase = "db.new"

// create makes the data folder. What an attempt that was cut off has left is made
// anew. The last step gives the database its name.
func (s *Store) create() error {
	fs := s.opts.FS
	fresh, database := fs.PathJoin(s.dir, unfinishedDatabase), fs.PathJoin(s.dir, databaseDir)
	if err := fs.RemoveAll(fresh); err != nil {
		return fmt.Errorf("removing what another start has left: %w", err)
	}
	if err := fs.RemoveAll(database); err != nil { // it is empty
		return fmt.Errorf("removing an empty folder: %w", err)
	}
	if err := fs.MkdirAll(fresh, 0o700); err != nil {
		return fmt.Errorf("making the database folder: %w", err)
	}
	if err := errors.Join(syncDir(fs, s.dir), syncDir(fs, fs.PathDir(s.dir))); err != nil {
		return err
	}
	if err := writeHead(fs, fs.PathJoin(s.dir, headName), 0); err != nil {
		return err
	}
	if err := writeFormat(fs, s.dir); err != nil {
		return err
	}
	if err := s.createDatabase(fresh); err != nil {
		return fmt.Errorf("making the database: %w", err)
	}
	if err := fs.Rename(fresh, database); err != nil {
		return fmt.Errorf("naming the database: %w", err)
	}
	return syncDir(fs, s.dir)
}

// createDatabase makes an empty database.
func (s *Store) createDatabase(dir string) error {
	o := s.databaseOptions(nil)
	o.ErrorIfExists = true
	db, err := openPebble(dir, o)
	if err != nil {
		return err
	}
	return errors.Join(db.Close(), s.fail.err())
}

// headOf reads the head file of a folder without opening it for writing.
func headOf(fs vfs.FS, dir string) (position storage.Position, clean bool, err error) {
	text, err := readFile(fs, fs.PathJoin(dir, headName))
	if oserror.IsNotExist(err) {
		return 0, false, lost("%s is missing, the file that says up to where the log was acknowledged", headName)
	}
	if err != nil {
		return 0, false, fmt.Errorf("reading %s: %w", headName, err)
	}
	var h head
	if !h.read(text) {
		return 0, false, lost("%s is damaged: neither of its two slots says up to where the log was acknowledged", headName)
	}
	return h.position, h.clean, nil
}
