package parcel

import (
	"crypto/ed25519"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	json "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/keyfile"
	"github.com/wharf-dev/wharf/runtime/receipt"
)

// keyFormat is the version of the format of files with keys that sign packages.
const keyFormat = "wharf-package-key-1"

// storedKey is such a file.
type storedKey struct {
	Format string         `json:"format"`
	Seed   []byte         `json:"seed"` // the private half
	Key    abi.SigningKey `json:"key"`
}

// NewKey makes a key that signs packages, and keeps it in a file that only its owner can read. A
// file that is there already is left as it is: fs.ErrExist.
func NewKey(path string, now time.Time) (abi.SigningKey, error) {
	if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
		return abi.SigningKey{}, errors.Join(err, &fs.PathError{Op: "make", Path: path, Err: fs.ErrExist})
	}
	seed := make([]byte, ed25519.SeedSize)
	if _, err := rand.Read(seed); err != nil {
		return abi.SigningKey{}, fmt.Errorf("making a key: %w", err)
	}
	public := receipt.NewKey(seed).Public(now)
	text, err := json.Marshal(storedKey{keyFormat, seed, public}, jsontext.WithIndent("  "))
	if err == nil {
		err = keyfile.Write(path, append(text, '\n'))
	}
	if err != nil {
		return abi.SigningKey{}, fmt.Errorf("writing the key: %w", err)
	}
	return public, nil
}

// ReadKey reads a key from its file, which nobody else may be able to read.
func ReadKey(path string) (*receipt.Key, abi.SigningKey, error) {
	text, err := keyfile.Read(path)
	if err != nil {
		return nil, abi.SigningKey{}, fmt.Errorf("reading the key: %w", err)
	}
	var s storedKey
	if err := json.Unmarshal(text, &s, json.RejectUnknownMembers(true)); err != nil || s.Format != keyFormat || len(s.Seed) != ed25519.SeedSize {
		return nil, abi.SigningKey{}, fmt.Errorf("%s holds no key that signs packages: \"wharf plugin key new\" makes one", path)
	}
	key := receipt.NewKey(s.Seed)
	if public := key.Public(time.Time{}); public.KeyID != s.Key.KeyID || public.PublicKey != s.Key.PublicKey {
		return nil, abi.SigningKey{}, fmt.Errorf("%s is damaged: its public half is of another key. Put it back from a backup", path)
	}
	return key, s.Key, nil
}
