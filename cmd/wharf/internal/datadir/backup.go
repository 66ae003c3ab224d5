package datadir

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

const (
	// partial is what the name of the folder ends with in which a backup is made.
	partial = ".partial"
	// mark is a file in that folder. What lies beside it is not whole.
	mark = "UNFINISHED-BACKUP"
)

// Copying is a backup that is being made.
type Copying struct {
	Checkpoint func(dir string) error // of the store, to a folder that does not exist
	Data       string                 // the data folder
	// Apart are further folders that the copy must not lie in: what reads them could
	// read it.
	Apart []string

	step func(string) error // before each step, for tests; nil for nothing
}

// Write writes a copy of the data folder to dir, which must not exist: the store's by
// checkpoint, the keys, without which a restored node could not continue its receipts, nor
// prove the old ones, the values of vaults, and the files of Workspaces. Nobody may change
// those meanwhile. Links in Workspaces are no files of theirs: they are left out, and
// returned.
//
// The copy is made in the folder DIR.partial and gets its name when it is whole. After an
// error nothing of it is left; when the process dies, what is left is no backup to
// [Recognize], and the next one to the same place removes it.
func (c *Copying) Write(dir string) (links []string, err error) {
	dir, err = filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("finding the place of the copy: %w", err)
	}
	if err := c.apart(dir); err != nil {
		return nil, err
	}
	if _, err := os.Lstat(dir); !errors.Is(err, fs.ErrNotExist) {
		return nil, errors.Join(fmt.Errorf("%s exists already", dir), err)
	}
	work := dir + partial
	if err := begin(work); err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, end(work, err)) }()
	whole := filepath.Join(work, filepath.Base(dir))
	if links, err = c.fill(whole); err != nil {
		return nil, err
	}
	if err := c.before("rename"); err != nil {
		return nil, err
	}
	if err := os.Rename(whole, dir); err != nil {
		return nil, fmt.Errorf("giving the copy its name: %w", err)
	}
	return links, syncFolder(filepath.Dir(dir))
}

// errDied stands for the end of the process, in tests.
var errDied = errors.New("died")

func (c *Copying) before(step string) error {
	if c.step == nil {
		return nil
	}
	return c.step(step)
}

// begin makes the folder in which a backup is made. It removes what one has left there
// that was cut short.
func begin(work string) error {
	if _, err := os.Stat(filepath.Join(work, mark)); err == nil {
		if err := os.RemoveAll(work); err != nil {
			return fmt.Errorf("removing what an interrupted backup has left: %w", err)
		}
	}
	if err := os.MkdirAll(filepath.Dir(work), 0o700); err != nil {
		return fmt.Errorf("making the folder of the copy: %w", err)
	}
	if err := os.Mkdir(work, 0o700); err != nil {
		return fmt.Errorf("making a folder for the copy: %w", err)
	}
	if err := os.WriteFile(filepath.Join(work, mark), nil, 0o600); err != nil {
		return fmt.Errorf("marking the copy as unfinished: %w", err)
	}
	return syncFolder(work)
}

func end(work string, err error) error {
	if errors.Is(err, errDied) {
		return nil
	}
	if err := os.RemoveAll(work); err != nil {
		return fmt.Errorf("removing the folder in which the copy was made: %w", err)
	}
	return nil
}

func (c *Copying) fill(dir string) (links []string, err error) {
	if err := c.before("checkpoint"); err != nil {
		return nil, err
	}
	if err := c.Checkpoint(dir); err != nil {
		return nil, err
	}
	for _, folder := range []string{Keys, Vaults, Workspaces} {
		if err := c.before(folder); err != nil {
			return nil, err
		}
		from := filepath.Join(c.Data, folder)
		if _, err := os.Stat(from); errors.Is(err, fs.ErrNotExist) {
			continue
		}
		err := copyTree(from, filepath.Join(dir, folder), func(path string) error {
			if folder != Workspaces {
				return fmt.Errorf("%s is neither a file nor a folder", path)
			}
			links = append(links, path)
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return links, nil
}

// unfinished returns an error when dir is the copy of a backup that did not come to its end.
func unfinished(dir string) error {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return fmt.Errorf("finding the folder: %w", err)
	}
	for _, place := range []string{dir, filepath.Dir(dir)} {
		if _, err := os.Stat(filepath.Join(place, mark)); err == nil {
			return fmt.Errorf("%s is a backup that did not come to its end: it is not whole, and may be removed", place)
		}
	}
	return nil
}

// apart refuses a place within the data folder or another that is read by others. It looks
// at the folders themselves, so that no link and no other spelling leads into them.
func (c *Copying) apart(dir string) error {
	at, err := filepath.EvalSymlinks(existing(filepath.Dir(dir)))
	if err != nil {
		return fmt.Errorf("finding the place of the copy: %w", err)
	}
	for _, folder := range append([]string{c.Data}, c.Apart...) {
		info, err := os.Stat(folder)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return fmt.Errorf("looking where the copy would lie: %w", err)
		}
		if within(at, info) {
			return fmt.Errorf("%s lies within %s, which the node uses: choose a place outside of it", dir, folder)
		}
	}
	return nil
}

// existing is the innermost folder of a path that exists.
func existing(path string) string {
	for {
		if _, err := os.Lstat(path); err == nil || filepath.Dir(path) == path {
			return path
		}
		path = filepath.Dir(path)
	}
}

func within(path string, folder fs.FileInfo) bool {
	for {
		if info, err := os.Stat(path); err == nil && os.SameFile(info, folder) {
			return true
		}
		if filepath.Dir(path) == path {
			return false
		}
		path = filepath.Dir(path)
	}
}
