package tape

import "strconv"

// node is a value. The values that it holds follow it, up to next: those of an object
// as name, value, name, value.
type refNode struct {
	start, end uint32 // in the text, with quotes and brackets
	next       uint32 // the index of the value after this one and what it holds
	kind       Kind
	escaped    bool // of a string: it has escapes
}

// reference is a parser that descends for each value: what Doc is compared with.
type reference struct {
	text  string
	at    int
	nodes []refNode
	seen  []uint32 // a hash table of names
}

// Parse reads a text.
func (d *reference) Parse(text string) error {
	d.text, d.at, d.nodes = text, 0, d.nodes[:0]
	if !valid(text) {
		return ErrUnicode
	}
	if err := d.value(0); err != nil {
		return err
	}
	if d.space(); d.at != len(d.text) {
		return d.syntax()
	}
	return nil
}

func (d *reference) syntax() error { return &SyntaxError{d.at} }

func (d *reference) space() {
	for d.at < len(d.text) && isSpace(d.text[d.at]) {
		d.at++
	}
}

// peek returns the next byte that is no space, 0 at the end. It is short so that it is
// inlined: in a guest a call costs more than what it does.
func (d *reference) peek() byte {
	if d.at < len(d.text) && d.text[d.at] > ' ' {
		return d.text[d.at]
	}
	return d.peekBehindSpace()
}

func (d *reference) peekBehindSpace() byte {
	d.space()
	if d.at == len(d.text) {
		return 0
	}
	return d.text[d.at]
}

func (d *reference) value(depth int) error {
	if len(d.nodes) >= MaxValues {
		return ErrValues
	}
	switch c := d.peek(); c {
	case '"':
		return d.string()
	case '{', '[':
		if depth == MaxDepth {
			return ErrDepth
		}
		if c == '{' {
			return d.object(depth + 1)
		}
		return d.array(depth + 1)
	case 't':
		return d.word("true", True)
	case 'f':
		return d.word("false", False)
	case 'n':
		return d.word("null", Null)
	}
	return d.number()
}

// begin adds a value that begins here.
func (d *reference) begin(kind Kind) int {
	d.nodes = append(d.nodes, refNode{start: uint32(d.at), kind: kind})
	return len(d.nodes) - 1
}

// finish ends a value here.
func (d *reference) finish(i int) {
	d.nodes[i].end = uint32(d.at)
	d.nodes[i].next = uint32(len(d.nodes))
}

func (d *reference) word(word string, kind Kind) error {
	if len(d.text)-d.at < len(word) || d.text[d.at:d.at+len(word)] != word {
		return d.syntax()
	}
	i := d.begin(kind)
	d.at += len(word)
	d.finish(i)
	return nil
}

func (d *reference) array(depth int) error {
	i := d.begin(Array)
	d.at++
	for first := true; ; first = false {
		switch done, err := d.more(first, ']'); {
		case err != nil:
			return err
		case done:
			d.finish(i)
			return nil
		}
		if err := d.value(depth); err != nil {
			return err
		}
	}
}

// more passes over a comma or, which ends the array or object, its closing bracket.
func (d *reference) more(first bool, closing byte) (done bool, err error) {
	c := d.peek()
	switch {
	case c == closing:
		d.at++
		return true, nil
	case first:
		return false, nil
	case c == ',':
		d.at++
		if d.peek() != closing {
			return false, nil
		}
	}
	return false, d.syntax()
}

func (d *reference) object(depth int) error {
	i, members := d.begin(Object), 0
	d.at++
	for first := true; ; first = false {
		switch done, err := d.more(first, '}'); {
		case err != nil:
			return err
		case done:
			d.finish(i)
			return d.unique(i, members)
		}
		if err := d.member(depth); err != nil {
			return err
		}
		members++
	}
}

func (d *reference) member(depth int) error {
	if d.peek() != '"' {
		return d.syntax()
	}
	if err := d.string(); err != nil {
		return err
	}
	if d.peek() != ':' {
		return d.syntax()
	}
	d.at++
	return d.value(depth)
}

func (d *reference) string() error {
	i := d.begin(String)
	for d.at++; ; {
		d.at = special(d.text, d.at)
		if d.at == len(d.text) {
			return d.syntax()
		}
		switch d.text[d.at] {
		case '"':
			d.at++
			d.finish(i)
			return nil
		case '\\':
			d.nodes[i].escaped = true
			if err := d.escape(); err != nil {
				return err
			}
		default:
			return d.syntax()
		}
	}
}

// escape passes over an escape, and over both of a pair of surrogates.
func (d *reference) escape() error {
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

func (d *reference) number() error {
	i, from := d.begin(Number), d.at
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
	d.finish(i)
	return nil
}

func (d *reference) skip(c byte) bool {
	if d.at < len(d.text) && d.text[d.at] == c {
		d.at++
		return true
	}
	return false
}

func (d *reference) digits() (n int) {
	for d.at < len(d.text) && d.text[d.at]-'0' < 10 {
		d.at++
		n++
	}
	return n
}

// fewMembers is up to how many members names are compared with each other one by one.
const fewMembers = 8

// unique checks that an object has no name twice.
func (d *reference) unique(i, members int) error {
	if members < 2 {
		return nil
	}
	if members <= fewMembers {
		return d.compareNames(i)
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
	for n := i + 1; n < len(d.nodes); n = int(d.nodes[n+1].next) {
		name := d.content(n)
		at := fnv1a(name) & uint32(size-1)
		for ; table[at] != 0; at = (at + 1) & uint32(size-1) {
			if d.content(int(table[at])) == name {
				return ErrDuplicate
			}
		}
		table[at] = uint32(n)
	}
	return nil
}

func (d *reference) compareNames(i int) error {
	for a := i + 1; a < len(d.nodes); a = int(d.nodes[a+1].next) {
		name := d.content(a)
		for b := int(d.nodes[a+1].next); b < len(d.nodes); b = int(d.nodes[b+1].next) {
			if d.named(b, name) {
				return ErrDuplicate
			}
		}
	}
	return nil
}

// fnv1a is a hash.
func fnv1a(s string) uint32 {
	h := uint32(2166136261)
	for i := range len(s) {
		h = (h ^ uint32(s[i])) * 16777619
	}
	return h
}

// content returns the text of the string at n, without quotes and escapes.
func (d *reference) content(n int) string {
	inner := d.text[d.nodes[n].start+1 : d.nodes[n].end-1]
	if d.nodes[n].escaped {
		return unquote(inner)
	}
	return inner
}

// named reports whether the string at n is name.
func (d *reference) named(n int, name string) bool {
	is := &d.nodes[n]
	if !is.escaped {
		return int(is.end-is.start) == len(name)+2 && d.text[is.start+1:is.end-1] == name
	}
	return d.content(n) == name
}
