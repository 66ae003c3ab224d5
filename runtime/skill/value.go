package skill

import (
	"maps"
	"slices"
	"strconv"
)

// kinds is a set of the types that a JSON value may have.
type kinds uint8

const (
	kindNull kinds = 1 << iota
	kindBoolean
	kindNumber
	kindInteger
	kindString
	kindArray
	kindObject
)

// kindNames are the types as schemas name them.
var kindNames = []string{"null", "boolean", "number", "integer", "string", "array", "object"}

func kindsNamed(names []string) (set kinds) {
	for _, name := range names {
		set |= 1 << slices.Index(kindNames, name)
	}
	return set
}

func (k kinds) String() string {
	text := ""
	for i, name := range kindNames {
		if k&(1<<i) != 0 {
			text += " or " + name
		}
	}
	if text == "" {
		return "nothing"
	}
	return text[len(" or "):]
}

func kindOf(v any) kinds {
	switch v.(type) {
	case bool:
		return kindBoolean
	case number:
		return kindNumber
	case string:
		return kindString
	case []any:
		return kindArray
	case map[string]any:
		return kindObject
	}
	return kindNull
}

// appendKey appends what is the same for equal values only, in whichever way they are
// written. It stops where the effort ends.
func appendKey(b []byte, v any, e *effort) []byte {
	if !e.spend(perName) {
		return b
	}
	switch v := v.(type) {
	case nil:
		return append(b, 'z')
	case bool:
		return strconv.AppendBool(b, v)
	case number:
		e.spend(perByte * len(v.String()))
		return append(readDecimal(v.String()).appendTo(append(b, 'n')), ';')
	case string:
		return appendText(b, v, e)
	case []any:
		b = append(strconv.AppendInt(append(b, '['), int64(len(v)), 10), ':')
		for _, item := range v {
			b = appendKey(b, item, e)
		}
	case map[string]any:
		b = append(strconv.AppendInt(append(b, '{'), int64(len(v)), 10), ':')
		for _, name := range slices.Sorted(maps.Keys(v)) {
			b = appendKey(appendText(b, name, e), v[name], e)
		}
	}
	return b
}

func appendText(b []byte, text string, e *effort) []byte {
	if !e.spend(perByte * len(text)) {
		return b
	}
	b = append(strconv.AppendInt(append(b, '"'), int64(len(text)), 10), ':')
	return append(b, text...)
}
