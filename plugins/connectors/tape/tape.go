package tape

import (
	"errors"
	"fmt"
	"math/bits"
	"strconv"
	"strings"
	"unicode/utf8"
	"unsafe"
)

// Kind says what a value is.
type Kind uint8

// The kinds of values.
const (
	Missing Kind = iota
	Null
	False
	True
	Number
	String
	Array
	Object
)

// What a document may have at most.
const (
	MaxDepth  = 64
	MaxValues = 1 << 18
)

// Errors of documents that are JSON, and yet not taken.
var (
	ErrDepth     = fmt.Errorf("it is nested deeper than %d levels", MaxDepth)
	ErrValues    = fmt.Errorf("it has more than %d values", MaxValues)
	ErrDuplicate = errors.New("an object has a name twice")
	ErrRange     = errors.New("a number is too large")
	ErrUnicode   = errors.New("a text is not Unicode")
)

// SyntaxError says where a text stops being JSON.
type SyntaxError struct{ Offset int }

func (e *SyntaxError) Error() string {
	return "it is not JSON: the trouble is at byte " + strconv.Itoa(e.Offset)
}

// node is a value. The values that it holds follow it, up to next: those of an object
// as name, value, name, value.
type node struct {
	start, end uint32 // in the text, with quotes and brackets
	next       uint32 // the index of the value after this one and what it holds
	about      uint32 // its kind; of a string also isEscaped, and above hashShift a hash of its text
}

const (
	kindMask  = 0xf
	isEscaped = 0x10
	hashShift = 8
)

func (n *node) kind() Kind    { return Kind(n.about & kindMask) }
func (n *node) escaped() bool { return n.about&isEscaped != 0 }

// Doc is a document. The zero Doc is ready to parse; parsing again uses its room
// again, and ends the values of before.
type Doc struct {
	text   string
	at     int
	padded []byte // the text, and a word of zeros
	depth  int
	nodes  []node
	around [MaxDepth + 1]frame // of what is being read, the innermost last
	high   uint64              // has a high bit where a string has a byte that is not ASCII
	seen   []uint32            // a hash table of names
}

// frame is an object or array that is being read.
type frame struct {
	node    uint32
	closing byte
	next    state  // behind a comma
	names   uint64 // a bit for the hash of each name, or severalNames
}

// severalNames are the names of an object where two may be the same.
const severalNames = ^uint64(0)

// Parse reads a text.
func (d *Doc) Parse(text string) (Value, error) {
	d.text, d.at, d.nodes, d.high = text, 0, d.nodes[:0], 0
	err := d.read()
	if (err != nil || d.high&highs != 0) && !utf8.ValidString(text) {
		return Value{}, ErrUnicode
	}
	if err != nil {
		return Value{}, err
	}
	return Value{d, 0}, nil
}

func (d *Doc) syntax() error { return &SyntaxError{d.at} }

func isSpace(c byte) bool { return c == ' ' || c == '\n' || c == '\r' || c == '\t' }

// peek returns the next byte that is no space, 0 at the end. It is short so that it is
// inlined: in a guest a call costs more than what it does.
func (d *Doc) peek() byte {
	if d.at < len(d.text) && d.text[d.at] > ' ' {
		return d.text[d.at]
	}
	return d.peekBehindSpace()
}

func (d *Doc) peekBehindSpace() byte {
	for d.at < len(d.text) && isSpace(d.text[d.at]) {
		d.at++
	}
	if d.at == len(d.text) {
		return 0
	}
	return d.text[d.at]
}

// state is what comes next in a text.
type state uint8

const (
	aValue state = iota
	aName
	behind // a value: a comma, or the end of what is around it
	theEnd
)

// read reads one value, which is all that the text has.
func (d *Doc) read() error {
	d.depth = 0
	d.around[0] = frame{}
	d.padded = append(append(d.padded[:0], d.text...), "\x00\x00\x00\x00\x00\x00\x00\x00"...)
	for next := aValue; next != theEnd; {
		var err error
		if next, err = d.step(d.fast(next)); err != nil {
			return err
		}
	}
	return d.end()
}

// step reads what comes next, whatever it is.
func (d *Doc) step(next state) (state, error) {
	in := &d.around[d.depth]
	switch next {
	case aName:
		return aValue, d.name(in)
	case aValue:
		return d.value()
	}
	switch c := d.peek(); {
	case d.depth == 0:
		return theEnd, nil
	case c == ',':
		d.at++
		return in.next, nil
	case c != in.closing:
		return behind, d.syntax()
	}
	d.at++
	d.depth--
	d.nodes[in.node].end, d.nodes[in.node].next = uint32(d.at), uint32(len(d.nodes))
	if in.names == severalNames && !d.unique(in.node) {
		return behind, ErrDuplicate
	}
	return behind, nil
}

func (d *Doc) value() (state, error) {
	if len(d.nodes) >= MaxValues {
		return behind, ErrValues
	}
	switch c := d.peek(); c {
	case '"':
		return behind, d.string()
	case '{', '[':
		return d.open(c)
	case 't':
		return behind, d.literal("true", True)
	case 'f':
		return behind, d.literal("false", False)
	case 'n':
		return behind, d.literal("null", Null)
	}
	return behind, d.number()
}

// open enters an object or array.
func (d *Doc) open(c byte) (state, error) {
	if d.depth == MaxDepth {
		return behind, ErrDepth
	}
	d.depth++
	in := &d.around[d.depth]
	*in = frame{node: uint32(len(d.nodes)), closing: ']'}
	kind := Array
	if c == '{' {
		kind, in.closing, in.next = Object, '}', aName
	}
	d.nodes = append(d.nodes, node{start: uint32(d.at), about: uint32(kind)})
	d.at++
	if d.peek() == in.closing {
		return behind, nil
	}
	return in.next, nil
}

// fast reads on while what comes is plain: no spaces, no escapes, no numbers but short
// whole ones. What is not, and whatever is wrong, it leaves to [Doc.step]. It is long
// because it calls nothing: in a guest a call costs more than what it does, here and
// by what has to be kept aside meanwhile. The text ends in zeros, which nothing takes.
func (d *Doc) fast(next state) state {
	if d.depth == 0 {
		return next
	}
	text := unsafe.String(unsafe.SliceData(d.padded), len(d.padded))
	nodes, n, at, high, in := d.nodes[:cap(d.nodes)], len(d.nodes), d.at, d.high, &d.around[d.depth]
loop:
	for n < len(nodes) && n < MaxValues {
		c := text[at]
		switch {
		case next == behind && c == ',':
			at++
			next = in.next
		case next == behind:
			if c != in.closing || in.names == severalNames {
				break loop
			}
			at++
			nodes[in.node].end, nodes[in.node].next = uint32(at), uint32(n)
			d.depth--
			if in = &d.around[d.depth]; d.depth == 0 {
				break loop
			}
		case c == '"':
			h, w, to := uint64(0), word(text, at+1), at+1
			found := specials(w)
			for ; found == 0; found = specials(w) {
				high |= w
				h, to = mix(h, w), to+8
				w = word(text, to)
			}
			high |= w
			plain := bits.TrailingZeros64(found) & 0x38
			about := uint32(String) | fold(mix(h, w&(1<<plain-1)))<<hashShift
			if to += plain >> 3; text[to] != '"' {
				break loop
			}
			to++
			if next == aName && text[to] != ':' {
				break loop
			}
			nodes[n] = node{uint32(at), uint32(to), uint32(n + 1), about}
			n, at = n+1, to
			if next == aValue {
				next = behind
				continue
			}
			at++
			next = aValue
			bit := uint64(1) << (about >> hashShift & 63)
			if in.names&bit != 0 {
				bit = severalNames
			}
			in.names |= bit
		case next == aName:
			break loop
		case c-'1' < 9:
			to := at + 1
			for text[to]-'0' < 10 {
				to++
			}
			if c = text[to]; c != ',' && c != '}' && c != ']' || to-at > maxPlain {
				break loop
			}
			nodes[n] = node{uint32(at), uint32(to), uint32(n + 1), uint32(Number)}
			n, at, next = n+1, to, behind
		case c == '{' && text[at+1] == '"' && d.depth < MaxDepth:
			d.depth++
			in = &d.around[d.depth]
			in.node, in.closing, in.next, in.names = uint32(n), '}', aName, 0
			nodes[n] = node{start: uint32(at), about: uint32(Object)}
			n, at, next = n+1, at+1, aName
		default:
			break loop
		}
	}
	d.nodes, d.at, d.high = nodes[:n], at, high
	return next
}

// end checks that there is nothing more.
func (d *Doc) end() error {
	if d.peek(); d.at != len(d.text) {
		return d.syntax()
	}
	return nil
}

// name reads the name of a member, and the colon behind it.
func (d *Doc) name(in *frame) error {
	if d.peek() != '"' {
		return d.syntax()
	}
	if err := d.string(); err != nil {
		return err
	}
	n := &d.nodes[len(d.nodes)-1]
	if n.escaped() {
		n.about = n.about&(1<<hashShift-1) | hash(unquote(d.text[n.start+1:n.end-1]))<<hashShift
	}
	bit := uint64(1) << (n.about >> hashShift & 63)
	if in.names&bit != 0 {
		bit = severalNames
	}
	in.names |= bit
	if d.peek() != ':' {
		return d.syntax()
	}
	d.at++
	return nil
}

// string reads a string. Its hash is that of its text only where it has no escapes.
func (d *Doc) string() error {
	from, h, about := d.at, uint64(0), uint32(String)
	d.at++
	for {
		h = d.plain(h)
		switch {
		case d.at == len(d.text):
			return d.syntax()
		case d.text[d.at] == '"':
			d.at++
			d.nodes = append(d.nodes, node{uint32(from), uint32(d.at), uint32(len(d.nodes) + 1), about | fold(h)<<hashShift})
			return nil
		case d.text[d.at] != '\\':
			return d.syntax()
		}
		about |= isEscaped
		if err := d.escape(); err != nil {
			return err
		}
	}
}

// plain passes over what can stand in a string as it is, and takes it into a hash.
func (d *Doc) plain(h uint64) uint64 {
	text, at, high := d.text, d.at, d.high
	for ; at+8 <= len(text); at += 8 {
		w := word(text, at)
		high |= w
		if found := specials(w); found != 0 {
			n := bits.TrailingZeros64(found) & 0x38
			d.at, d.high = at+n>>3, high
			return mix(h, w&(1<<n-1))
		}
		h = mix(h, w)
	}
	w := lastWord(text, at)
	n := bits.TrailingZeros64(specials(w)) & 0x38
	d.at, d.high = at+n>>3, high|w
	return mix(h, w&(1<<n-1))
}

// escape passes over an escape, and over both of a pair of surrogates.
func (d *Doc) escape() error {
	if d.at+1 < len(d.text) && short[d.text[d.at+1]] != 0 {
		d.at += 2
		return nil
	}
	r, ok := unicodeEscape(d.text[d.at:])
	if !ok {
		return d.syntax()
	}
	if r < 0xd800 || r > 0xdfff {
		d.at += 6
		return nil
	}
	if low, ok := unicodeEscape(d.text[d.at+6:]); r > 0xdbff || !ok || low < 0xdc00 || low > 0xdfff {
		return ErrUnicode
	}
	d.at += 12
	return nil
}

// literal reads true, false or null.
func (d *Doc) literal(word string, kind Kind) error {
	if !strings.HasPrefix(d.text[d.at:], word) {
		return d.syntax()
	}
	d.add(kind, d.at+len(word))
	return nil
}

// add adds a value that holds no others and ends at end.
func (d *Doc) add(kind Kind, end int) {
	d.nodes = append(d.nodes, node{uint32(d.at), uint32(end), uint32(len(d.nodes) + 1), uint32(kind)})
	d.at = end
}

// maxPlain is how many digits a number may have without a look at its size.
const maxPlain = 300

func (d *Doc) number() error {
	from := d.at
	if err := d.anyNumber(); err != nil {
		return err
	}
	end := d.at
	d.at = from
	d.add(Number, end)
	return nil
}

// anyNumber passes over a number.
func (d *Doc) anyNumber() error {
	from := d.at
	d.skip('-')
	if !d.skip('0') && d.digits() == 0 {
		return d.syntax()
	}
	if d.skip('.') && d.digits() == 0 {
		return d.syntax()
	}
	exponent := d.skip('e') || d.skip('E')
	if exponent {
		if !d.skip('-') {
			d.skip('+')
		}
		if d.digits() == 0 {
			return d.syntax()
		}
	}
	if exponent || d.at-from > maxPlain {
		if _, err := strconv.ParseFloat(d.text[from:d.at], 64); err != nil {
			return ErrRange
		}
	}
	return nil
}

func (d *Doc) skip(c byte) bool {
	if d.at < len(d.text) && d.text[d.at] == c {
		d.at++
		return true
	}
	return false
}

func (d *Doc) digits() (n int) {
	for d.at < len(d.text) && d.text[d.at]-'0' < 10 {
		d.at++
		n++
	}
	return n
}

// unique reports whether an object has no name twice.
func (d *Doc) unique(object uint32) bool {
	members := 0
	for n := int(object) + 1; n < len(d.nodes); n = int(d.nodes[n+1].next) {
		members++
	}
	size := 4
	for size < 2*members {
		size *= 2
	}
	if cap(d.seen) < size {
		d.seen = make([]uint32, size)
	}
	table := d.seen[:size]
	clear(table)
	for n := int(object) + 1; n < len(d.nodes); n = int(d.nodes[n+1].next) {
		of := d.nodes[n].about >> hashShift
		at := of & uint32(size-1)
		for ; table[at] != 0; at = (at + 1) & uint32(size-1) {
			other := int(table[at])
			if d.nodes[other].about>>hashShift == of && d.content(other) == d.content(n) {
				return false
			}
		}
		table[at] = uint32(n)
	}
	return true
}

// content returns the text of the string at n, without quotes and escapes.
func (d *Doc) content(n int) string {
	inner := d.text[d.nodes[n].start+1 : d.nodes[n].end-1]
	if d.nodes[n].escaped() {
		return unquote(inner)
	}
	return inner
}
