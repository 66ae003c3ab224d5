package stack

import (
	"bytes"
	"encoding/binary"
)

// budget is how many steps are left: a step reads one value of debug information.
type budget struct{ left int }

// spend takes a step, and says whether there was one.
func (b *budget) spend() bool {
	b.left--
	return b.left >= 0
}

// cursor reads a part of a section. After the first value that is not there, or when the
// budget is spent, it gives zeros and has no more.
type cursor struct {
	b     []byte
	at    int
	steps *budget
	bad   bool
}

func (c *cursor) more() bool { return !c.bad && c.at < len(c.b) }

func (c *cursor) fail() { c.bad, c.at = true, len(c.b) }

// seek goes to an offset in the section.
func (c *cursor) seek(at uint64) {
	if at > uint64(len(c.b)) {
		c.fail()
		return
	}
	c.at = int(at)
}

func (c *cursor) take(n uint64) []byte {
	if c.bad || n > uint64(len(c.b)-c.at) || !c.steps.spend() {
		c.fail()
		return nil
	}
	p := c.b[c.at : c.at+int(n)]
	c.at += int(n)
	return p
}

// fixed reads a little-endian number of so many bytes, at most 8.
func (c *cursor) fixed(size uint64) uint64 {
	var word [8]byte
	if size > 8 {
		c.fail()
		return 0
	}
	copy(word[:], c.take(size))
	return binary.LittleEndian.Uint64(word[:])
}

func (c *cursor) byte() byte  { return byte(c.fixed(1)) }
func (c *cursor) u16() uint64 { return c.fixed(2) }
func (c *cursor) u32() uint64 { return c.fixed(4) }

// unsigned reads a LEB128.
func (c *cursor) unsigned() uint64 {
	var v uint64
	for shift := 0; shift < 70; shift += 7 {
		b := c.byte()
		v |= uint64(b&0x7f) << shift
		if b&0x80 == 0 {
			return v
		}
	}
	c.fail()
	return 0
}

func (c *cursor) signed() int64 {
	var v int64
	for shift := 0; shift < 70; shift += 7 {
		b := c.byte()
		v |= int64(b&0x7f) << shift
		if b&0x80 != 0 {
			continue
		}
		if b&0x40 != 0 && shift+7 < 64 {
			v |= -1 << (shift + 7)
		}
		return v
	}
	c.fail()
	return 0
}

// maxText is the longest name that is read, in bytes. A longer one is cut.
const maxText = 4096

// bytesPerStep is how many bytes of a text are a step.
const bytesPerStep = 64

// text reads what ends with a zero.
func (c *cursor) text() string {
	end := bytes.IndexByte(c.b[c.at:], 0)
	if end < 0 {
		c.fail()
		return ""
	}
	text := c.take(uint64(end) + 1)
	c.steps.left -= len(text) / bytesPerStep
	return string(text[:min(max(len(text)-1, 0), maxText)])
}
