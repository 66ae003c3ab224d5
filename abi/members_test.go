package abi

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"runtime"
	"strings"
	"testing"

	json "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// requestTypes are the types that requests and host calls are decoded into.
func requestTypes() []reflect.Type {
	types := []reflect.Type{
		reflect.TypeFor[CreateWorkspaceRequest](), reflect.TypeFor[UpdateWorkspaceRequest](), reflect.TypeFor[CreateSessionRequest](),
		reflect.TypeFor[UpdateSessionRequest](), reflect.TypeFor[AppendMessageRequest](), reflect.TypeFor[AppendTaskMessageRequest](),
		reflect.TypeFor[SubmitTaskRequest](), reflect.TypeFor[CreateKeyRequest](), reflect.TypeFor[ReplayTaskRequest](),
		reflect.TypeFor[CreateToolServerRequest](), reflect.TypeFor[CreateCustomToolRequest](), reflect.TypeFor[ReadResourceRequest](), reflect.TypeFor[GetPromptRequest](), reflect.TypeFor[UpdateToolServerRequest](), reflect.TypeFor[UpdatePlanRequest](), reflect.TypeFor[CreateBlockRequest](), reflect.TypeFor[UpdateBlockRequest](), reflect.TypeFor[ArchiveRequest](), reflect.TypeFor[CreateHookRequest](), reflect.TypeFor[UpdateHookRequest](), reflect.TypeFor[UpdatePlanStepRequest](), reflect.TypeFor[CreateWebhookRequest](), reflect.TypeFor[UpdateWebhookRequest](), reflect.TypeFor[RotateWebhookRequest](),
		reflect.TypeFor[CreateConnectorRequest](), reflect.TypeFor[UpdateConnectorRequest](), reflect.TypeFor[CreatePersonaRequest](),
		reflect.TypeFor[UpdatePersonaRequest](), reflect.TypeFor[ClonePersonaRequest](), reflect.TypeFor[InjectRequest](), reflect.TypeFor[ReplaceInjectionRequest](), reflect.TypeFor[RemindRequest](), reflect.TypeFor[CreateSkillRequest](), reflect.TypeFor[CreateQuotaRequest](), reflect.TypeFor[PlaceHoldRequest](),
		reflect.TypeFor[UpdateQuotaRequest](), reflect.TypeFor[CreateVaultRequest](), reflect.TypeFor[UpdateVaultRequest](),
		reflect.TypeFor[RespondRequest](), reflect.TypeFor[CreateMemoryRequest](), reflect.TypeFor[VerifyReceiptRequest](),
		reflect.TypeFor[ForkSessionRequest](), reflect.TypeFor[AttachClientRequest](), reflect.TypeFor[TakeoverSessionRequest](),
		reflect.TypeFor[DetachClientRequest](), reflect.TypeFor[HeartbeatClientRequest](), reflect.TypeFor[TruncateSessionRequest](), reflect.TypeFor[CancelTaskRequest](), reflect.TypeFor[CreateBranchRequest](),
		reflect.TypeFor[MergeBranchRequest](), reflect.TypeFor[AbandonBranchRequest](), reflect.TypeFor[RegisterArtifactRequest](), reflect.TypeFor[ForkTaskRequest](), reflect.TypeFor[ReplaySessionRequest](), reflect.TypeFor[UpdateSkillRequest](), reflect.TypeFor[InstallSkillBundleRequest](), reflect.TypeFor[UpgradeSkillBundleRequest](), reflect.TypeFor[UpdateSkillBundleRequest](), reflect.TypeFor[RollbackSkillBundleRequest](), reflect.TypeFor[StoreSecretRequest](), reflect.TypeFor[InstallPluginRequest](), reflect.TypeFor[RollbackPluginRequest](),
	}
	for _, call := range HostCalls() {
		if call.RequestType != nil {
			types = append(types, reflect.TypeOf(call.RequestType))
		}
	}
	return types
}

// crowd is a list or map somewhere in a type: what stands around its members.
type crowd struct {
	before, after string
	member        func(i int) string
	max           int
}

// crowds returns every list and map of a type, at every level.
func crowds(t reflect.Type, before, after string, most int) []crowd {
	if c, ok := reflect.Zero(t).Interface().(interface{ Changes() reflect.Type }); ok {
		return crowds(c.Changes(), before, after, most)
	}
	switch {
	case t.Kind() == reflect.Pointer:
		return crowds(t.Elem(), before, after, most)
	case t.Kind() == reflect.Slice && t.Elem().Kind() == reflect.Uint8:
		return nil
	case t.Kind() == reflect.Slice:
		one := crowd{before + "[", "]" + after, func(int) string { return smallest(t.Elem()) }, most}
		return append(crowds(t.Elem(), before+"[", "]"+after, MaxMembers), one)
	case t.Kind() == reflect.Map:
		one := crowd{before + "{", "}" + after, func(i int) string { return fmt.Sprintf(`"%x":%s`, i, smallest(t.Elem())) }, most}
		return append(crowds(t.Elem(), before+`{"a":`, "}"+after, MaxMembers), one)
	case t.Kind() != reflect.Struct:
		return nil
	}
	var all []crowd
	for _, f := range reflect.VisibleFields(t) {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name != "" && name != "-" && f.IsExported() {
			all = append(all, crowds(f.Type, before+`{"`+name+`":`, "}"+after, maxItems(f.Tag))...)
		}
	}
	return all
}

// smallest returns the fewest bytes that a member of that type can be written in.
func smallest(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Struct, reflect.Map:
		return "{}"
	case reflect.String:
		return `""`
	case reflect.Slice:
		if t == reflect.TypeFor[jsontext.Value]() {
			return "0"
		}
		return "[]"
	}
	return "0"
}

// text returns the crowd with as many members as fit so many bytes, or with n.
func (c *crowd) text(size, n int) []byte {
	b := []byte(c.before)
	for i := 0; i < n && len(b) < size; i++ {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, c.member(i)...)
	}
	return append(b, c.after...)
}

// decodeCost decodes as every way in does, and returns the bytes that this has
// allocated.
func decodeCost(text []byte, t reflect.Type) (int64, error) {
	into := reflect.New(t).Interface()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err := Weigh(text, t)
	if err == nil {
		err = json.Unmarshal(text, into)
	}
	runtime.ReadMemStats(&after)
	return int64(after.TotalAlloc - before.TotalAlloc), err
}

// Each list of each request and host call, full of the smallest members there are, costs
// no more than eight times its bytes, or is refused before it costs anything. What is at
// its maximum is taken, and bounded too.
func TestCrowdsCostWhatTheyAreWorth(t *testing.T) {
	const size = 512 << 10
	found := 0
	for _, typ := range requestTypes() {
		for _, c := range crowds(typ, "", "", MaxMembers) {
			found++
			full := c.text(size, size)
			cost, err := decodeCost(full, typ)
			crowded, refused := errors.AsType[*CrowdedError](err)
			if !refused || cost > 64<<10 {
				t.Errorf("%s %s…: %d bytes cost %d: %v", typ, c.before, len(full), cost, err)
			}
			if refused && crowded.Max != c.max {
				t.Errorf("%s %s: its maximum is %d, want %d", typ, c.before, crowded.Max, c.max)
			}
			most := c.text(size, c.max)
			if cost, err = decodeCost(most, typ); err != nil || cost > 16<<20 {
				t.Errorf("%s %s with %d members: cost %d, %v", typ, c.before, c.max, cost, err)
			}
			if weight, _ := Weigh(most, typ); weight < int64(c.max) {
				t.Errorf("%s %s with %d members weighs %d", typ, c.before, c.max, weight)
			}
		}
	}
	if found < 40 {
		t.Errorf("%d lists and maps were found", found)
	}
}

// What every list says of its maximum holds for all of them together too.
func TestCrowdsTogether(t *testing.T) {
	message := `{"role":"user","parts":[` + strings.Repeat("{},", 99) + `{}]}`
	text := func(n int) []byte {
		return []byte(`{"initial_messages":[` + strings.Repeat(message+",", n-1) + message + "]}")
	}
	of := reflect.TypeFor[CreateSessionRequest]()
	if n, err := Weigh(text(198), of); err != nil || n == 0 {
		t.Errorf("19,998 members: %d, %v", n, err)
	}
	if _, err := Weigh(text(199), of); err == nil || !strings.Contains(err.Error(), "20000 members") {
		t.Errorf("20,099 members: %v", err)
	}
}

// Whatever is kept as it was sent, the values in it are counted, in every spelling.
func TestWeighCountsValues(t *testing.T) {
	of := reflect.TypeFor[SubmitTaskRequest]()
	for name, member := range map[string]string{
		"numbers": "1", "strings": `"a,[{"`, "escaped": `"\",\\"`, "objects": "{}", "lists": "[ ]", "spaced": " \n1\t", "words": "true",
	} {
		text := func(n int) []byte {
			return []byte(`{"input":{"a" : [` + strings.Repeat(member+",", n-1) + member + `]},"x":1}`)
		}
		if _, err := Weigh(text(MaxValues-3), of); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := Weigh(text(MaxValues-2), of); err == nil {
			t.Errorf("%s: %d values are taken", name, MaxValues+1)
		}
	}
}

// The name of a list may be written with escapes, its place is told, and what goes around
// it does not matter.
func TestWeighFindsTheList(t *testing.T) {
	list := `[` + strings.Repeat(`{},`, 10_000) + `{}]`
	for text, want := range map[string]string{
		`{"message":{"role":"user","parts":` + list + `}}`:                        "/message/parts",
		`{ "m\u0065ssage" : { "other":[{"parts":1}], "\u0070arts" :` + list + `}`: "/message/parts",
		`{"x":[` + strings.Repeat("1,", 100) + `"]}"],"message":{"parts":` + list: "/message/parts",
	} {
		_, err := Weigh([]byte(text), reflect.TypeFor[AppendMessageRequest]())
		crowded, ok := errors.AsType[*CrowdedError](err)
		if !ok || string(crowded.Pointer) != want || crowded.Max != 10_000 {
			t.Errorf("%.40s…: %v", text, err)
		}
	}
	if _, err := Weigh([]byte(`{"other":{"parts":`+list+`}}`), reflect.TypeFor[AppendMessageRequest]()); err != nil {
		t.Errorf("a member that is not known: %v", err)
	}
}

// What is nested deeper than anything is taken does not take the stack with it.
func TestWeighDoesNotRecurse(t *testing.T) {
	deep := strings.Repeat("[", 1<<20) + strings.Repeat(",", fewMembers+1)
	for _, of := range requestTypes() {
		_, _ = Weigh([]byte(`{"input":`+deep), of)
		_, _ = Weigh([]byte(deep), of)
	}
}

// No request has a member whose type is left open: its shape could not be weighed.
func TestRequestsAreClosed(t *testing.T) {
	var look func(at string, of reflect.Type)
	look = func(at string, of reflect.Type) {
		switch of.Kind() {
		case reflect.Interface:
			t.Errorf("%s can be anything", at)
		case reflect.Pointer, reflect.Slice, reflect.Map:
			look(at, of.Elem())
		case reflect.Struct:
			for i := range of.NumField() {
				if f := of.Field(i); f.IsExported() {
					look(at+"."+f.Name, f.Type)
				}
			}
		}
	}
	for _, of := range requestTypes() {
		look(of.Name(), of)
	}
}

// FuzzWeigh: what is weighed is what a JSON reader finds, whatever the spelling.
func FuzzWeigh(f *testing.F) {
	for _, seed := range []string{
		`{"message":{"role":"user","parts":[{"type":"text","text":"a\\\"b"},{}],"metadata":{"a":[1,[],{}]}}}`, `[[],[[]],{"a":{}}]`,
		`{"message":{"parts":[1]}} x`, `{"message":null}`, `"`, `{"a":1e5 , "b" :true}`, `{"a":[1}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		of := reflect.TypeFor[AppendMessageRequest]()
		s := scale{text: text}
		s.value(shapeOf(of))
		var open any
		if json.Unmarshal(text, &open) == nil && s.values != countValues(open) {
			t.Errorf("%s: %d values, want %d", text, s.values, countValues(open))
		}
		var req AppendMessageRequest
		if json.Unmarshal(text, &req) != nil || req.Message == nil {
			return
		}
		if want := int64(len(req.Message.Parts)) * int64(reflect.TypeFor[Part]().Size()); s.bytes != want {
			t.Errorf("%s weighs %d, want %d", text, s.bytes, want)
		}
	})
}

// countValues counts members as the JSON library finds them.
func countValues(v any) (n int) {
	switch v := v.(type) {
	case []any:
		for _, member := range v {
			n += 1 + countValues(member)
		}
	case map[string]any:
		for _, member := range v {
			n += 1 + countValues(member)
		}
	}
	return n
}

// Each request that there is is among those that the tests here look at.
func TestEveryRequestIsWeighed(t *testing.T) {
	known := map[string]bool{"PermissionRequest": true} // a resource
	for _, of := range requestTypes() {
		known[of.Name()] = true
	}
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	declared := regexp.MustCompile(`(?m)^type (\w+Request) struct`)
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, found := range declared.FindAllSubmatch(text, -1) {
			if !known[string(found[1])] {
				t.Errorf("%s: %s", file, found[1])
			}
		}
	}
}
