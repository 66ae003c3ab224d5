package schema

import (
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"
)

// Schema is a JSON Schema of the draft 2020-12, as far as the types of abi need it.
type Schema struct {
	Ref             string             `json:"$ref,omitzero"`
	AnyOf           []*Schema          `json:"anyOf,omitzero"`
	Description     string             `json:"description,omitzero"`
	Type            any                `json:"type,omitzero"` // a name, or a list of names
	Enum            []string           `json:"enum,omitzero"`
	Format          string             `json:"format,omitzero"`
	ContentEncoding string             `json:"contentEncoding,omitzero"`
	Properties      map[string]*Schema `json:"properties,omitzero"`
	Required        []string           `json:"required,omitzero"`
	Additional      any                `json:"additionalProperties,omitzero"`
	Items           *Schema            `json:"items,omitzero"`
	Minimum         int                `json:"minimum,omitzero"` // 0: none is said
	MinItems        int                `json:"minItems,omitzero"`
	MaxItems        int                `json:"maxItems,omitzero"`
	MaxProperties   *int               `json:"maxProperties,omitzero"`

	Order []string `json:"-"` // of Properties, as they are declared
}

// Builder says what is not in the types. All of its functions are needed.
type Builder struct {
	// Values returns the values of a named string type; nil for any string.
	Values func(t reflect.Type) []string
	// Comment returns what is said of a field.
	Comment func(of reflect.Type, f reflect.StructField) string
	// Named returns the schema of a struct or of a string type that is the value of a
	// member, which may refer to one that is elsewhere. nil is a string.
	Named func(t reflect.Type) *Schema
}

// Object returns the schema of a struct: its exported fields, of which those are
// required that are not left out when they are zero. What the type of a field does not say
// can be in its tags: `format`, `minimum`, `minItems`, and `enum` with the values that a text
// has, separated by commas.
func (b *Builder) Object(t reflect.Type, description string) *Schema {
	o := &Schema{Type: "object", Description: description, Properties: map[string]*Schema{}}
	b.addFields(o, t)
	return o
}

func (b *Builder) addFields(o *Schema, t reflect.Type) {
	for i := range t.NumField() {
		f := t.Field(i)
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case f.Anonymous, slices.Contains(strings.Split(options, ","), "embed"):
			b.addFields(o, f.Type)
			continue
		case !f.IsExported() || name == "-":
			continue
		}
		optional := slices.Contains(strings.Split(options, ","), "omitzero")
		o.Properties[name] = b.field(t, f, optional)
		o.Order = append(o.Order, name)
		if !optional {
			o.Required = append(o.Required, name)
		}
	}
}

// field returns the schema of a field, with its comment. One that is always there is null
// where it is a pointer to nothing; a change may be to null.
func (b *Builder) field(of reflect.Type, f reflect.StructField, optional bool) *Schema {
	t, change := f.Type, false
	if c, ok := reflect.Zero(t).Interface().(interface{ Changes() reflect.Type }); ok {
		t, change = c.Changes(), true
	}
	s := *b.value(t)
	if (t.Kind() == reflect.Pointer && !optional || change) && s.Type != nil {
		s.Type = []any{s.Type, "null"}
	}
	if text := b.Comment(of, f); text != "" {
		s.Description = text
	}
	s.narrow(f.Tag)
	return &s
}

// narrow adds what a field's tags say.
func (s *Schema) narrow(tag reflect.StructTag) {
	if only := tag.Get("enum"); only != "" {
		s.Enum = strings.Split(only, ",")
	}
	if form := tag.Get("format"); form != "" {
		s.Format = form
	}
	for name, least := range map[string]*int{"minimum": &s.Minimum, "minItems": &s.MinItems} {
		if n, err := strconv.Atoi(tag.Get(name)); err == nil {
			*least = n
		}
	}
}

func (b *Builder) value(t reflect.Type) *Schema {
	switch t {
	case reflect.TypeFor[jsontext.Value]():
		return &Schema{}
	case reflect.TypeFor[time.Time]():
		return &Schema{Type: "string", Format: "date-time"}
	case reflect.TypeFor[[]byte]():
		return &Schema{Type: "string", ContentEncoding: "base64"}
	}
	switch t.Kind() {
	case reflect.Pointer:
		return b.value(t.Elem())
	case reflect.Struct:
		return b.Named(t)
	case reflect.Slice:
		return &Schema{Type: "array", Items: b.value(t.Elem())}
	case reflect.Map:
		return &Schema{Type: "object", Additional: b.value(t.Elem())}
	case reflect.String:
		if s := b.Named(t); s != nil {
			return s
		}
		return &Schema{Type: "string", Enum: b.Values(t)}
	case reflect.Bool:
		return &Schema{Type: "boolean"}
	case reflect.Float64:
		return &Schema{Type: "number"}
	}
	return &Schema{Type: "integer"}
}
