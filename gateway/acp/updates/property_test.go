package updates_test

import (
	"fmt"
	"strings"
	"testing"

	json "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"pgregory.net/rapid"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/gateway/acp/updates"
)

// script draws the events of a Session: Messages that are written in pieces, some of them lost, told
// again or written anew, tool calls that begin, wait and end in any order, plans and ends of Tasks.
type script struct {
	t      *rapid.T
	whole  map[string]string // by the ids of the Messages that have come
	events []*abi.Event
}

func (s *script) int(most int, of string) int { return rapid.IntRange(0, most).Draw(s.t, of) }

func (s *script) add(task string, kind abi.EventKind, payload string) {
	s.events = append(s.events, &abi.Event{Event: kind, TaskID: task, SessionID: "s1", Payload: jsontext.Value(payload)})
}

func (s *script) step() {
	task := fmt.Sprint("t", s.int(1, "task"))
	message := fmt.Sprint(task, "m", s.int(2, "message"))
	tool := fmt.Sprintf(`"tool":{"call_id":"c%d","server":"fs","name":"x","executor":"mcp_server","duration_us":1}`, s.int(1, "call"))
	switch s.int(9, "kind") {
	case 0, 1, 2, 3:
		words := []string{"", "a", "ab", "abc", "é", "aé", "b\n"}
		d, _ := json.Marshal(&abi.MessageDelta{Text: rapid.SampledFrom(words).Draw(s.t, "text"), MessageID: message, Offset: s.int(5, "offset")})
		s.add(task, abi.EventMessageDelta, string(d))
	case 4:
		texts := rapid.SliceOfN(rapid.SampledFrom([]string{"a", "abé", "abab\n", "b"}), 0, 3).Draw(s.t, "texts")
		if _, come := s.whole[message]; !come {
			s.whole[message] = strings.Join(texts, "\n")
			ev := said(message, texts...)
			ev.TaskID = task
			s.events = append(s.events, ev)
		}
	case 5:
		s.add(task, abi.EventToolRequested, `{`+tool+`}`)
	case 6:
		s.add(task, rapid.SampledFrom([]abi.EventKind{abi.EventToolCompleted, abi.EventToolFailed, abi.EventToolDenied}).Draw(s.t, "end"), `{`+tool+`}`)
	case 7:
		status := rapid.SampledFrom([]string{"pending", "approved", "denied", "canceled"}).Draw(s.t, "status")
		kind := abi.EventPermissionSettled
		if status == "pending" {
			kind = abi.EventPermissionRequested
		}
		s.add(task, kind, fmt.Sprintf(`{"permission_request":{"id":"p%d","task_id":%q,"session_id":"s1","kind":"approval","status":%q,"tool_call_id":"c%d","action":"tool.call fs:x"}}`,
			s.int(1, "request"), task, status, s.int(1, "call")))
	case 8:
		s.add(task, abi.EventUserMessage, `{"message":{"id":"u","role":"user","parts":[{"type":"text","text":"hi","visibility":"public"}]}}`)
	case 9:
		s.add(task, abi.EventPlan, `{"steps":[{"title":"a","status":"skipped"}]}`)
	}
}

// screen is what a client shows of a Session: it takes over what it is told, as stock clients do.
type screen struct {
	messages map[string]string // by their ids, as they are visible
	calls    map[string]string // the status of each tool call
}

// show takes over an update, or says why no client could.
func (s *screen) show(text jsontext.Value) error {
	var u struct {
		chunk  `json:",inline"`
		CallID string `json:"toolCallId"`
		Status string `json:"status"`
	}
	if err := json.Unmarshal(text, &u); err != nil {
		return err
	}
	switch u.Kind {
	case "agent_message_chunk":
		id, is := u.Meta.Harn.ID, u.Content.Meta.Harn
		whole := s.messages[id] + is.Delta
		if s.messages[id] = is.Text; is.Text != whole && is.Text != is.Delta || !strings.HasSuffix(u.Content.Text, is.Delta) {
			return fmt.Errorf("the text %q makes %q of %q, with %q", u.Content.Text, is.Text, whole, is.Delta)
		}
	case "tool_call":
		if s.calls[u.CallID] == "pending" || s.calls[u.CallID] == "in_progress" {
			return fmt.Errorf("%s begins twice", u.CallID)
		}
		s.calls[u.CallID] = u.Status
	case "tool_call_update":
		if was := s.calls[u.CallID]; was != "pending" && was != "in_progress" {
			return fmt.Errorf("%s is %s after it was %q", u.CallID, u.Status, was)
		}
		s.calls[u.CallID] = u.Status
	}
	return nil
}

// Whatever a Session's events are, each update fits the schema; a Message ends as it is in the log, and
// is told whole once; each tool call begins and ends once, and the end of its Task leaves none open.
// A client that comes back is told the rest.
func TestWhatAClientShows(t *testing.T) {
	stock, harn := checkers(t)
	rapid.Check(t, func(t *rapid.T) {
		s := &script{t: t, whole: map[string]string{}}
		for range rapid.IntRange(0, 30).Draw(t, "steps") {
			s.step()
		}
		for _, task := range []string{"t0", "t1"} {
			s.add(task, rapid.SampledFrom([]abi.EventKind{abi.EventTaskCompleted, abi.EventTaskFailed, abi.EventTaskCanceled}).Draw(t, "end"), `{"task":{}}`)
		}
		teller := updates.New(client(true))
		shown := &screen{map[string]string{}, map[string]string{}}
		var all, plain []string
		for _, ev := range s.events {
			for _, u := range teller.Tell(ev) {
				if err := harn.Update(u); err != nil {
					t.Fatalf("%s %s is told as what does not fit: %v", ev.Event, ev.Payload, err)
				}
				if err := shown.show(u); err != nil {
					t.Fatalf("%s %s: %v", ev.Event, ev.Payload, err)
				}
				all = append(all, string(u))
				if stock.Update(u) == nil {
					plain = append(plain, withoutVisible(t, u))
				}
			}
		}
		for id, whole := range s.whole {
			if whole != "" && shown.messages[id] != whole { // what was told cannot be taken back
				t.Errorf("the message %s is %q, and %q is shown", id, whole, shown.messages[id])
			}
		}
		for id, status := range shown.calls {
			if status != "completed" && status != "failed" {
				t.Errorf("the call %s is left %s", id, status)
			}
		}
		if ids := teller.Open(""); len(ids) > 0 {
			t.Errorf("%q are open", ids)
		}
		same(t, "a client that comes back", all, told(t, harn, updates.New(client(true)), s.events))
		same(t, "a stock client", plain, told(t, stock, updates.New(client(false)), s.events))
	})
}

// withoutVisible returns an update without what Harn hosts show of a text.
func withoutVisible(t rapid.TB, u jsontext.Value) string {
	var is map[string]jsontext.Value
	var content map[string]jsontext.Value
	if json.Unmarshal(u, &is) != nil {
		t.Fatalf("%s", u)
	}
	if is["content"].Kind() == '{' && json.Unmarshal(is["content"], &content) == nil {
		delete(content, "_meta")
		is["content"], _ = json.Marshal(content, json.Deterministic(true))
	}
	return canonical(t, is)
}

func canonical(t rapid.TB, of any) string {
	text, err := json.Marshal(of, json.Deterministic(true))
	if err == nil {
		err = (*jsontext.Value)(&text).Canonicalize()
	}
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func same(t rapid.TB, who string, want, got []string) {
	if len(got) != len(want) {
		t.Fatalf("%s is told %d updates, want %d", who, len(got), len(want))
	}
	for i := range want {
		if a, b := canonical(t, jsontext.Value(got[i])), canonical(t, jsontext.Value(want[i])); a != b {
			t.Fatalf("%s is told %s\nwant %s", who, a, b)
		}
	}
}
