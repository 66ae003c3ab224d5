package receipt

import (
	"errors"
	"fmt"
	"io/fs"
	"time"

	json "github.com/go-json-experiment/json"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/keyfile"
)

// ReadKeyring returns the public keys of the keyring in dir, and changes nothing. The
// error is fs.ErrNotExist when there is none.
func ReadKeyring(dir string) ([]abi.SigningKey, error) {
	k := &Keyring{dir: dir}
	content, unreadable := keyfile.Read(k.path())
	if content == nil {
		return nil, fmt.Errorf("reading the signing keys: %w", unreadable)
	}
	if err := k.load(content); err != nil {
		return nil, fmt.Errorf("%s is damaged: %w", k.path(), err)
	}
	return k.keys, unreadable
}

// RenewKeyring makes a keyring for a node whose own is lost: with a new key, and, if
// the file of the old one still tells them, the public halves that receipts were signed
// with. The old file is kept beside it, under the name that is returned.
func RenewKeyring(dir string, now time.Time) (keys []abi.SigningKey, aside string, err error) {
	k := &Keyring{dir: dir}
	if _, err := ReadKeyring(dir); err == nil {
		return nil, "", errors.New("the signing keys are there and whole: there is nothing to renew")
	}
	content, err := keyfile.Read(k.path())
	if content != nil {
		k.keys = salvage(content)
		aside = k.path() + ".damaged-" + now.UTC().Format("20060102T150405Z")
		if err := keyfile.Write(aside, content); err != nil {
			return nil, "", fmt.Errorf("keeping the damaged file: %w", err)
		}
	} else if !errors.Is(err, fs.ErrNotExist) {
		return nil, "", fmt.Errorf("reading the signing keys: %w", err)
	}
	if err := k.replace(now); err != nil {
		return nil, "", err
	}
	return k.keys, aside, nil
}

// salvage returns the public keys that a damaged file still tells, whole.
func salvage(content []byte) (keys []abi.SigningKey) {
	var s stored
	_ = json.Unmarshal(content, &s) // what could be read of it counts
	for _, key := range s.Keys {
		public, err := parsePublic(&key)
		if err == nil && keyID(public) == key.KeyID {
			keys = append(keys, key)
		}
	}
	return keys
}
