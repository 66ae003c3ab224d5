package receipt

import (
	"bytes"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"strconv"
	"sync"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/wharf-dev/wharf/abi"
)

//go:embed schema.json
var schemaText []byte

// Schema returns the JSON Schema of receipts. The caller owns it.
func Schema() []byte { return bytes.Clone(schemaText) }

var compiledSchema = sync.OnceValues(compileSchema)

func compileSchema() (*jsonschema.Schema, error) {
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(schemaText))
	if err != nil {
		return nil, fmt.Errorf("reading the schema of receipts: %w", err)
	}
	const name = "urn:wharf:schema:" + abi.ReceiptSchema
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	if err := c.AddResource(name, doc); err != nil {
		return nil, fmt.Errorf("reading the schema of receipts: %w", err)
	}
	return c.Compile(name)
}

// CheckSchema reports how a receipt differs from the schema, nil when it does not. Lists are
// held against it member by member: decoded at one time, those of a stranger take a hundred
// times their bytes.
func CheckSchema(wire []byte) error {
	schema, err := compiledSchema()
	if err != nil {
		return err
	}
	// Whether a name is there twice is checked where the receipt is decoded.
	r := &schemaReader{jsontext.NewDecoder(bytes.NewBuffer(wire), jsontext.AllowDuplicateNames(true))}
	doc, err := r.value(schema)
	if err != nil {
		return fmt.Errorf("reading the receipt: %w", err)
	}
	if _, err := r.dec.ReadToken(); !errors.Is(err, io.EOF) {
		return errors.New("reading the receipt: there is something behind it")
	}
	return schema.Validate(doc)
}

// schemaReader reads JSON by a schema. It knows the keywords of the schema of receipts, of
// which none says how many members a list has.
type schemaReader struct{ dec *jsontext.Decoder }

// value reads a value, and returns what is left to be held against its schema: a list is
// empty, for its members were, and an object has the members that the schema names.
func (r *schemaReader) value(s *jsonschema.Schema) (any, error) {
	for s != nil && s.Ref != nil {
		s = s.Ref
	}
	switch r.dec.PeekKind() {
	case '{':
		return r.object(s)
	case '[':
		return r.list(s)
	}
	t, err := r.dec.ReadToken()
	if err != nil {
		return nil, err
	}
	switch t.Kind() {
	case 'n':
		return nil, nil
	case '"':
		return t.String(), nil
	case '0':
		return number(t.String())
	}
	return t.Bool(), nil
}

// number returns a number as a double, as RFC 8785 takes all of them.
func number(text string) (any, error) {
	f, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return nil, fmt.Errorf("a number is too large: %w", err)
	}
	return f, nil
}

func (r *schemaReader) object(s *jsonschema.Schema) (any, error) {
	if _, err := r.dec.ReadToken(); err != nil {
		return nil, err
	}
	members := map[string]any{}
	strangers := 0
	for r.dec.PeekKind() != '}' {
		name, err := r.dec.ReadToken()
		if err != nil {
			return nil, err
		}
		member := name.String() // before the next token takes its place
		sub := property(s, member)
		if sub == nil {
			if strangers++; strangers == 1 && closed(s) { // one is enough to be refused for
				members[member] = nil
			}
			if err := r.dec.SkipValue(); err != nil {
				return nil, err
			}
			continue
		}
		if members[member], err = r.value(sub); err != nil {
			return nil, err
		}
	}
	_, err := r.dec.ReadToken()
	return members, err
}

// property returns the schema of an object's member, or nil where there is none.
func property(s *jsonschema.Schema, name string) *jsonschema.Schema {
	if s == nil {
		return nil
	}
	if sub, ok := s.Properties[name]; ok {
		return sub
	}
	others, _ := s.AdditionalProperties.(*jsonschema.Schema)
	return others
}

func closed(s *jsonschema.Schema) bool { return s != nil && s.AdditionalProperties == false }

func (r *schemaReader) list(s *jsonschema.Schema) (any, error) {
	if s == nil || s.Items2020 == nil {
		return []any{}, r.dec.SkipValue()
	}
	if _, err := r.dec.ReadToken(); err != nil {
		return nil, err
	}
	for r.dec.PeekKind() != ']' {
		member, err := r.value(s.Items2020)
		if err == nil {
			err = s.Items2020.Validate(member)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", r.dec.StackPointer(), err)
		}
	}
	_, err := r.dec.ReadToken()
	return []any{}, err
}
