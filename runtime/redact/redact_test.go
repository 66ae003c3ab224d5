package redact

import (
	"bytes"
	"fmt"
	"runtime"
	"strings"
	"testing"

	json "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"pgregory.net/rapid"

	"github.com/wharf-dev/wharf/abi"
)

// TestDocumentsAreRedactedAsTheyAlwaysWere holds that plugins and readers are told the very
// bytes that a plain reading of the rules gives: a run is repeated by them.
func TestDocumentsAreRedactedAsTheyAlwaysWere(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		doc := []byte(drawValue(t, 4))
		for _, r := range []redaction{{}, {internal: true}, {bare: true}, {internal: true, bare: true}} {
			given := bytes.Clone(doc)
			got, err := r.document(given)
			want, refused := plainly(r).value(bytes.Clone(doc))
			if (err != nil) != (refused != nil) {
				t.Fatalf("%s: %v, and plainly: %v", doc, err, refused)
			}
			if err == nil && !bytes.Equal(got, want) {
				t.Fatalf("%+v of %s\ngave %s\nwant %s", r, doc, got, want)
			}
			if !bytes.Equal(given, doc) {
				t.Fatalf("the document was changed: %s", given)
			}
		}
	})
}

// drawValue draws a document of the members that matter, in every spelling and order.
func drawValue(t *rapid.T, depth int) string {
	blank := rapid.SampledFrom([]string{"", "", "", " ", "\n\t"}).Draw(t, "blank")
	kinds := 6
	if depth == 0 {
		kinds = 4
	}
	switch rapid.IntRange(0, kinds-1).Draw(t, "kind") {
	case 0:
		return blank + rapid.SampledFrom([]string{"null", "true", "1", "-0", "1.50", "1e400", "12345678901234567890"}).Draw(t, "literal") + blank
	case 1:
		return blank + rapid.SampledFrom([]string{`""`, `"a"`, `"\u0061\/"`, `"\ud83d\ude00"`, `"é<"`, `"\n"`}).Draw(t, "text")
	case 2:
		return rapid.SampledFrom([]string{`"public"`, `"internal"`, `"receipt_only"`, `"\u0069nternal"`}).Draw(t, "visibility")
	case 3:
		return rapid.SampledFrom([]string{`"text"`, `"json"`, `"tool_call"`, `"file_ref"`, `"other"`}).Draw(t, "type")
	case 4:
		elements := make([]string, rapid.IntRange(0, 3).Draw(t, "elements"))
		for i := range elements {
			elements[i] = drawValue(t, depth-1)
		}
		return blank + "[" + strings.Join(elements, ",") + blank + "]" + blank
	default:
		return blank + "{" + strings.Join(drawMembers(t, depth), ",") + blank + "}" + blank
	}
}

func drawMembers(t *rapid.T, depth int) []string {
	members := make([]string, rapid.IntRange(0, 6).Draw(t, "members"))
	for i := range members {
		name := rapid.SampledFrom([]string{
			`"type"`, `"visibility"`, `"visibility"`, `"v\u0069sibility"`, `"content"`, `"scope"`, `"redacted_at"`, `"redacted"`, `""`, `"a"`, `"\n"`, `"\"q"`, `"é"`, `"\ud83d\ude00"`, `"\uffff"`, `"z"`,
		}).Draw(t, "name")
		members[i] = name + " :" + drawValue(t, depth-1)
	}
	return members
}

// TestADocumentCostsItsBytes redacts documents of as many of the smallest values as fit.
func TestADocumentCostsItsBytes(t *testing.T) {
	size, times := 2<<20, uint64(8)
	if underRace {
		size, times = 128<<10, 32
	}
	numbered := new(strings.Builder)
	for i := 0; numbered.Len() < size; i++ {
		fmt.Fprintf(numbered, `"%x\n":1,`, i*0x9e3779b1%(1<<32))
	}
	for name, doc := range map[string]string{
		"objects in an array": "[" + strings.Repeat("{},", size/3) + "{}]",
		"numbers":             `{"a":[` + strings.Repeat("1,", size/2) + "1]}",
		"nested":              "[" + strings.Repeat(strings.Repeat("[", 190)+strings.Repeat("]", 190)+",", size/381) + "1]",
		"members":             "{" + numbered.String() + `"z":1}`,
		"parts":               "[" + strings.Repeat(`{"type":"","visibility":""},`, size/28) + "1]",
		"withheld":            "[" + strings.Repeat(`{"type":"","visibility":"internal"},`, size/36) + "1]",
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := Document([]byte(doc), false); err != nil { // the pools are filled
				t.Fatal(err)
			}
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			if _, err := Document([]byte(doc), false); err != nil {
				t.Fatal(err)
			}
			runtime.ReadMemStats(&after)
			if took := after.TotalAlloc - before.TotalAlloc; took > times*uint64(len(doc)) {
				t.Errorf("a document of %d KiB took %d KiB", len(doc)>>10, took>>10)
			}
		})
	}
}

func FuzzDocument(f *testing.F) {
	for _, doc := range []string{`{"b":1,"a":[{}]}`, `{"type":"text","visibility":"internal"}`, `{"content":1,"scope":2,"visibility":"internal"}`, `{"a":1,"\u0061":2}`, `[1]x`} {
		f.Add([]byte(doc))
	}
	f.Fuzz(func(t *testing.T, doc []byte) {
		got, err := Document(doc, false)
		want, refused := plainly{}.value(doc)
		if (err != nil) != (refused != nil) || err == nil && !bytes.Equal(got, want) {
			t.Fatalf("%q gave %q (%v), want %q (%v)", doc, got, err, want, refused)
		}
	})
}

// plainly is redaction as one would write it first: each object and array becomes values.
type plainly redaction

func (r plainly) value(v jsontext.Value) (jsontext.Value, error) {
	switch v.Kind() {
	case '[':
		return r.array(v)
	case '{':
		return r.object(v)
	}
	return v, nil
}

func (r plainly) array(v jsontext.Value) (jsontext.Value, error) {
	var elements []jsontext.Value
	if err := json.Unmarshal(v, &elements); err != nil {
		return nil, err
	}
	for i, element := range elements {
		var err error
		if elements[i], err = r.value(element); err != nil {
			return nil, err
		}
	}
	return json.Marshal(elements)
}

func (r plainly) object(v jsontext.Value) (jsontext.Value, error) {
	var members map[string]jsontext.Value
	if err := json.Unmarshal(v, &members); err != nil {
		return nil, err
	}
	if d, withheld := withhold(members, r.internal); withheld {
		return d.text(r.bare)
	}
	withholdMemory(members, r.internal)
	for name, member := range members {
		redacted, err := r.value(member)
		if err != nil {
			return nil, err
		}
		members[name] = redacted
	}
	return json.Marshal(members, json.Deterministic(true))
}

func withhold(members map[string]jsontext.Value, internal bool) (d descriptor, withheld bool) {
	if json.Unmarshal(members["type"], &d.Type) != nil || json.Unmarshal(members["visibility"], &d.Visibility) != nil {
		return d, false
	}
	d.Redacted = true
	switch d.Visibility {
	case abi.VisibilityInternal:
		return d, !internal
	case abi.VisibilityReceiptOnly:
		return d, true
	}
	return d, false
}

// withholdMemory takes the content out of a Memory that is not public, and out of
// the request to keep one. A Memory that was redacted is stored with null there, which
// is no content that a Memory can have: readers get an object.
func withholdMemory(members map[string]jsontext.Value, internal bool) {
	var visibility abi.Visibility
	switch {
	case members["content"] == nil || members["scope"] == nil:
		return
	case members["redacted_at"] != nil:
		members["content"] = jsontext.Value(NoMemory)
		return
	case json.Unmarshal(members["visibility"], &visibility) != nil:
		return
	}
	if visibility == abi.VisibilityPublic || visibility == abi.VisibilityInternal && internal {
		return
	}
	members["content"], members["redacted"] = jsontext.Value(NoMemory), jsontext.Value("true")
}

// descriptor is what is left of a part whose content is withheld.
type descriptor struct {
	Type       string         `json:"type"`
	Visibility abi.Visibility `json:"visibility"`
	Redacted   bool           `json:"redacted"`
}

// text writes the descriptor; a bare one has nothing of what its type requires.
func (d descriptor) text(bare bool) (jsontext.Value, error) {
	text, err := json.Marshal(d)
	required := withoutContent[abi.PartType(d.Type)]
	if err != nil || bare || required == "" {
		return text, err
	}
	text[len(text)-1] = ','
	return append(append(text, required...), '}'), nil
}

// Whoever reads a Task's events does not learn from them what others use.
func TestEventsTellNoUsage(t *testing.T) {
	state := []byte(`{"id":"quota_a","object":"quota","created_at":"2026-01-01T00:00:00Z","updated_at":"2026-01-02T00:00:00Z","scope":"tenant","limits":{"usd":5},"usage":{"usd":3},"exhaustion_reason":null,"metadata":{"x":1}}`)
	if got := string(State(abi.ObjectQuota, state, false)); got != `{"id":"quota_a","object":"quota","created_at":"2026-01-01T00:00:00Z","updated_at":"2026-01-02T00:00:00Z",`+
		`"metadata":{},"scope":"tenant","limits":{},"usage":{},"exhaustion_reason":null,"redacted":true}` {
		t.Error(got)
	}
	if got := string(State(abi.ObjectQuota, state, true)); got != string(state) {
		t.Error(got)
	}
}
