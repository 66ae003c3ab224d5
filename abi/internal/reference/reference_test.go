package reference

import (
	"bytes"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"pgregory.net/rapid"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/abi/schema"
)

var docs = filepath.Join("..", "..", "..", "docs")

func source(t *testing.T) *Source {
	t.Helper()
	s, err := Read(filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestReferenceIsCurrent holds that what authors read is what the definitions say.
func TestReferenceIsCurrent(t *testing.T) {
	s := source(t)
	files, err := Files(s)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range files {
		got, err := os.ReadFile(filepath.Join(docs, name))
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, want) {
			t.Errorf("docs/%s is not what package abi says: run go generate ./abi", name)
		}
	}
	want, err := Comments(s)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(filepath.Join("..", "..", "schema", "comments.go")); err != nil || !bytes.Equal(got, want) {
		t.Errorf("abi/schema/comments.go is not what package abi says: run go generate ./abi (%v)", err)
	}
}

// compiled returns the schema of a body, as it is in the documentation.
func compiled(t *testing.T) func(name string) *jsonschema.Schema {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(docs, "host-calls.schema.json"))
	if err != nil {
		t.Fatal(err)
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	compiler := jsonschema.NewCompiler()
	compiler.DefaultDraft(jsonschema.Draft2020)
	if err := compiler.AddResource(SchemaID, doc); err != nil {
		t.Fatal(err)
	}
	return func(name string) *jsonschema.Schema {
		s, err := compiler.Compile(SchemaID + "#/$defs/" + name)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
}

// bodies are the JSON bodies of every call, by the name of their schema.
func bodies() map[string]any {
	all := map[string]any{"error": abi.CallError{}}
	for _, call := range abi.HostCalls() {
		if call.RequestType != nil {
			all[call.Name+".request"] = call.RequestType
		}
		if call.AnswerType != nil {
			all[call.Name+".answer"] = call.AnswerType
		}
	}
	return all
}

// TestSchemasTakeEveryValue holds that whatever a body can be is valid, and that a
// member that does not exist, or is missing, is not.
func TestSchemasTakeEveryValue(t *testing.T) {
	schemaOf, values := compiled(t), source(t).values
	for name, body := range bodies() {
		s := schemaOf(name)
		t.Run(name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				v := reflect.New(reflect.TypeOf(body)).Elem()
				fill(t, values, v, 0)
				text, err := json.Marshal(v.Interface())
				if err != nil {
					t.Fatal(err)
				}
				if err := validate(s, text); err != nil {
					t.Fatalf("%s\n%v", text, err)
				}
				if validate(s, []byte(strings.Replace(string(text), "{", `{"no_such_member":1,`, 1))) == nil && len(text) > 2 {
					t.Fatalf("a member that does not exist is taken: %s", text)
				}
			})
		})
	}
}

func validate(s *jsonschema.Schema, text []byte) error {
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		return err
	}
	return s.Validate(v)
}

// maxDepth bounds values whose types hold themselves.
const maxDepth = 4

// fill draws a value of any type that bodies are made of.
func fill(t *rapid.T, values map[string][]string, v reflect.Value, depth int) {
	switch v.Interface().(type) {
	case jsontext.Value:
		v.SetBytes([]byte(rapid.SampledFrom([]string{`{}`, `{"a":[1]}`, `"text"`, `null`, `1.5`}).Draw(t, "json")))
		return
	case time.Time:
		v.Set(reflect.ValueOf(time.Unix(rapid.Int64Range(0, 1<<33).Draw(t, "time"), 0).UTC()))
		return
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString(drawString(t, values[v.Type().Name()]))
	case reflect.Struct:
		for i := range v.NumField() {
			fill(t, values, v.Field(i), depth+1)
		}
	case reflect.Slice:
		n := rapid.IntRange(0, 2).Draw(t, "length")
		v.Set(reflect.MakeSlice(v.Type(), n*min(1, max(0, maxDepth-depth)), n))
		for i := range v.Len() {
			fill(t, values, v.Index(i), depth+1)
		}
	case reflect.Pointer:
		if depth < maxDepth && rapid.Bool().Draw(t, "set") {
			v.Set(reflect.New(v.Type().Elem()))
			fill(t, values, v.Elem(), depth+1)
		}
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		e := reflect.New(v.Type().Elem()).Elem()
		fill(t, values, e, depth+1)
		v.SetMapIndex(reflect.ValueOf(rapid.String().Draw(t, "key")), e)
	case reflect.Bool:
		v.SetBool(rapid.Bool().Draw(t, "bool"))
	case reflect.Float64:
		v.SetFloat(rapid.Float64Range(-1e6, 1e6).Draw(t, "number"))
	case reflect.Int, reflect.Int64:
		v.SetInt(rapid.Int64Range(-1e6, 1e6).Draw(t, "integer"))
	case reflect.Uint8, reflect.Uint32, reflect.Uint64:
		v.SetUint(rapid.Uint64Range(0, 255).Draw(t, "integer"))
	default:
		t.Fatalf("no values of the type %s are drawn", v.Type())
	}
}

func drawString(t *rapid.T, values []string) string {
	if values != nil {
		return rapid.SampledFrom(values).Draw(t, "value")
	}
	return rapid.String().Draw(t, "text")
}

// TestSchemasRefuse holds that a body that is not what the definition says is found.
func TestSchemasRefuse(t *testing.T) {
	schemaOf := compiled(t)
	for _, test := range []struct{ name, text string }{
		{"state.set.request", `{"value":1}`},
		{"state.set.request", `{"key":1,"value":1}`},
		{"memory.write.request", `{"scope":"world","content":"x"}`},
		{"llm.complete.request", `{"messages":[{"text":"x"}]}`},
		{"message.append.request", `{"role":"assistant","parts":[{"type":"video","visibility":"public"}]}`},
		{"clock.answer", `{"unix_nano":5}`},
		{"error", `{"code":"x"}`},
	} {
		if validate(schemaOf(test.name), []byte(test.text)) == nil {
			t.Errorf("%s takes %s", test.name, test.text)
		}
	}
}

// TestPageNamesEverything holds that the page has each call with its members, and no
// name that only Go knows.
func TestPageNamesEverything(t *testing.T) {
	page := Page(source(t))
	for name, body := range bodies() {
		for i := range reflect.TypeOf(body).NumField() {
			member, _, _ := strings.Cut(reflect.TypeOf(body).Field(i).Tag.Get("json"), ",")
			if !strings.Contains(page, "| `"+member+"` |") {
				t.Errorf("%s: the member %s is not told", name, member)
			}
		}
	}
	for _, call := range abi.HostCalls() {
		if !strings.Contains(page, "\n## "+call.Name+"\n") || !strings.Contains(page, readable(call.Doc)) {
			t.Errorf("%s is not told", call.Name)
		}
	}
	for _, name := range []string{"CallIndeterminate", "omitzero", "jsontext"} {
		if strings.Contains(page, name) {
			t.Errorf("the page says %q", name)
		}
	}
}

// TestValuesAreTheConstants holds that the enumerations which REST shows have every
// constant that the sources declare, in their order.
func TestValuesAreTheConstants(t *testing.T) {
	declared := source(t).values
	for _, of := range []reflect.Type{
		reflect.TypeFor[abi.ConnectorStatus](),
		reflect.TypeFor[abi.SignatureScheme](),
		reflect.TypeFor[abi.MemoryScope](),
		reflect.TypeFor[abi.PermissionKind](),
		reflect.TypeFor[abi.PermissionStatus](),
		reflect.TypeFor[abi.QuotaScope](),
		reflect.TypeFor[abi.ReplayMode](),
		reflect.TypeFor[abi.OverrideKind](),
		reflect.TypeFor[abi.TaskMessageKind](),
		reflect.TypeFor[abi.MergeStrategy](),
		reflect.TypeFor[abi.AutonomyTier](),
		reflect.TypeFor[abi.ReceiptPolicy](),
		reflect.TypeFor[abi.BranchKind](),
		reflect.TypeFor[abi.Role](),
		reflect.TypeFor[abi.ArtifactKind](),
		reflect.TypeFor[abi.KeySource](),
		reflect.TypeFor[abi.Effect](),
		reflect.TypeFor[abi.TaskStatus](),
		reflect.TypeFor[abi.Visibility](),
		reflect.TypeFor[abi.PartType](),
		reflect.TypeFor[abi.ErrorCode](),
		reflect.TypeFor[abi.ErrorType](),
		reflect.TypeFor[abi.SessionState](),
		reflect.TypeFor[abi.OutcomeStatus](),
	} {
		if got := schema.Values(of); len(got) == 0 || !slices.Equal(got, declared[of.Name()]) {
			t.Errorf("%s: %q, and its constants are %q", of.Name(), got, declared[of.Name()])
		}
	}
}

// TestEveryEventIsDescribed holds that every kind of event is described once, but for those
// of the protocol that the node does not write.
func TestEveryEventIsDescribed(t *testing.T) {
	times := map[string]int{}
	for _, p := range abi.EventPayloads() {
		times[string(p.Kind)]++
	}
	unwritten := []string{"agent.reasoning_summary", "agent.tool_use", "agent.tool_result", "agent.mcp_tool_use",
		"session.compacted", "artifact.updated", "artifact.linked", "artifact.redacted", "span.updated"}
	for _, kind := range source(t).values["EventKind"] {
		want := 1
		if slices.Contains(unwritten, kind) {
			want = 0
		}
		if times[kind] != want {
			t.Errorf("%s is described %d times", kind, times[kind])
		}
	}
}
