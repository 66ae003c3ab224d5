package receipt

import (
	"bytes"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	json "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/keyfile"
)

// Key signs receipts. It is safe for concurrent use.
type Key struct {
	ID      string
	private ed25519.PrivateKey
}

// Sign returns the "base64:" form of the key's signature of text.
func (k *Key) Sign(text string) string { return k.sign(text) }

func (k *Key) sign(text string) string {
	return string(appendBase64([]byte(signaturePrefix), ed25519.Sign(k.private, []byte(text))))
}

// Public returns the public half, as it is published.
func (k *Key) Public(createdAt time.Time) abi.SigningKey {
	return abi.SigningKey{KeyID: k.ID, Algorithm: Algorithm, CreatedAt: abi.At(createdAt),
		PublicKey: base64.StdEncoding.EncodeToString(k.private.Public().(ed25519.PublicKey))}
}

// NewKey returns the key that a seed of ed25519.SeedSize bytes gives.
func NewKey(seed []byte) *Key {
	private := ed25519.NewKeyFromSeed(seed)
	return &Key{ID: keyID(private.Public().(ed25519.PublicKey)), private: private}
}

// keyID derives the id of a key from its public half, so that no two keys share one.
func keyID(public ed25519.PublicKey) string {
	h := sha256.Sum256(public)
	return "sig_" + hex.EncodeToString(h[:10])
}

// KeyID returns the id of a public key, which is 32 bytes in base64.
func KeyID(public string) (string, error) {
	raw, err := parsePublic(&abi.SigningKey{Algorithm: Algorithm, PublicKey: public})
	if err != nil || base64.StdEncoding.EncodeToString(raw) != public {
		return "", errors.New("an ed25519 key is 32 bytes in base64")
	}
	return keyID(raw), nil
}

// keyFile is the name of the keyring's file in its folder.
const keyFile = "signing-keys.json"

// keyFormat is the version of that file's format.
const keyFormat = "wharf-signing-keys-1"

// stored is a keyring on disk: one file, so that a rotation is one rename.
type stored struct {
	Format string           `json:"format"`
	Seed   []byte           `json:"seed"` // the private half of the first of Keys
	Keys   []abi.SigningKey `json:"keys"` // the current one first
}

// Keyring holds the key that signs, and the public halves of those that did. The
// private half of a retired key is gone. It is safe for concurrent use, but only
// one process may have a folder open.
type Keyring struct {
	dir, issuer string
	mu          sync.RWMutex
	current     *Key
	keys        []abi.SigningKey
	latest      atomic.Int64 // the latest time, in Unix nanoseconds, that was signed for
}

// OpenKeyring opens the keyring in dir and makes both on first use, with a key
// that is valid from now on. The folder is for its owner alone, and so is the file.
func OpenKeyring(dir, issuer string, now time.Time) (*Keyring, error) {
	k := &Keyring{dir: dir, issuer: issuer}
	content, unreadable := keyfile.Read(k.path())
	switch {
	case errors.Is(unreadable, fs.ErrNotExist):
		return k, k.replace(now)
	case content == nil:
		return nil, fmt.Errorf("reading the signing keys: %w", unreadable)
	}
	if err := k.load(content); err != nil {
		return nil, fmt.Errorf("%s is damaged: %w. Put it back from a backup; if there is none, \"wharf key rotate --lost\" makes a new key, and receipts signed with the old one can then only be checked with a copy of its public half", k.path(), err)
	}
	return k, unreadable
}

func (k *Keyring) path() string { return filepath.Join(k.dir, keyFile) }

func (k *Keyring) load(content []byte) error {
	var s stored
	if err := json.Unmarshal(content, &s, json.RejectUnknownMembers(true)); err != nil {
		return err
	}
	if s.Format != keyFormat {
		return fmt.Errorf("its format is %q, not %q", s.Format, keyFormat)
	}
	if len(s.Seed) != ed25519.SeedSize || len(s.Keys) == 0 {
		return errors.New("it lacks the key that signs")
	}
	key := NewKey(s.Seed)
	if first := s.Keys[0]; first.KeyID != key.ID || !first.RetiredAt.IsZero() ||
		first.PublicKey != key.Public(first.CreatedAt).PublicKey {
		return errors.New("its private key does not belong to its first public key")
	}
	k.current, k.keys = key, s.Keys
	return nil
}

// Current returns the key that signs.
func (k *Keyring) Current() *Key {
	k.mu.RLock()
	defer k.mu.RUnlock()
	return k.current
}

// Signer returns the key that signs, and the time to state for what it signs at now.
// That is not before the key was made, nor after it retires, even when the clock is set
// back meanwhile: a verifier refuses what was signed outside of its key's life.
func (k *Keyring) Signer(now time.Time) (*Key, time.Time) {
	k.mu.RLock()
	defer k.mu.RUnlock()
	at := abi.At(now)
	if made := k.keys[0].CreatedAt; at.Before(made) {
		at = made
	}
	k.signedAt(at)
	return k.current, at
}

// signedAt remembers the latest time that was signed for.
func (k *Keyring) signedAt(at time.Time) {
	nanos := at.UnixNano()
	for {
		latest := k.latest.Load()
		if nanos <= latest || k.latest.CompareAndSwap(latest, nanos) {
			return
		}
	}
}

// Public returns the public keys, the current one first and the last retired next.
func (k *Keyring) Public() abi.SigningKeys {
	k.mu.RLock()
	defer k.mu.RUnlock()
	return abi.SigningKeys{Issuer: k.issuer, Keys: slices.Clone(k.keys)}
}

// Rotate retires the current key and makes a new one: at now, but not before anything
// that the old one signed. When it returns without an error, the private half of the old
// one is no longer in the folder.
func (k *Keyring) Rotate(now time.Time) error { return k.replace(now) }

// replace makes a new current key.
func (k *Keyring) replace(now time.Time) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	seed := make([]byte, ed25519.SeedSize)
	if _, err := rand.Read(seed); err != nil {
		return fmt.Errorf("making a signing key: %w", err)
	}
	key := NewKey(seed)
	keys := append([]abi.SigningKey{key.Public(now)}, k.keys...)
	if len(keys) > 1 && keys[1].RetiredAt.IsZero() {
		keys[1].RetiredAt = later(later(abi.At(now), keys[1].CreatedAt), time.Unix(0, k.latest.Load()).UTC())
	}
	content, err := json.Marshal(stored{keyFormat, seed, keys}, jsontext.WithIndent("  "))
	if err != nil {
		return fmt.Errorf("writing the signing keys: %w", err)
	}
	if err := keyfile.Write(k.path(), append(content, '\n')); err != nil {
		return fmt.Errorf("writing the signing keys: %w", err)
	}
	k.current, k.keys = key, keys
	return nil
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// publicKey returns the key with the given id.
func publicKey(keys []abi.SigningKey, id string) (ed25519.PublicKey, error) {
	i := slices.IndexFunc(keys, func(k abi.SigningKey) bool { return k.KeyID == id })
	if i < 0 {
		return nil, fmt.Errorf("the key %s is not known", id)
	}
	return parsePublic(&keys[i])
}

func parsePublic(k *abi.SigningKey) (ed25519.PublicKey, error) {
	public, err := base64.StdEncoding.Strict().DecodeString(k.PublicKey)
	if k.Algorithm != Algorithm || err != nil || len(public) != ed25519.PublicKeySize {
		return nil, fmt.Errorf("the key %s is not an ed25519 key of 32 bytes in base64", k.KeyID)
	}
	return public, nil
}

func parseSignature(text string) ([]byte, error) {
	encoded, ok := strings.CutPrefix(text, signaturePrefix)
	signature, err := base64.StdEncoding.Strict().DecodeString(encoded)
	if !ok || err != nil || len(signature) != ed25519.SignatureSize || bytes.ContainsAny([]byte(encoded), "\r\n") {
		return nil, fmt.Errorf("a signature is %q and 64 bytes in standard base64", signaturePrefix)
	}
	return signature, nil
}
