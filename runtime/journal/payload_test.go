package journal

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	json "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"pgregory.net/rapid"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/storage"
)

var began = time.Date(2026, 5, 4, 3, 2, 1, 654321000, time.UTC)

// tb is what tests, properties and fuzz targets have in common.
type tb interface {
	Helper()
	Fatal(args ...any)
}

// shelf keeps blobs in memory, as a store would.
type shelf map[abi.Hash][]byte

func (s shelf) get(h abi.Hash) ([]byte, error) {
	b, ok := s[h]
	if !ok {
		return nil, errors.New("no such blob")
	}
	return b, nil
}

// put keeps a text that is too large for an event.
func (s shelf) put(t tb, text []byte) abi.Hash {
	t.Helper()
	if len(text) <= MaxInline {
		return abi.Hash{}
	}
	h, err := ParseHash(HashOf(text))
	if err != nil {
		t.Fatal(err)
	}
	s[h] = text
	return h
}

// event makes the event that tells e, as the engine does.
func event(t tb, e *Entry, phase Phase, s shelf, state []byte) *storage.Record {
	t.Helper()
	refs := Refs{Request: s.put(t, e.Request), Answer: s.put(t, e.Answer)}
	return &storage.Record{Kind: Kind(e.Call, phase, e.Status), Resource: e.Resource, State: state, Payload: e.AppendPayload(nil, phase, refs)}
}

// told is what the event of e in a phase gives back.
func told(e Entry, phase Phase) Entry {
	e.Open = phase == Intent
	if phase == Intent {
		e.Answer = nil
	}
	if phase == Result {
		e.Request = nil
	}
	return e
}

func same(a, b *Entry) bool {
	return a.Index == b.Index && a.Call == b.Call && a.Effect == b.Effect && a.Key == b.Key && a.At.Equal(b.At) && a.At.Location() == b.At.Location() &&
		a.Status == b.Status && bytes.Equal(a.Request, b.Request) && bytes.Equal(a.Answer, b.Answer) && a.Open == b.Open && a.Resource == b.Resource
}

// recordedCalls are the calls that have an entry.
func recordedCalls() (calls []string) {
	for _, def := range abi.HostCalls() {
		if def.Effect != abi.EffectHint && def.Effect != abi.EffectGiven {
			calls = append(calls, def.Name)
		}
	}
	return calls
}

// anyText draws the texts that payloads tell in different ways.
func anyText() *rapid.Generator[[]byte] {
	return rapid.OneOf(
		rapid.SliceOf(rapid.Byte()),
		rapid.Map(rapid.String(), func(s string) []byte { return []byte(s) }),
		rapid.Map(rapid.SampledFrom(awkward), func(s string) []byte { return []byte(s) }),
		rapid.Map(rapid.MapOf(rapid.String(), rapid.Float64Range(-1e9, 1e9)), func(m map[string]float64) []byte {
			b, _ := json.Marshal(m)
			return b
		}),
		rapid.Map(rapid.IntRange(MaxInline-2, MaxInline+2), func(n int) []byte { return bytes.Repeat([]byte{'x'}, n) }),
		rapid.Map(rapid.IntRange(MaxInline-2, MaxInline+2), func(n int) []byte { return bytes.Repeat([]byte{0xff}, n) }),
	)
}

// awkward are texts that a careless encoding changes.
var awkward = []string{
	``, ` `, "\n", `null`, `""`, `"null"`, `0`, `-0`, `1e400`, `1.0`, `00`, `{}`, `{ }`, `{"a":1}`, `{"a": 1}`, "{\"a\":1}\n", "\ufeff{}",
	`{"a":1,"a":2}`, `{"a":"\u0041\/"}`, `{"b":1,"a":12345678901234567890.10}`, `{"a":"\ud83d\ude00"}`, `{"a":"\ud800"}`,
	`{"a":" "}`, `{"a":"\" "}`, `{"a":"\\" }`, "{\"a\":\"\xff\"}", "\xff\xfe", "\x00", `{"a":1`, `{"a":1}}`, `"</script>\u2028"`, "\u2028<>&\x7f",
	`{"call":"output","index":7}`, "sha256:" + strings.Repeat("0", 64), strings.Repeat("[", 8000) + strings.Repeat("]", 8000),
}

// What an event tells of a call is given back byte for byte, whatever the plugin
// asked and was told.
func TestPayloadRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		e := Entry{
			Index: rapid.IntRange(0, 1<<40).Draw(t, "index"), Call: rapid.SampledFrom(recordedCalls()).Draw(t, "call"),
			Effect: rapid.SampledFrom([]abi.Effect{"", abi.EffectRead, abi.EffectWrite}).Draw(t, "effect"),
			Key:    rapid.String().Draw(t, "key"), At: Moment(time.UnixMicro(rapid.Int64Range(-1<<50, 1<<52).Draw(t, "at"))),
			Status:  abi.CallStatus(rapid.Uint32Range(0, 8).Draw(t, "status")),
			Request: anyText().Draw(t, "request"), Answer: anyText().Draw(t, "answer"),
			Resource: abi.ResourcePointer{Object: abi.ObjectTask, ID: rapid.String().Draw(t, "id")},
		}
		phase := Phase(rapid.IntRange(0, 2).Draw(t, "phase"))
		if implied(e.Call, e.Status) {
			e.Status = abi.CallDenied // what their State tells has its own test
		}
		s := shelf{}
		r := event(t, &e, phase, s, nil)
		if !Recorded(r) {
			t.Fatalf("%s %s is not recognized", r.Kind, r.Payload)
		}
		if !jsontext.Value(r.Payload).IsValid() || bytes.ContainsAny(r.Payload, "\n\r") || len(r.Payload) > 5*MaxInline {
			t.Fatalf("payload %.200s", r.Payload)
		}
		got, gotPhase, err := Decode(r, s.get)
		if err != nil {
			t.Fatal(err)
		}
		want := told(e, phase)
		if gotPhase != phase || !same(&got, &want) {
			t.Fatalf("phase %d, payload %.300s\n got %+v\nwant %+v", gotPhase, r.Payload, got, want)
		}
	})
}

// Every awkward text survives in every place of every call's events.
func TestAwkwardTexts(t *testing.T) {
	for _, call := range recordedCalls() {
		for _, phase := range []Phase{Whole, Intent, Result} {
			for _, text := range awkward {
				e := Entry{Call: call, At: began, Status: abi.CallInvalid, Request: Text(text), Answer: Text(text)}
				got, gotPhase, err := Decode(event(t, &e, phase, shelf{}, nil), nil)
				want := told(e, phase)
				if err != nil || gotPhase != phase || !same(&got, &want) {
					t.Fatalf("%s, phase %d, %.60q: %+v, phase %d, %v", call, phase, text, got, gotPhase, err)
				}
			}
		}
	}
}

// A payload is as readable as its texts allow: people read the log.
func TestPayloadForms(t *testing.T) {
	const start = `{"call":"llm.complete","index":3,"at_us":1777863721654321`
	for _, c := range []struct{ name, request, want string }{
		{"compact JSON is itself", `{"model":"m","n":[1.50,null]}`, `,"request":{"model":"m","n":[1.50,null]}}`},
		{"blanks in strings are no white space", `{"a":"b c\" d"}`, `,"request":{"a":"b c\" d"}}`},
		{"null is a value", `null`, `,"request":null}`},
		{"white space is kept in a string", `{"a": 1}`, `,"request_text":"{\"a\": 1}"}`},
		{"duplicate members are not JSON here", `{"a":1,"a":2}`, `,"request_text":"{\"a\":1,\"a\":2}"}`},
		{"lone surrogates are not JSON here", `"\ud800"`, `,"request_text":"\"\\ud800\""}`},
		{"other text", "héllo\n", `,"request_text":"héllo\n"}`},
		{"other bytes", "\xff\x00", `,"request_base64":"/wA="}`},
		{"nothing", "", `}`},
		{"as much as fits", strings.Repeat("x", MaxInline), `,"request_text":"` + strings.Repeat("x", MaxInline) + `"}`},
		{"more than fits", strings.Repeat("x", MaxInline+1),
			`,"request_blob":"` + HashOf(bytes.Repeat([]byte("x"), MaxInline+1)) + `"}`},
	} {
		e := Entry{Index: 3, Call: abi.CallLLMComplete, At: began, Request: Text(c.request)}
		if got := string(event(t, &e, Whole, shelf{}, nil).Payload); got != start+c.want {
			t.Errorf("%s: %.300s", c.name, got)
		}
	}
}

// The members of a payload, all of them.
func TestPayloadMembers(t *testing.T) {
	e := Entry{Index: 1, Call: abi.CallToolCall, At: began, Effect: abi.EffectWrite, Key: `mcp:s:"x"`, Status: abi.CallTimeout,
		Request: Text(`{}`), Answer: Text("late")}
	const head = `{"call":"tool.call","index":1,"at_us":1777863721654321,"effect":"write","key":"mcp:s:\"x\""`
	for phase, want := range map[Phase]string{
		Whole:  head + `,"status":7,"request":{},"answer_text":"late"}`,
		Intent: head + `,"phase":"intent","status":7,"request":{}}`,
		Result: head + `,"phase":"result","status":7,"answer_text":"late"}`,
	} {
		if got := string(e.AppendPayload([]byte("kept"), phase, Refs{})); got != "kept"+want {
			t.Errorf("phase %d: %s", phase, got)
		}
	}
}

// What the State of an event tells is stored once, and given back whole.
func TestImplied(t *testing.T) {
	text := "é \u2028 <&>"
	m := abi.Message{Envelope: abi.NewEnvelope(abi.ObjectMessage, "msg_1", began, jsontext.Value(`{"k":[1]}`)), Role: abi.RoleAssistant, SessionID: "sess_1",
		Parts: []abi.Part{{Type: abi.PartText, Text: &text, Visibility: abi.VisibilityInternal}}}
	for _, c := range []struct {
		call            string
		state           []byte
		request, answer string
	}{
		{abi.CallStateSet, []byte(`{"key":"a", "value":1}`), `{"key":"a", "value":1}`, ""},
		{abi.CallMessageAppend, m.AppendJSON(nil), string(CanonicalMessage(&m)), `{"message_id":"msg_1"}`},
	} {
		e := Entry{Index: 2, Call: c.call, At: began, Request: Text(c.request), Answer: Text(c.answer)}
		r := event(t, &e, Whole, shelf{}, c.state)
		if want := `{"call":"` + c.call + `","index":2,"at_us":1777863721654321}`; string(r.Payload) != want {
			t.Errorf("payload %s", r.Payload)
		}
		got, _, err := Decode(r, nil)
		if err != nil || !same(&got, &e) {
			t.Errorf("%s: %+v, %v", c.call, got, err)
		}
		e.Status, e.Answer = abi.CallInvalid, Text(`{"code":"c","message":"m"}`) // then its State tells nothing of it
		got, _, err = Decode(event(t, &e, Whole, shelf{}, nil), nil)
		if err != nil || !same(&got, &e) {
			t.Errorf("refused %s: %+v, %v", c.call, got, err)
		}
	}
}

func TestDecodeErrors(t *testing.T) {
	gone := Entry{Call: abi.CallClock, At: began, Request: bytes.Repeat([]byte("r"), MaxInline+1)}
	for name, c := range map[string]struct {
		payload, state, want string
	}{
		"not JSON":         {`{"call":"clock"`, "", "reading a recorded call"},
		"not an object":    {`[]`, "", "reading a recorded call"},
		"index no number":  {`{"call":"clock","index":"1"}`, "", "reading a recorded call"},
		"negative status":  {`{"call":"clock","status":-1}`, "", "reading a recorded call"},
		"bad base64":       {`{"call":"clock","request_base64":"!"}`, "", "reading a recorded call"},
		"bad request hash": {`{"call":"clock","index":4,"request_blob":"md5:1"}`, "", "the request of call 4, clock"},
		"bad answer hash":  {`{"call":"clock","index":4,"answer_blob":"sha256:1"}`, "", "the answer of call 4, clock"},
		"blob is gone":     {string(gone.AppendPayload(nil, Whole, Refs{Request: abi.Hash{1}})), "", "no such blob"},
		"bad message":      {`{"call":"message.append","index":5}`, `{"id":`, "the message of call 5"},
	} {
		_, _, err := Decode(&storage.Record{Payload: []byte(c.payload), State: []byte(c.state)}, shelf{}.get)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// vendorKinds are kinds of the host's own that tell no host call.
var vendorKinds = []abi.EventKind{abi.EventPlan, abi.EventMessageDelta, abi.EventLog, abi.EventProgress, abi.EventTenantCreated,
	abi.EventPersonaCreated, abi.EventWorkspaceCreated, abi.EventWorkspaceUpdated, abi.EventSessionUpdated, abi.EventOutcomeCreated,
	abi.EventKeyCreated, abi.EventKeyRevoked, abi.EventReceiptsSealed, abi.EventMemoryRedacted}

// An event tells a host call exactly when it is of a kind that host calls have:
// what a plugin or a client puts into events of its own is never taken for a record.
func TestRecorded(t *testing.T) {
	kinds := []abi.EventKind{abi.EventUserMessage, abi.EventAgentMessage, abi.EventSessionMessageAppended} // of message.append, by its role
	for _, call := range recordedCalls() {
		for _, phase := range []Phase{Whole, Intent, Result} {
			for status := abi.CallOK; status <= abi.CallTimeout; status++ {
				e := Entry{Call: call, Status: status, At: began}
				r := event(t, &e, phase, shelf{}, nil)
				if !Recorded(r) {
					t.Errorf("%s, phase %d, status %d: %s is not recognized", call, phase, status, r.Kind)
				}
				kinds = append(kinds, r.Kind)
			}
		}
	}
	imitation := (&Entry{Call: abi.CallClock, At: began, Answer: Text("{}")}).AppendPayload(nil, Whole, Refs{})
	others := append([]abi.EventKind{abi.EventCall, abi.EventCallIntent, abi.EventStateSet,
		"", "vendor.acme.call", "vendor.wharf.calls", "vendor.wharf", "com.acme.call", "call"}, vendorKinds...)
	for _, kind := range append(others, abi.EventKinds()...) {
		r := &storage.Record{Kind: kind, Payload: imitation}
		if got, want := Recorded(r), slices.Contains(kinds, kind); got != want {
			t.Errorf("an event %q with the payload of a call: %t, want %t", kind, got, want)
		}
		r.Hint = true
		if Recorded(r) {
			t.Errorf("a hint %q is taken for a call", kind)
		}
	}
	for _, payload := range []string{"", "{}", `{"call":`, prefix, `{"call":5}`, `{ "call":"clock"}`, `{"text":"{\"call\":\"clock\""}`, ` {"call":"clock"}`, `{"index":0,"call":"clock"}`} {
		for _, kind := range kinds {
			if Recorded(&storage.Record{Kind: kind, Payload: []byte(payload), State: imitation}) {
				t.Errorf("%s with the payload %s is taken for a call", kind, payload)
			}
		}
	}
}

// The kinds by which people and other clients know what happened.
func TestKinds(t *testing.T) {
	for _, c := range []struct {
		call   string
		phase  Phase
		status abi.CallStatus
		want   abi.EventKind
	}{
		{abi.CallClock, Whole, abi.CallOK, abi.EventCall},
		{abi.CallSleep, Intent, abi.CallOK, abi.EventCallIntent},
		{abi.CallSleep, Result, abi.CallOK, abi.EventCall},
		{abi.CallLLMComplete, Intent, abi.CallOK, abi.EventSpanStarted},
		{abi.CallLLMComplete, Whole, abi.CallOK, abi.EventSpanCompleted},
		{abi.CallHTTPFetch, Result, abi.CallUnavailable, abi.EventSpanFailed},
		{abi.CallToolCall, Intent, abi.CallOK, abi.EventToolRequested},
		{abi.CallToolCall, Result, abi.CallOK, abi.EventToolCompleted},
		{abi.CallToolCall, Whole, abi.CallDenied, abi.EventToolFailed},
		{abi.CallApprovalRequest, Intent, abi.CallOK, abi.EventToolApprovalRequired},
		{abi.CallApprovalRequest, Result, abi.CallOK, abi.EventToolApproved},
		{abi.CallApprovalRequest, Result, abi.CallDenied, abi.EventToolDenied},
		{abi.CallInputRequest, Intent, abi.CallOK, abi.EventCallIntent},
		{abi.CallInputRequest, Result, abi.CallOK, abi.EventUserInputSubmitted},
		{abi.CallAuthRequest, Result, abi.CallOK, abi.EventUserInputSubmitted},
		{abi.CallMemoryQuery, Whole, abi.CallOK, abi.EventAgentMemoryRead},
		{abi.CallMemoryWrite, Whole, abi.CallOK, abi.EventAgentMemoryWrite},
		{abi.CallHandoff, Intent, abi.CallOK, abi.EventCallIntent},
		{abi.CallHandoff, Result, abi.CallOK, abi.EventAgentHandoff},
		{abi.CallHandoff, Result, abi.CallTooLarge, abi.EventCall},
		{abi.CallMemoryWrite, Whole, abi.CallDenied, abi.EventCall},
		{abi.CallMemoryWrite, Intent, abi.CallOK, abi.EventCallIntent},
		{abi.CallArtifactPut, Whole, abi.CallTooLarge, abi.EventCall},
		{abi.CallInputRequest, Result, abi.CallDenied, abi.EventCall},
		{abi.CallStateSet, Whole, abi.CallOK, abi.EventStateSet},
		{abi.CallArtifactPut, Whole, abi.CallOK, abi.EventArtifactCreated},
	} {
		if got := Kind(c.call, c.phase, c.status); got != c.want {
			t.Errorf("%s, phase %d, status %d: %s, want %s", c.call, c.phase, c.status, got, c.want)
		}
	}
}

// Whatever bytes a log holds: reading them ends with a call or an error, and a call
// that was read is told again as the same.
func FuzzDecode(f *testing.F) {
	s := shelf{}
	for i, text := range awkward {
		for _, phase := range []Phase{Whole, Intent, Result} {
			e := Entry{Index: i, Call: abi.CallHTTPFetch, Effect: abi.EffectRead, Key: "k", At: began, Status: abi.CallStatus(i % 2), Request: Text(text), Answer: Text(text)}
			f.Add(event(f, &e, phase, s, nil).Payload, []byte(nil))
		}
	}
	f.Add([]byte(`{"call":"message.append"}`), []byte(`{"id":"msg_1","role":"user","parts":[{"type":"json","value":{"a": 1}}],"metadata":{ }}`))
	f.Add([]byte(`{"call":"state.set"}`), []byte(`{"key":"a","value":null}`))
	f.Add([]byte(`{"call":"clock","request_blob":"sha256:`+strings.Repeat("ab", 32)+`"}`), []byte(nil))
	blobs := func(h abi.Hash) ([]byte, error) { return fmt.Appendf(nil, "blob %x", h), nil }
	f.Fuzz(func(t *testing.T, payload, state []byte) {
		r := &storage.Record{Kind: abi.EventCall, Payload: payload, State: state}
		e, phase, err := Decode(r, blobs)
		if err != nil || !slices.Contains(recordedCalls(), e.Call) || !slices.Contains([]abi.Effect{"", abi.EffectRead, abi.EffectWrite}, e.Effect) {
			return
		}
		r.Payload = e.AppendPayload(nil, phase, Refs{})
		if !Recorded(r) {
			t.Fatalf("%q is not recognized", r.Payload)
		}
		again, gotPhase, err := Decode(r, blobs)
		want := e
		if !implied(e.Call, e.Status) {
			want = told(e, phase)
		}
		if err != nil || gotPhase != phase || !same(&again, &want) {
			t.Fatalf("%q was read as\n%+v, then as\n%+v, %v", payload, want, again, err)
		}
	})
}
