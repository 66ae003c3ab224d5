package skill

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strings"

	json "github.com/go-json-experiment/json"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

// rule is one part of a schema, in a form that is cheap to hold against values: a field for
// each keyword.
type rule struct {
	always    *bool
	only      bool // of before 2019-09, where nothing stands beside a $ref
	ref       *rule
	types     kinds
	enum      map[string]struct{} // keys of values
	enumTypes kinds
	constant  *string // the key of a value
	allowed   string  // the values of enum and const, shown
	format    *jsonschema.Format

	minMembers, maxMembers *int
	required               []string
	needs                  []needs // of a member, others
	members                map[string]*rule
	matching               []matching
	others                 *rule // of the members that none of these is for
	names                  *rule
	leftMembers            *rule

	minItems, maxItems, minContains, maxContains *int
	unique                                       bool
	first                                        []*rule // of the first items
	rest                                         *rule   // of those behind them
	contains                                     *rule
	containsSeen                                 bool // what it finds counts as evaluated
	leftItems                                    *rule

	minLength, maxLength                     *int
	pattern                                  *pattern
	least, most, above, below, multiple      *big.Rat
	multipleSize                             int
	all, anyOf, oneOf                        []*rule
	not, condition, consequence, alternative *rule
}

// matching is a rule of the members whose names match a pattern.
type matching struct {
	pattern *pattern
	rule    *rule
}

// needs is what an object with a member must have and be as well.
type needs struct {
	member string
	others []string
	rule   *rule
}

// rules makes rules of schemas, one of each.
type rules struct {
	known map[*jsonschema.Schema]*rule
	err   error
}

func (r *rules) of(s *jsonschema.Schema) *rule {
	if s == nil || r.err != nil {
		return nil
	}
	if known := r.known[s]; known != nil {
		return known
	}
	made := &rule{}
	r.known[s] = made
	switch {
	case !strings.HasPrefix(s.Location, place):
		r.err = fmt.Errorf("a schema refers to nothing outside itself, but this one to %s", s.Location)
	case s.DynamicRef != nil || s.RecursiveRef != nil:
		r.err = errors.New("$dynamicRef and $recursiveRef are not taken: say $ref")
	default:
		r.fill(made, s)
	}
	return made
}

func (r *rules) fill(to *rule, s *jsonschema.Schema) {
	to.always, to.ref, to.only = s.Bool, r.of(s.Ref), s.Ref != nil && s.DraftVersion < 2019
	to.format = s.Format
	if s.Format != nil && s.Format.Name == "regex" {
		to.format = &jsonschema.Format{Name: s.Format.Name, Validate: anyPattern}
	}
	if s.Types != nil {
		to.types = kindsNamed(s.Types.ToStrings())
	}
	if s.Const != nil {
		key := keyOf(*s.Const)
		to.constant, to.allowed = &key, list([]any{*s.Const})
	}
	if s.Enum != nil {
		to.enum = map[string]struct{}{}
		for _, v := range s.Enum.Values {
			to.enum[keyOf(v)] = struct{}{}
			to.enumTypes |= kindOf(v)
		}
		to.allowed = list(s.Enum.Values)
	}
	r.fillObject(to, s)
	r.fillArray(to, s)
	to.minLength, to.maxLength = s.MinLength, s.MaxLength
	to.pattern, _ = s.Pattern.(*pattern)
	to.least, to.most, to.above, to.below, to.multiple = s.Minimum, s.Maximum, s.ExclusiveMinimum, s.ExclusiveMaximum, s.MultipleOf
	if to.multiple != nil {
		to.multipleSize = (to.multiple.Num().BitLen() + to.multiple.Denom().BitLen()) / 3
	}
	to.all, to.anyOf, to.oneOf = r.list(s.AllOf), r.list(s.AnyOf), r.list(s.OneOf)
	to.not, to.condition, to.consequence, to.alternative = r.of(s.Not), r.of(s.If), r.of(s.Then), r.of(s.Else)
}

func (r *rules) fillObject(to *rule, s *jsonschema.Schema) {
	to.minMembers, to.maxMembers, to.required = s.MinProperties, s.MaxProperties, s.Required
	for _, name := range slices.Sorted(maps.Keys(s.Dependencies)) {
		n := needs{member: name}
		switch d := s.Dependencies[name].(type) {
		case []string:
			n.others = d
		case *jsonschema.Schema:
			n.rule = r.of(d)
		}
		to.needs = append(to.needs, n)
	}
	for _, name := range slices.Sorted(maps.Keys(s.DependentSchemas)) {
		to.needs = append(to.needs, needs{member: name, rule: r.of(s.DependentSchemas[name])})
	}
	for _, name := range slices.Sorted(maps.Keys(s.DependentRequired)) {
		to.needs = append(to.needs, needs{member: name, others: s.DependentRequired[name]})
	}
	if len(s.Properties) > 0 {
		to.members = make(map[string]*rule, len(s.Properties))
		for name, member := range s.Properties {
			to.members[name] = r.of(member)
		}
	}
	for p, member := range s.PatternProperties {
		made, _ := p.(*pattern) // as all that [patterns] compiles are
		to.matching = append(to.matching, matching{made, r.of(member)})
	}
	slices.SortFunc(to.matching, func(a, b matching) int { return strings.Compare(a.pattern.String(), b.pattern.String()) })
	to.others, to.names, to.leftMembers = r.either(s.AdditionalProperties), r.of(s.PropertyNames), r.of(s.UnevaluatedProperties)
}

func (r *rules) fillArray(to *rule, s *jsonschema.Schema) {
	to.minItems, to.maxItems, to.unique = s.MinItems, s.MaxItems, s.UniqueItems
	to.contains, to.minContains, to.maxContains, to.containsSeen = r.of(s.Contains), s.MinContains, s.MaxContains, s.DraftVersion >= 2020
	to.leftItems = r.of(s.UnevaluatedItems)
	if s.DraftVersion >= 2020 {
		to.first, to.rest = r.list(s.PrefixItems), r.of(s.Items2020)
		return
	}
	to.rest = r.either(s.AdditionalItems)
	switch items := s.Items.(type) {
	case *jsonschema.Schema:
		to.rest = r.of(items)
	case []*jsonschema.Schema:
		to.first = r.list(items)
	}
}

func (r *rules) list(schemas []*jsonschema.Schema) []*rule {
	if len(schemas) == 0 {
		return nil
	}
	made := make([]*rule, len(schemas))
	for i, s := range schemas {
		made[i] = r.of(s)
	}
	return made
}

// either returns the rule of what may be a boolean, a schema or nothing.
func (r *rules) either(v any) *rule {
	switch v := v.(type) {
	case bool:
		return &rule{always: &v}
	case *jsonschema.Schema:
		return r.of(v)
	}
	return nil
}

// maxListed is how many allowed values are listed.
const maxListed = 10

// list shows values.
func list(values []any) string {
	var texts []string
	for _, v := range values[:min(len(values), maxListed)] {
		text, err := json.Marshal(v, json.Deterministic(true), json.WithMarshalers(json.MarshalFunc(
			func(n number) ([]byte, error) { return []byte(n.String()), nil })))
		if err != nil { // which no value that was read as JSON gives
			return ""
		}
		texts = append(texts, shorten(string(text)))
	}
	if len(values) > maxListed {
		texts = append(texts, "…")
	}
	return strings.Join(texts, ", ")
}

// keyOf returns the key of a value of a schema, whose size bounds what that costs.
func keyOf(v any) string {
	return string(appendKey(nil, v, &effort{ctx: context.Background()}))
}

// checkNumbers says whether the numbers of a schema are small enough to be made ones
// that are compared.
func checkNumbers(v any) error {
	left := maxDigits
	var look func(v any)
	look = func(v any) {
		switch v := v.(type) {
		case number:
			left -= min(numberSize(v.String()), maxDigits+1)
		case []any:
			for _, item := range v {
				look(item)
			}
		case map[string]any:
			for _, member := range v {
				look(member)
			}
		}
	}
	if look(v); left < 0 {
		return fmt.Errorf("the numbers of the schema have more than %d digits when they are written out", maxDigits)
	}
	return nil
}
