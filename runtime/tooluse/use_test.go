package tooluse_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	json "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/hosttools"
	"github.com/wharf-dev/wharf/runtime/redact"
	"github.com/wharf-dev/wharf/runtime/tooluse"
)

var began = time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)

// told is an event with an id.
type told string

func (t told) ID() string { return string(t) }

// read returns what a payload tells of a tool call, and holds that the rest of it is as before.
func read(t *testing.T, before, payload string) abi.ToolUse {
	t.Helper()
	var got struct {
		Tool abi.ToolUse `json:"tool"`
	}
	if err := json.Unmarshal([]byte(payload), &got); err != nil {
		t.Fatalf("%s: %v", payload, err)
	}
	if !strings.HasPrefix(payload, strings.TrimSuffix(before, "}")+`,"tool":{`) {
		t.Errorf("the payload is %s, and was %s", payload, before)
	}
	return got.Tool
}

// Each way in which a call ends has a category, by what ran the tool.
func TestCategories(t *testing.T) {
	for _, c := range []struct {
		server string
		status abi.CallStatus
		answer string
		want   abi.ToolErrorCategory
	}{
		{"fs", abi.CallOK, `{"content":[]}`, ""},
		{"fs", abi.CallOK, `{"content":[],"is_error":true}`, abi.ToolErrorOwn},
		{"fs", abi.CallOK, `{"content":[],"is_error":false}`, ""},
		{"fs", abi.CallOK, `no json`, ""},
		{"fs", abi.CallInvalid, `{"is_error":true}`, abi.ToolErrorSchema},
		{"fs", abi.CallNotFound, ``, abi.ToolErrorSchema},
		{"fs", abi.CallDenied, ``, abi.ToolErrorDenied},
		{"fs", abi.CallTimeout, ``, abi.ToolErrorTimeout},
		{"fs", abi.CallIndeterminate, ``, abi.ToolErrorUnknown},
		{"fs", abi.CallUnavailable, ``, abi.ToolErrorServer},
		{"fs", abi.CallTooLarge, ``, abi.ToolErrorServer},
		{"client", abi.CallUnavailable, ``, abi.ToolErrorHostBridge},
		{"host", abi.CallUnavailable, ``, abi.ToolErrorOwn},
		{"skills", abi.CallUnavailable, ``, abi.ToolErrorOwn},
		{"skills", abi.CallDenied, ``, abi.ToolErrorDenied},
	} {
		u := tooluse.Begin(&tooluse.Call{Request: &abi.CallToolCallRequest{Server: c.server, Name: "a"}, At: began}, "")
		payload, err := u.AppendEnded([]byte(`{"a":1}`), &tooluse.End{At: began, Status: c.status, Answer: []byte(c.answer)})
		if got := read(t, `{"a":1}`, string(payload)).ErrorCategory; err != nil || got != c.want {
			t.Errorf("%s answered %d %s is %q, want %q (%v)", c.server, c.status, c.answer, got, c.want, err)
		}
	}
}

// The end tells how long the call took, which event began it, and what the Persona has decided; a
// clock that is set back makes nothing negative.
func TestTheEndOfACall(t *testing.T) {
	u := tooluse.Begin(&tooluse.Call{Index: 7, Request: &abi.CallToolCallRequest{Server: "fs", Name: `odd "name"`}, At: began}, abi.ToolsPublic)
	u.Define(&abi.Tool{ReadOnly: true, Destructive: true}, "")
	u.Told(told("57"))
	u.Took(3 * time.Millisecond)
	for _, c := range []struct {
		after time.Duration
		want  int64
	}{{5 * time.Millisecond, 5000}, {0, 1}, {-time.Hour, 1}} {
		payload, err := u.AppendEnded([]byte(`{"call":"tool.call","index":7}`), &tooluse.End{At: began.Add(c.after)})
		if err != nil {
			t.Fatal(err)
		}
		got := read(t, `{"call":"tool.call","index":7}`, string(payload))
		want := abi.ToolUse{CallID: "call-7", Server: "fs", Name: `odd "name"`, Kind: abi.ToolKindRead, ReadOnly: true, Executor: abi.ExecutorServer,
			StartedAt: began, DurationUs: c.want, ExecutionUs: 3000, StartedEventID: "57", Visibility: abi.ToolsPublic}
		if got != want {
			t.Errorf("after %v: %+v, want %+v", c.after, got, want)
		}
	}
	cut, err := tooluse.Ended([]byte(`{"a":1}`), u.About(), &tooluse.End{At: began.Add(time.Second), Status: abi.CallTimeout, Cut: true})
	if got := read(t, `{"a":1}`, string(cut)); err != nil || got.ErrorCategory != abi.ToolErrorCancelled || got.DurationUs != 1e6 {
		t.Errorf("a call that was cut off is told as %+v, %v", got, err)
	}
	u.Took(-time.Second)
	if payload, err := u.AppendEnded([]byte(`{"a":1}`), &tooluse.End{At: began}); err != nil || strings.Contains(string(payload), "execution_us") {
		t.Errorf("%s, %v", payload, err)
	}
}

// Of what is no tool call nothing is told, and what is internal waits unseen.
func TestNothingIsTold(t *testing.T) {
	var none *tooluse.Use
	none.Define(&abi.Tool{}, "")
	none.Told(told("1"))
	none.Took(1)
	begun, err := none.AppendBegun([]byte(`{"a":1}`))
	ended, err2 := none.AppendEnded([]byte(`{"a":1}`), &tooluse.End{})
	waited, err3 := tooluse.Ended([]byte(`{"a":1}`), nil, &tooluse.End{})
	if got := fmt.Sprintf("%s%s%s%v", begun, ended, waited, none.Waits()); got != `{"a":1}{"a":1}{"a":1}<nil>` || err != nil || err2 != nil || err3 != nil {
		t.Error(got, err, err2, err3)
	}
	if u := tooluse.Begin(&tooluse.Call{Request: &abi.CallToolCallRequest{}}, abi.ToolsInternal); u.Waits() != nil {
		t.Errorf("what is internal is told: %+v", u.Waits())
	}
}

// Each of the host's own tools has a kind, and only they have one that is not read.
func TestKinds(t *testing.T) {
	kind := func(server string, tool *abi.Tool) abi.ToolKind {
		u := tooluse.Begin(&tooluse.Call{Request: &abi.CallToolCallRequest{Server: server, Name: tool.Name}}, "")
		u.Define(tool, "")
		return u.Waits().Kind
	}
	for _, own := range hosttools.All() {
		if got := kind("host", &own.Tool); got != own.Kind || got == "" {
			t.Errorf("%s is of the kind %q, want %q", own.Name, got, own.Kind)
		}
		if got := kind("fs", &own.Tool); own.ReadOnly != (got == abi.ToolKindRead) || !own.ReadOnly && got != "" {
			t.Errorf("another server's %s is of the kind %q", own.Name, got)
		}
	}
}

// Ids of traces and spans are those of W3C Trace Context, and differ where they must.
func TestTraceIDs(t *testing.T) {
	seen := map[string]string{}
	for _, task := range []string{"task_a", "task_b", "task_a 1"} {
		if id := tooluse.TraceID(task); len(id) != 32 || strings.Trim(id, "0123456789abcdef") != "" || seen[id] != "" {
			t.Errorf("the trace of %s is %q, which %q has", task, id, seen[id])
		} else {
			seen[id] = task
		}
		for _, index := range []int{0, 1, 11} {
			id := tooluse.SpanID(task, index)
			if len(id) != 16 || seen[id] != "" {
				t.Errorf("the span of %s %d is %q, which %q has", task, index, id, seen[id])
			}
			seen[id] = fmt.Sprint(task, index)
		}
	}
}

// What an agent tells of tools is withheld where the Persona lets nobody see which there are, and all
// else is told to everybody.
func TestRestrict(t *testing.T) {
	for _, c := range []struct {
		kind  abi.AgentEventKind
		shown abi.ToolsVisibility
		want  string
	}{
		{abi.AgentToolSearchQuery, abi.ToolsInternal, `{"redacted":true,"type":"tool_search_query","visibility":"internal"}`},
		{abi.AgentSkillNarrow, abi.ToolsInternal, `{"redacted":true,"type":"skill_narrow","visibility":"internal"}`},
		{abi.AgentToolSearchResult, abi.ToolsNamed, `{"data":{},"kind":"tool_search_result"}`},
		{abi.AgentTurnStarted, abi.ToolsInternal, `{"data":{},"kind":"turn_started"}`},
	} {
		ev := &abi.AgentEvent{Kind: c.kind, Data: jsontext.Value("{}")}
		restricted := tooluse.Restrict(ev, c.shown)
		payload, err := json.Marshal(ev)
		if err != nil {
			t.Fatal(err)
		}
		shown, err := redact.Document(payload, false)
		if err != nil {
			t.Fatal(err)
		}
		sorted := jsontext.Value(shown)
		if err := sorted.Canonicalize(); err != nil || string(sorted) != c.want || restricted != (ev.Visibility != "") {
			t.Errorf("%s, tools %s: %s, %v", c.kind, c.shown, sorted, err)
		}
	}
	if tooluse.Restrict(&abi.Progress{}, abi.ToolsInternal) {
		t.Error("what is no agent's event is withheld")
	}
}
