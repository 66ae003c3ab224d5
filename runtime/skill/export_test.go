package skill

import "context"

// The units that a check may take, and those between two looks at its context.
const (
	MaxWork = maxWork
	PerLook = perLook
)

// Work returns how many units it takes to check a value.
func (s *Schema) Work(ctx context.Context, value any) (int, error) {
	e := &effort{ctx: ctx}
	hold(e, s.rule, value, spot{chain: &chain{nil, s.rule}})
	return e.work, e.err
}

// Read parses a value as it is checked.
func Read(text []byte) (any, error) { return read(text) }
