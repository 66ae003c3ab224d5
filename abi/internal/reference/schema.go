package reference

import (
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi"
)

// SchemaID names the document of [Schemas].
const SchemaID = "urn:wharf:" + abi.ABIVersion + ":host-calls"

// schema is a JSON Schema of the draft 2020-12, as far as the types of abi need it.
type schema struct {
	Ref             string             `json:"$ref,omitzero"`
	Description     string             `json:"description,omitzero"`
	Type            any                `json:"type,omitzero"` // a name, or a list of names
	Enum            []string           `json:"enum,omitzero"`
	Format          string             `json:"format,omitzero"`
	ContentEncoding string             `json:"contentEncoding,omitzero"`
	Properties      map[string]*schema `json:"properties,omitzero"`
	Required        []string           `json:"required,omitzero"`
	Additional      any                `json:"additionalProperties,omitzero"`
	Items           *schema            `json:"items,omitzero"`
	MaxItems        int                `json:"maxItems,omitzero"`
	MaxProperties   int                `json:"maxProperties,omitzero"`

	order []string // of Properties, as they are declared
}

// document holds the schemas of every call.
type document struct {
	Schema string             `json:"$schema"`
	ID     string             `json:"$id"`
	Title  string             `json:"title"`
	Defs   map[string]*schema `json:"$defs"`
}

// Schemas returns the JSON Schemas of the host calls as one document. Its $defs has
// <call>.request and <call>.answer for each body that is JSON, error for the answer of
// a call that failed, and the types that they share.
func Schemas(s *Source) ([]byte, error) {
	b := &builder{source: s, shared: map[string]*schema{}}
	b.shared["error"] = b.object(reflect.TypeFor[abi.CallError]())
	for _, call := range abi.HostCalls() {
		if call.RequestType != nil {
			b.shared[call.Name+".request"] = b.request(reflect.TypeOf(call.RequestType))
		}
		if call.AnswerType != nil {
			b.shared[call.Name+".answer"] = b.object(reflect.TypeOf(call.AnswerType))
		}
	}
	doc := document{Schema: "https://json-schema.org/draft/2020-12/schema", ID: SchemaID,
		Title: "The host calls of Wharf, " + abi.ABIVersion, Defs: b.shared}
	text, err := json.Marshal(doc, json.Deterministic(true), jsontext.WithIndent("  "))
	if err != nil {
		return nil, fmt.Errorf("writing the schemas: %w", err)
	}
	return append(text, '\n'), nil
}

// builder turns types into schemas, each shared type once.
type builder struct {
	source *Source
	shared map[string]*schema // by name: the $defs
}

// object returns the closed schema of a struct.
func (b *builder) object(t reflect.Type) *schema {
	o := &schema{Type: "object", Description: inMembers(t, b.source.about(t.Name())), Properties: map[string]*schema{}, Additional: false}
	b.addFields(o, t)
	return o
}

// request returns the schema of a request, whose lists and maps have maxima.
func (b *builder) request(t reflect.Type) *schema {
	o := b.object(t)
	for name, s := range o.Properties {
		switch {
		case s.Type == "array":
			s.MaxItems = abi.MaxItems(t, name)
		case s.Type == "object" && s.Additional != nil:
			s.MaxProperties = abi.MaxItems(t, name)
		}
	}
	return o
}

func (b *builder) addFields(o *schema, t reflect.Type) {
	for f := range fields(t) {
		if f.Anonymous {
			b.addFields(o, f.Type)
			continue
		}
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		optional := strings.Contains(options, "omitzero")
		o.Properties[name] = b.field(t, f, optional)
		o.order = append(o.order, name)
		if !optional {
			o.Required = append(o.Required, name)
		}
	}
}

// fields yields the exported fields of a struct.
func fields(t reflect.Type) func(func(reflect.StructField) bool) {
	return func(yield func(reflect.StructField) bool) {
		for i := range t.NumField() {
			if f := t.Field(i); f.IsExported() && !yield(f) {
				return
			}
		}
	}
}

// field returns the schema of a field, with its comment.
func (b *builder) field(of reflect.Type, f reflect.StructField, optional bool) *schema {
	s := *b.typ(f.Type)
	if f.Type.Kind() == reflect.Pointer && !optional {
		s.Type = []any{s.Type, "null"}
	}
	if text := b.source.types[of.Name()].fields[f.Name]; text != "" {
		s.Description = inMembers(of, text)
	}
	return &s
}

var word = regexp.MustCompile(`(JSON )?\b[A-Z]\w*\b(\.\w)?`)

// inMembers writes the members of t that a comment speaks of as they are in JSON.
func inMembers(t reflect.Type, text string) string {
	return word.ReplaceAllStringFunc(text, func(name string) string {
		f, ok := t.FieldByName(name)
		if !ok {
			return name
		}
		member, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		return "`" + member + "`"
	})
}

func (b *builder) typ(t reflect.Type) *schema {
	switch t {
	case reflect.TypeFor[jsontext.Value]():
		return &schema{}
	case reflect.TypeFor[time.Time]():
		return &schema{Type: "string", Format: "date-time"}
	case reflect.TypeFor[[]byte]():
		return &schema{Type: "string", ContentEncoding: "base64"}
	}
	switch t.Kind() {
	case reflect.Pointer:
		return b.typ(t.Elem())
	case reflect.Struct:
		return b.share(t)
	case reflect.Slice:
		return &schema{Type: "array", Items: b.typ(t.Elem())}
	case reflect.Map:
		return &schema{Type: "object", Additional: b.typ(t.Elem())}
	case reflect.String:
		return &schema{Type: "string", Enum: b.values(t)}
	case reflect.Bool:
		return &schema{Type: "boolean"}
	case reflect.Float64:
		return &schema{Type: "number"}
	}
	return &schema{Type: "integer"}
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
func (b *builder) share(t reflect.Type) *schema {
	if b.shared[t.Name()] == nil {
		b.shared[t.Name()] = &schema{} // so that a type can hold itself
		*b.shared[t.Name()] = *b.object(t)
	}
	return &schema{Ref: "#/$defs/" + t.Name()}
}
