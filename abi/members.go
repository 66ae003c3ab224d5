package abi

import (
	"bytes"
	"cmp"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"sync"

	"github.com/go-json-experiment/json/jsontext"
)

// What decoding costs is bounded by how much there is in a text, and not by its bytes
// alone: `{}` are two bytes, and as a part of a Message more than two hundred.
const (
	// MaxValues is how many values a JSON text that comes in may hold: members of its
	// objects and lists, at every level.
	MaxValues = 200_000
	// MaxMembers is how many members a list or map of a request or host call may have
	// that says nothing else. Another maximum is in the tag `maxItems` of the field.
	MaxMembers = 1_000
	// MaxAllMembers is how many members all the lists and maps of one request or host
	// call may have together.
	MaxAllMembers = 20_000
)

// fewMembers is how many commas a text may have that is not looked at any closer. What
// so few members become is nothing beside what any request costs.
const fewMembers = 64

// CrowdedError is about a text with more in it than is decoded.
type CrowdedError struct {
	Offset  int64            // where in the text the first is that is too many
	Pointer jsontext.Pointer // the list or map; empty for the text itself
	Max     int
	// Whole says that it is not one list, but the text, that has too many.
	Whole bool
}

// Error implements error.
func (e *CrowdedError) Error() string {
	if e.Whole {
		return fmt.Sprintf("the JSON text holds more than %d values, or more than %d members of lists", MaxValues, MaxAllMembers)
	}
	return fmt.Sprintf("%s has more than %d members", strings.ReplaceAll(strings.TrimPrefix(string(e.Pointer), "/"), "/", "."), e.Max)
}

// Weigh says before a text is decoded into a value of that type, or into what it points
// to, how many bytes the members of its lists and maps will take, beside what the text
// itself has. A text with more of them than is allowed is a [*CrowdedError]. It says
// nothing about whether the text is well formed: what comes after a mistake is not
// decoded, and may count or not.
func Weigh(text []byte, into reflect.Type) (int64, error) {
	if bytes.Count(text, []byte(",")) <= fewMembers {
		return 0, nil
	}
	s := scale{text: text}
	s.value(shapeOf(into))
	if s.crowded != nil {
		return 0, s.crowded
	}
	return s.bytes, nil
}

// shape is what a type holds, as far as decoding it makes more of a text.
type shape struct {
	fields map[string]*shape // of an object with known members
	each   *shape            // of what a list or map has as members
	size   int64             // what such a member takes
	max    int               // how many of them there may be
}

// asSent is the shape of what is kept as it was sent, or takes no more than that.
var asSent = &shape{}

var shapes sync.Map // reflect.Type → *shape

func shapeOf(t reflect.Type) *shape {
	if known, ok := shapes.Load(t); ok {
		return known.(*shape)
	}
	made, _ := shapes.LoadOrStore(t, newShape(t, MaxMembers, map[reflect.Type]*shape{}))
	return made.(*shape)
}

// entrySize is about what the place of a value in a map takes, beside key and value.
const entrySize = 64

func newShape(t reflect.Type, most int, within map[reflect.Type]*shape) *shape {
	if changed, ok := reflect.Zero(t).Interface().(interface{ Changes() reflect.Type }); ok {
		return newShape(changed.Changes(), most, within)
	}
	switch t.Kind() {
	case reflect.Pointer:
		return newShape(t.Elem(), most, within)
	case reflect.Slice, reflect.Array:
		if t.Elem().Kind() == reflect.Uint8 {
			return asSent
		}
		return &shape{each: newShape(t.Elem(), MaxMembers, within), size: int64(t.Elem().Size()), max: most}
	case reflect.Map:
		size := int64(t.Key().Size()+t.Elem().Size()) + entrySize
		return &shape{each: newShape(t.Elem(), MaxMembers, within), size: size, max: most}
	case reflect.Struct:
		return structShape(t, within)
	}
	return asSent
}

func structShape(t reflect.Type, within map[reflect.Type]*shape) *shape {
	if known := within[t]; known != nil {
		return known
	}
	made := &shape{fields: map[string]*shape{}}
	within[t] = made
	for _, f := range reflect.VisibleFields(t) {
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case f.Anonymous && name == "": // its fields are visible too
		case strings.Contains(options, "embed"):
			for inner, s := range newShape(f.Type, MaxMembers, within).fields {
				made.fields[inner] = s
			}
		case f.IsExported() && name != "-":
			made.fields[cmp.Or(name, f.Name)] = newShape(f.Type, maxItems(f.Tag), within)
		}
	}
	return made
}

// maxItems returns how many members a field's tag allows.
func maxItems(tag reflect.StructTag) int {
	if n, err := strconv.Atoi(tag.Get("maxItems")); err == nil {
		return n
	}
	return MaxMembers
}

// MaxItems returns how many members the list or map of that name has at most in requests
// and host calls that are decoded into a struct of that type.
func MaxItems(t reflect.Type, member string) int { return shapeOf(t).fields[member].max }

// scale reads a text once, along the shape of what it becomes. It stops at the first
// mistake in it, and when there is too much.
type scale struct {
	text    []byte
	at      int
	values  int
	members int
	bytes   int64
	path    []step
	crowded error
}

// step is one step of the way to a value: the name of a member, or a place in a list.
type step struct {
	name  []byte // nil in a list
	index int
}

// value reads a value. It reports whether it is whole. How deep it goes is bounded by how
// deep shapes do.
func (s *scale) value(of *shape) bool {
	if !s.space() {
		return false
	}
	if of == asSent {
		return s.skip()
	}
	switch c := s.text[s.at]; c {
	case '{':
		s.at++
		return s.object(of)
	case '[':
		s.at++
		return s.list(of)
	case '"':
		_, ok := s.quoted()
		return ok
	default:
		return s.plain()
	}
}

// skip passes over a value that is kept as it was sent, and counts what is in it.
func (s *scale) skip() bool {
	for depth := 0; s.at < len(s.text); {
		switch c := s.text[s.at]; c {
		case '"':
			if _, ok := s.quoted(); !ok {
				return false
			}
		case '{', '[', ',':
			s.at++
			if c != ',' {
				depth++
			}
			if c != ',' && s.space() && (s.text[s.at] == '}' || s.text[s.at] == ']') {
				continue
			}
			if s.values++; s.values > MaxValues {
				return s.refuse(MaxValues, true)
			}
		case '}', ']':
			depth--
			s.at++
		default:
			s.at++
		}
		if depth == 0 && (s.at == len(s.text) || ends(s.text[s.at])) {
			return true
		}
	}
	return false
}

// ends reports whether a value cannot go on with a byte.
func ends(c byte) bool { return c == ',' || c == '}' || c == ']' }

// space passes over what separates tokens, and reports whether anything follows.
func (s *scale) space() bool {
	for ; s.at < len(s.text); s.at++ {
		switch s.text[s.at] {
		case ' ', '\t', '\r', '\n':
		default:
			return true
		}
	}
	return false
}

// plain passes over a number, or over true, false or null.
func (s *scale) plain() bool {
	start := s.at
	for ; s.at < len(s.text); s.at++ {
		switch c := s.text[s.at]; {
		case c >= '0' && c <= '9', c >= 'a' && c <= 'z', c == '-', c == '+', c == '.', c == 'E':
		default:
			return s.at > start
		}
	}
	return true
}

// quoted passes over a string and returns it with its quotes.
func (s *scale) quoted() ([]byte, bool) {
	start := s.at
	if s.at = stringEnd(s.text, start); s.at == len(s.text) {
		return nil, false
	}
	s.at++
	return s.text[start:s.at], true
}

// next passes over the end of a member, and reports whether another follows.
func (s *scale) next(end byte) (another, ok bool) {
	if !s.space() {
		return false, false
	}
	c := s.text[s.at]
	s.at++
	return c == ',', c == ',' || c == end
}

func (s *scale) closed(end byte) bool {
	if s.space() && s.text[s.at] == end {
		s.at++
		return true
	}
	return false
}

func (s *scale) list(of *shape) bool {
	if s.closed(']') {
		return true
	}
	for n := 1; ; n++ {
		if !s.count(of, n) || !s.inside(step{index: n - 1}, of.each) {
			return false
		}
		if another, ok := s.next(']'); !another || !ok {
			return ok
		}
	}
}

func (s *scale) object(of *shape) bool {
	if s.closed('}') {
		return true
	}
	for n := 1; ; n++ {
		if !s.count(of, n) || !s.space() || s.text[s.at] != '"' {
			return false
		}
		name, ok := s.quoted()
		if !ok || !s.space() || s.text[s.at] != ':' {
			return false
		}
		s.at++
		if !s.member(of, name) {
			return false
		}
		if another, ok := s.next('}'); !another || !ok {
			return ok
		}
	}
}

// member reads the value of an object's member.
func (s *scale) member(of *shape, quoted []byte) bool {
	if of == asSent {
		return s.value(asSent)
	}
	name := quoted[1 : len(quoted)-1]
	if bytes.IndexByte(name, '\\') >= 0 {
		var err error
		if name, err = jsontext.AppendUnquote(nil, quoted); err != nil {
			return false
		}
	}
	inner := of.each
	if of.fields != nil {
		inner = of.fields[string(name)]
	}
	return s.inside(step{name: name}, inner)
}

// inside reads a value one level below; its shape is nil for a member that is not known.
func (s *scale) inside(at step, of *shape) bool {
	if of == nil || of == asSent {
		return s.value(asSent)
	}
	s.path = append(s.path, at)
	ok := s.value(of)
	if s.crowded == nil {
		s.path = s.path[:len(s.path)-1]
	}
	return ok
}

// count takes the nth member of a list or object into account.
func (s *scale) count(of *shape, n int) bool {
	if s.values++; s.values > MaxValues {
		return s.refuse(MaxValues, true)
	}
	if of.each == nil {
		return true
	}
	if n > of.max {
		return s.refuse(of.max, false)
	}
	if s.members++; s.members > MaxAllMembers {
		return s.refuse(MaxAllMembers, true)
	}
	s.bytes += of.size
	return true
}

func (s *scale) refuse(most int, whole bool) bool {
	refused := &CrowdedError{Offset: int64(s.at), Max: most, Whole: whole}
	for _, at := range s.path {
		name := string(at.name)
		if at.name == nil {
			name = strconv.Itoa(at.index)
		}
		refused.Pointer = refused.Pointer.AppendToken(name)
	}
	s.crowded = refused
	return false
}
