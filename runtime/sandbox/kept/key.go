package kept

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/wharf-dev/wharf/runtime/keyfile"
)

// ReadKey reads the key that files are authenticated with. An error is fs.ErrNotExist when
// there is none yet. One that others can read is an error, for they could have signed with it.
func ReadKey(path string) ([]byte, error) {
	key, err := keyfile.Read(path)
	if err != nil {
		return nil, fmt.Errorf("reading the key of compiled plugins: %w", err)
	}
	if len(key) != KeyBytes {
		return nil, fmt.Errorf("reading the key of compiled plugins: %s has %d bytes instead of %d", path, len(key), KeyBytes)
	}
	return key, nil
}

// NewKey returns a new key.
func NewKey() []byte {
	key := make([]byte, KeyBytes)
	_, _ = rand.Read(key) // never fails
	return key
}

// WriteKey puts a key in a file, for its owner alone.
func WriteKey(path string, key []byte) error {
	if err := keyfile.Write(path, key); err != nil {
		return fmt.Errorf("writing the key of compiled plugins: %w", err)
	}
	return nil
}

// Foreign returns the paths of the files in a folder that are not used: those that were
// not written under its key, or were changed since. It reads all of them and changes
// nothing. A folder that is missing has none.
func Foreign(p Place) (foreign []string, err error) {
	for _, suffix := range []string{suffix, codeSuffix} {
		f := &files{p, suffix}
		all, err := f.list()
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("listing kept modules: %w", err)
		}
		for _, info := range all {
			path := filepath.Join(p.Dir, info.Name())
			if !strings.HasSuffix(path, suffix) {
				continue // not finished
			}
			if _, err := f.hold(path); err != nil {
				foreign = append(foreign, path)
			}
		}
	}
	return foreign, nil
}
