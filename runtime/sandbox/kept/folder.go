package kept

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

const (
	suffix     = ".kept"
	tempPrefix = "new-"
	// tempAge is how old a file is that a process did not finish, and will not.
	tempAge = time.Hour
)

// Folder holds entries in a folder on disk. It is safe for concurrent use, also by
// several processes.
type Folder struct {
	dir   string
	limit int64
}

// Open opens a folder, which is made when there is none, for entries of at most limit
// bytes together.
func Open(dir string, limit int64) (*Folder, error) {
	err := os.MkdirAll(dir, 0o700)
	if err == nil {
		err = os.Chmod(dir, 0o700) // earlier versions let others look into it
	}
	if err != nil {
		return nil, fmt.Errorf("opening a folder of kept modules: %w", err)
	}
	return &Folder{dir: dir, limit: limit}, nil
}

func (f *Folder) path(k Key) string {
	name := sha256.Sum256(appendKey([]byte(magic), k))
	return filepath.Join(f.dir, hex.EncodeToString(name[:])+suffix)
}

// Has reports whether there is an entry of a key, whole or damaged.
func (f *Folder) Has(k Key) bool {
	_, err := os.Stat(f.path(k))
	return err == nil
}

// Load returns the entry of a key, or nil when there is none. A damaged one counts as
// none, and is removed. The caller owns the entry.
func (f *Folder) Load(k Key) (*Entry, error) {
	path := f.path(k)
	file, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("loading a kept module: %w", err)
	}
	e, err := decode(file, k)
	if err != nil {
		return nil, f.remove(path)
	}
	now := time.Now()
	_ = os.Chtimes(path, now, now) // only the order of removal depends on it
	return e, nil
}

func (f *Folder) remove(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("removing a kept module: %w", err)
	}
	return nil
}

// Store keeps an entry, and removes those that were not used for the longest while the
// folder holds more than its limit. An entry that does not fit by itself is
// ErrTooLarge.
func (f *Folder) Store(k Key, e *Entry) error {
	file, err := encode(k, e)
	if err != nil {
		return err
	}
	if int64(len(file)) > f.limit {
		return ErrTooLarge
	}
	if err := f.write(f.path(k), file); err != nil {
		return fmt.Errorf("keeping a module: %w", err)
	}
	return f.prune()
}

// write replaces a file at once: it is never seen unfinished, save after the machine
// failed, and then its checksum tells.
func (f *Folder) write(path string, content []byte) error {
	temp, err := os.CreateTemp(f.dir, tempPrefix)
	if err != nil {
		return err
	}
	_, err = temp.Write(content)
	err = errors.Join(err, temp.Close())
	if err == nil {
		err = os.Rename(temp.Name(), path)
	}
	if err != nil {
		_ = os.Remove(temp.Name())
	}
	return err
}

// prune removes what is too much, and what a process left unfinished.
func (f *Folder) prune() error {
	files, err := f.files()
	if err != nil {
		return fmt.Errorf("listing kept modules: %w", err)
	}
	slices.SortFunc(files, func(a, b fs.FileInfo) int { return b.ModTime().Compare(a.ModTime()) })
	total := int64(0)
	for _, file := range files {
		keep := time.Since(file.ModTime()) < tempAge
		if strings.HasSuffix(file.Name(), suffix) {
			total += file.Size()
			keep = total <= f.limit
		}
		if keep {
			continue
		}
		if err := f.remove(filepath.Join(f.dir, file.Name())); err != nil {
			return err
		}
	}
	return nil
}

// files lists what Store has written. Other files are left alone.
func (f *Folder) files() ([]fs.FileInfo, error) {
	entries, err := os.ReadDir(f.dir)
	if err != nil {
		return nil, err
	}
	var files []fs.FileInfo
	for _, entry := range entries {
		ours := strings.HasSuffix(entry.Name(), suffix) || strings.HasPrefix(entry.Name(), tempPrefix)
		// An error says that another process has removed it.
		if info, err := entry.Info(); ours && err == nil && info.Mode().IsRegular() {
			files = append(files, info)
		}
	}
	return files, nil
}
