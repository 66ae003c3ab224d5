package tape

import "strconv"

// Value is a value of a document. The zero Value is one that is not there: every
// method may be called on it.
type Value struct {
	d *Doc
	i uint32
}

// Kind says what the value is.
func (v Value) Kind() Kind {
	if v.d == nil {
		return Missing
	}
	return v.d.nodes[v.i].kind()
}

// Raw returns the value as it stands in the text.
func (v Value) Raw() string {
	if v.d == nil {
		return ""
	}
	n := v.d.nodes[v.i]
	return v.d.text[n.start:n.end]
}

// Get returns the member of the given name: a missing value when there is none, or v
// is no object.
func (v Value) Get(name string) Value {
	if v.Kind() != Object {
		return Value{}
	}
	d, end := v.d, v.d.nodes[v.i].next
	for n := v.i + 1; n < end; n = d.nodes[n+1].next {
		if is := &d.nodes[n]; (is.end-is.start == uint32(len(name)+2) || is.escaped()) && d.content(int(n)) == name {
			return Value{d, n + 1}
		}
	}
	return Value{}
}

// At is [Value.Get] for a name in a name in a name.
func (v Value) At(names ...string) Value {
	for _, name := range names {
		v = v.Get(name)
	}
	return v
}

// Text returns the text of a string, "" for everything else.
func (v Value) Text() string {
	if v.Kind() != String {
		return ""
	}
	return v.d.content(int(v.i))
}

// Word returns a string's text, and a number, true or false as they stand: what fits
// into a sentence. ok is false for everything else.
func (v Value) Word() (word string, ok bool) {
	switch v.Kind() {
	case String:
		return v.Text(), true
	case Number, True, False:
		return v.Raw(), true
	}
	return "", false
}

// Float returns a number.
func (v Value) Float() (f float64, ok bool) {
	if v.Kind() != Number {
		return 0, false
	}
	f, err := strconv.ParseFloat(v.Raw(), 64)
	return f, err == nil
}

// Members calls f for each member of an object, until f returns false.
func (v Value) Members(f func(name string, value Value) bool) {
	if v.Kind() != Object {
		return
	}
	nodes := v.d.nodes
	for n := v.i + 1; n < nodes[v.i].next; n = nodes[n+1].next {
		if !f(v.d.content(int(n)), Value{v.d, n + 1}) {
			return
		}
	}
}

// Elements calls f for each element of an array, until f returns false.
func (v Value) Elements(f func(element Value) bool) {
	if v.Kind() != Array {
		return
	}
	nodes := v.d.nodes
	for n := v.i + 1; n < nodes[v.i].next; n = nodes[n].next {
		if !f(Value{v.d, n}) {
			return
		}
	}
}

// Children calls f for each member's value or each element, until f returns false.
func (v Value) Children(f func(child Value) bool) {
	v.Members(func(_ string, value Value) bool { return f(value) })
	v.Elements(f)
}

// Len returns how many members or elements there are.
func (v Value) Len() (n int) {
	v.Children(func(Value) bool { n++; return true })
	return n
}
