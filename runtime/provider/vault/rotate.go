package vault

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"filippo.io/age"
)

// Rotation is what Rotate did.
type Rotation struct {
	Recipient string // the public half of the key that now encrypts
	Files     int    // how many were encrypted to it
	Own       bool   // the key is the node's own file, and the old one is gone
}

// Rotate encrypts every value to a new key. The node's own key is made anew; one that
// the configuration states is read again, and its first identity is the new one.
//
// It may be cut short anywhere: until everything is encrypted to the new identity, the
// old one stays in the key's file, and the next Rotate goes on with the new one.
func (s *Store) Rotate(ctx context.Context) (Rotation, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.keyMu.Lock()
	s.key = nil
	s.keyMu.Unlock()
	ids, err := s.identities(ctx)
	if err != nil {
		return Rotation{}, err
	}
	own := s.config.Key == nil
	if own && len(ids) == 1 {
		if ids, err = s.prepend(ids); err != nil {
			return Rotation{}, err
		}
	}
	files, err := s.reencrypt(ctx, ids)
	if err != nil {
		return Rotation{}, fmt.Errorf("encrypting to the new key, after %d files; rotate again to go on: %w", files, err)
	}
	if own {
		if err := s.step("drop"); err != nil {
			return Rotation{}, err
		}
		if err := s.setKey(ids[:1]); err != nil {
			return Rotation{}, err
		}
	}
	return Rotation{Recipient: ids[0].Recipient().String(), Files: files, Own: own}, nil
}

// prepend makes a new identity and puts it first.
func (s *Store) prepend(ids identities) (identities, error) {
	fresh, err := age.GenerateX25519Identity()
	if err != nil {
		return nil, fmt.Errorf("making a key: %w", err)
	}
	if err := s.step("make"); err != nil {
		return nil, err
	}
	ids = append(identities{fresh}, ids...)
	return ids, s.setKey(ids)
}

// setKey writes the node's own key before anything uses it.
func (s *Store) setKey(ids identities) error {
	if err := s.writeKey(ids); err != nil {
		return err
	}
	s.keyMu.Lock()
	defer s.keyMu.Unlock()
	s.key = ids
	return nil
}

// reencrypt replaces each file that the first identity cannot read.
func (s *Store) reencrypt(ctx context.Context, ids identities) (files int, err error) {
	err = filepath.WalkDir(s.config.Dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		if strings.Contains(d.Name(), unfinished) {
			return os.Remove(name)
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		done, err := s.reencryptFile(name, ids)
		if done {
			files++
		}
		return err
	})
	if errors.Is(err, fs.ErrNotExist) {
		return files, nil // no secret was ever stored
	}
	return files, err
}

func (s *Store) reencryptFile(name string, ids identities) (done bool, err error) {
	text, err := os.ReadFile(name)
	if err != nil {
		return false, err
	}
	if _, err := ids[:1].decrypt(text); err == nil {
		return false, nil
	}
	plain, err := ids.decrypt(text)
	if err != nil {
		return false, fmt.Errorf("%s: %w", name, err)
	}
	if text, err = ids.encrypt(plain); err != nil {
		return false, err
	}
	if err := s.step("file"); err != nil {
		return false, err
	}
	return true, writeFile(name, text)
}

func (s *Store) step(name string) error {
	if s.fault == nil {
		return nil
	}
	return s.fault(name)
}
