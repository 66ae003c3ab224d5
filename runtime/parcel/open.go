package parcel

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"time"

	"github.com/wharf-dev/wharf/runtime/filetree"
	"github.com/wharf-dev/wharf/runtime/manifest"
)

// beside are the files that are packed when they lie beside a manifest, which need not name them.
var beside = []string{"LICENSE", "LICENSE.md", "LICENSE.txt", "NOTICE", "README.md"}

// Pack makes a package of the plugin in a folder: its manifest, the module, the schemas, and what
// readers and lawyers look for. Nothing outside of the folder is read. Whatever is wrong with the
// plugin is a [*Refused].
func Pack(folder *os.Root) (*Package, error) {
	text, err := readFile(folder, manifest.FileName, manifest.MaxBytes+1) // one more is refused with the reason
	if err != nil {
		return nil, err
	}
	m, problems := manifest.Parse(text)
	if m == nil {
		return nil, unsound(problems)
	}
	named := []string{manifest.FileName}
	for _, path := range []string{m.Module, m.Schemas.Input.File, m.Schemas.Output.File} {
		if path != "" && !slices.Contains(named, path) {
			named = append(named, path)
		}
	}
	for _, path := range beside {
		if _, err := folder.Lstat(path); err == nil && !slices.Contains(named, path) {
			named = append(named, path)
		}
	}
	return New(func(yield func(filetree.Named, error) bool) {
		for _, path := range named {
			if isOwn(path) {
				yield(filetree.Named{}, refuse("%q: that folder is kept for what packing adds: name another", path))
				return
			}
			content, err := readFile(folder, path, MaxModule+1)
			if !yield(filetree.Named{Path: path, Content: bytes.NewReader(content)}, err) {
				return
			}
		}
	})
}

// readFile reads the first bytes of a file. It opens no pipe and no device: these wait for somebody
// who writes.
func readFile(folder *os.Root, path string, most int64) (_ []byte, err error) {
	info, err := folder.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, &Refused{Reason: fmt.Sprintf("there is no file %q: build the plugin, or name the file that there is in %s", path, manifest.FileName), err: err}
	case err != nil: // such as a link that leads out of the folder
		return nil, &Refused{Reason: fmt.Sprintf("%q: %v", path, err), err: err}
	case !info.Mode().IsRegular():
		return nil, refuse("%q is no file: put the file itself there", path)
	}
	f, err := folder.Open(path)
	if err != nil {
		return nil, fmt.Errorf("opening %q: %w", path, err)
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	content, err := io.ReadAll(io.LimitReader(f, most))
	if err != nil {
		return nil, fmt.Errorf("reading %q: %w", path, err)
	}
	return content, nil
}

// Open reads the package in a file.
func Open(path string) (_ *Package, err error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("opening the package: %w", err)
	}
	if !info.Mode().IsRegular() { // opening a pipe waits for somebody who writes
		return nil, fmt.Errorf("opening the package: %s is no file", path)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("opening the package: %w", err)
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if info, err = f.Stat(); err != nil {
		return nil, fmt.Errorf("opening the package: %w", err)
	}
	return Read(f, info.Size())
}

// Read reads a package of so many bytes.
func Read(r io.ReaderAt, size int64) (*Package, error) {
	if size > maxArchive {
		return nil, refuse("it has %d bytes, and a package at most %d", size, int64(maxArchive))
	}
	tree, err := filetree.ReadZip(r, size, limits())
	if err != nil {
		return nil, refusal(err)
	}
	if tree.Root == "" && tree.File(ContentsPath) == nil {
		return nil, refuse("it has no table of contents (%s): make packages with \"wharf plugin package\"", ContentsPath)
	}
	return ofTree(tree)
}

// IsPackage reports whether bytes begin as those of a package do, and not as those of a module.
func IsPackage(first []byte) bool { return bytes.HasPrefix(first, []byte("PK\x03\x04")) }

// treeFS shows the files of a tree to what reads from a file system.
type treeFS struct{ tree *filetree.Tree }

// Open implements fs.FS.
func (t treeFS) Open(name string) (fs.File, error) {
	f := t.tree.File(composed(name))
	if f == nil {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	return &treeFile{Reader: bytes.NewReader(f.Content), name: name}, nil
}

// treeFile is an open file of a tree. It is its own fs.FileInfo.
type treeFile struct {
	*bytes.Reader
	name string
}

func (f *treeFile) Stat() (fs.FileInfo, error) { return f, nil }
func (f *treeFile) Close() error               { return nil }
func (f *treeFile) Name() string               { return f.name }
func (f *treeFile) Mode() fs.FileMode          { return 0o444 }
func (f *treeFile) ModTime() time.Time         { return time.Time{} }
func (f *treeFile) IsDir() bool                { return false }
func (f *treeFile) Sys() any                   { return nil }
