package registry

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	json "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/opencontainers/go-digest"
)

// LockName is what the file is called that keeps what references stand for.
const LockName = "wharf.lock"

// lockFormat is the version of its format.
const lockFormat = "wharf-lock-1"

// maxLock is the size of the largest such file.
const maxLock = 4 << 20

// Lock says what references stood for when they were pulled, so that they stand for that again.
type Lock struct {
	Format   string            `json:"format"`
	Packages map[string]Locked `json:"packages"` // by their references
}

// Locked is what a reference stands for.
type Locked struct {
	Artefact string `json:"artefact"` // the digest of the artefact in the registry
	Package  string `json:"package"`  // the digest of the package
}

// ReadLock reads a lock. One that is not there holds nothing.
func ReadLock(path string) (_ *Lock, err error) {
	lock := &Lock{Format: lockFormat, Packages: map[string]Locked{}}
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return lock, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading what references stand for: %w", err)
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	text, err := io.ReadAll(io.LimitReader(f, maxLock+1))
	if err != nil {
		return nil, fmt.Errorf("reading what references stand for: %w", err)
	}
	if len(text) > maxLock {
		return nil, fmt.Errorf("%s has more than %d bytes: it is no lock", path, maxLock)
	}
	if err := json.Unmarshal(text, lock); err != nil {
		return nil, fmt.Errorf("%s is no lock: %w. Put it back from version control", path, err)
	}
	if lock.Format != lockFormat {
		return nil, fmt.Errorf("%s has the format %q, and this wharf reads %q", path, clip(lock.Format), lockFormat)
	}
	for ref, l := range lock.Packages {
		for _, d := range []string{l.Artefact, l.Package} {
			if err := digest.Digest(d).Validate(); err != nil {
				return nil, fmt.Errorf("%s says of %q a digest that is none: %w. Put it back from version control", path, clip(ref), err)
			}
		}
	}
	return lock, nil
}

// Keep puts into a lock what a reference stands for. Whatever else was put there meanwhile stays.
func Keep(path string, r Reference, l Locked) error {
	lock, err := ReadLock(path)
	if err != nil {
		return err
	}
	if lock.Packages == nil {
		lock.Packages = map[string]Locked{}
	}
	if lock.Packages[r.String()] == l {
		return nil
	}
	lock.Packages[r.String()] = l
	text, err := json.Marshal(lock, json.Deterministic(true), jsontext.WithIndent("  "))
	if err == nil {
		err = replace(path, append(text, '\n'))
	}
	if err != nil {
		return fmt.Errorf("writing what references stand for: %w", err)
	}
	return nil
}

// replace writes a file so that either the old or the new content is there.
func replace(path string, content []byte) error {
	f, err := os.CreateTemp(filepath.Dir(path), ".wharf-lock-*")
	if err != nil {
		return err
	}
	_, err = f.Write(content)
	err = errors.Join(err, f.Chmod(0o644), f.Sync(), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return nil
}
