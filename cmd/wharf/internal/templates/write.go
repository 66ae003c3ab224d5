package templates

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
)

// ErrNotEmpty is the error of a folder that has something in it.
var ErrNotEmpty = errors.New("something is there already, and nothing is overwritten")

// Write puts files into a folder that is new or empty. When that fails, there is none of them.
func Write(folder string, made map[string][]byte) error {
	entries, err := os.ReadDir(folder)
	switch {
	case err == nil && len(entries) > 0:
		return fmt.Errorf("%s: %w", folder, ErrNotEmpty)
	case err == nil:
		return writeInto(folder, made)
	case !errors.Is(err, fs.ErrNotExist):
		if _, other := os.Lstat(folder); other == nil {
			return fmt.Errorf("%s: %w", folder, ErrNotEmpty)
		}
		return fmt.Errorf("looking at %s: %w", folder, err)
	}
	return writeNew(folder, made)
}

// writeNew makes a folder beside the one that is wanted, and gives it the name when it is whole.
func writeNew(folder string, made map[string][]byte) error {
	if err := os.MkdirAll(filepath.Dir(folder), 0o755); err != nil {
		return fmt.Errorf("making a folder: %w", err)
	}
	part, err := os.MkdirTemp(filepath.Dir(folder), ".wharf-new-")
	if err != nil {
		return fmt.Errorf("making a folder: %w", err)
	}
	defer os.RemoveAll(part) // nothing is there once it has its name
	if err := errors.Join(os.Chmod(part, 0o755), writeInto(part, made)); err != nil {
		return err
	}
	if err := os.Rename(part, folder); err != nil {
		return fmt.Errorf("making the folder: %w", err)
	}
	return nil
}

// writeInto writes files into a folder that has none, and removes them again when one cannot be written.
func writeInto(folder string, made map[string][]byte) (err error) {
	defer func() {
		if err != nil {
			err = errors.Join(err, empty(folder))
		}
	}()
	for _, name := range slices.Sorted(maps.Keys(made)) {
		file := filepath.Join(folder, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			return fmt.Errorf("making a folder: %w", err)
		}
		if err := writeOnly(file, made[name]); err != nil {
			return fmt.Errorf("writing a file: %w", err)
		}
	}
	return nil
}

// writeOnly writes a file that is not there yet.
func writeOnly(file string, content []byte) error {
	f, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	_, err = f.Write(content)
	return errors.Join(err, f.Close())
}

func empty(folder string) error {
	entries, err := os.ReadDir(folder)
	for _, e := range entries {
		err = errors.Join(err, os.RemoveAll(filepath.Join(folder, e.Name())))
	}
	return err
}
