package reference

import (
	"fmt"
	"reflect"
	"slices"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/abi/schema"
)

// SchemaID names the document of [Schemas].
const SchemaID = "urn:wharf:" + abi.ABIVersion + ":host-calls"

// document holds schemas by their names.
type document struct {
	Schema string                    `json:"$schema"`
	ID     string                    `json:"$id"`
	Title  string                    `json:"title"`
	Defs   map[string]*schema.Schema `json:"$defs"`
}

// Schemas returns the JSON Schemas of the host calls as one document. Its $defs has
// <call>.request and <call>.answer for each body that is JSON, error for the answer of
// a call that failed, and the types that they share.
func Schemas(s *Source) ([]byte, error) {
	b := newBuilder(s)
	b.shared["error"] = b.object(reflect.TypeFor[abi.CallError]())
	for _, call := range abi.HostCalls() {
		if call.RequestType != nil {
			b.shared[call.Name+".request"] = b.request(reflect.TypeOf(call.RequestType))
		}
		if call.AnswerType != nil {
			b.shared[call.Name+".answer"] = b.object(reflect.TypeOf(call.AnswerType))
		}
	}
	return written(document{ID: SchemaID, Title: "The host calls of Wharf, " + abi.ABIVersion, Defs: b.shared})
}

// written is a document as its file holds it.
func written(doc document) ([]byte, error) {
	doc.Schema = "https://json-schema.org/draft/2020-12/schema"
	text, err := json.Marshal(doc, json.Deterministic(true), jsontext.WithIndent("  "))
	if err != nil {
		return nil, fmt.Errorf("writing the schemas: %w", err)
	}
	return append(text, '\n'), nil
}

// builder turns types into schemas, each shared type once.
type builder struct {
	source *Source
	shared map[string]*schema.Schema // by name: the $defs
	types  schema.Builder
}

func newBuilder(s *Source) *builder {
	b := &builder{source: s, shared: map[string]*schema.Schema{}}
	b.types = schema.Builder{Values: b.values, Named: b.share, Comment: b.comment}
	return b
}

// object returns the closed schema of a struct.
func (b *builder) object(t reflect.Type) *schema.Schema {
	o := b.types.Object(t, schema.InMembers(t, b.source.about(t.Name())))
	o.Additional = false
	return o
}

// comment returns the comment of a field.
func (b *builder) comment(of reflect.Type, f reflect.StructField) string {
	return schema.InMembers(of, b.source.types[of.Name()].fields[f.Name])
}

// request returns the schema of a request, whose lists and maps have maxima.
func (b *builder) request(t reflect.Type) *schema.Schema {
	o := b.object(t)
	for name, s := range o.Properties {
		switch {
		case s.Type == "array":
			s.MaxItems = abi.MaxItems(t, name)
		case s.Type == "object" && s.Additional != nil:
			most := abi.MaxItems(t, name)
			s.MaxProperties = &most
		}
	}
	return o
}

// open are the types whose values are not only their constants.
var open = []string{"EventKind", "Object"}

func (b *builder) values(t reflect.Type) []string {
	if slices.Contains(open, t.Name()) {
		return nil
	}
	return b.source.values[t.Name()]
}

// share puts a struct among the shared schemas and returns a reference to it.
func (b *builder) share(t reflect.Type) *schema.Schema {
	if t.Kind() != reflect.Struct {
		return nil
	}
	if b.shared[t.Name()] == nil {
		b.shared[t.Name()] = &schema.Schema{} // so that a type can hold itself
		*b.shared[t.Name()] = *b.object(t)
	}
	return &schema.Schema{Ref: "#/$defs/" + t.Name()}
}
