package rewrite

import "strings"

// ImportsFunction is the kind of an [Import] that is a function.
const ImportsFunction = 0

// Signature is a function type: the parameters' and the results' value types as they are
// encoded.
type Signature struct{ Params, Results string }

// Signature returns the type of an import that is a function.
func (i Import) Signature() Signature { return Signature{i.Params, i.Results} }

// String writes a signature as (i32, i32) -> (i64).
func (s Signature) String() string {
	return "(" + typeNames(s.Params) + ") -> (" + typeNames(s.Results) + ")"
}

func typeNames(types string) string {
	var names []string
	for i := range len(types) {
		names = append(names, typeName(types[i]))
	}
	return strings.Join(names, ", ")
}

func typeName(v byte) string {
	switch valType(v) {
	case i32:
		return "i32"
	case i64:
		return "i64"
	case f32:
		return "f32"
	case f64:
		return "f64"
	case v128:
		return "v128"
	case funcref:
		return "funcref"
	case externref:
		return "externref"
	}
	return "unknown"
}
