package replay

import (
	"encoding/base64"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	json "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/journal"
)

// many is a record with a call of every kind that can be replaced.
func many() *journal.Record {
	return recorded(
		step{abi.CallClock, `{"call_id":"t"}`, abi.CallOK, `{"unix_nano":"5"}`},
		step{abi.CallLLMComplete, `{"call_id":"a"}`, abi.CallOK, `{"text":"yes"}`},
		step{abi.CallToolCall, `{"call_id":"b","server":"s"}`, abi.CallOK, `{"content":[]}`},
		step{abi.CallRandom, "\x02\x00\x00\x00", abi.CallOK, "ab"},
		step{abi.CallArtifactGet, `{"call_id":"c"}`, abi.CallOK, "old"},
		step{abi.CallSecretUse, `{"name":"n"}`, abi.CallOK, `{"handle":"h"}`},
		step{abi.CallHTTPFetch, `{"call_id":"d"}`, abi.CallOK, `{"status":200}`},
		step{abi.CallMemoryQuery, `{}`, abi.CallOK, `{"memories":[]}`},
		step{abi.CallHostFact, `{"name":"os"}`, abi.CallOK, `{"value":"linux"}`},
		step{abi.CallApprovalRequest, `{"call_id":"e"}`, abi.CallDenied, `{"code":"c","message":"m"}`},
		step{abi.CallOutput, `{}`, abi.CallOK, ""},
	)
}

func TestKeysOfARecord(t *testing.T) {
	rec := many()
	rec.Entries = append(rec.Entries, journal.Entry{Index: 11, Call: abi.CallLLMComplete, Key: "llm:open", Open: true})
	got := strings.Join(Keys(rec), " ")
	if want := "time:created_at time:started_at time:completed_at time:t llm:a mcp:s:b host:random:1 host:artifact.get:c secret:n " +
		"host:http.fetch:d host:memory.query:1 host:host.fact:os host:approval.request:e"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// resolve takes an override as a request says it: with a value, or with the
// content of an Artifact.
func resolve(rec *journal.Record, key string, o abi.ReplayOverride, content string) (Replacement, error) {
	if o.ArtifactID == "" {
		o.Value = jsontext.Value(content)
	}
	return Resolve(rec, key, &o, []byte(content))
}

// modelText reads what matters of a model's answer.
func modelText(t *testing.T, answer []byte) string {
	t.Helper()
	var a abi.ModelAnswer
	if err := json.Unmarshal(answer, &a); err != nil {
		t.Fatal(err)
	}
	said := fmt.Sprint(a.Provider, "/", a.Model, " ", a.StopReason, " ", a.Text)
	for _, call := range a.ToolCalls {
		said += fmt.Sprintf(" %s=%s%s", call.ID, call.Name, call.Arguments)
	}
	return said
}

// Every kind of override onto every call that it fits.
func TestResolve(t *testing.T) {
	const artifact = "art_9"
	for _, c := range []struct {
		name, key string
		kind      abi.OverrideKind
		artifact  string
		content   string
		want      string // the answer; of a model, what modelText says
	}{
		{"a time", "time:t", abi.OverrideTime, "", `"2026-01-02T03:04:05.000000006+01:00"`, `{"unix_nano":"1767319445000000006"}`},
		{"a clock's answer", "time:t", abi.OverrideTime, "", `{"unix_nano":"7"}`, `{"unix_nano":"7"}`},
		{"a time in an artifact", "time:t", abi.OverrideTime, artifact, `"1970-01-01T00:00:00Z"`, `{"unix_nano":"0"}`},
		{"a model's answer", "llm:a", abi.OverrideModel, "", `{"provider":"p","model":"m","text":"no","stop_reason":"end"}`, "p/m end no"},
		{"a model's text", "llm:a", abi.OverrideModel, "", `{"text":"no"}`, "/ end no"},
		{"a model's wish alone", "llm:a", abi.OverrideModel, "", `{"tool_calls":[{"id":"1","name":"f","arguments":{}}]}`, "/ tools  1=f{}"},
		{"a model's answer in an artifact", "llm:a", abi.OverrideModel, artifact, `{ "text": "no", "stop_reason": "refusal" }`, "/ refusal no"},
		{"a model's wish", "llm:a", abi.OverrideModel, "", `{"text":"","stop_reason":"tools","tool_calls":[{"id":"1","name":"f","arguments":{"x":1}}]}`, `/ tools  1=f{"x":1}`},
		{"a chat completion", "llm:a", abi.OverrideModel, "", `{"model":"gpt","choices":[{"message":{"content":"no"},"finish_reason":"stop"},{"message":{"content":"second"}}]}`, "override/gpt end no"},
		{"without a model", "llm:a", abi.OverrideModel, "", `{"choices":[{"message":{"content":"no"}}]}`, "override/override end no"},
		{"cut off", "llm:a", abi.OverrideModel, "", `{"choices":[{"message":{"content":"n"},"finish_reason":"length"}]}`, "override/override length n"},
		{"with tool calls", "llm:a", abi.OverrideModel, "", `{"choices":[{"message":{"content":null,"tool_calls":[{"id":"1","type":"function","function":{"name":"f","arguments":"{\"x\": 1}"}},{"id":"2","function":{"name":"g","arguments":"{}"}}]},"finish_reason":"tool_calls"}]}`,
			`override/override tools  1=f{"x":1} 2=g{}`},
		{"a tool's answer", "mcp:s:b", abi.OverrideMCP, "", `{"content":[{"type":"text","text":"x"}],"is_error":true}`, `{"content":[{"type":"text","text":"x"}],"is_error":true}`},
		{"a tool's empty answer", "mcp:s:b", abi.OverrideTool, "", `{"content":[]}`, `{"content":[]}`},
		{"any JSON for a tool", "mcp:s:b", abi.OverrideTool, "", `{"total":3}`, `{"content":[{"type":"text","text":"{\"total\":3}"}],"structured":{"total":3}}`},
		{"a string for a tool", "mcp:s:b", abi.OverrideMCP, "", `"x"`, `{"content":[{"type":"text","text":"\"x\""}],"structured":"x"}`},
		{"randomness", "host:random:1", abi.OverrideHostFact, "", `"` + base64.StdEncoding.EncodeToString([]byte{0xff, 0}) + `"`, "\xff\x00"},
		{"randomness in an artifact", "host:random:1", abi.OverrideHostFact, artifact, "\x00\xfe", "\x00\xfe"},
		{"an artifact's bytes", "host:artifact.get:c", abi.OverrideHostFact, artifact, "{ not JSON", "{ not JSON"},
		{"an artifact's bytes, told", "host:artifact.get:c", abi.OverridePayload, "", `"bmV3"`, "new"},
		{"a secret", "secret:n", abi.OverrideSecret, "", `"hunter2"`, `{"handle":"h"}`},
		{"a response", "host:http.fetch:d", abi.OverrideHostFact, "", "{ \"status\": 500,\n\"a\": \"b c\" }", `{"a":"b c","status":500}`},
		{"a response in an artifact", "host:http.fetch:d", abi.OverrideHostFact, artifact, "{ \"status\": 500,\n\"a\": \"b c\" }", `{"status":500,"a":"b c"}`},
		{"memories", "host:memory.query:1", abi.OverridePayload, "", `{"memories":[]}`, `{"memories":[]}`},
		{"a fact", "host:host.fact:os", abi.OverrideHostFact, "", `{"value":"plan9"}`, `{"value":"plan9"}`},
		{"a decision", "host:approval.request:e", abi.OverridePayload, "", `{"decision":"approved"}`, `{"decision":"approved"}`},
	} {
		rec := many()
		r, err := resolve(rec, c.key, abi.ReplayOverride{Kind: c.kind, ArtifactID: c.artifact, Reason: "why"}, c.content)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		got := string(r.Answer)
		if strings.HasPrefix(c.key, "llm:") {
			got = modelText(t, r.Answer)
		}
		if got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
		i := slices.IndexFunc(rec.Entries, func(e journal.Entry) bool { return e.Key == c.key })
		d := r.Delta
		if r.Key != c.key || r.Index != i || d.OverrideKey != c.key || d.EventID != rec.Entries[i].EventID || d.BeforeSHA256 != journal.HashOf(rec.Entries[i].Answer) ||
			d.Operation != "replace" || d.Path != "/replay_input/materials/"+c.key || d.ArtifactID != c.artifact || d.Reason != "why" || strings.ContainsAny(d.DeltaID, ":/") {
			t.Errorf("%s: %+v", c.name, r)
		}
		if c.artifact != "" && d.AfterSHA256 != journal.HashOf([]byte(c.content)) {
			t.Errorf("%s: after %s", c.name, d.AfterSHA256)
		}
	}
}

// A Task's own times change its receipt and no answer.
func TestResolveOwnTimes(t *testing.T) {
	rec := many()
	for key, was := range map[string]string{KeyCreatedAt: `"2026-05-04T03:02:01Z"`, KeyStartedAt: `"2026-05-04T03:02:02Z"`, KeyCompletedAt: `"2026-05-04T03:03:01Z"`} {
		r, err := resolve(rec, key, abi.ReplayOverride{Kind: abi.OverrideTime}, `"2026-01-02T04:04:05+01:00"`)
		if err != nil || r.Index != -1 || r.Answer != nil || !r.Time.Equal(time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)) || r.Time.Location() != time.UTC ||
			r.Delta.Path != "/lifecycle/"+strings.TrimPrefix(key, "time:") || r.Delta.BeforeSHA256 != journal.HashOf([]byte(was)) {
			t.Errorf("%s: %+v, %v", key, r, err)
		}
	}
}

func TestResolveRefuses(t *testing.T) {
	for _, c := range []struct {
		key, content string
		o            abi.ReplayOverride
		param        string
	}{
		{"llm:other", `{}`, abi.ReplayOverride{}, "override"},
		{"", `{}`, abi.ReplayOverride{}, "override"},
		{"llm:open", `{}`, abi.ReplayOverride{}, "override"},
		{"time:t", `{}`, abi.ReplayOverride{EventID: "evt_9"}, "override.time:t.event_id"},
		{"time:t", `"yesterday"`, abi.ReplayOverride{}, "override.time:t.value"},
		{"time:t", `5`, abi.ReplayOverride{}, "override.time:t.value"},
		{"time:t", `null`, abi.ReplayOverride{}, "override.time:t.value"},
		{KeyCreatedAt, `"2026-01-01"`, abi.ReplayOverride{}, "override.time:created_at.value"},
		{KeyCreatedAt, `1`, abi.ReplayOverride{}, "override.time:created_at.value"},
		{"llm:a", `"no"`, abi.ReplayOverride{}, "override.llm:a.value"},
		{"llm:a", `{"model":"m"}`, abi.ReplayOverride{}, "override.llm:a.value"},
		{"llm:a", `{"choices":[]}`, abi.ReplayOverride{}, "override.llm:a.value"},
		{"llm:a", `{"choices":[{"message":{"tool_calls":[{"id":"1","function":{"name":"f","arguments":"{"}}]}}]}`, abi.ReplayOverride{}, "override.llm:a.value"},
		{"llm:a", `not JSON`, abi.ReplayOverride{ArtifactID: "art_9"}, "override.llm:a.value"},
		{"mcp:s:b", `{"a":`, abi.ReplayOverride{ArtifactID: "art_9"}, "override.mcp:s:b.value"},
		{"host:random:1", `"!"`, abi.ReplayOverride{}, "override.host:random:1.value"},
		{"host:random:1", `{}`, abi.ReplayOverride{}, "override.host:random:1.value"},
		{"host:artifact.get:c", `5`, abi.ReplayOverride{}, "override.host:artifact.get:c.value"},
		{"host:http.fetch:d", "\xff", abi.ReplayOverride{ArtifactID: "art_9"}, "override.host:http.fetch:d.value"},
		{"host:http.fetch:d", `{`, abi.ReplayOverride{}, "override.host:http.fetch:d.value"},
		{"llm:a", `{"text":"no","stop_reason":"end"}`, abi.ReplayOverride{SHA256: journal.HashOf([]byte("other"))}, "override.llm:a.sha256"},
	} {
		rec := many()
		rec.Entries = append(rec.Entries, journal.Entry{Index: 11, Call: abi.CallLLMComplete, Key: "llm:open", Open: true})
		r, err := resolve(rec, c.key, c.o, c.content)
		invalid, ok := errors.AsType[*abi.Error](err)
		if !ok || invalid.Param != c.param || invalid.Code != abi.CodeInvalidRequest {
			t.Errorf("%s %s: answer %s, %v", c.key, c.content, r.Answer, err)
		}
	}
	if _, err := resolve(many(), "time:t", abi.ReplayOverride{EventID: "evt_0"}, `{"unix_nano":"7"}`); err != nil {
		t.Errorf("the event that recorded it: %v", err)
	}
}

// The hash of a value is that of its canonical form, however it is written; that
// of an Artifact is of its bytes.
func TestCheckHash(t *testing.T) {
	canonical := journal.HashOf([]byte(`{"a":[1,"é"],"b":1000}`))
	for _, value := range []string{`{"a":[1,"é"],"b":1000}`, `{"b":1e3,"a":[1.0,"\u00e9"]}`, "{ \"b\" : 1000.0,\n\"a\":[ 1, \"é\" ] }"} {
		for _, stated := range []string{"", canonical} {
			if got, err := CheckHash("k", &abi.ReplayOverride{Value: jsontext.Value(value), SHA256: stated}, []byte("not looked at")); err != nil || got != canonical {
				t.Errorf("%s: %s, %v", value, got, err)
			}
		}
	}
	raw := []byte(`{ "b":1 }`)
	if got, err := CheckHash("k", &abi.ReplayOverride{ArtifactID: "art_1", SHA256: journal.HashOf(raw)}, raw); err != nil || got != journal.HashOf(raw) {
		t.Error(got, err)
	}
	for param, o := range map[string]abi.ReplayOverride{
		"override.k.sha256": {Value: jsontext.Value(`{"a":2}`), SHA256: canonical},
		"override.k.value":  {Value: jsontext.Value(`{"a":`)},
	} {
		if invalid, ok := errors.AsType[*abi.Error](second(CheckHash("k", &o, nil))); !ok || invalid.Param != param {
			t.Errorf("%s: %v", param, invalid)
		}
	}
	for name, stated := range map[string]string{"of the value": journal.HashOf([]byte(`{"b":1}`)), "bare": journal.HashOf(raw)[7:], "upper case": strings.ToUpper(journal.HashOf(raw))} {
		if _, err := CheckHash("k", &abi.ReplayOverride{ArtifactID: "art_1", SHA256: stated}, raw); err == nil {
			t.Errorf("a hash %s is accepted", name)
		}
	}
}

// An override answers what its kind is for.
func TestKindsFit(t *testing.T) {
	for _, test := range []struct {
		kind abi.OverrideKind
		call string
		want bool
	}{
		{abi.OverrideModel, abi.CallLLMComplete, true}, {abi.OverrideModel, abi.CallToolCall, false},
		{abi.OverrideMCP, abi.CallResourceRead, true}, {abi.OverrideMCP, abi.CallResourceList, true}, {abi.OverrideMCP, abi.CallPromptGet, true},
		{abi.OverrideMCP, abi.CallToolCall, true}, {abi.OverrideMCP, abi.CallClock, false},
		{abi.OverrideSecret, abi.CallSecretUse, true}, {abi.OverrideSecret, abi.CallLLMComplete, false},
		{abi.OverrideTime, abi.CallClock, true}, {abi.OverrideTime, abi.CallHostFact, false},
		{abi.OverrideHostFact, abi.CallHTTPFetch, true}, {abi.OverrideHostFact, abi.CallSecretUse, false},
	} {
		if fits(test.kind, test.call) != test.want {
			t.Errorf("%s for %s: %v", test.kind, test.call, !test.want)
		}
	}
}

func second(_ string, err error) error { return err }

// The id of a replay names all that decides what it does, and nothing else.
func TestID(t *testing.T) {
	rec := recorded()
	overrides := func() map[string]abi.ReplayOverride {
		m := map[string]abi.ReplayOverride{}
		for i := range 9 {
			m[fmt.Sprint("llm:", i)] = abi.ReplayOverride{Kind: abi.OverrideModel, EventID: "e", ArtifactID: "a", Reason: "r"}
		}
		return m
	}
	hashes := map[string]string{"llm:0": "h0", "llm:1": "h1"}
	base := ID(rec, abi.ReplayExact, 3, overrides(), hashes)
	if want := "task_replay_06b4cd6590de34ce46fb6fe6742ea7e1"; base != want {
		t.Errorf("%s, want %s", base, want)
	}
	change := func(f func(o *abi.ReplayOverride)) map[string]abi.ReplayOverride {
		m := overrides()
		o := m["llm:0"]
		f(&o)
		m["llm:0"] = o
		return m
	}
	source, module := *rec, *rec
	source.TaskID, module.Program.Module = "task_2", journal.HashOf([]byte("other"))
	moved := overrides()
	delete(moved, "llm:0")
	moved["llm:00"] = overrides()["llm:0"]
	fewer := overrides()
	delete(fewer, "llm:0")
	seen := map[string]string{base: "the first"}
	for name, id := range map[string]string{
		"source": ID(&source, abi.ReplayExact, 3, overrides(), hashes), "module": ID(&module, abi.ReplayExact, 3, overrides(), hashes),
		"mode": ID(rec, abi.ReplayWithOverrides, 3, overrides(), hashes), "checkpoint": ID(rec, abi.ReplayExact, 4, overrides(), hashes),
		"none": ID(rec, abi.ReplayExact, 3, nil, nil), "fewer": ID(rec, abi.ReplayExact, 3, fewer, hashes), "key": ID(rec, abi.ReplayExact, 3, moved, hashes),
		"content":       ID(rec, abi.ReplayExact, 3, overrides(), map[string]string{"llm:0": "h2", "llm:1": "h1"}),
		"other's hash":  ID(rec, abi.ReplayExact, 3, overrides(), map[string]string{"llm:0": "h1", "llm:1": "h0"}),
		"event":         ID(rec, abi.ReplayExact, 3, change(func(o *abi.ReplayOverride) { o.EventID = "e2" }), hashes),
		"artifact":      ID(rec, abi.ReplayExact, 3, change(func(o *abi.ReplayOverride) { o.ArtifactID = "a2" }), hashes),
		"kind":          ID(rec, abi.ReplayExact, 3, change(func(o *abi.ReplayOverride) { o.Kind = abi.OverrideTool }), hashes),
		"reason":        ID(rec, abi.ReplayExact, 3, change(func(o *abi.ReplayOverride) { o.Reason = "r2" }), hashes),
		"quoted reason": ID(rec, abi.ReplayExact, 3, change(func(o *abi.ReplayOverride) { o.Reason, o.ArtifactID = "r", `a" "r` }), hashes),
	} {
		if seen[id] != "" {
			t.Errorf("%s: the id is that of %s", name, seen[id])
		}
		seen[id] = name
	}
	for range 20 {
		same := change(func(o *abi.ReplayOverride) { o.Visibility, o.SHA256 = abi.VisibilityPublic, "sha256:stated" })
		if got := ID(recordedLater(), abi.ReplayExact, 3, maps.Clone(same), hashes); got != base {
			t.Fatalf("%s, and %s for the same replay", base, got)
		}
	}
}

// recordedLater is the record of the same Task, read on another node.
func recordedLater() *journal.Record {
	rec := recorded()
	rec.Program.Engine, rec.Program.Arch, rec.EndedAt = "other", "other", began.Add(time.Hour)
	return rec
}

// An override with the recorded answer gives back what was recorded, to the byte,
// however it is spelled; any other keeps the digits of its numbers.
func TestOverridesKeepWhatWasRecorded(t *testing.T) {
	const recordedAnswer = `{"value":{"n":12345678901234567890,"b":1.50,"a":[1e400,"A"]}}`
	rec := recorded(step{abi.CallStateGet, `{"key":"k","call_id":"a"}`, abi.CallOK, recordedAnswer},
		step{abi.CallLLMComplete, `{"call_id":"m"}`, abi.CallOK, `{"stop_reason":"end","text":"yes","cost":0.10}`})
	for _, c := range []struct{ key, value, want string }{
		{"host:state.get:a", recordedAnswer, recordedAnswer},
		{"host:state.get:a", "{ \"value\" : { \"a\":[1e400,\"\\u0041\"], \"b\":1.5, \"n\":12345678901234567890 } }", recordedAnswer},
		{"host:state.get:a", `{"value":{"n":12345678901234567891,"b":1.50,"a":[1e400,"A"]}}`, `{"value":{"a":[1e400,"A"],"b":1.5,"n":12345678901234567891}}`},
		{"llm:m", `{"stop_reason":"end","text":"yes","cost":0.1}`, `{"stop_reason":"end","text":"yes","cost":0.10}`},
	} {
		kind := abi.OverridePayload
		if strings.HasPrefix(c.key, "llm:") {
			kind = abi.OverrideModel
		}
		for _, artifact := range []string{"", "art_1"} {
			r, err := resolve(rec, c.key, abi.ReplayOverride{Kind: kind, ArtifactID: artifact}, c.value)
			if artifact != "" && c.want != recordedAnswer {
				continue // it is passed on as it is
			}
			if err != nil || string(r.Answer) != c.want {
				t.Errorf("%s: %s, want %s (%v)", c.value, r.Answer, c.want, err)
			}
		}
	}
	if _, err := resolve(rec, "host:state.get:a", abi.ReplayOverride{Kind: abi.OverridePayload, ArtifactID: "art_1"},
		strings.Repeat("[", abi.MaxDepth+1)+strings.Repeat("]", abi.MaxDepth+1)); err == nil {
		t.Error("an artifact that nests too deep answers a call")
	}
}

// Clients may state the hash of the form of RFC 8785, also where that rounds.
func TestStatedHashOfARoundedValue(t *testing.T) {
	o := abi.ReplayOverride{Value: jsontext.Value(`{"n":12345678901234567890}`), SHA256: journal.HashOf([]byte(`{"n":12345678901234567000}`))}
	if _, err := CheckHash("k", &o, nil); err != nil {
		t.Error(err)
	}
}
