package kept

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
)

const suffix = ".kept"

// Folder holds entries in a folder on disk. It is safe for concurrent use, also by
// several processes.
type Folder struct{ files *files }

// Open opens a folder, which is made when there is none.
func Open(p Place) (*Folder, error) {
	f, err := p.open(suffix)
	return &Folder{f}, err
}

func name(k Key) string {
	sum := sha256.Sum256(appendKey([]byte(magic), k))
	return hex.EncodeToString(sum[:])
}

// Has reports whether there is an entry of a key, whole or damaged.
func (f *Folder) Has(k Key) bool {
	_, err := os.Stat(f.files.path(name(k)))
	return err == nil
}

// Load returns the entry of a key, or nil when there is none. One that is damaged, or that
// was written under another key of a node, counts as none, and is removed. The caller owns
// the entry.
func (f *Folder) Load(k Key) (*Entry, error) {
	content, err := f.files.read(name(k))
	if content == nil || err != nil {
		return nil, err
	}
	e, err := decode(content, k)
	if err != nil {
		return nil, f.files.remove(f.files.path(name(k)))
	}
	return e, nil
}

// Store keeps an entry, and removes those that were not used for the longest while the
// folder holds more than its limit. An entry that does not fit by itself is
// ErrTooLarge.
func (f *Folder) Store(k Key, e *Entry) error {
	content, err := encode(k, e)
	if err != nil {
		return err
	}
	return f.files.write(name(k), content)
}
