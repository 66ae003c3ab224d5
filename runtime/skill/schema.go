package skill

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

// The bounds on what is checked.
const (
	MaxSchema = 32 << 10 // bytes of a schema
	maxValue  = 1 << 20  // bytes of a value
	maxNested = 64       // how deep values and schemas are nested
	maxReason = 500      // bytes of what is told to be wrong
)

// place is the name under which a schema is compiled. Nothing is loaded from it.
const place = "wharf:///skill"

// Schema is a compiled JSON Schema. It is safe for concurrent use.
type Schema struct {
	compiled *jsonschema.Schema
	mu       sync.Mutex // guards effort: one value is checked at a time
	effort   effort
}

// Compile compiles a JSON Schema: an object of at most [MaxSchema] bytes that refers
// to nothing outside itself.
func Compile(text []byte) (*Schema, error) {
	if len(text) > MaxSchema {
		return nil, fmt.Errorf("the schema has %d bytes, more than %d", len(text), MaxSchema)
	}
	if jsontext.Value(text).Kind() != '{' {
		return nil, errors.New("the schema is no JSON object")
	}
	doc, err := read(text)
	if err != nil {
		return nil, err
	}
	c := jsonschema.NewCompiler()
	c.UseLoader(nothing{})
	if err := c.AddResource(place, doc); err != nil {
		return nil, shown(err)
	}
	s, err := c.Compile(place)
	if err != nil {
		return nil, shown(err)
	}
	checked := &Schema{compiled: s, effort: effort{known: map[*jsonschema.Schema]bool{}}}
	return checked, checked.effort.meter(s)
}

// Check says what is wrong with a value.
func (s *Schema) Check(value []byte) error {
	if len(value) > maxValue {
		return fmt.Errorf("it has %d bytes, more than the %d that are checked", len(value), maxValue)
	}
	v, err := read(value)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.effort.steps = 0
	err = s.compiled.Validate(v)
	if s.effort.steps > maxSteps {
		return errEffort
	}
	return shown(err)
}

// read parses JSON that is not nested too deep.
func read(text []byte) (any, error) {
	d := jsontext.NewDecoder(bytes.NewReader(text))
	for {
		if _, err := d.ReadToken(); err != nil {
			break // its end, or what the parser below refuses as well
		}
		if d.StackDepth() > maxNested {
			return nil, fmt.Errorf("it is nested deeper than %d", maxNested)
		}
	}
	return jsonschema.UnmarshalJSON(bytes.NewReader(text))
}

// shown puts what the validator says into one line of bounded length.
func shown(err error) error {
	if err == nil {
		return nil
	}
	text := err.Error()
	if invalid, ok := errors.AsType[*jsonschema.ValidationError](err); ok {
		if _, details, found := strings.Cut(invalid.Error(), "\n"); found {
			text = details
		}
	}
	text = strings.Join(strings.Fields(text), " ")
	if len(text) > maxReason {
		text = strings.ToValidUTF8(text[:maxReason], "") + " …"
	}
	return errors.New(text)
}

// nothing loads no schema.
type nothing struct{}

// Load implements jsonschema.URLLoader.
func (nothing) Load(url string) (any, error) {
	return nil, fmt.Errorf("a schema refers to nothing outside itself, but this one to %s", url)
}
