package plainly

import (
	"reflect"
	"strings"
)

// List writes names as people do: a, b and c, with the last word between the last two.
func List[T ~string](names []T, last string) string {
	var text strings.Builder
	for i, name := range names {
		switch {
		case i == 0:
		case i == len(names)-1:
			text.WriteString(" " + last + " ")
		default:
			text.WriteString(", ")
		}
		text.WriteString(string(name))
	}
	return text.String()
}

// Or is [List] for names of which one is to be chosen.
func Or[T ~string](names []T) string { return List(names, "or") }

// Put puts the arguments of a message in words, where they are: what [Say] says for an error, and [Or]
// for a list of names. The slice is the one that a variadic call has made, which nobody else looks at;
// what formats it afterwards is still seen as a printf by vet.
func Put(args []any) {
	for i, arg := range args {
		args[i] = inWords(arg)
	}
}

func inWords(arg any) any {
	if err, ok := arg.(error); ok {
		return said{err}
	}
	list := reflect.ValueOf(arg)
	if list.Kind() != reflect.Slice || list.Type().Elem().Kind() != reflect.String {
		return arg
	}
	names := make([]string, list.Len())
	for i := range names {
		names[i] = list.Index(i).String()
	}
	return Or(names)
}

// said is an error that says itself in words.
type said struct{ error }

func (s said) Error() string { return Say(s.error) }
