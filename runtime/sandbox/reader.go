package sandbox

import (
	"errors"
	"unicode/utf8"
)

var (
	errTruncated = errors.New("it ends in the middle of a value")
	errTrailing  = errors.New("it holds more bytes than it accounts for")
	errLEB       = errors.New("it holds an integer that is too long")
	errName      = errors.New("it holds a name that is not UTF-8")
)

// reader reads the binary format. The first error sticks: after it every read
// returns zero values, so that callers check once per section.
type reader struct {
	b   []byte
	err error
}

func (r *reader) fail(err error) {
	if r.err == nil {
		r.err = err
	}
	r.b = nil
}

func (r *reader) more() bool { return len(r.b) > 0 }

func (r *reader) byte() byte {
	if len(r.b) == 0 {
		r.fail(errTruncated)
		return 0
	}
	c := r.b[0]
	r.b = r.b[1:]
	return c
}

// bytes returns the next n bytes, which stay part of the input.
func (r *reader) bytes(n uint32) []byte {
	if uint64(n) > uint64(len(r.b)) {
		r.fail(errTruncated)
		return nil
	}
	p := r.b[:n:n]
	r.b = r.b[n:]
	return p
}

// u32 reads an unsigned LEB128 of at most 32 bits.
func (r *reader) u32() uint32 {
	var v uint64
	for shift := 0; shift < 35; shift += 7 {
		c := r.byte()
		v |= uint64(c&0x7f) << shift
		if c&0x80 == 0 {
			if v > 1<<32-1 {
				r.fail(errLEB)
				return 0
			}
			return uint32(v)
		}
	}
	r.fail(errLEB)
	return 0
}

// skipLEB passes over an integer of any width.
func (r *reader) skipLEB() {
	for range 10 {
		if r.byte()&0x80 == 0 {
			return
		}
	}
	r.fail(errLEB)
}

// count reads the length of a vector. Each element takes a byte or more, so a
// length beyond what is left is wrong, and must not become an allocation.
func (r *reader) count() uint32 {
	n := r.u32()
	if uint64(n) > uint64(len(r.b)) {
		r.fail(errTruncated)
		return 0
	}
	return n
}

func (r *reader) name() string {
	p := r.bytes(r.u32())
	if !utf8.Valid(p) {
		r.fail(errName)
		return ""
	}
	return string(p)
}

// appendU32 appends v as LEB128.
func appendU32(b []byte, v uint32) []byte {
	for v >= 0x80 {
		b = append(b, byte(v)|0x80)
		v >>= 7
	}
	return append(b, byte(v))
}
