package vault

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"filippo.io/age"

	"github.com/wharf-dev/wharf/runtime/keyfile"
)

// ErrOtherKey is wrapped by [Store.Check] for a value that the key at hand cannot read.
var ErrOtherKey = errors.New("it is encrypted with another key")

// Path returns the file of a version of a secret's value.
func (s *Store) Path(id string, version int) string { return s.path(id, version) }

// Check returns an error unless a version of a secret's value is what Seal was given
// when it returned sealed. Without the node's own key it can only look whether the file
// is there, and the error wraps [ErrOtherKey]. It changes nothing.
func (s *Store) Check(ctx context.Context, id string, version int, sealed string) error {
	if _, err := os.Stat(s.path(id, version)); errors.Is(err, fs.ErrNotExist) {
		return ErrAbsent
	}
	if _, err := os.Stat(s.config.KeyFile); errors.Is(err, fs.ErrNotExist) {
		return ErrOtherKey
	}
	_, err := s.Open(ctx, id, version, sealed)
	if _, other := errors.AsType[*age.NoIdentityMatchError](err); other {
		return ErrOtherKey
	}
	return err
}

// BlindPath returns the file of the key of Blind.
func (s *Store) BlindPath() string { return filepath.Join(s.config.Dir, blindName) }

// CheckBlind returns an error unless the key of Blind can be read. Without the file all is
// well: it is made when it is needed. The error wraps [ErrOtherKey] when the key at hand
// cannot read it. It changes nothing.
func (s *Store) CheckBlind(ctx context.Context) error {
	if _, err := os.Stat(s.BlindPath()); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if _, err := os.Stat(s.config.KeyFile); errors.Is(err, fs.ErrNotExist) {
		return ErrOtherKey
	}
	_, err := s.blindKey(ctx)
	if _, other := errors.AsType[*age.NoIdentityMatchError](err); other {
		return ErrOtherKey
	}
	return err
}

// CheckKey returns an error unless the node's own key can be read. It is fs.ErrNotExist
// when there is none.
func CheckKey(path string) error {
	content, err := keyfile.Read(path)
	if err != nil {
		return err
	}
	_, err = parse(string(content))
	return err
}

// Renew makes a new key for a node whose own is lost. What was encrypted with the old
// one cannot be read any more: it is put aside, and secrets are to be stored again.
// It returns the names that files and folders were put aside under.
func (s *Store) Renew(now time.Time) (aside []string, err error) {
	if s.config.Key != nil {
		return nil, errors.New("the configuration states the key of the vaults: give it the key that it had")
	}
	if CheckKey(s.config.KeyFile) == nil {
		return nil, fmt.Errorf("%s is there and whole: there is nothing to renew", s.config.KeyFile)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	suffix := ".lost-" + now.UTC().Format("20060102T150405Z")
	for _, path := range []string{s.config.KeyFile, s.config.Dir} {
		path = strings.TrimSuffix(path, string(filepath.Separator))
		err := os.Rename(path, path+suffix)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return aside, fmt.Errorf("putting aside what cannot be read: %w", err)
		}
		aside = append(aside, path+suffix)
	}
	s.keyMu.Lock()
	defer s.keyMu.Unlock()
	s.key, err = s.makeKey()
	return aside, err
}
