package skill

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/wharf-dev/wharf/runtime/turns"
)

// The bounds on what is checked.
const (
	MaxSchema = 32 << 10 // bytes of a schema
	maxValue  = 1 << 20  // bytes of a value
	maxNested = 64       // how deep values and schemas are nested
	maxReason = 500      // bytes of what is told to be wrong
	maxDigits = 20_000   // digits of the numbers of a schema, written out
)

// place is the name under which a schema is compiled. Nothing is loaded from it.
const place = "wharf:///skill"

// Schema is a compiled JSON Schema. It is safe for concurrent use.
type Schema struct {
	rule *rule
}

// Compile compiles a JSON Schema: an object of at most [MaxSchema] bytes that refers
// to nothing outside itself.
func Compile(text []byte) (*Schema, error) {
	s, _, err := compile(text)
	return s, err
}

// Accept says whether a JSON Schema is taken for a Skill. It is stricter than
// [Compile], which is also for schemas that were taken before.
func Accept(text []byte) error {
	_, used, err := compile(text)
	if err != nil {
		return err
	}
	return used.taken()
}

func compile(text []byte) (*Schema, *patterns, error) {
	if len(text) > MaxSchema {
		return nil, nil, fmt.Errorf("the schema has %d bytes, more than %d", len(text), MaxSchema)
	}
	if jsontext.Value(text).Kind() != '{' {
		return nil, nil, errors.New("the schema is no JSON object")
	}
	doc, err := read(text)
	if err != nil {
		return nil, nil, err
	}
	if err := checkNumbers(doc); err != nil {
		return nil, nil, err
	}
	used := &patterns{known: map[string]*pattern{}}
	c := jsonschema.NewCompiler()
	c.UseLoader(nothing{})
	c.UseRegexpEngine(used.compile)
	if err := c.AddResource(place, doc); err != nil {
		return nil, nil, shown(err)
	}
	s, err := c.Compile(place)
	if err != nil {
		return nil, nil, shown(err)
	}
	made := rules{known: map[*jsonschema.Schema]*rule{}}
	root := made.of(s)
	return &Schema{rule: root}, used, made.err
}

// Check says what is wrong with a value; see [Wrong] for an error that says something
// else. The context ends it. What takes long of it takes turns.
func (s *Schema) Check(ctx context.Context, turns *turns.Turns, value []byte) error {
	if len(value) > maxValue {
		return fmt.Errorf("it has %d bytes, more than the %d that are checked", len(value), maxValue)
	}
	var v any
	err := turns.Do(ctx, len(value), func() (err error) {
		v, err = read(value)
		return err
	})
	if err != nil {
		return err
	}
	e := &effort{ctx: ctx, turns: turns}
	defer e.end()
	_, wrong := hold(e, s.rule, v, spot{chain: &chain{nil, s.rule}})
	switch {
	case e.err != nil:
		return e.err
	case wrong != nil:
		return shown(wrong)
	}
	return nil
}

// read parses JSON that is not nested too deep.
func read(text []byte) (any, error) {
	d := jsontext.NewDecoder(bytes.NewReader(text), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
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
