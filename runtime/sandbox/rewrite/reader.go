package rewrite

import (
	"fmt"
	"unicode/utf8"
)

const (
	reasonTruncated = "it ends in the middle of a value"
	reasonTrailing  = "it holds more bytes than it accounts for"
	reasonLEB       = "it holds an integer that is too long"
	reasonName      = "it holds a name that is not UTF-8"
)

// reader reads a part of a module. The first error sticks: after it every read
// returns zero values and nothing is left, so that loops end and callers check
// once per section.
type reader struct {
	b       []byte // the whole module
	at, end int    // what is left of the part
	err     *Error
}

// fail keeps the first error, about what is at the given offset.
func (r *reader) fail(at int, advice, format string, args ...any) {
	if r.err == nil {
		r.err = &Error{Offset: at, Reason: fmt.Sprintf(format, args...), Advice: advice}
	}
	r.at = r.end
}

func (r *reader) more() bool { return r.at < r.end }

func (r *reader) byte() byte {
	if r.at >= r.end {
		r.fail(r.at, "", reasonTruncated)
		return 0
	}
	c := r.b[r.at]
	r.at++
	return c
}

// bytes returns the next n bytes, which stay part of the module.
func (r *reader) bytes(n uint32) []byte {
	if uint64(n) > uint64(r.end-r.at) {
		r.fail(r.at, "", reasonTruncated)
		return nil
	}
	p := r.b[r.at : r.at+int(n) : r.at+int(n)]
	r.at += int(n)
	return p
}

// part takes the next n bytes as a reader of their own. Its errors are its own.
func (r *reader) part(n uint32) reader {
	at := r.at
	r.bytes(n)
	return reader{b: r.b, at: at, end: r.at, err: r.err}
}

// u32 reads an unsigned LEB128 of at most 32 bits.
func (r *reader) u32() uint32 {
	if r.at < r.end && r.b[r.at] < 0x80 {
		r.at++
		return uint32(r.b[r.at-1])
	}
	return uint32(r.unsigned(32))
}

// unsigned reads an unsigned LEB128 of at most so many bits.
func (r *reader) unsigned(bits int) uint64 {
	at := r.at
	var v uint64
	for shift := 0; shift < bits; shift += 7 {
		c := r.byte()
		v |= uint64(c&0x7f) << shift
		if c&0x80 == 0 {
			if shift+7 > bits && c>>(bits-shift) != 0 {
				break
			}
			return v
		}
	}
	r.fail(at, "", reasonLEB)
	return 0
}

// signed reads a signed LEB128 of at most so many bits.
func (r *reader) signed(bits int) int64 {
	at := r.at
	var v int64
	for shift := 0; shift < bits; shift += 7 {
		c := r.byte()
		v |= int64(c&0x7f) << shift
		if c&0x80 != 0 {
			continue
		}
		if shift+7 > bits {
			// What is left of the last byte has to repeat the sign.
			if rest := int8(c<<1) >> (bits - shift); rest != 0 && rest != -1 {
				break
			}
		}
		if shift+7 < 64 && c&0x40 != 0 {
			v |= -1 << (shift + 7)
		}
		return v
	}
	r.fail(at, "", reasonLEB)
	return 0
}

// count reads the length of a vector. Each element takes a byte or more, so a
// length beyond what is left is wrong, and must not become an allocation.
func (r *reader) count() uint32 {
	at := r.at
	n := r.u32()
	if uint64(n) > uint64(r.end-r.at) {
		r.fail(at, "", reasonTruncated)
		return 0
	}
	return n
}

func (r *reader) name() string {
	at := r.at
	p := r.bytes(r.u32())
	if !utf8.Valid(p) {
		r.fail(at, "", reasonName)
		return ""
	}
	return string(p)
}

// appendU32 appends v as unsigned LEB128.
func appendU32(b []byte, v uint32) []byte {
	for v >= 0x80 {
		b = append(b, byte(v)|0x80)
		v >>= 7
	}
	return append(b, byte(v))
}

// appendS64 appends v as signed LEB128.
func appendS64(b []byte, v int64) []byte {
	for {
		c := byte(v & 0x7f)
		v >>= 7
		if v == 0 && c&0x40 == 0 || v == -1 && c&0x40 != 0 {
			return append(b, c)
		}
		b = append(b, c|0x80)
	}
}

func appendName(b []byte, name string) []byte {
	return append(appendU32(b, uint32(len(name))), name...)
}

// appendOp appends an opcode.
func appendOp(b []byte, o opcode) []byte {
	if o < 0x100 {
		return append(b, byte(o))
	}
	return appendU32(append(b, byte(o>>12)), uint32(o&0xfff))
}
