package pebble

import (
	"encoding/binary"
	"time"

	"github.com/wharf-dev/wharf/storage"
)

// The flags of a resource pointer.
const (
	pointerRestricted = 1 << iota
	pointerInline     // the value itself follows: its frame was removed
	pointerBlob       // a reference to a blob follows: its frame was removed
	pointerPacked     // the value that follows is packed
)

// pointer says which record states a resource. After retention has removed the
// frame, it holds the value instead.
type pointer struct {
	restricted bool
	first      storage.Position // of the frame
	index      uint64           // of the record in the frame
	sequence   uint64
	inline     []byte
	blob       *blobRef
}

// position returns the position of the stating event.
func (p pointer) position() storage.Position { return p.first + storage.Position(p.index) }

// moved reports whether the pointer carries the value itself.
func (p pointer) moved() bool { return p.inline != nil || p.blob != nil }

// pointerFirst is where in a pointer's value the frame's position is.
const pointerFirst = 1

// appendPointer appends a pointer. The value is packed where that makes it smaller: what stays of a Task is, most of
// all, its Receipt.
func appendPointer(dst []byte, p pointer) []byte {
	var flags byte
	if p.restricted {
		flags |= pointerRestricted
	}
	value := p.inline
	switch {
	case p.blob != nil:
		flags |= pointerBlob
	case p.inline != nil:
		flags |= pointerInline
		if packed := packKept(p.inline); packed != nil {
			flags, value = flags|pointerPacked, packed
		}
	}
	dst = appendPosition(append(dst, flags), p.first)
	dst = binary.AppendUvarint(dst, p.index)
	dst = binary.AppendUvarint(dst, p.sequence)
	return appendValue(dst, value, p.blob)
}

// decodePointer reads a pointer. Its inline value is a part of value, unless it was packed.
func decodePointer(value []byte) (p pointer, err error) {
	d := &decoder{rest: value}
	flags := d.byte()
	p = pointer{restricted: flags&pointerRestricted != 0, first: d.position()}
	p.index, p.sequence = d.uvarint(), d.uvarint()
	blob, inline, packed := flags&pointerBlob != 0, flags&pointerInline != 0, flags&pointerPacked != 0
	d.bad = d.bad || (blob && inline) || packed && !inline || flags >= 2*pointerPacked
	p.inline, p.blob = d.value(blob || inline, blob)
	if err := d.end(); err != nil || !packed {
		return p, err
	}
	if p.inline, err = unpack(p.inline); err == nil && len(p.inline) == 0 { // nobody packs that
		err = errMalformed
	}
	return p, err
}

// noted is what is known of a resource's events that do not state it.
type noted struct {
	position storage.Position
	sequence uint64
}

func decodeNoted(value []byte) (noted, error) {
	d := &decoder{rest: value}
	n := noted{position: d.position(), sequence: d.uvarint()}
	return n, d.end()
}

// appendIdempotency appends the record that answers retries. Its position is that
// of the frame until it is read.
func appendIdempotency(dst []byte, i *storage.Idempotency, answer *blobRef) []byte {
	dst = appendPosition(dst, 0)
	dst = binary.AppendUvarint(dst, uint64(i.Record))
	dst = append(dst, i.Body[:]...)
	dst = binary.BigEndian.AppendUint64(dst, uint64(i.Expires.UnixNano()))
	dst = binary.AppendUvarint(dst, uint64(i.Status))
	switch {
	case answer != nil:
		return appendRef(append(dst, answerBlob), *answer)
	case i.Answer != nil:
		return appendBytes(append(dst, answerInline), i.Answer)
	}
	return append(dst, answerState)
}

// Where the answer of an idempotency record is.
const (
	answerState  = iota // the State of the record it names
	answerInline        // it follows
	answerBlob          // in the blob that is named
)

func decodeIdempotency(k storage.Key, value []byte) (*storage.Idempotency, *blobRef, error) {
	d := &decoder{rest: value}
	i := &storage.Idempotency{Key: k}
	first := d.position()
	i.Record = int(d.uvarint())
	i.Position = first + storage.Position(i.Record)
	copy(i.Body[:], d.fixed(len(i.Body)))
	i.Expires = d.time()
	i.Status = int(d.uvarint())
	var answer *blobRef
	switch d.byte() {
	case answerState:
	case answerInline:
		i.Answer = append([]byte{}, d.bytes()...)
	case answerBlob:
		answer = d.ref()
	default:
		d.bad = true
	}
	return i, answer, d.end()
}

// dayOf returns the day that t falls into, counted from 1 January 1970 UTC.
func dayOf(t time.Time) uint32 { return uint32(max(0, t.Unix()) / (24 * 60 * 60)) }
