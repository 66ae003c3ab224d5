package vault

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"filippo.io/age"

	"github.com/wharf-dev/wharf/runtime/keyfile"
)

// identities are what a key holds; the first encrypts.
type identities []*age.X25519Identity

// parse reads a key. Its errors repeat nothing of it.
func parse(text string) (identities, error) {
	var ids identities
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		id, err := age.ParseX25519Identity(line)
		if err != nil {
			return nil, errors.New("the key of the vaults has a line that is no age identity: each is like AGE-SECRET-KEY-1…, as age-keygen writes them")
		}
		ids = append(ids, id)
	}
	if len(ids) == 0 {
		return nil, errors.New("the key of the vaults holds no age identity")
	}
	return ids, nil
}

func (ids identities) text() []byte {
	var b bytes.Buffer
	b.WriteString("# The key of this node's vaults. Whoever has it can read their secrets.\n")
	for _, id := range ids {
		b.WriteString(id.String() + "\n")
	}
	return b.Bytes()
}

func (ids identities) encrypt(plain []byte) ([]byte, error) {
	var out bytes.Buffer
	w, err := age.Encrypt(&out, ids[0].Recipient())
	if err != nil {
		return nil, fmt.Errorf("encrypting: %w", err)
	}
	_, err = w.Write(plain)
	if err = errors.Join(err, w.Close()); err != nil {
		return nil, fmt.Errorf("encrypting: %w", err)
	}
	return out.Bytes(), nil
}

// decrypt reads what any of the identities can.
func (ids identities) decrypt(sealed []byte) ([]byte, error) {
	each := make([]age.Identity, len(ids))
	for i, id := range ids {
		each[i] = id
	}
	r, err := age.Decrypt(bytes.NewReader(sealed), each...)
	if err != nil {
		return nil, fmt.Errorf("decrypting: %w", err)
	}
	plain, err := io.ReadAll(r)
	if err != nil {
		return nil, fmt.Errorf("decrypting: %w", err)
	}
	return plain, nil
}

// identities returns the key, making the node's own on first use.
func (s *Store) identities(ctx context.Context) (identities, error) {
	s.keyMu.Lock()
	defer s.keyMu.Unlock()
	if s.key != nil {
		return s.key, nil
	}
	ids, err := s.readKey(ctx)
	if err == nil {
		s.key = ids
	}
	return ids, err
}

func (s *Store) readKey(ctx context.Context) (identities, error) {
	if s.config.Key != nil {
		text, err := s.config.Key(ctx)
		if err != nil {
			return nil, fmt.Errorf("reading the key of the vaults: %w", err)
		}
		return parse(text)
	}
	content, err := keyfile.Read(s.config.KeyFile)
	if errors.Is(err, fs.ErrNotExist) {
		return s.makeKey()
	}
	if err != nil {
		return nil, fmt.Errorf("reading the key of the vaults: %w", err)
	}
	return parse(string(content))
}

// makeKey makes the node's own key, unless there are secrets that another one was
// made for: a new key would hide that theirs is lost.
func (s *Store) makeKey() (identities, error) {
	entries, err := os.ReadDir(s.config.Dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("looking for secrets: %w", err)
	}
	if len(entries) > 0 {
		return nil, fmt.Errorf("%s is missing, and %s holds secrets that are encrypted to it: put it back from a backup", s.config.KeyFile, s.config.Dir)
	}
	id, err := age.GenerateX25519Identity()
	if err != nil {
		return nil, fmt.Errorf("making the key of the vaults: %w", err)
	}
	ids := identities{id}
	if err := s.writeKey(ids); err != nil {
		return nil, err
	}
	s.config.Log.Info("made the key that the secrets of vaults are encrypted with; keep a copy of it apart from those of the data folder", "file", s.config.KeyFile)
	return ids, nil
}

func (s *Store) writeKey(ids identities) error {
	if err := writeFile(s.config.KeyFile, ids.text()); err != nil {
		return fmt.Errorf("writing the key of the vaults: %w", err)
	}
	return nil
}

// writeFile puts a file in place, whole and durably, for its owner alone.
func writeFile(name string, content []byte) error {
	if err := makeDir(filepath.Dir(name)); err != nil {
		return err
	}
	return keyfile.Write(name, content)
}

// unfinished is in the names of files that are being written.
const unfinished = ".new-"

// makeDir makes a folder, durably, unless it is there.
func makeDir(dir string) error {
	if _, err := os.Stat(dir); err == nil {
		return nil
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	return syncDir(filepath.Dir(dir))
}

func syncDir(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}
