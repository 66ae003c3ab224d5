package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/wharf-dev/wharf/runtime/manifest"
)

// authorsFolder is the folder of a plugin, open, and the text of its manifest. Nothing outside of it is opened.
type authorsFolder struct {
	*os.Root
	path string // of the folder
	file string // the path of the manifest
	text []byte // at most one byte too long, which is refused with the reason
}

// noManifest says that a folder has no manifest. What to do about it each command says for itself.
type noManifest struct{ file string }

// Error implements error.
func (e *noManifest) Error() string { return "there is no manifest " + e.file }

// openAuthorsFolder opens a folder, and reads the manifest that has a name there. The caller closes it. Where there is
// none the error is a *noManifest.
func openAuthorsFolder(path, name string) (*authorsFolder, error) {
	root, err := os.OpenRoot(path)
	if err != nil {
		return nil, fmt.Errorf("opening the plugin's folder: %w", err)
	}
	f := &authorsFolder{Root: root, path: path, file: filepath.Join(path, name)}
	f.text, err = readWithin(root, name, manifest.MaxBytes+1)
	switch {
	case err == nil:
		return f, nil
	case errors.Is(err, fs.ErrNotExist):
		err = &noManifest{f.file}
	default:
		err = fmt.Errorf("reading the manifest: %w", err)
	}
	return nil, errors.Join(err, root.Close())
}

// folderNamed returns the folder that a path names, which may be that of a manifest.
func folderNamed(path string) string {
	if filepath.Base(path) == manifest.FileName {
		return filepath.Dir(path)
	}
	return path
}

// firstError is the first of what is wrong with a manifest, with its place.
func firstError(problems []manifest.Problem) string {
	for i := range problems {
		if problems[i].Severity == manifest.Error {
			return problems[i].String()
		}
	}
	return "it cannot be read"
}
