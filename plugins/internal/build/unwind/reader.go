package unwind

import "encoding/binary"

// reader reads the parts of a module. After the first failure what it returns means nothing.
type reader struct {
	rest   []byte
	failed bool
}

func (r *reader) uint() uint64 {
	v, n := binary.Uvarint(r.rest)
	if n <= 0 {
		r.fail()
		return 0
	}
	r.rest = r.rest[n:]
	return v
}

func (r *reader) fail() { r.failed, r.rest = true, nil }

// signed reads signed LEB128.
func (r *reader) signed() (v int64) {
	for shift := 0; shift < 64; shift += 7 {
		b := r.byte()
		v |= int64(b&0x7f) << shift
		if b&0x80 != 0 {
			continue
		}
		if b&0x40 != 0 && shift+7 < 64 {
			v |= -1 << (shift + 7)
		}
		return v
	}
	r.fail()
	return 0
}

func (r *reader) byte() byte {
	if len(r.rest) == 0 {
		r.fail()
		return 0
	}
	b := r.rest[0]
	r.rest = r.rest[1:]
	return b
}

func (r *reader) bytes() []byte { return r.take(r.uint()) }

func (r *reader) take(n uint64) []byte {
	if n > uint64(len(r.rest)) {
		r.fail()
		return nil
	}
	b := r.rest[:n]
	r.rest = r.rest[n:]
	return b
}

// instruction reads one, and returns its first byte and, of a call, the function.
func (r *reader) instruction() (op byte, function uint64) {
	op = r.byte()
	switch {
	case op == opCall:
		return op, r.uint()
	case op == 0x02, op == 0x03, op == opIf, op == opI32Const, op == 0x42: // blocks and constants
		r.signed()
	case op == 0x0c, op == 0x0d, op >= 0x20 && op <= 0x26, op == 0xd2, op == 0x3f, op == 0x40: // one number
		r.uint()
	case op == 0x0e: // br_table
		for range r.uint() {
			r.uint()
		}
		r.uint()
	case op == opCallIndirect, op >= 0x28 && op <= 0x3e: // two
		r.uint()
		r.uint()
	case op == 0x43:
		r.take(4)
	case op == 0x44:
		r.take(8)
	case op == 0xfc:
		r.prefixed()
	case op == 0x1c, op == 0xd0, op > 0xc4: // what clang does not write for this target
		r.fail()
	}
	return op, 0
}

// prefixed reads the rest of an instruction of two bytes.
func (r *reader) prefixed() {
	switch sub := r.uint(); sub {
	case 0, 1, 2, 3, 4, 5, 6, 7:
	case 8, 10: // memory.init, memory.copy
		r.uint()
		r.byte()
	case 9, 11: // data.drop, memory.fill
		r.uint()
	default:
		r.fail()
	}
}
