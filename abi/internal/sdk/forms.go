package sdk

import "fmt"

// writeForms writes the forms of requests as JSON: an object of each struct that is part of one, whose members say
// what they are, and which struct the request of each call is, with a "?" where there may be none. Python and JavaScript read it as it is.
func writeForms(l *lines, api *API, forms, requests string) {
	l.f("%s {", forms)
	for _, s := range api.Structs {
		if !s.Requested {
			continue
		}
		l.f("    %q: {", s.Name)
		for _, f := range s.Fields {
			l.f("        %q: %q,", f.Name, formOf(f.Type))
		}
		l.f("    },")
	}
	l.f("}\n\n%s {", requests)
	for _, c := range api.Calls {
		if c.Request != nil {
			name := c.Request.Name
			if c.Optional {
				name += "?"
			}
			l.f("    %q: %q,", c.Name, name)
		}
	}
	l.f("}")
}

// formOf is a word for what a value is: of an object the name of its struct, of a list or a map that of its elements.
func formOf(t Type) string {
	switch t.Kind {
	case Object:
		return t.Struct.Name
	case List:
		return fmt.Sprintf("[%s]", formOf(*t.Elem))
	case Map:
		return fmt.Sprintf("{%s}", formOf(*t.Elem))
	}
	return scalar(t.Kind)
}

// scalar is a word for what has no members. Times and bytes are texts, too.
func scalar(k Kind) string {
	switch k {
	case JSON:
		return "json"
	case Bool:
		return "bool"
	case Integer:
		return "integer"
	case Natural:
		return "natural"
	case Number:
		return "number"
	}
	return "text"
}
