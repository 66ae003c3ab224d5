package filetree

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// ReadFolder reads a folder on the disk. The folder itself may be named by a link; links in it
// are refused. Names that are refused, and whatever exceeds the limits, are a [*Refusal].
func ReadFolder(name string, limits Limits) (_ *Tree, err error) {
	full, err := filepath.Abs(name)
	if err != nil {
		return nil, fmt.Errorf("finding the folder: %w", err)
	}
	root, err := os.OpenRoot(full)
	if err != nil {
		return nil, fmt.Errorf("opening the folder: %w", err)
	}
	defer func() { err = errors.Join(err, root.Close()) }()
	w := &walk{root: root, gatherer: newGatherer(limits, 0)}
	if err := w.folder("."); err != nil {
		return nil, err
	}
	return w.tree(filepath.Base(full))
}

// walk reads a folder and those in it.
type walk struct {
	root *os.Root
	*gatherer
	folders int
}

func (w *walk) folder(dir string) error {
	entries, err := w.list(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if err := w.entry(joined(dir, e.Name()), e); err != nil {
			return err
		}
	}
	return nil
}

// joined returns the path of a file in a folder, whatever its name holds.
func joined(dir, name string) string {
	if dir == "." {
		return name
	}
	return dir + "/" + name
}

// list returns what is in a folder, sorted, so that the same mistake is found first each time.
func (w *walk) list(dir string) (_ []fs.DirEntry, err error) {
	f, err := w.root.Open(dir)
	if err != nil {
		return nil, fmt.Errorf("opening a folder: %w", err)
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	// Of so many, one is a file or a folder too many: more need not be listed.
	entries, err := f.ReadDir(2*w.limits.Files + 1 + mostIgnored)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("listing a folder: %w", err)
	}
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return entries, nil
}

func (w *walk) entry(path string, e fs.DirEntry) error {
	if ignored(path) {
		return nil
	}
	if err := checkPath(path); err != nil {
		return err
	}
	switch {
	case e.Type()&fs.ModeSymlink != 0:
		return errSymlink(path)
	case e.IsDir():
		return w.enter(path)
	case !e.Type().IsRegular():
		return errSpecial(path)
	}
	return w.file(path)
}

func (w *walk) enter(path string) error {
	if w.folders++; w.folders > w.limits.Files {
		return refuse("", TooManyFiles, "it has more than %d folders: leave out what is not needed", w.limits.Files)
	}
	if _, err := w.taken.take(path, true); err != nil {
		return err
	}
	return w.folder(path)
}

func (w *walk) file(path string) (err error) {
	if err := w.countFile(len(w.files) + 1); err != nil {
		return err
	}
	composed, err := w.taken.take(path, false)
	if err != nil {
		return err
	}
	f, err := w.root.Open(path)
	if err != nil {
		return fmt.Errorf("opening a file: %w", err)
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if err := w.same(path, f); err != nil {
		return err
	}
	return w.add(composed, f)
}

// same refuses a file that a link took the place of after it was listed.
func (w *walk) same(path string, f *os.File) error {
	opened, err := f.Stat()
	if err != nil {
		return fmt.Errorf("opening a file: %w", err)
	}
	named, err := w.root.Lstat(path)
	if err != nil {
		return fmt.Errorf("opening a file: %w", err)
	}
	if !opened.Mode().IsRegular() || !os.SameFile(opened, named) {
		return refuse(path, Changed, "it changed while it was read: try again")
	}
	return nil
}

func errSymlink(path string) error {
	return refuse(path, Symlink, "it is a symbolic link: put the file itself there")
}

func errSpecial(path string) error {
	return refuse(path, SpecialFile, "it is neither a file nor a folder: leave it out")
}
