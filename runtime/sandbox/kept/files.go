package kept

import (
	"crypto/hmac"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

const (
	tempPrefix = "new-"
	// tempAge is how old a file is that a process did not finish, and will not.
	tempAge = time.Hour
)

// A file is the magic, an HMAC-SHA-256 under the key of the node, and the content. What is
// authenticated is the magic, the file's name, a line break, and the SHA-256 of each piece
// of the content: with the name in it no file passes for another, and pieces are read and
// hashed at one time, for a plugin in Go has some 20 MB.
const (
	magic       = "wharfk2\n"
	headerBytes = len(magic) + sha256.Size
	pieceBytes  = 1 << 20
)

// KeyBytes is the size of the key that files are authenticated with.
const KeyBytes = 32

// Place says where files are, and what they are authenticated with.
type Place struct {
	Dir   string
	Key   []byte // KeyBytes random bytes
	Limit int64  // of all files together, in bytes; those that were not used for the longest go
	Log   *slog.Logger
}

// files are the authenticated files of one folder whose names end in the suffix. They are
// safe for concurrent use, also by several processes.
type files struct {
	Place
	suffix string
}

var errForeign = errors.New("it was not written by this node, or was changed since")

// open makes the folder when there is none.
func (p Place) open(suffix string) (*files, error) {
	if len(p.Key) != KeyBytes {
		return nil, fmt.Errorf("opening a folder of kept modules: its key has %d bytes instead of %d", len(p.Key), KeyBytes)
	}
	if p.Log == nil {
		p.Log = slog.New(slog.DiscardHandler)
	}
	err := os.MkdirAll(p.Dir, 0o700)
	if err == nil {
		err = os.Chmod(p.Dir, 0o700) // earlier versions let others look into it
	}
	if err != nil {
		return nil, fmt.Errorf("opening a folder of kept modules: %w", err)
	}
	return &files{p, suffix}, nil
}

func (f *files) path(name string) string { return filepath.Join(f.Dir, name+f.suffix) }

// read returns the content of a file, or nil when there is none. One that does not hold is
// removed and counts as none.
func (f *files) read(name string) ([]byte, error) {
	path := f.path(name)
	content, err := f.hold(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case errors.Is(err, errForeign):
		f.Log.Warn("a compiled plugin on disk is not used, and made anew: "+errForeign.Error(), "file", path)
		return nil, f.remove(path)
	case err != nil:
		return nil, fmt.Errorf("loading a kept module: %w", err)
	}
	now := time.Now()
	_ = os.Chtimes(path, now, now) // only the order of removal depends on it
	return content, nil
}

// hold returns the content of a file that was written under the key, with that name. Its
// bytes are read once, so that nothing can be changed after it was looked at.
func (f *files) hold(path string) ([]byte, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Size() < int64(headerBytes) || info.Size() > f.Limit {
		return nil, errForeign
	}
	in, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	header, content := make([]byte, headerBytes), make([]byte, info.Size()-int64(headerBytes))
	if _, err := io.ReadFull(in, header); err != nil {
		return nil, err
	}
	mac, err := f.mac(path, content, func(piece []byte, at int64) error {
		_, err := in.ReadAt(piece, int64(headerBytes)+at)
		return err
	})
	if err != nil {
		return nil, err
	}
	if string(header[:len(magic)]) != magic || !hmac.Equal(header[len(magic):], mac) {
		return nil, errForeign
	}
	return content, nil
}

// mac authenticates the content of the file at a path. Each piece of it is filled by fill
// first, unless that is nil.
func (f *files) mac(path string, content []byte, fill func(piece []byte, at int64) error) ([]byte, error) {
	sums := make([][sha256.Size]byte, (len(content)+pieceBytes-1)/pieceBytes)
	failed := make([]error, len(sums))
	var next atomic.Int64
	var workers sync.WaitGroup
	for range min(len(sums), runtime.GOMAXPROCS(0)) {
		workers.Go(func() {
			for n := int(next.Add(1)) - 1; n < len(sums); n = int(next.Add(1)) - 1 {
				at := n * pieceBytes
				piece := content[at:min(at+pieceBytes, len(content))]
				if fill != nil {
					failed[n] = fill(piece, int64(at))
				}
				sums[n] = sha256.Sum256(piece)
			}
		})
	}
	workers.Wait()
	h := hmac.New(sha256.New, f.Key)
	_, _ = io.WriteString(h, magic+filepath.Base(path)+"\n")
	for _, sum := range sums {
		_, _ = h.Write(sum[:])
	}
	return h.Sum(nil), errors.Join(failed...)
}

// write keeps content, and removes what was not used for the longest while there is more
// than the limit. Content that does not fit by itself is ErrTooLarge.
func (f *files) write(name string, content []byte) error {
	if int64(headerBytes+len(content)) > f.Limit {
		return ErrTooLarge
	}
	path := f.path(name)
	mac, err := f.mac(path, content, nil)
	if err == nil {
		err = f.replace(path, append([]byte(magic), mac...), content)
	}
	if err != nil {
		return fmt.Errorf("keeping a module: %w", err)
	}
	return f.prune()
}

// replace replaces a file at once: it is never seen unfinished, save after the machine
// failed, and then its MAC tells.
func (f *files) replace(path string, header, content []byte) error {
	temp, err := os.CreateTemp(f.Dir, tempPrefix)
	if err != nil {
		return err
	}
	_, err = temp.Write(header)
	if err == nil {
		_, err = temp.Write(content)
	}
	err = errors.Join(err, temp.Close())
	if err == nil {
		err = os.Rename(temp.Name(), path)
	}
	if err != nil {
		_ = os.Remove(temp.Name())
	}
	return err
}

func (f *files) remove(path string) error {
	if err := os.RemoveAll(path); err != nil { // somebody may have made a folder there
		return fmt.Errorf("removing a kept module: %w", err)
	}
	return nil
}

// prune removes what is too much, and what a process left unfinished.
func (f *files) prune() error {
	all, err := f.list()
	if err != nil {
		return fmt.Errorf("listing kept modules: %w", err)
	}
	slices.SortFunc(all, func(a, b fs.FileInfo) int { return b.ModTime().Compare(a.ModTime()) })
	total := int64(0)
	for _, file := range all {
		keep := time.Since(file.ModTime()) < tempAge
		if strings.HasSuffix(file.Name(), f.suffix) {
			total += file.Size()
			keep = total <= f.Limit
		}
		if keep {
			continue
		}
		if err := f.remove(filepath.Join(f.Dir, file.Name())); err != nil {
			return err
		}
	}
	return nil
}

// list lists what write has written. Other files are left alone.
func (f *files) list() ([]fs.FileInfo, error) {
	entries, err := os.ReadDir(f.Dir)
	if err != nil {
		return nil, err
	}
	var all []fs.FileInfo
	for _, entry := range entries {
		ours := strings.HasSuffix(entry.Name(), f.suffix) || strings.HasPrefix(entry.Name(), tempPrefix)
		// An error says that another process has removed it.
		if info, err := entry.Info(); ours && err == nil && info.Mode().IsRegular() {
			all = append(all, info)
		}
	}
	return all, nil
}
