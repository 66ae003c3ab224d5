package receipt

import (
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	json "github.com/go-json-experiment/json"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

// specFolder returns the folder with the published documents, or skips the test.
func specFolder(t *testing.T) string {
	t.Helper()
	folder := os.Getenv("WHARF_SPEC")
	if folder == "" {
		t.Skip("compares with the published documents: set WHARF_SPEC to the folder that holds them")
	}
	return filepath.Join(folder, "receipts")
}

func readFile(t testing.TB, path ...string) []byte {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(path...))
	if err != nil {
		t.Fatal(err)
	}
	return content
}

// TestSchemaIsThePublishedOne compares what the two schemas say, whatever the
// order and the names in which they say it.
func TestSchemaIsThePublishedOne(t *testing.T) {
	published := readFile(t, specFolder(t), "receipt-2026-04-25.schema.json")
	if ours, theirs := meaning(t, Schema()), meaning(t, published); !reflect.DeepEqual(ours, theirs) {
		a, _ := json.Marshal(ours, json.Deterministic(true))
		b, _ := json.Marshal(theirs, json.Deterministic(true))
		t.Errorf("ours\n%s\ntheirs\n%s", a, b)
	}
}

func meaning(t *testing.T, schema []byte) any {
	t.Helper()
	var doc map[string]any
	if err := json.Unmarshal(schema, &doc); err != nil {
		t.Fatal(err)
	}
	return meant(doc, doc["$defs"].(map[string]any))
}

// meant puts definitions where they are referred to, sorts what has no order, and
// drops what only people read.
func meant(v any, defs map[string]any) any {
	switch v := v.(type) {
	case map[string]any:
		if name, ok := v["$ref"].(string); ok {
			return meant(defs[strings.TrimPrefix(name, "#/$defs/")], defs)
		}
		out := map[string]any{}
		for name, value := range v {
			if !slices.Contains([]string{"$id", "$defs", "title", "description"}, name) {
				out[name] = meant(value, defs)
			}
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = meant(v[i], defs)
		}
		slices.SortFunc(out, func(a, b any) int {
			x, _ := json.Marshal(a, json.Deterministic(true))
			y, _ := json.Marshal(b, json.Deterministic(true))
			return strings.Compare(string(x), string(y))
		})
		return out
	}
	return v
}

// wantStatus checks the results of some checks by name.
func wantStatus(t *testing.T, r Report, want map[string]CheckStatus) {
	t.Helper()
	got := map[string]CheckStatus{}
	for _, c := range r.Checks {
		got[c.Name] = c.Status
	}
	for name, status := range want {
		if got[name] != status {
			t.Errorf("%s is %q, want %q: %+v", name, got[name], status, r.Checks)
		}
	}
}

// dummies are what a fixture with made-up hashes does: it passes the schema and
// never the hash check.
var dummies = map[string]CheckStatus{CheckNameSchema: CheckOK, CheckNameHash: CheckFailed}

func TestFixtures(t *testing.T) {
	wantStatus(t, Verify(readFile(t, "testdata", "valid-shape.json"), Trust{}), dummies)
	wantStatus(t, Verify(readFile(t, "testdata", "invalid-no-hash.json"), Trust{}), map[string]CheckStatus{CheckNameSchema: CheckFailed})
}

func TestPublishedFixtures(t *testing.T) {
	folder := filepath.Join(specFolder(t), "fixtures")
	wantStatus(t, Verify(readFile(t, folder, "valid", "task-receipt.json"), Trust{}), dummies)
	wantStatus(t, Verify(readFile(t, folder, "invalid", "missing-chain-hash.json"), Trust{}), map[string]CheckStatus{CheckNameSchema: CheckFailed})
	replay := readFile(t, folder, "..", "..", "replay", "fixtures", "task-replay-receipt.json")
	wantStatus(t, Verify(replay, Trust{}), dummies)
}

// TestSchemaIsClosed adds a member to every object of a receipt that is closed.
func TestSchemaIsClosed(t *testing.T) {
	open := []string{"/metadata", "/lifecycle/failure", "/side_effects/network_egress/0/metadata", "/replay_input/materials/0/metadata", "/approvals/0/quorum_proof"}
	var doc any
	if err := json.Unmarshal(readFile(t, "testdata", "valid-shape.json"), &doc); err != nil {
		t.Fatal(err)
	}
	walk(doc, "", func(path string, object map[string]any) {
		object["surprise"] = true
		defer delete(object, "surprise")
		text, err := json.Marshal(doc)
		if err != nil {
			t.Fatal(err)
		}
		isOpen := slices.ContainsFunc(open, func(p string) bool { return strings.HasPrefix(path, p) })
		if err := CheckSchema(text); (err == nil) != isOpen {
			t.Errorf("an additional member of %q: %v", path, err)
		}
	})
}

func walk(v any, path string, visit func(string, map[string]any)) {
	switch v := v.(type) {
	case map[string]any:
		for name, value := range v {
			walk(value, path+"/"+name, visit)
		}
		visit(path, v)
	case []any:
		for _, value := range v {
			walk(value, path+"/0", visit)
		}
	}
}

// TestSchemaMemberByMember changes each value of a receipt in each way, and holds that
// reading it by the schema finds what validating the whole of it finds.
func TestSchemaMemberByMember(t *testing.T) {
	for _, keyword := range []string{"Items\"", "contains", "prefixItems", "uniqueItems", "patternProperties", "propertyNames", "Properties\"", "dependent", "unevaluated"} {
		if text := strings.ReplaceAll(string(Schema()), `"additionalProperties"`, ""); strings.Contains(text, keyword) {
			t.Errorf("the schema says %q, which its reader does not know", keyword)
		}
	}
	schema, err := compiledSchema()
	if err != nil {
		t.Fatal(err)
	}
	var doc any
	if err := json.Unmarshal(readFile(t, "testdata", "task.json"), &doc); err != nil {
		t.Fatal(err)
	}
	refused := 0
	check := func(path string) {
		text, err := json.Marshal(doc)
		if err != nil {
			t.Fatal(err)
		}
		whole, err := jsonschema.UnmarshalJSON(strings.NewReader(string(text)))
		if err != nil {
			t.Fatal(err)
		}
		want, got := schema.Validate(whole), CheckSchema(text)
		if (want == nil) != (got == nil) {
			t.Errorf("%s: %v, and as a whole %v", path, got, want)
		}
		if want != nil {
			refused++
		}
	}
	walk(doc, "", func(path string, object map[string]any) {
		for name, was := range maps.Clone(object) {
			for _, now := range []any{nil, "", 1.5, -1.0, true, []any{}, []any{map[string]any{}}, []any{nil, "x"}, map[string]any{}, map[string]any{"x": []any{1.0}}} {
				object[name] = now
				check(path + "/" + name)
			}
			delete(object, name)
			check(path + "/" + name)
			object[name] = was
		}
	})
	if check(""); refused < 100 {
		t.Errorf("%d changes were refused", refused)
	}
}
