package kept

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"sync"
)

const codeSuffix = ".code"

// Code holds the machine code of modules, which is executed as it is, in a folder on disk.
// Its methods are those that the engine wants of what it keeps code in. None of them
// fails: code that cannot be kept or read is compiled. It is safe for concurrent use, also
// by several processes.
type Code struct {
	files   *files
	version string

	mu   sync.Mutex
	lent map[[sha256.Size]byte][][]byte // the same code once for each that lends it
}

// OpenCode opens a folder, which is made when there is none. The version names the engine
// and all else that code depends on besides the engine's own key.
func OpenCode(p Place, version string) (*Code, error) {
	f, err := p.open(codeSuffix)
	return &Code{files: f, version: version, lent: map[[sha256.Size]byte][][]byte{}}, err
}

// Lend has Get take code from memory, whether or not it could be kept, until back is called.
func (c *Code) Lend(key [sha256.Size]byte, code []byte) (back func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.lent[key] = append(c.lent[key], code)
	return func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.lent[key] = c.lent[key][1:]; len(c.lent[key]) == 0 {
			delete(c.lent, key)
		}
	}
}

func (c *Code) lends(key [sha256.Size]byte) []byte {
	c.mu.Lock()
	defer c.mu.Unlock()
	if all := c.lent[key]; len(all) > 0 {
		return all[0]
	}
	return nil
}

func (c *Code) name(key [sha256.Size]byte) string {
	sum := sha256.Sum256(append([]byte(c.version+"\n"), key[:]...))
	return hex.EncodeToString(sum[:])
}

// Get returns the code of a key, if there is some that holds.
func (c *Code) Get(key [sha256.Size]byte) (content io.ReadCloser, ok bool, err error) {
	if code := c.lends(key); code != nil {
		return io.NopCloser(bytes.NewReader(code)), true, nil
	}
	code, err := c.files.read(c.name(key))
	if err != nil {
		c.files.Log.Warn("a compiled plugin on disk cannot be read, and is made anew", "error", err.Error())
	}
	if code == nil {
		return nil, false, nil
	}
	return io.NopCloser(bytes.NewReader(code)), true, nil
}

// Add keeps the code of a key.
func (c *Code) Add(key [sha256.Size]byte, content io.Reader) error {
	code, err := io.ReadAll(content)
	if err != nil {
		c.notKept(err)
		return nil
	}
	c.Keep(key, code)
	return nil
}

// Keep does what Add does with code that was read already.
func (c *Code) Keep(key [sha256.Size]byte, code []byte) {
	if err := c.files.write(c.name(key), code); err != nil {
		c.notKept(err)
	}
}

// notKept tells of code that costs time at the next start, and nothing now.
func (c *Code) notKept(err error) {
	c.files.Log.Debug("a compiled plugin is not kept", "error", err.Error())
}

// Delete removes the code of a key.
func (c *Code) Delete(key [sha256.Size]byte) error {
	_ = c.files.remove(c.files.path(c.name(key)))
	return nil
}
