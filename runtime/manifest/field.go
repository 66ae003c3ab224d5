package manifest

import (
	"slices"
	"strings"
)

// member is what is declared of a field.
type member struct {
	name     string
	words    string
	bounds   string
	preset   string // what it is when it is not stated, in words; "" when nothing is
	doc      string
	required bool
	schema   *Editor
	members  []member
}

// field is the declaration of a field of M.
type field[M any] struct {
	member
	read func(r *reader, n *node, into *M)
}

// of declares a field: its form, its place, and what is said of it.
func of[M, V any](name string, f form[V], place func(*M) *V, doc string) field[M] {
	return field[M]{member{name: name, words: f.words, bounds: f.bounds, doc: doc, schema: f.schema, members: f.members},
		func(r *reader, n *node, into *M) {
			if v, ok := f.read(r, n); ok {
				*place(into) = v
			}
		}}
}

// needed declares that a manifest states the field.
func (f field[M]) needed() field[M] {
	f.required = true
	return f
}

// else says what the field is when it is not stated.
func (f field[M]) otherwise(preset string) field[M] {
	f.preset = preset
	return f
}

// tableOf is a table with fields of its own.
func tableOf[M any](fields ...field[M]) form[M] {
	f := form[M]{words: "table", schema: &Editor{Type: "object", Properties: map[string]*Editor{}, Additional: false}}
	for i := range fields {
		m := fields[i].member
		f.members = append(f.members, m)
		f.schema.Properties[m.name] = m.described()
		if m.required {
			f.schema.Required = append(f.schema.Required, m.name)
		}
	}
	f.read = func(r *reader, n *node) (M, bool) {
		var m M
		if !r.is(n, aTable, "a table") {
			return m, false
		}
		readFields(r, n, &m, fields)
		return m, true
	}
	return f
}

func readFields[M any](r *reader, n *node, into *M, fields []field[M]) {
	var names []string
	for i := range fields {
		names = append(names, fields[i].name)
		if fields[i].required && n.members[fields[i].name] == nil {
			r.missing(n, fields[i].member)
		}
	}
	for _, name := range n.names {
		value := n.members[name]
		i := slices.Index(names, name)
		if i < 0 {
			r.unknown(value, name, names)
			continue
		}
		r.within(name, value, func() { fields[i].read(r, value, into) })
	}
}

func (r *reader) missing(n *node, m member) {
	key := joined(append(slices.Clone(r.path), m.name))
	r.fail(MissingKey, n.key, key, "%s is missing", "add "+m.name+" = …: "+firstSentence(m.doc), key)
}

func firstSentence(doc string) string {
	first, _, _ := strings.Cut(doc, ". ")
	return strings.TrimSuffix(first, ".")
}

// maxNamed is how many tables with names of their own there can be.
const maxNamed = 200

// named are tables with names of their own, in the order in which they are stated.
func named[M any](key string, valid form[string], name func(*M) *string, f form[M]) form[[]M] {
	all := form[[]M]{words: "tables", bounds: "by name: " + valid.bounds, schema: &Editor{Type: "object", Additional: f.schema, MaxProperties: maxNamed}}
	for _, m := range f.members {
		m.name = key + "." + m.name
		all.members = append(all.members, m)
	}
	all.read = func(r *reader, n *node) (list []M, ok bool) {
		if !r.is(n, aTable, "a table") {
			return nil, false
		}
		if len(n.names) > maxNamed {
			r.wrong(InvalidValue, n, "remove some", "it has %d entries, and may have %d", len(n.names), maxNamed)
			return nil, false
		}
		for _, called := range n.names {
			value := n.members[called]
			r.within(barekey(called), value, func() {
				if _, ok := valid.read(r, &node{kind: aText, at: value.key, key: value.key, text: called}); !ok {
					return
				}
				if m, ok := f.read(r, value); ok {
					*name(&m) = called
					list = append(list, m)
				}
			})
		}
		return list, true
	}
	return all
}
