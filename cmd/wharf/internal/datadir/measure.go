package datadir

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// maxInFolder bounds the entries of one folder of a backup, which are listed at one time.
// Blobs lie in 256 folders, and a Workspace has room for a quarter of that.
const maxInFolder = 1 << 20

// room is how much there is of something, or has to be: bytes of files, and entries, which
// are files and folders.
type room struct{ bytes, entries uint64 }

// blockBytes is what each entry takes at least on the usual file systems.
const blockBytes = 4 << 10

// NoRoom says that a backup does not fit on a disk. Nothing was written.
type NoRoom struct {
	Dir        string // on that disk
	Need, Have string
}

// Error implements the error interface.
func (e *NoRoom) Error() string {
	return fmt.Sprintf("the backup takes %s, and %s has room for %s: nothing was restored. Make room, or choose another disk", e.Need, e.Dir, e.Have)
}

// fits refuses what a disk has no room for.
func (need room) fits(dir string, have room) error {
	bytes := need.bytes + need.entries*blockBytes
	switch {
	case bytes < need.bytes || bytes > have.bytes:
		return &NoRoom{dir, fmt.Sprintf("%d bytes", bytes), fmt.Sprintf("%d", have.bytes)}
	case need.entries > have.entries:
		return &NoRoom{dir, fmt.Sprintf("%d files and folders", need.entries), fmt.Sprintf("%d", have.entries)}
	}
	return nil
}

// measure returns what the known parts of a backup take when they are copied, holes in
// files included. It reads no file, and refuses what is neither a file nor a folder.
func measure(from string) (need room, err error) {
	for _, part := range parts {
		info, err := os.Lstat(filepath.Join(from, part))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err == nil {
			err = need.add(filepath.Join(from, part), info)
		}
		if err != nil {
			return need, fmt.Errorf("measuring the backup: %w", err)
		}
	}
	return need, nil
}

func (need *room) add(path string, info fs.FileInfo) error {
	need.entries++
	switch {
	case info.IsDir():
		return need.addFolder(path)
	case !info.Mode().IsRegular():
		return fmt.Errorf("%s is neither a file nor a folder", path)
	}
	sum := need.bytes + uint64(info.Size())
	if sum < need.bytes {
		return fmt.Errorf("%s states %d bytes, which no disk has", path, info.Size())
	}
	need.bytes = sum
	return nil
}

// addFolder lists a folder piece by piece.
func (need *room) addFolder(path string) error {
	dir, err := os.Open(path)
	if err != nil {
		return err
	}
	defer dir.Close()
	for n := 0; ; {
		some, err := dir.Readdir(1000)
		if n += len(some); n > maxInFolder {
			return fmt.Errorf("%s holds more than %d files and folders, which no folder of a node does", path, maxInFolder)
		}
		for _, info := range some {
			if err := need.add(filepath.Join(path, info.Name()), info); err != nil {
				return err
			}
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// CheckRoom refuses a backup that does not fit on the disk of the folder to, or that holds what
// is neither a file nor a folder. It opens no file.
func CheckRoom(from, to string) error {
	need, err := measure(from)
	if err != nil {
		return err
	}
	dir := existing(filepath.Dir(to))
	have, known := freeRoom(dir)
	if !known {
		return nil
	}
	return need.fits(dir, have)
}
