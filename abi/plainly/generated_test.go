package plainly_test

import (
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"pgregory.net/rapid"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/abi/plainly"
)

// asked are the types that people and plugins write the JSON of.
func asked() []reflect.Type {
	types := []reflect.Type{
		reflect.TypeFor[abi.SubmitTaskRequest](), reflect.TypeFor[abi.CreatePersonaRequest](), reflect.TypeFor[abi.UpdatePersonaRequest](),
		reflect.TypeFor[abi.CreateConnectorRequest](), reflect.TypeFor[abi.CreateKeyRequest](), reflect.TypeFor[abi.ReplayTaskRequest](),
		reflect.TypeFor[abi.AppendTaskMessageRequest](), reflect.TypeFor[map[string]abi.ReplayOverride](), reflect.TypeFor[abi.RespondRequest](),
		reflect.TypeFor[abi.Task](),
	}
	for _, call := range abi.HostCalls() {
		for _, of := range []any{call.RequestType, call.AnswerType} {
			if of != nil {
				types = append(types, reflect.TypeOf(of))
			}
		}
	}
	return types
}

// ofGo is what only a reader of the program knows.
var ofGo = regexp.MustCompile(`\b(abi|json|jsontext|jsonw|time|strconv|base64|reflect|errors)[.:]|\bGo\b|unmarshal|\[\]|map\[|\*[a-zA-Z]|\b(u?int|float)(8|16|32|64)?\b|\bstruct\b|\binterface\b|\bstring\b|\bslice\b|\bparsing\b`)

// memberNames are the names that JSON of a type may have, at every level.
func memberNames(t reflect.Type, into map[string]bool, depth int) {
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice || t.Kind() == reflect.Map {
		t = t.Elem()
	}
	if t.Kind() != reflect.Struct || depth == 0 {
		return
	}
	for f := range t.Fields() {
		if name, _, _ := strings.Cut(f.Tag.Get("json"), ","); name != "" && name != "-" {
			into[name] = true
		}
		memberNames(f.Type, into, depth-1)
	}
}

// value draws a JSON value with those names in it, and others.
func value(names []string, depth int) *rapid.Generator[any] {
	scalars := []*rapid.Generator[any]{
		rapid.Just[any](nil), rapid.Bool().AsAny(), rapid.Float64Range(-1e20, 1e20).AsAny(), rapid.Int().AsAny(),
		rapid.SampledFrom([]string{"", "text", "active", "yesterday", "*", "12", "true", "2026-01-31T08:00:00Z"}).AsAny(),
	}
	if depth == 0 {
		return rapid.OneOf(scalars...)
	}
	below := value(names, depth-1)
	name := rapid.OneOf(rapid.SampledFrom(names), rapid.StringMatching(`[a-z]{4,9}`))
	return rapid.OneOf(append(scalars, rapid.MapOfN(name, below, 0, 6).AsAny(), rapid.SliceOfN(below, 0, 3).AsAny())...)
}

// Whatever is sent, nobody is told of types of Go, and everybody is told the same.
func TestNobodyIsToldOfTypesOfGo(t *testing.T) {
	for _, of := range asked() {
		names := map[string]bool{"data": true}
		memberNames(of, names, 4)
		all := slices.Sorted(func(yield func(string) bool) {
			for name := range names {
				if !yield(name) {
					return
				}
			}
		})
		rapid.Check(t, func(t *rapid.T) {
			body, err := json.Marshal(rapid.MapOfN(rapid.SampledFrom(all), value(all, 3), 1, 6).Draw(t, "body"))
			if err != nil {
				t.Fatal(err)
			}
			if cut := rapid.IntRange(0, 20*len(body)).Draw(t, "cut"); cut < len(body) {
				body = body[:cut]
			}
			strict := json.RejectUnknownMembers(rapid.Bool().Draw(t, "strict"))
			err = json.Unmarshal(body, reflect.New(of).Interface(), strict)
			if err == nil {
				return
			}
			text := plainly.Say(err)
			if bad := ofGo.FindString(withoutNames(text)); bad != "" {
				t.Fatalf("%s: %q tells of %q", body, text, bad)
			}
		})
	}
}

// withoutNames takes away what a message quotes of the text and lists of its members.
func withoutNames(message string) string {
	message = regexp.MustCompile(`(^|in )/\S*|: there (is|are) .*`).ReplaceAllString(message, "")
	return regexp.MustCompile(`"[^"]*"`).ReplaceAllString(message, "")
}
