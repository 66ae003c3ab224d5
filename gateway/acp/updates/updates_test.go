package updates_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/gateway/acp/updates"
)

const calling = `{"tool":{"call_id":"c1","server":"fs","name":"wait","executor":"mcp_server"}}`

// A client that cancels is told before the answer that the open calls are over, and nothing of them
// afterwards.
func TestCallsAreClosedOnce(t *testing.T) {
	teller := updates.New(updates.For{})
	teller.Tell(of(abi.EventToolRequested, calling))
	if got := teller.Open("t1"); len(got) != 1 || got[0] != "t1.c1" || len(teller.Open("t2")) != 0 {
		t.Fatalf("%q are open", got)
	}
	closed := teller.Close("t1")
	if len(closed) != 1 || !strings.Contains(string(closed[0]), `"status":"failed"`) || !strings.Contains(string(closed[0]), `"cancelled"`) {
		t.Fatalf("they are closed by %s", closed)
	}
	for _, ev := range []*abi.Event{of(abi.EventToolRequested, calling), of(abi.EventToolFailed, calling), of(abi.EventTaskCanceled, `{"task":{}}`)} {
		if got := append(teller.Close(""), teller.Tell(ev)...); len(got) > 0 {
			t.Errorf("%s is told as %s", ev.Event, got)
		}
	}
}

// Clients say which extensions they take, how they are asked questions, and which Tasks they wait for.
func TestWhatClientsTake(t *testing.T) {
	log := of(abi.EventLog, `{"level":"info","message":"a"}`)
	queued := of("vendor.wharf.injection_queued", `{"injection":{"id":"i","kind":"user","message_id":"m"}}`)
	injected := of(abi.EventUserMessage, `{"message":{"id":"m","role":"user","parts":[{"type":"text","text":"hi","visibility":"public"}]}}`)
	asks := of(abi.EventPermissionRequested, `{"permission_request":{"id":"p","kind":"input","status":"pending","prompt":"why?"}}`)
	failed := of(abi.EventTaskFailed, `{"task":{"failure":{"code":"a","message":"b"}}}`)
	child := of(abi.EventTaskFailed, `{"task":{"parent_task_id":"t0","failure":{"code":"a","message":"b"}}}`)
	only := func(names ...string) func(string) bool {
		return func(name string) bool { return strings.Contains(strings.Join(names, " "), name) }
	}
	for name, c := range map[string]struct {
		f      updates.For
		events []*abi.Event
		want   string // the discriminators
	}{
		"stock":                             {updates.For{}, []*abi.Event{log, queued, injected, asks, failed}, "user_message_chunk agent_message_chunk agent_message_chunk"},
		"stock, whatever it says":           {updates.For{Takes: only("log", "user_message")}, []*abi.Event{log, queued, injected}, "user_message_chunk"},
		"all":                               {updates.For{Harn: true}, []*abi.Event{log, queued, injected, asks}, "log user_message hitl_request"},
		"logs":                              {updates.For{Harn: true, Takes: only("log")}, []*abi.Event{log, queued, injected, asks}, "log user_message agent_message_chunk"},
		"questions":                         {updates.For{Asks: true}, []*abi.Event{asks}, ""},
		"the answer":                        {updates.For{Awaits: func(task string) bool { return task == "t1" }}, []*abi.Event{failed}, ""},
		"another's answer":                  {updates.For{Awaits: func(task string) bool { return task == "t2" }}, []*abi.Event{failed}, "agent_message_chunk"},
		"what a child does is its parent's": {updates.For{}, []*abi.Event{child}, ""},
	} {
		teller := updates.New(c.f)
		var got []string
		for _, ev := range c.events {
			for _, u := range teller.Tell(ev) {
				kind, _, _ := strings.Cut(strings.TrimPrefix(string(u), `{"sessionUpdate":"`), `"`)
				got = append(got, kind)
			}
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// Each kind of event, with payloads of any bytes, is told as what fits or not at all, and whatever comes
// after it is told.
func FuzzTell(f *testing.F) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		f.Fatal(files, err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		input, _, _ := strings.Cut(strings.TrimPrefix(string(text), "# events\n"), "# stock\n")
		for _, ev := range eventsOf(f, input) {
			f.Add(string(ev.Event), []byte(ev.Payload), false)
		}
	}
	f.Add("tool.requested", []byte(`{"tool":{"call_id":"\u0000","server":"host","name":""},"request":{"arguments":{"path":["a"],"line":-1,"paths":[1]}}}`), true)
	f.Add("tool.completed", []byte(`{"tool":{"call_id":"a"},"answer_text":"{\"content\":[{\"type\":\"audio\"}],\"structured\":null}"}`), true)
	f.Add("vendor.wharf.message_delta", []byte(`{"text":"a","message_id":"m","offset":-1}`), true)
	f.Add("tool.failed", []byte("{\"tool\":{\"call_id\":\"\xff\"}}"), true)
	stock, harn := checkers(f)
	f.Fuzz(func(t *testing.T, kind string, payload []byte, twice bool) {
		for aware, checker := range map[bool]interface{ Update([]byte) error }{false: stock, true: harn} {
			teller := updates.New(client(aware))
			ev := &abi.Event{Event: abi.EventKind(kind), TaskID: "t1", SessionID: "s1", Payload: jsontext.Value(payload)}
			all := teller.Tell(ev)
			if twice {
				all = append(all, teller.Tell(ev)...)
			}
			if params, ok := teller.AgentEvent(ev); ok && (!aware || !params.IsValid()) {
				t.Errorf("%s %s is told as %s", kind, payload, params)
			}
			all = append(all, teller.Close("")...)
			for _, u := range all {
				if err := checker.Update(u); err != nil {
					t.Errorf("%s %s is told as what does not fit: %v", kind, payload, err)
				}
			}
			if got := chunks(t, teller.Tell(said("after", "words"))); len(got) != 1 || !strings.HasSuffix(got[0].Content.Text, "words") {
				t.Errorf("after %s %s: %+v", kind, payload, got)
			}
		}
	})
}

// BenchmarkTell tells a Message that is written in pieces, as one of many clients is.
func BenchmarkTell(b *testing.B) {
	for _, harn := range []bool{false, true} {
		b.Run(fmt.Sprintf("harn %v", harn), func(b *testing.B) {
			teller := updates.New(client(harn))
			for i := 0; b.Loop(); i++ {
				teller.Tell(piece(fmt.Sprint("m", i/100), "some words of it ", i%100*17))
			}
		})
	}
}
