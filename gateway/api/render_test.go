package api

import (
	"bytes"
	"fmt"
	"reflect"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"pgregory.net/rapid"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/desk"
	"github.com/wharf-dev/wharf/runtime/tooluse"
	"github.com/wharf-dev/wharf/storage"
)

// wireEvent is what an event is on the wire, by the types of abi alone.
func wireEvent(t interface{ Fatal(...any) }, ev desk.Event) abi.Event {
	rec, frame := ev.Record(), ev.Frame
	payload := map[string]jsontext.Value{}
	if len(rec.Payload) > 0 {
		if err := json.Unmarshal(rec.Payload, &payload); err != nil {
			t.Fatal(err)
		}
	}
	if rec.State != nil {
		payload[string(rec.Resource.Object)] = rec.State
	}
	text, err := json.Marshal(payload, json.Deterministic(true))
	if err != nil {
		t.Fatal(err)
	}
	return abi.Event{
		Envelope: abi.NewEnvelope(abi.ObjectEvent, ev.Position().String(), frame.Time, nil),
		Event:    rec.Kind, Resource: rec.Resource, Sequence: rec.Sequence, Payload: text,
		SessionID: frame.SessionID, TaskID: frame.TaskID, WorkspaceID: frame.WorkspaceID,
		Actor: frame.Actor, IdempotencyKey: rec.IdempotencyKey,
	}
}

func canonical(t interface{ Fatal(...any) }, text []byte) string {
	v := jsontext.Value(bytes.Clone(text))
	if err := v.Canonicalize(); err != nil {
		t.Fatal(err, string(text))
	}
	return string(v)
}

func checkRendering(t interface{ Fatal(...any) }, ev desk.Event) {
	shown, err := links.render(ev, true)
	if err != nil {
		t.Fatal(err)
	}
	got := shown.AppendJSON(nil, false)
	if bytes.ContainsAny(got, "\r\n") {
		t.Fatal("a line break in an event", string(got))
	}
	want, err := json.Marshal(wireEvent(t, ev))
	if err != nil {
		t.Fatal(err)
	}
	if canonical(t, got) != canonical(t, want) {
		t.Fatal("rendered", string(got), "want", string(want))
	}
}

// What is rendered by appending is what the types of abi say.
func TestRenderEventAgreesWithABI(t *testing.T) {
	id := rapid.StringMatching(`([a-z]+_[A-Z0-9]{1,5})?`)
	rapid.Check(t, func(t *rapid.T) {
		member := func(name string) []byte {
			text, err := json.Marshal(map[string]any{name: rapid.String().Draw(t, "value"), "n": rapid.Float64().Draw(t, "n")})
			if err != nil {
				t.Fatal(err)
			}
			return text
		}
		rec := storage.Record{
			Kind:     rapid.SampledFrom(abi.EventKinds()).Draw(t, "kind"),
			Resource: abi.ResourcePointer{Object: abi.ObjectTask, ID: id.Draw(t, "id")},
			Sequence: rapid.Uint64Range(0, 1<<53).Draw(t, "sequence"), IdempotencyKey: rapid.String().Draw(t, "key"),
		}
		if rapid.Bool().Draw(t, "states") {
			rec.State = member("status")
		}
		switch rapid.IntRange(0, 3).Draw(t, "payload") {
		case 1:
			rec.Payload = []byte(" { \n } ")
		case 2:
			rec.Payload = member("reason")
		case 3:
			rec.Payload = append(append([]byte("\n"), member("reason")...), " \r\n"...)
		}
		frame := &storage.Frame{
			First: desk.Position(rapid.Uint64Range(1, 1<<60).Draw(t, "first")),
			Time:  time.Unix(rapid.Int64Range(0, 1<<34).Draw(t, "time"), rapid.Int64Range(0, 999_999_999).Draw(t, "nanos")),
			Actor: rapid.String().Draw(t, "actor"), SessionID: id.Draw(t, "session"), TaskID: id.Draw(t, "task"),
			WorkspaceID: id.Draw(t, "workspace"), Records: []storage.Record{rec},
		}
		checkRendering(t, desk.Event{Frame: frame})
	})
}

// FuzzRenderEvent: any state and payload that are JSON, whatever their white
// space, come out as one line of the same JSON.
func FuzzRenderEvent(f *testing.F) {
	f.Add([]byte(`{"id":"task_1"}`), []byte(`{"reason":"x"}`), "actor")
	f.Add([]byte("{\n\"id\":\t\"a\\nb\"\r\n}"), []byte("{ }"), "a\xffb\n")
	f.Add([]byte(`{}`), []byte(``), "")
	f.Fuzz(func(t *testing.T, state, payload []byte, actor string) {
		var s, p map[string]jsontext.Value
		if json.Unmarshal(state, &s) != nil || s == nil || len(payload) > 0 && (json.Unmarshal(payload, &p) != nil || p == nil) {
			t.Skip("no JSON object")
		}
		if _, clash := p["task"]; clash {
			t.Skip("a payload never has the name of its resource")
		}
		rec := storage.Record{Kind: abi.EventTaskStarted, Resource: abi.ResourcePointer{Object: abi.ObjectTask, ID: "task_1"}, State: state, Payload: payload}
		shown, err := links.render(desk.Event{Frame: &storage.Frame{First: 1, Actor: actor, Records: []storage.Record{rec}}}, true)
		if err != nil {
			t.Fatal(err)
		}
		got := shown.AppendJSON(nil, true)
		if !jsontext.Value(got).IsValid() || bytes.ContainsAny(got, "\r\n") {
			t.Fatalf("%q", got)
		}
	})
}

// What a replay did again says so at the top, however it is delivered.
func TestReplayedEvent(t *testing.T) {
	const marks = `{"source_task_id":"task_1","replay_task_id":"task_2","original_event_id":"7","replay_cursor":"3","mode":"exact"}`
	ev := someEvent(9)
	ev.Record().Kind = abi.EventReplayEventReplayed
	for payload, want := range map[string]string{
		`{"a":1,"replay":` + marks + `,"b":2}`:                                  `{"a":1,"b":2}`,
		`{"replay":` + marks + `}`:                                              `{}`,
		`{"call":"c","index":0,"answer":{"k":"hidden"},"replay":` + marks + `}`: `{"call":"c","index":0,"answer_sha256":"sha256:8c6b381cb6e56b74be6ce3030b1a735e4e9f23551050159cf92d3cd0ee6aad4e","redacted":true}`,
	} {
		ev.Record().State, ev.Record().Payload = nil, []byte(payload)
		shown, err := links.render(ev, false)
		if err != nil {
			t.Fatal(err)
		}
		for _, again := range []bool{false, true} {
			var got abi.Event
			text := shown.AppendJSON(nil, again)
			if err := json.Unmarshal(text, &got); err != nil {
				t.Fatal(err, string(text))
			}
			if !got.Replayed || got.Replay == nil || got.Replay.OriginalEventID != "7" || got.Replay.ReplayCursor != "3" || string(got.Payload) != want {
				t.Errorf("%s", text)
			}
		}
	}
	ev.Record().Kind, ev.Record().Payload = abi.EventReplayStarted, []byte(`{"replay":`+marks+`}`)
	if shown, err := links.render(ev, false); err != nil || shown.Redone {
		t.Errorf("the start of a replay is taken for a replayed event: %s %v", shown.head, err)
	}
}

// The events of a call that reaches something have one span, all of a Task one trace, and the end
// of a tool call names its beginning, whether that is told in its payload or in the same batch.
func TestTraces(t *testing.T) {
	const call = `{"call":"tool.call","index":3`
	frame := &storage.Frame{First: 40, Time: time.Unix(0, 0), TaskID: "task_1"}
	for _, rec := range []struct {
		kind    abi.EventKind
		payload string
		hint    bool
	}{
		{abi.EventToolCompleted, call + `,"tool":{"started_event_id":"7"}}`, false},
		{abi.EventToolFailed, `{"call":"tool.call","index":4}`, false},
		{abi.EventToolRequested, `{"call":"tool.call","index":5}`, true},
		{abi.EventAgentMemoryWrite, ``, false},
		{abi.EventToolCompleted, `{"call":"tool.call","index":5}`, false},
		{abi.EventSpanCompleted, `{"call":"llm.complete","index":6}`, false},
		{abi.EventToolApprovalRequired, `{"call":"approval.gate","index":6}`, false},
		{abi.EventLog, `{"call":"mine","index":6}`, true},
		{abi.EventToolCompleted, `{}`, false},
	} {
		frame.Records = append(frame.Records, storage.Record{Kind: rec.kind, Payload: []byte(rec.payload), Hint: rec.hint,
			Resource: abi.ResourcePointer{Object: abi.ObjectTask, ID: "task_1"}})
	}
	want := []string{"3 7", "4 ", "5 ", "", "5 42", "6 ", "6 ", "", ""}
	for i := range frame.Records {
		shown, err := links.render(desk.Event{Frame: frame, Index: i}, true)
		if err != nil {
			t.Fatal(err)
		}
		var ev abi.Event
		if err := json.Unmarshal(shown.AppendJSON(nil, false), &ev); err != nil {
			t.Fatal(err)
		}
		got := ""
		if ev.TraceID != "" || ev.SpanID != "" || ev.PreviousEventID != "" {
			for index := range 7 {
				if ev.SpanID == tooluse.SpanID("task_1", index) && ev.TraceID == tooluse.TraceID("task_1") {
					got = fmt.Sprintf("%d %s", index, ev.PreviousEventID)
				}
			}
		}
		if got != want[i] {
			t.Errorf("event %d, %s, has the span and beginning %q, want %q", i, ev.Event, got, want[i])
		}
	}
}

// The cache answers what rendering would, also where positions share a slot.
func TestEventCache(t *testing.T) {
	c := newEventCache(Links{}, 4)
	rapid.Check(t, func(t *rapid.T) {
		ev := someEvent(desk.Position(rapid.Uint64Range(1, 20).Draw(t, "position")))
		ev.Record().Restricted = true
		ev.Record().State = []byte(`{"type":"text","visibility":"internal","text":"hidden"}`)
		internal := rapid.Bool().Draw(t, "internal")
		kept := c.event(ev, internal)
		want, err := links.render(ev, internal)
		if err != nil || !reflect.DeepEqual(kept, want) {
			t.Fatalf("%+v, want %+v", kept, want)
		}
		got := kept.AppendJSON(nil, false)
		if bytes.Contains(got, []byte("hidden")) != internal {
			t.Fatalf("internal %v: %s", internal, got)
		}
	})
}

// taskEvent is an event as a running Task makes them.
func taskEvent(at desk.Position) desk.Event {
	ev := someEvent(at)
	ev.Frame.WorkspaceID, ev.Frame.SessionID, ev.Frame.TaskID = "ws_default", "sess_01ARZ3NDEKTSV4RRFFQ69G5FAV", "task_01ARZ3NDEKTSV4RRFFQ69G5FAV"
	ev.Frame.Actor = "key:root"
	ev.Record().State = fmt.Appendf(nil, `{"id":"task_01ARZ3NDEKTSV4RRFFQ69G5FAV","object":"task","status":"WORKING","metadata":{},"padding":%q}`, bytes.Repeat([]byte("x"), 300))
	return ev
}

func BenchmarkRenderEvent(b *testing.B) {
	ev := taskEvent(12345)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := links.render(ev, false); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkRenderRestrictedEvent(b *testing.B) {
	ev := taskEvent(12345)
	ev.Record().Restricted = true
	b.ReportAllocs()
	for b.Loop() {
		if _, err := links.render(ev, false); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkRenderRecordedCall(b *testing.B) {
	ev := taskEvent(12345)
	ev.Record().Kind, ev.Record().State, ev.Record().Restricted = abi.EventSpanCompleted, nil, true
	ev.Record().Payload = fmt.Appendf(nil, `{"call":"llm.complete","index":3,"at_us":1,"key":"llm:1","phase":"result","answer":{"text":%q}}`, bytes.Repeat([]byte("x"), 200))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := links.render(ev, false); err != nil {
			b.Fatal(err)
		}
	}
}

func someEvent(at desk.Position) desk.Event {
	return desk.Event{Frame: &storage.Frame{First: at, Time: time.Unix(0, 0), Records: []storage.Record{{
		Kind: abi.EventLog, Resource: abi.ResourcePointer{Object: abi.ObjectTask, ID: "task_1"}, Payload: []byte(`{"message":"m"}`),
	}}}}
}

// BenchmarkAppendEvent is what each further reader of a stream costs.
func BenchmarkAppendEvent(b *testing.B) {
	ev, events := taskEvent(12345), newEventCache(Links{}, 8)
	var buf []byte
	b.ReportAllocs()
	for b.Loop() {
		buf = events.event(ev, false).AppendJSON(buf[:0], false)
	}
}
