package jsonpath

import (
	"strings"

	"github.com/wharf-dev/wharf/plugins/connectors/tape"
)

// condition is a filter, or a part of one.
type condition interface {
	holds(r *run, current tape.Value) bool
}

type anyOf []condition
type allOf []condition
type not struct{ condition }

// exists holds when a path finds something.
type exists struct{ path *Path }

// comparison holds when two values compare as they should.
type comparison struct {
	operator    string
	left, right operand
}

// operand is a path that finds at most one value, or a literal.
type operand struct {
	path    *Path
	literal tape.Value
}

func (c anyOf) holds(r *run, current tape.Value) bool {
	for _, one := range c {
		if one.holds(r, current) {
			return true
		}
	}
	return false
}

func (c allOf) holds(r *run, current tape.Value) bool {
	for _, one := range c {
		if !one.holds(r, current) {
			return false
		}
	}
	return true
}

func (c not) holds(r *run, current tape.Value) bool { return !c.condition.holds(r, current) }

func (c exists) holds(r *run, current tape.Value) bool {
	found := false
	r.path(c.path, current, func(tape.Value) bool {
		found = true
		return false
	})
	return found
}

func (o operand) value(r *run, current tape.Value) (found tape.Value) {
	if o.path == nil {
		return o.literal
	}
	r.path(o.path, current, func(v tape.Value) bool {
		found = v
		return false
	})
	return found
}

func (c comparison) holds(r *run, current tape.Value) bool {
	left, right := c.left.value(r, current), c.right.value(r, current)
	switch c.operator {
	case "==":
		return r.equal(left, right)
	case "!=":
		return !r.equal(left, right)
	case "<":
		return less(left, right)
	case ">":
		return less(right, left)
	case "<=":
		return less(left, right) || r.equal(left, right)
	}
	return less(right, left) || r.equal(left, right)
}

func less(a, b tape.Value) bool {
	if a.Kind() == tape.String && b.Kind() == tape.String {
		return strings.Compare(a.Text(), b.Text()) < 0
	}
	x, isNumber := a.Float()
	y, both := b.Float()
	return isNumber && both && x < y
}

// equal compares values, also those that hold others. What is missing equals what is
// missing.
func (r *run) equal(a, b tape.Value) bool {
	if a.Kind() != b.Kind() || !r.visit() {
		return false
	}
	switch a.Kind() {
	case tape.String:
		return a.Text() == b.Text()
	case tape.Number:
		x, _ := a.Float()
		y, _ := b.Float()
		return x == y
	case tape.Object:
		return a.Len() == b.Len() && r.sameMembers(a, b)
	case tape.Array:
		return a.Len() == b.Len() && r.sameElements(a, b)
	}
	return true
}

func (r *run) sameMembers(a, b tape.Value) bool {
	same := true
	a.Members(func(name string, value tape.Value) bool {
		same = r.equal(value, b.Get(name))
		return same
	})
	return same
}

func (r *run) sameElements(a, b tape.Value) bool {
	var other []tape.Value
	b.Elements(func(e tape.Value) bool { other = append(other, e); return true })
	same, i := true, 0
	a.Elements(func(e tape.Value) bool {
		same = r.equal(e, other[i])
		i++
		return same
	})
	return same
}
