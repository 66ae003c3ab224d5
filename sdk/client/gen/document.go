package main

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
)

// document is what is read of an OpenAPI document.
type document struct {
	Paths      map[string]map[string]operationDoc
	Components struct {
		Schemas    map[string]*schema
		Parameters map[string]parameterDoc
	}
}

type operationDoc struct {
	OperationID string `json:"operationId"`
	Description string
	Parameters  []parameterDoc
	RequestBody struct {
		Required bool
		Content  map[string]struct{ Schema *schema }
	} `json:"requestBody"`
	Responses map[string]struct {
		Content map[string]struct{ Schema *schema }
	}
}

type parameterDoc struct {
	Ref         string `json:"$ref"`
	Name, In    string
	Description string
	Schema      *schema
}

type schema struct {
	Ref                  string `json:"$ref"`
	Type                 any
	Description          string
	Format               string
	ContentEncoding      string `json:"contentEncoding"`
	Properties           map[string]*schema
	Required             []string
	Items                *schema
	AnyOf                []*schema `json:"anyOf"`
	OneOf                []*schema `json:"oneOf"`
	Enum                 []string
	Const                string
	AdditionalProperties *schema `json:"additionalProperties"`
}

// kind says what a value is.
type kind int

const (
	anything kind = iota
	text
	integer
	number
	boolean
	instant // a text that is a time
	binary  // a text that is base64
	literal // a text of a few
	list
	dictionary // an object whose members are all alike
	object     // an object of any members
	named      // one of the types of the api
	either     // one of several
)

// value is the type of a member, a parameter or an answer.
type value struct {
	kind     kind
	nullable bool
	name     string   // of what is named
	words    []string // of a literal
	of       []*value // the elements of a list or dictionary, or the choices
}

// typ is a type that has a name.
type typ struct {
	name, doc string
	members   []member
	words     []string // of a type that is a literal
	variants  []*typ   // of a type that is one of several objects, which a member tells apart
}

type member struct {
	name, doc string
	value     *value
	required  bool
}

// operation is one thing that can be asked of a node.
type operation struct {
	id, doc, method, path string
	inPath                []string // the parameters of the path, in its order
	query                 string   // the type of the query, "" without one
	body                  *value   // nil without one
	needsBody             bool
	takesBytes            bool   // its body may be, or is, no JSON but bytes
	answer                *value // nil for one without content, or that is no JSON
	answersBytes          bool   // what it is answered with is no JSON but bytes
	keyed                 bool   // it takes an idempotency key
}

// api is all that is generated from.
type api struct {
	types      map[string]*typ
	operations map[string]*operation
	codes      []string // of errors
}

func parse(text []byte) (*api, error) {
	var d document
	if err := json.Unmarshal(text, &d, json.MatchCaseInsensitiveNames(true)); err != nil {
		return nil, fmt.Errorf("reading the document: %w", err)
	}
	a := &api{types: map[string]*typ{}, operations: map[string]*operation{}}
	for _, name := range slices.Sorted(maps.Keys(d.Components.Schemas)) {
		if err := a.define(renamed(name), d.Components.Schemas[name]); err != nil {
			return nil, err
		}
	}
	for _, path := range slices.Sorted(maps.Keys(d.Paths)) {
		for method, doc := range d.Paths[path] {
			if err := a.operation(&d, method, path, &doc); err != nil {
				return nil, err
			}
		}
	}
	a.codes = d.Components.Schemas["Error"].Properties["error"].Properties["code"].Enum
	return a, a.check()
}

// renamed are the types whose names a language has already: Go's error of this client, TypeScript's Record.
func renamed(name string) string {
	switch name {
	case "Error":
		return "ErrorEnvelope"
	case "Record":
		return "TaskRecord"
	}
	return name
}

// define makes a type, and those of the objects within it.
func (a *api) define(name string, s *schema) error {
	if a.types[name] != nil {
		return fmt.Errorf("two types would be named %s", name)
	}
	t := &typ{name: name, doc: s.Description, words: s.Enum}
	a.types[name] = t
	for _, variant := range s.OneOf {
		named := pascal(variant.Properties["type"].Const) + name
		if err := a.define(named, variant); err != nil {
			return err
		}
		t.variants = append(t.variants, a.types[named])
	}
	for _, m := range slices.Sorted(maps.Keys(s.Properties)) {
		v, err := a.value(name+pascal(m), s.Properties[m])
		if err != nil {
			return err
		}
		t.members = append(t.members, member{m, s.Properties[m].Description, v, slices.Contains(s.Required, m)})
	}
	return nil
}

// value returns what a schema describes; an object of its own is defined by the name inner.
func (a *api) value(inner string, s *schema) (*value, error) {
	if s == nil {
		return &value{}, nil
	}
	if name, ok := strings.CutPrefix(s.Ref, "#/components/schemas/"); ok {
		return &value{kind: named, name: renamed(name)}, nil
	}
	if len(s.AnyOf) > 0 {
		return a.either(inner, s.AnyOf)
	}
	typeName, nullable := typeOf(s)
	v, err := a.plain(inner, typeName, s)
	if err == nil {
		v.nullable = nullable
	}
	return v, err
}

func typeOf(s *schema) (name string, nullable bool) {
	switch t := s.Type.(type) {
	case string:
		return t, false
	case []any:
		for _, one := range t {
			if one == "null" {
				nullable = true
			} else {
				name, _ = one.(string)
			}
		}
	}
	return name, nullable
}

func (a *api) plain(inner, typeName string, s *schema) (*value, error) {
	switch typeName {
	case "string":
		return textValue(s), nil
	case "integer":
		return &value{kind: integer}, nil
	case "number":
		return &value{kind: number}, nil
	case "boolean":
		return &value{kind: boolean}, nil
	case "array":
		v, err := a.value(inner, s.Items)
		return &value{kind: list, of: []*value{v}}, err
	case "object":
		return a.objectValue(inner, s)
	case "":
		return &value{}, nil
	}
	return nil, fmt.Errorf("%s has the type %s, which is not known here", inner, typeName)
}

func textValue(s *schema) *value {
	switch {
	case s.Const != "":
		return &value{kind: literal, words: []string{s.Const}}
	case len(s.Enum) > 0:
		return &value{kind: literal, words: s.Enum}
	case s.Format == "date-time":
		return &value{kind: instant}
	case s.ContentEncoding == "base64":
		return &value{kind: binary}
	}
	return &value{kind: text}
}

func (a *api) objectValue(inner string, s *schema) (*value, error) {
	switch {
	case len(s.Properties) > 0:
		return &value{kind: named, name: inner}, a.define(inner, s)
	case s.AdditionalProperties != nil && s.AdditionalProperties.Type != nil:
		v, err := a.value(inner+"Value", s.AdditionalProperties)
		return &value{kind: dictionary, of: []*value{v}}, err
	}
	return &value{kind: object}, nil
}

func (a *api) either(inner string, choices []*schema) (*value, error) {
	v := &value{kind: either}
	for _, choice := range choices {
		if choice.Type == "null" {
			v.nullable = true
			continue
		}
		one, err := a.value(inner, choice)
		if err != nil {
			return nil, err
		}
		v.of = append(v.of, one)
	}
	if len(v.of) == 1 {
		only := *v.of[0]
		only.nullable = only.nullable || v.nullable
		return &only, nil
	}
	return v, nil
}

const media, mediaBytes = "application/json", "application/octet-stream"

func (a *api) operation(d *document, method, path string, doc *operationDoc) error {
	op := &operation{id: doc.OperationID, doc: doc.Description, method: strings.ToUpper(method), path: path}
	a.operations[op.id] = op
	query := &schema{Description: "What " + op.id + " may be asked with.", Properties: map[string]*schema{}}
	for _, p := range doc.Parameters {
		if name, ok := strings.CutPrefix(p.Ref, "#/components/parameters/"); ok {
			p = d.Components.Parameters[name]
		}
		switch {
		case p.In == "path":
			op.inPath = append(op.inPath, p.Name)
		case p.In == "query":
			described := *p.Schema
			described.Description = p.Description
			query.Properties[p.Name] = &described
		case p.Name == "Idempotency-Key":
			op.keyed = true
		}
	}
	slices.SortFunc(op.inPath, func(x, y string) int {
		return cmp.Compare(strings.Index(path, "{"+x+"}"), strings.Index(path, "{"+y+"}"))
	})
	if len(query.Properties) > 0 {
		op.query = pascal(op.id) + "Query"
		if err := a.define(op.query, query); err != nil {
			return err
		}
	}
	return a.bodies(op, doc)
}

// bodies fills in what an operation takes and answers with, as far as it is JSON.
func (a *api) bodies(op *operation, doc *operationDoc) (err error) {
	if body, ok := doc.RequestBody.Content[media]; ok {
		op.needsBody = doc.RequestBody.Required
		if op.body, err = a.value(pascal(op.id)+"Body", body.Schema); err != nil {
			return err
		}
	}
	_, op.takesBytes = doc.RequestBody.Content[mediaBytes]
	for _, status := range slices.Sorted(maps.Keys(doc.Responses)) {
		content := doc.Responses[status].Content
		if len(content) == 0 || status[0] != '2' {
			continue
		}
		if answer, ok := content[media]; ok {
			op.answer, err = a.value(pascal(op.id)+"Answer", answer.Schema)
			return err
		}
		_, stream := content["text/event-stream"]
		op.answersBytes = !stream
		return nil
	}
	return nil
}

// pascal returns a name as a type has it: created_at and createdAt become CreatedAt.
func pascal(name string) string {
	var b strings.Builder
	up := true
	for _, r := range name {
		if r == '_' || r == '-' || r == '.' {
			up = true
			continue
		}
		if up {
			b.WriteString(strings.ToUpper(string(r)))
		} else {
			b.WriteRune(r)
		}
		up = false
	}
	return b.String()
}

// snake returns a name as Python has its functions: listPersonas becomes list_personas.
func snake(name string) string {
	var b strings.Builder
	for i, r := range name {
		if r >= 'A' && r <= 'Z' {
			if i > 0 {
				b.WriteByte('_')
			}
			r += 'a' - 'A'
		}
		b.WriteRune(r)
	}
	return b.String()
}

// camel returns a name as TypeScript has its members: session_id becomes sessionId.
func camel(name string) string {
	p := pascal(name)
	return strings.ToLower(p[:1]) + p[1:]
}
