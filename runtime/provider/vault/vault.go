package vault

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"sync"
)

// MaxValue is the longest value of a secret, in bytes.
const MaxValue = 64 << 10

// ErrAbsent is returned for a value that is not there.
var ErrAbsent = errors.New("there is no such value")

// Config says where values are.
type Config struct {
	// Dir is the folder of the encrypted values. It is made on first use.
	Dir string
	// Key returns the key: age identities, a line each, the first of which encrypts.
	// It is asked once, and again by each Rotate. nil: the key is KeyFile's.
	Key func(ctx context.Context) (string, error)
	// KeyFile is the node's own key, which is made on first use.
	KeyFile string
	// EnvPrefix begins the environment variables that Vaults may use; "" for none.
	EnvPrefix string
	Environ   func() []string // default os.Environ
	// Files is the folder of the files that Vaults may use; "" for none.
	Files string
	Log   *slog.Logger // default slog.Default
}

// Store keeps values. It is safe for concurrent use. It writes nothing before it is
// given something to keep.
type Store struct {
	config Config
	// mu is held for writing while the values' files must stay as they are, or are all
	// replaced.
	mu sync.RWMutex

	keyMu sync.Mutex
	key   identities // nil until it is needed
	blind []byte     // guarded by keyMu

	// fault fails a step of a rotation; nil outside of tests.
	fault func(step string) error
}

// New returns a Store. It reads nothing yet.
func New(c Config) *Store {
	if c.Environ == nil {
		c.Environ = os.Environ
	}
	if c.Log == nil {
		c.Log = slog.Default()
	}
	return &Store{config: c}
}

// saltLen is how many random bytes stand before a value.
const saltLen = 32

// Seal keeps a version of a secret's value, durably, and returns what Open wants to
// be told of it. Keeping a version that is there already replaces it.
func (s *Store) Seal(ctx context.Context, id string, version int, value []byte) (sealed string, err error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	ids, err := s.identities(ctx)
	if err != nil {
		return "", err
	}
	plain := make([]byte, saltLen, saltLen+len(value))
	if _, err := rand.Read(plain); err != nil {
		return "", fmt.Errorf("making a salt: %w", err)
	}
	plain = append(plain, value...)
	text, err := ids.encrypt(plain)
	if err != nil {
		return "", err
	}
	if err := makeDir(s.config.Dir); err != nil {
		return "", fmt.Errorf("making the folder of the vaults: %w", err)
	}
	if err := writeFile(s.path(id, version), text); err != nil {
		return "", fmt.Errorf("keeping a secret: %w", err)
	}
	return commitment(id, version, plain), nil
}

// Open returns a version of a secret's value: what Seal was given when it returned
// sealed. The error wraps ErrAbsent when there is none.
func (s *Store) Open(ctx context.Context, id string, version int, sealed string) ([]byte, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	text, err := os.ReadFile(s.path(id, version))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, ErrAbsent
	}
	if err != nil {
		return nil, fmt.Errorf("reading a secret: %w", err)
	}
	ids, err := s.identities(ctx)
	if err != nil {
		return nil, err
	}
	plain, err := ids.decrypt(text)
	if err != nil {
		return nil, err
	}
	if len(plain) < saltLen || subtle.ConstantTimeCompare([]byte(commitment(id, version, plain)), []byte(sealed)) != 1 {
		return nil, errors.New("the file of the secret is not the one that was written for it")
	}
	return plain[saltLen:], nil
}

// Keep removes every version of a secret but one, and all of them when version is 0.
func (s *Store) Keep(id string, version int) error {
	s.mu.RLock()
	defer s.mu.RUnlock()
	dir := s.folder(id)
	if version == 0 {
		if err := os.RemoveAll(dir); err != nil {
			return fmt.Errorf("removing a secret: %w", err)
		}
		return ignoreAbsent(syncDir(s.config.Dir))
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return fmt.Errorf("removing old versions of a secret: %w", err)
	}
	for _, e := range entries {
		if e.Name() == fileName(version) {
			continue
		}
		if err := ignoreAbsent(os.Remove(filepath.Join(dir, e.Name()))); err != nil {
			return fmt.Errorf("removing old versions of a secret: %w", err)
		}
	}
	return syncDir(dir)
}

func ignoreAbsent(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// Hold keeps all files as they are until release is called, for a copy of them.
func (s *Store) Hold() (release func()) {
	s.mu.Lock()
	return s.mu.Unlock
}

// Blind returns what stands for a text that holds a value, where two texts have to be
// told apart and neither may be guessed: equal for equal texts, on this node.
func (s *Store) Blind(ctx context.Context, text []byte) ([]byte, error) {
	key, err := s.blindKey(ctx)
	if err != nil {
		return nil, err
	}
	mac := hmac.New(sha256.New, key)
	mac.Write(text)
	return mac.Sum(nil), nil
}

// blindName is the file of the key of Blind: it has no version, and no entry in the
// log.
const blindName = "blind.age"

func (s *Store) blindKey(ctx context.Context) ([]byte, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	ids, err := s.identities(ctx)
	if err != nil {
		return nil, err
	}
	s.keyMu.Lock()
	defer s.keyMu.Unlock()
	if s.blind != nil {
		return s.blind, nil
	}
	name := filepath.Join(s.config.Dir, blindName)
	text, err := os.ReadFile(name)
	if err == nil {
		s.blind, err = ids.decrypt(text)
		return s.blind, err
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("reading the key of requests: %w", err)
	}
	key := make([]byte, sha256.Size)
	if _, err := rand.Read(key); err != nil {
		return nil, fmt.Errorf("making the key of requests: %w", err)
	}
	if text, err = ids.encrypt(key); err != nil {
		return nil, err
	}
	if err := writeFile(name, text); err != nil {
		return nil, fmt.Errorf("keeping the key of requests: %w", err)
	}
	s.blind = key
	return key, nil
}

// folder returns where a secret's versions lie. Names of secrets may differ in case
// alone, which not every file system tells apart.
func (s *Store) folder(id string) string {
	sum := sha256.Sum256([]byte(id))
	return filepath.Join(s.config.Dir, hex.EncodeToString(sum[:16]))
}

func (s *Store) path(id string, version int) string {
	return filepath.Join(s.folder(id), fileName(version))
}

func fileName(version int) string { return strconv.Itoa(version) + ".age" }

// commitment is what the log says of a value: it fits no other value, secret or
// version, and tells nothing of the value to whoever lacks the salt.
func commitment(id string, version int, salted []byte) string {
	h := sha256.New()
	for _, part := range [][]byte{[]byte("wharf-vault-1"), []byte(id), []byte(strconv.Itoa(version)), salted} {
		var n [8]byte
		binary.BigEndian.PutUint64(n[:], uint64(len(part)))
		h.Write(n[:])
		h.Write(part)
	}
	return "sha256:" + hex.EncodeToString(h.Sum(nil))
}
