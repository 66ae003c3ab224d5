package skill

import (
	"errors"
	"fmt"
	"reflect"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// maxSteps bounds how many times a schema, or a part of it, is held against a value or
// a part of that. A small schema whose parts refer to each other can ask for more steps
// than there is time for. Steps are counted, and not timed, so that the same is said of
// the same value on any machine.
const maxSteps = 250_000

var errEffort = fmt.Errorf("to hold it against the schema takes more than %d steps", maxSteps)

// effort counts steps. The validator checks a value's format before anything that
// lies below it, so a format that counts, and that nothing fits once there were too
// many steps, ends the work.
type effort struct {
	steps int
	known map[*jsonschema.Schema]bool
}

// spend is called for each step.
func (e *effort) spend() error {
	if e.steps++; e.steps > maxSteps {
		return errEffort
	}
	return nil
}

// meter puts the counting format on a schema and on all that it is made of.
func (e *effort) meter(s *jsonschema.Schema) error {
	if s == nil || e.known[s] {
		return nil
	}
	e.known[s] = true
	if !strings.HasPrefix(s.Location, place) {
		return fmt.Errorf("a schema refers to nothing outside itself, but this one to %s", s.Location)
	}
	if s.DynamicRef != nil || s.RecursiveRef != nil {
		return errors.New("$dynamicRef and $recursiveRef are not taken: say $ref")
	}
	own := s.Format
	s.Format = &jsonschema.Format{Validate: func(v any) error { return e.spend() }}
	if own != nil {
		s.Format = &jsonschema.Format{Name: own.Name, Validate: func(v any) error { return errors.Join(e.spend(), own.Validate(v)) }}
	}
	return e.meterIn(reflect.ValueOf(s).Elem())
}

// meterIn meters the schemas that a value holds.
func (e *effort) meterIn(v reflect.Value) (err error) {
	switch v.Kind() {
	case reflect.Pointer:
		if s, ok := v.Interface().(*jsonschema.Schema); ok {
			return e.meter(s)
		}
	case reflect.Interface:
		if !v.IsNil() {
			return e.meterIn(v.Elem())
		}
	case reflect.Struct:
		for field, value := range v.Fields() {
			if field.IsExported() && err == nil {
				err = e.meterIn(value)
			}
		}
	case reflect.Slice:
		for i := 0; i < v.Len() && err == nil; i++ {
			err = e.meterIn(v.Index(i))
		}
	case reflect.Map:
		for i := v.MapRange(); err == nil && i.Next(); {
			err = e.meterIn(i.Value())
		}
	}
	return err
}
