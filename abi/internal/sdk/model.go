package sdk

import (
	"reflect"
	"slices"
	"strings"
	"time"

	json "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/abi/internal/reference"
)

// API is what plugins can ask of a host.
type API struct {
	Version string
	Calls   []Call
	Structs []*Struct // each after those that it holds by value
	Enums   []*Enum   // by name
}

// Call is one host call.
type Call struct {
	Name, Doc, Limit, Key string
	Form                  Form
	Request, Answer       *Struct // nil: there is none, or it is not JSON
	Optional              bool    // the request may be left out
	MayBeWithheld         bool    // a tier can leave it out, and the plugin goes on
	Hint                  bool    // it is telemetry, which nobody answers
	SampleAnswer          string  // an answer of the right form, JSON; "" where the answer is empty or bytes
	Examples              map[Language]Example
}

// Form says how the bytes of a call are made.
type Form int

// The forms of calls.
const (
	FormJSON    Form = iota // JSON, or nothing, both ways
	FormRandom              // a number of bytes, and so many
	FormContent             // JSON, a newline and content; JSON
	FormBytes               // JSON; bytes
)

// Struct is an object.
type Struct struct {
	Name, Doc string
	Fields    []*Field
	// Withheld says that it answers a call that a tier can leave out.
	Withheld bool
	// Requested says that it is part of a request.
	Requested bool
}

// Field is a member of an object.
type Field struct {
	Name     string // in JSON
	Doc      string
	Type     Type
	Optional bool // it is left out when it is nothing
	Pointer  bool // it can be nothing, which differs from zero
	Boxed    bool // it holds the struct that it is a member of
}

// Kind says which of the members of a [Type] count.
type Kind int

// The kinds of types.
const (
	Text    Kind = iota // Enum, or any
	JSON                // any value, as it is written
	Time                // a text in RFC 3339
	Bytes               // base64 in JSON
	Bool                //
	Integer             // 64 bits
	Natural             // 64 bits, not negative
	Number              // a double
	Object              // Struct
	List                // of Elem
	Map                 // of Elem, by texts
)

// Type is what a member has.
type Type struct {
	Kind   Kind
	Enum   *Enum
	Struct *Struct
	Elem   *Type
}

// Enum is a text that has some values today. A newer host may tell others.
type Enum struct {
	Name, Doc string
	Values    []Value
	Requested bool // it is part of a request
}

// Value is one of the values of an [Enum].
type Value struct{ Text, Doc string }

// Read makes the model of package abi, whose sources it is given.
func Read(source *reference.Source) *API {
	r := &reader{source: source, structs: map[reflect.Type]*Struct{}, enums: map[string]*Enum{}}
	api := &API{Version: abi.ABIVersion}
	for _, c := range abi.HostCalls() {
		api.Calls = append(api.Calls, r.call(c))
	}
	api.Structs = r.order
	for _, s := range api.Structs {
		for _, f := range s.Fields {
			f.Boxed = f.Type.Kind == Object && reaches(f.Type.Struct, s, map[*Struct]bool{})
		}
	}
	for _, c := range api.Calls {
		requested(c.Request)
	}
	for _, e := range r.enums {
		api.Enums = append(api.Enums, e)
	}
	slices.SortFunc(api.Enums, func(a, b *Enum) int { return strings.Compare(a.Name, b.Name) })
	return api
}

type reader struct {
	source  *reference.Source
	structs map[reflect.Type]*Struct
	order   []*Struct
	enums   map[string]*Enum
}

func (r *reader) call(c abi.HostCall) Call {
	call := Call{Name: c.Name, Doc: reference.Readable(c.Doc), Limit: c.Limit, Key: c.Key}
	if c.RequestType != nil {
		call.Request = r.structOf(reflect.TypeOf(c.RequestType))
	}
	if c.AnswerType != nil {
		call.Answer = r.structOf(reflect.TypeOf(c.AnswerType))
	}
	switch c.Name {
	case abi.CallRandom:
		call.Form = FormRandom
	case abi.CallArtifactPut:
		call.Form = FormContent
	case abi.CallArtifactGet:
		call.Form = FormBytes
	}
	call.Optional = c.MayBeEmpty()
	call.MayBeWithheld = c.Effect == abi.EffectWrite
	call.Hint = c.Effect == abi.EffectHint
	call.SampleAnswer = example(&c)
	if call.MayBeWithheld && call.Answer != nil {
		call.Answer.Withheld = true
	}
	return call
}

// example is an answer that an author can begin with.
func example(c *abi.HostCall) string {
	switch c.Name {
	case abi.CallLLMComplete:
		return `{"text":"...","stop_reason":"end"}`
	case abi.CallHTTPFetch:
		return `{"status":200,"header":{},"text":"..."}`
	case abi.CallToolCall:
		return `{"content":[{"type":"text","text":"..."}]}`
	}
	if c.AnswerType == nil || c.Name == abi.CallInput { // which a test gives otherwise
		return ""
	}
	text, err := json.Marshal(c.AnswerType)
	if err != nil { // a definition that cannot be written has no example
		return ""
	}
	return strings.ReplaceAll(string(text), "0001-01-01T", "2026-01-01T")
}

// structOf returns the model of a struct, which is put in order after those that it holds by value.
func (r *reader) structOf(t reflect.Type) *Struct {
	if s := r.structs[t]; s != nil {
		return s
	}
	s := &Struct{Name: plainName(t), Doc: r.source.About(t)}
	r.structs[t] = s // so that a type can hold itself
	r.fields(s, t)
	r.order = append(r.order, s)
	return s
}

// plainName is the name of a type among types of host calls alone.
func plainName(t reflect.Type) string {
	if t == reflect.TypeFor[abi.CallError]() {
		return t.Name()
	}
	return strings.TrimPrefix(t.Name(), "Call")
}

func (r *reader) fields(s *Struct, t reflect.Type) {
	for i := range t.NumField() {
		f := t.Field(i)
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case f.Anonymous:
			r.fields(s, f.Type)
		case f.IsExported() && name != "-":
			s.Fields = append(s.Fields, &Field{
				Name: name, Doc: r.source.AboutField(t, f), Type: r.typeOf(f.Type),
				Optional: strings.Contains(options, "omitzero"), Pointer: f.Type.Kind() == reflect.Pointer,
			})
		}
	}
}

func (r *reader) typeOf(t reflect.Type) Type {
	switch t {
	case reflect.TypeFor[jsontext.Value]():
		return Type{Kind: JSON}
	case reflect.TypeFor[time.Time]():
		return Type{Kind: Time}
	case reflect.TypeFor[[]byte]():
		return Type{Kind: Bytes}
	}
	switch t.Kind() {
	case reflect.Pointer:
		return r.typeOf(t.Elem())
	case reflect.Struct:
		return Type{Kind: Object, Struct: r.structOf(t)}
	case reflect.Slice:
		elem := r.typeOf(t.Elem())
		return Type{Kind: List, Elem: &elem}
	case reflect.Map:
		elem := r.typeOf(t.Elem())
		return Type{Kind: Map, Elem: &elem}
	case reflect.String:
		return Type{Kind: Text, Enum: r.enumOf(t)}
	case reflect.Bool:
		return Type{Kind: Bool}
	case reflect.Float64:
		return Type{Kind: Number}
	case reflect.Uint8, reflect.Uint32, reflect.Uint64:
		return Type{Kind: Natural}
	}
	return Type{Kind: Integer}
}

func (r *reader) enumOf(t reflect.Type) *Enum {
	constants := r.source.Constants(t)
	if len(constants) == 0 {
		return nil
	}
	if e := r.enums[t.Name()]; e != nil {
		return e
	}
	e := &Enum{Name: t.Name(), Doc: r.source.About(t)}
	for _, c := range constants {
		if c.Value != "" {
			e.Values = append(e.Values, Value{Text: c.Value, Doc: c.Remark})
		}
	}
	r.enums[t.Name()] = e
	return e
}

// reaches reports whether a struct holds another other than in lists.
func reaches(from, to *Struct, seen map[*Struct]bool) bool {
	if from == to {
		return true
	}
	if seen[from] {
		return false
	}
	seen[from] = true
	for _, f := range from.Fields {
		if f.Type.Kind == Object && reaches(f.Type.Struct, to, seen) {
			return true
		}
	}
	return false
}

// requested marks what a request is made of.
func requested(s *Struct) {
	if s == nil || s.Requested {
		return
	}
	s.Requested = true
	for _, f := range s.Fields {
		t := f.Type
		for t.Elem != nil {
			t = *t.Elem
		}
		if t.Enum != nil {
			t.Enum.Requested = true
		}
		requested(t.Struct)
	}
}
