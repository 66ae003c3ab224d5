package redact

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi"
)

// Document withholds from a JSON document what is not public: every object that has
// both "type" and a "visibility" other than public is replaced by a descriptor, so
// that a reader sees that content existed (docs/protocol.md, 9).
// The descriptor of a part has every member that its type requires, without content,
// so that a typed client reads it as what it is. internal lets internal content
// through; receipt_only content is always withheld.
func Document(doc []byte, internal bool) ([]byte, error) {
	return redaction{internal: internal}.document(doc)
}

// Bare is [Document] with descriptors of "type", "visibility" and "redacted" alone.
// Plugins are told those: a run that is repeated has to be told what it was.
func Bare(doc []byte, internal bool) ([]byte, error) {
	return redaction{internal: internal, bare: true}.document(doc)
}

// redaction is what is let through, and what is left of the rest.
type redaction struct{ internal, bare bool }

// document returns doc with the members of each object in order of their names.
func (r redaction) document(doc []byte) ([]byte, error) {
	if kind := jsontext.Value(doc).Kind(); kind != '[' && kind != '{' {
		return doc, nil
	}
	w := redactor{redaction: r, dec: jsontext.NewDecoder(bytes.NewBuffer(doc), jsontext.AllowDuplicateNames(true)), out: make([]byte, 0, len(doc))}
	if err := w.value(); err != nil {
		return nil, err
	}
	if err := w.dec.SkipValue(); !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("after the document: %w", cmp.Or(err, errTrailing))
	}
	return w.out, nil
}

var errTrailing = errors.New("another value")

// redactor writes a document while it reads it. Besides what it writes it holds the places
// of the members of those objects that are open: a document of a million of the smallest
// values costs no more than its bytes.
type redactor struct {
	redaction
	dec    *jsontext.Decoder
	out    []byte
	open   []place   // of the members of open objects
	sorted []byte    // reused
	names  [2][]byte // reused
}

// place is where a member stands in what was written, its name and its value: no document
// has 4 GiB.
type place struct{ name, value, end uint32 }

func (w *redactor) here() uint32 { return uint32(len(w.out)) }

func (w *redactor) value() error {
	switch w.dec.PeekKind() {
	case '[':
		return w.array()
	case '{':
		return w.object()
	}
	return w.scalar()
}

// scalar writes a name or a value without members, spelled as short as can be.
func (w *redactor) scalar() error {
	v, err := w.dec.ReadValue()
	if err != nil {
		return err
	}
	if bytes.IndexByte(v, '\\') < 0 {
		w.out = append(w.out, v...)
		return nil
	}
	w.out, err = jsontext.AppendFormat(w.out, v)
	return err
}

func (w *redactor) array() error {
	if _, err := w.dec.ReadToken(); err != nil {
		return err
	}
	w.out = append(w.out, '[')
	for n := 0; w.dec.PeekKind() != ']'; n++ {
		if n > 0 {
			w.out = append(w.out, ',')
		}
		if err := w.value(); err != nil {
			return err
		}
	}
	w.out = append(w.out, ']')
	_, err := w.dec.ReadToken()
	return err
}

// object writes the members as they come, and looks at the whole object then.
func (w *redactor) object() error {
	begin, first := len(w.out), len(w.open)
	if _, err := w.dec.ReadToken(); err != nil {
		return err
	}
	w.out = append(w.out, '{')
	for w.dec.PeekKind() != '}' {
		if err := w.member(); err != nil {
			return err
		}
	}
	if _, err := w.dec.ReadToken(); err != nil {
		return err
	}
	err := w.close(begin, w.open[first:])
	w.open = w.open[:first]
	return err
}

// member writes a name, a colon, a value and a comma.
func (w *redactor) member() error {
	p := place{name: w.here()}
	if err := w.scalar(); err != nil { // the name
		return err
	}
	w.out = append(w.out, ':')
	p.value = w.here()
	if err := w.value(); err != nil {
		return err
	}
	p.end = w.here()
	w.out = append(w.out, ',')
	if len(w.open) == cap(w.open) {
		w.open = slices.Grow(w.open, len(w.open)+16) // doubled: append would copy five times as much
	}
	w.open = append(w.open, p)
	return nil
}

// close ends the object that began there: withholds it, or puts its members in order.
func (w *redactor) close(begin int, members []place) error {
	moved, err := w.order(members)
	if err != nil {
		return err
	}
	if w.withheld(members) {
		w.appendDescriptor(begin, members)
		return nil
	}
	members, changed := w.withoutMemory(members)
	if changed {
		if _, err := w.order(members); err != nil {
			return err
		}
	}
	if changed || moved {
		w.sorted = slices.Grow(w.sorted[:0], len(w.out)-begin)
		for _, m := range members {
			w.sorted = append(append(w.sorted, w.out[m.name:m.end]...), ',')
		}
		w.out = append(w.out[:begin+1], w.sorted...)
	}
	if len(members) > 0 {
		w.out = w.out[:len(w.out)-1] // the last comma
	}
	w.out = append(w.out, '}')
	return nil
}

// order sorts the members by name, and reports whether they were not in order. It refuses an
// object in which a name stands twice: readers might take either.
func (w *redactor) order(members []place) (moved bool, err error) {
	if w.disorder(members) < 0 {
		return false, nil
	}
	slices.SortFunc(members, w.compare)
	if i := w.disorder(members); i >= 0 {
		return true, fmt.Errorf("a member stands twice: %.60s", w.name(members[i], 0))
	}
	return true, nil
}

// disorder returns the first member whose name does not come after the one before it; -1 if
// there is none.
func (w *redactor) disorder(members []place) int {
	for i := 1; i < len(members); i++ {
		if w.compare(members[i-1], members[i]) >= 0 {
			return i
		}
	}
	return -1
}

func (w *redactor) compare(a, b place) int { return bytes.Compare(w.name(a, 0), w.name(b, 1)) }

// name returns a member's name, which is valid until the next one of the same side.
func (w *redactor) name(p place, side int) []byte {
	quoted := w.out[p.name : p.value-1]
	if bytes.IndexByte(quoted, '\\') < 0 {
		return quoted[1 : len(quoted)-1]
	}
	w.names[side], _ = jsontext.AppendUnquote(w.names[side][:0], quoted) // it was quoted here
	return w.names[side]
}

// text returns the value of the member with that name; nil if there is none.
func (w *redactor) text(members []place, name string) jsontext.Value {
	if i := w.find(members, name); i >= 0 {
		return w.out[members[i].value:members[i].end]
	}
	return nil
}

// find looks a name up in members that are in order; -1 says that there is none.
func (w *redactor) find(members []place, name string) int {
	i, end := 0, len(members)
	for i < end {
		middle := (i + end) / 2
		if string(w.name(members[middle], 0)) < name {
			i = middle + 1
		} else {
			end = middle
		}
	}
	if i == len(members) || string(w.name(members[i], 0)) != name {
		return -1
	}
	return i
}

// set gives a member of an object another value, which is written after all others. A new
// one stands last: the members are to be put in order again.
func (w *redactor) set(members []place, name, value string) []place {
	p := place{name: w.here()}
	w.out = append(append(append(w.out, '"'), name...), `":`...)
	p.value = w.here()
	w.out = append(w.out, value...)
	p.end = w.here()
	if i := w.find(members, name); i >= 0 {
		members[i] = p
		return members
	}
	return append(members, p)
}

// withoutContent is what the types of parts require besides type and visibility, as
// empty as it can be. An id or a name is content, too.
var withoutContent = map[abi.PartType]string{
	abi.PartText:        `"text":""`,
	abi.PartJSON:        `"value":null`,
	abi.PartToolCall:    `"tool_call_id":"","name":"","input":{}`,
	abi.PartToolResult:  `"tool_call_id":"","output":null,"status":"ok"`,
	abi.PartArtifactRef: `"artifact_id":""`,
	abi.PartFileRef:     `"uri":"","mime_type":""`,
	abi.PartImageRef:    `"artifact_id":"","mime_type":""`,
}

// withheld reports whether the object is a part that is kept from the reader.
func (w *redactor) withheld(members []place) bool {
	kind := w.text(members, "type").Kind()
	if kind != '"' && kind != 'n' {
		return false
	}
	switch string(w.text(members, "visibility")) {
	case quotedInternal:
		return !w.internal
	case quotedReceiptOnly:
		return true
	}
	return false
}

// What is written is spelled as short as can be, so texts compare as what they mean.
const (
	quotedPublic      = `"` + string(abi.VisibilityPublic) + `"`
	quotedInternal    = `"` + string(abi.VisibilityInternal) + `"`
	quotedReceiptOnly = `"` + string(abi.VisibilityReceiptOnly) + `"`
)

// appendDescriptor writes what is left of a part, in its own place; a bare one has nothing
// of what its type requires.
func (w *redactor) appendDescriptor(begin int, members []place) {
	kind, visibility := w.text(members, "type"), w.text(members, "visibility")
	if kind.Kind() == 'n' {
		kind = jsontext.Value(`""`)
	}
	required := withoutContent[abi.PartType(kind[1:len(kind)-1])]
	w.sorted = append(append(append(w.sorted[:0], `{"type":`...), kind...), `,"visibility":`...)
	w.sorted = append(append(w.sorted, visibility...), `,"redacted":true`...)
	if !w.bare && required != "" {
		w.sorted = append(append(w.sorted, ','), required...)
	}
	w.out = append(append(w.out[:begin], w.sorted...), '}')
}

// NoMemory stands for a Memory's content that is withheld, or was taken away.
const NoMemory = `{"redacted":true}`

// withoutMemory takes the content out of a Memory that is not public, and out of
// the request to keep one. A Memory that was redacted is stored with null there, which
// is no content that a Memory can have: readers get an object.
func (w *redactor) withoutMemory(members []place) (shown []place, changed bool) {
	switch {
	case w.find(members, "content") < 0 || w.find(members, "scope") < 0:
		return members, false
	case w.find(members, "redacted_at") >= 0:
		return w.set(members, "content", NoMemory), true
	}
	visibility := w.text(members, "visibility")
	if kind := visibility.Kind(); kind != '"' && kind != 'n' {
		return members, false
	}
	if text := string(visibility); text == quotedPublic || text == quotedInternal && w.internal {
		return members, false
	}
	return w.set(w.set(members, "content", NoMemory), "redacted", "true"), true
}

// ForPlugins withholds what is for receipts only: no plugin has a use for it, and what a
// plugin is not told it cannot tell.
func ForPlugins(text jsontext.Value) (jsontext.Value, error) {
	if !bytes.Contains(text, []byte(abi.VisibilityReceiptOnly)) {
		return text, nil
	}
	return Bare(text, true)
}
