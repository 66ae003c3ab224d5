package plainly

import (
	"encoding"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// plain returns the type that a pointer leads to.
func plain(t reflect.Type) reflect.Type {
	for t != nil && t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return t
}

// speaks reports whether a type says itself what is wrong with a text.
func speaks(t reflect.Type) bool {
	p := reflect.PointerTo(t)
	return p.Implements(reflect.TypeFor[json.UnmarshalerFrom]()) || p.Implements(reflect.TypeFor[json.Unmarshaler]())
}

// kindFor returns what JSON is decoded into a type; 0 where that is not one kind.
func kindFor(t reflect.Type) jsontext.Kind {
	if reflect.PointerTo(t).Implements(reflect.TypeFor[encoding.TextUnmarshaler]()) {
		return '"'
	}
	switch k := t.Kind(); {
	case k == reflect.String:
		return '"'
	case k == reflect.Bool:
		return 't'
	case k >= reflect.Int && k <= reflect.Float64:
		return '0'
	case k == reflect.Struct, k == reflect.Map:
		return '{'
	case k != reflect.Slice && k != reflect.Array:
		return 0
	case t.Elem().Kind() == reflect.Uint8:
		return '"'
	}
	return '['
}

// alike is one kind for those that begin and end the same, or are the two truth values.
func alike(k jsontext.Kind) jsontext.Kind {
	switch k {
	case 'f':
		return 't'
	case '}':
		return '{'
	case ']':
		return '['
	}
	return k
}

func isScalar(k jsontext.Kind) bool { return k == '0' || alike(k) == 't' }

// expected says what JSON is decoded into a type.
func expected(t reflect.Type) string {
	kind := kindFor(t)
	switch {
	case t == reflect.TypeFor[time.Time]():
		return "a time, such as 2026-01-31T08:00:00Z"
	case kind == '"' && t.Kind() != reflect.Struct && t.Kind() != reflect.String && t.Kind() != reflect.Map:
		return "a text in base64"
	case kind == 't':
		return "true or false"
	case kind == '0':
		return number(t.Kind())
	case kind == 0:
		return "something else"
	}
	return got(kind)
}

func number(k reflect.Kind) string {
	switch {
	case k == reflect.Float32 || k == reflect.Float64:
		return "a number"
	case k >= reflect.Uint:
		return "a whole number, 0 or more"
	}
	return "a whole number"
}

// bounds says between which numbers one has to be that a type holds.
func bounds(t reflect.Type) string {
	switch k := t.Kind(); k {
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		return fmt.Sprintf(", at most %d", uint64(math.MaxUint64)>>(64-t.Bits()))
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		most := int64(math.MaxInt64) >> (64 - t.Bits())
		return fmt.Sprintf(" from %d to %d", -most-1, most)
	}
	return ""
}

// got says what JSON there is.
func got(k jsontext.Kind) string {
	switch k {
	case 'n':
		return "null"
	case 't':
		return "true"
	case 'f':
		return "false"
	case '"':
		return "a text"
	case '0':
		return "a number"
	case '{', '}':
		return "an object"
	default:
		return "a list"
	}
}

// mostTold is how many members are told of an object without the one that was named.
const mostTold = 16

// unknown says that an object has no such member, and which ones it has.
func unknown(p jsontext.Pointer, t reflect.Type) string {
	name, parent := p.LastToken(), p.Parent()
	words := fmt.Sprintf("there is no member %q", shortened(name))
	if parent != "" {
		words += " in " + place(parent)
	}
	all := members(t)
	if near := Nearest(name, slices.Values(all)); near != "" {
		return words + fmt.Sprintf(": did you mean %q?", near)
	}
	switch {
	case len(all) == 0:
		return words
	case len(all) > mostTold:
		return words + ": there are " + strings.Join(all[:mostTold], ", ") + fmt.Sprintf(" and %d more", len(all)-mostTold)
	}
	return words + ": there is " + List(all, "and")
}

func shortened(name string) string {
	if len(name) <= longestPlace {
		return name
	}
	return strings.ToValidUTF8(name[:longestPlace], "") + "…"
}

// members are the names that an object has which is decoded into a type, sorted.
func members(t reflect.Type) []string {
	if t = plain(t); t == nil || t.Kind() != reflect.Struct {
		return nil
	}
	var names []string
	for f := range t.Fields() {
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case name == "-":
		case f.Anonymous && name == "", strings.Contains(options, "embed"), strings.Contains(options, "inline"):
			names = append(names, members(f.Type)...)
		case !f.IsExported():
		case name == "":
			names = append(names, f.Name)
		default:
			names = append(names, strings.Trim(name, "'"))
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}
