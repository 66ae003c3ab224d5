package kept

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
)

// Key names what an entry was derived from. Two entries of one key are the same.
type Key struct {
	Module   string // the digest of the original
	Rewriter string // the version of the rewriter
	Snapshot string // the version of how modules are initialized, and of what Wasm and Meta hold
}

// Entry is what was derived from a module.
type Entry struct {
	Wasm []byte // what the engine is given: the rewritten module, or a hollow one
	Meta []byte // what its user has to know besides
	// Image is the memory of the initialized instance; nil when there is no snapshot.
	Image   []byte
	Globals []uint64 // of the initialized instance
}

// maxImageBytes bounds a kept image: larger ones are made anew in less time than it
// takes to read them.
const maxImageBytes = 64 << 20

// ErrTooLarge is returned for an entry that is not worth keeping.
var ErrTooLarge = errors.New("kept: the entry is too large")

var errDamaged = errors.New("kept: the file is damaged")

// encode returns the content of the file of an entry: in this order the key's three
// parts, the module and the meta data, each as its length and its bytes; the number of
// globals, and 8 bytes for each; and the image. Numbers without a size are unsigned
// varints, those with one are little-endian.
//
// The image is 0 when there is none, or its size plus one and then runs that fill it:
// a number of zeros, a length, and as many bytes.
func encode(k Key, e *Entry) ([]byte, error) {
	if len(e.Image) > maxImageBytes {
		return nil, ErrTooLarge
	}
	b := make([]byte, 0, len(e.Wasm)+len(e.Meta)+len(e.Image)/2+1024)
	b = appendKey(b, k)
	b = appendBytes(b, e.Wasm)
	b = appendBytes(b, e.Meta)
	b = binary.AppendUvarint(b, uint64(len(e.Globals)))
	for _, g := range e.Globals {
		b = binary.LittleEndian.AppendUint64(b, g)
	}
	return appendImage(b, e.Image), nil
}

func appendKey(b []byte, k Key) []byte {
	for _, part := range []string{k.Module, k.Rewriter, k.Snapshot} {
		b = appendBytes(b, []byte(part))
	}
	return b
}

func appendBytes(b, p []byte) []byte {
	return append(binary.AppendUvarint(b, uint64(len(p))), p...)
}

// blockBytes is the unit in which zeros are looked for.
const blockBytes = 512

var zeros [blockBytes]byte

func appendImage(b, image []byte) []byte {
	if image == nil {
		return append(b, 0)
	}
	b = binary.AppendUvarint(b, uint64(len(image))+1)
	for len(image) > 0 {
		zeros := run(image, true)
		bytes := run(image[zeros:], false)
		b = binary.AppendUvarint(b, uint64(zeros))
		b = appendBytes(b, image[zeros:zeros+bytes])
		image = image[zeros+bytes:]
	}
	return b
}

// run returns how many bytes at the start of an image are in blocks of zeros, or in
// blocks that are not.
func run(image []byte, zero bool) int {
	n := 0
	for n < len(image) {
		block := image[n:min(n+blockBytes, len(image))]
		if bytes.Equal(block, zeros[:len(block)]) != zero {
			break
		}
		n += len(block)
	}
	return n
}

// decode reads what encode has written. The entry shares its bytes. What was written for
// another key is damage too.
func decode(content []byte, k Key) (*Entry, error) {
	rest, ours := bytes.CutPrefix(content, appendKey(nil, k))
	if !ours {
		return nil, fmt.Errorf("%w: it belongs to another key", errDamaged)
	}
	return decodeBody(rest)
}

func decodeBody(body []byte) (*Entry, error) {
	r := &reader{b: body}
	e := &Entry{Wasm: r.bytes(r.uvarint()), Meta: r.bytes(r.uvarint())}
	e.Globals = r.globals()
	e.Image = r.image()
	if r.failed || len(r.b) > 0 {
		return nil, errDamaged
	}
	return e, nil
}

// reader reads the body of a file. After a failure it answers nothing.
type reader struct {
	b      []byte
	failed bool
}

func (r *reader) uvarint() uint64 {
	v, n := binary.Uvarint(r.b)
	if n <= 0 {
		r.fail()
		return 0
	}
	r.b = r.b[n:]
	return v
}

func (r *reader) bytes(n uint64) []byte {
	if n > uint64(len(r.b)) {
		r.fail()
		return nil
	}
	p := r.b[:n:n]
	r.b = r.b[n:]
	return p
}

func (r *reader) fail() { r.b, r.failed = nil, true }

func (r *reader) globals() []uint64 {
	n := r.uvarint()
	if n > uint64(len(r.b))/8 {
		r.fail()
		return nil
	}
	globals := make([]uint64, n)
	for i := range globals {
		globals[i] = binary.LittleEndian.Uint64(r.bytes(8))
	}
	return globals
}

func (r *reader) image() []byte {
	size := r.uvarint()
	if size == 0 || r.failed {
		return nil
	}
	size--
	if size > maxImageBytes {
		r.fail()
		return nil
	}
	image := make([]byte, size)
	for at := uint64(0); at < size; {
		zeros := r.uvarint()
		bytes := r.bytes(r.uvarint())
		if r.failed || zeros > size-at || uint64(len(bytes)) > size-at-zeros || zeros == 0 && len(bytes) == 0 {
			r.fail()
			return nil
		}
		at += zeros + uint64(copy(image[at+zeros:], bytes))
	}
	return image
}
