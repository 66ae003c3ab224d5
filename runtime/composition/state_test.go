package composition

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	json "github.com/go-json-experiment/json"
	"pgregory.net/rapid"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/journal"
	"github.com/wharf-dev/wharf/runtime/ledger"
	"github.com/wharf-dev/wharf/runtime/policy"
	"github.com/wharf-dev/wharf/runtime/provider"
	"github.com/wharf-dev/wharf/runtime/tooluse"
)

var (
	noon = time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)
	hash = strings.Repeat("0f", 32)
)

// run is a Task that makes calls, as the engine makes them.
type run struct {
	t       rapid.TB
	state   State
	entries []journal.Entry
	told    []*abi.CompositionEvent
	at      time.Time
}

func (r *run) tell(records []ledger.Record) {
	for _, rec := range records {
		r.told = append(r.told, rec.Payload.(*abi.CompositionEvent))
	}
}

// call makes a host call of compositions, and returns the code of its refusal.
func (r *run) call(name string, req any) (code string) {
	text, err := json.Marshal(req)
	if err != nil {
		r.t.Fatal(err)
	}
	r.at = r.at.Add(time.Second)
	answer, told, err := r.state.Answer(&HostCall{Name: name, Task: "t", Index: len(r.entries), At: r.at, Request: text, HasPut: func(id string) bool { return id == "a" }})
	e := journal.Entry{Index: len(r.entries), Call: name, At: r.at, Request: text, Answer: answer}
	if refused, ok := errors.AsType[*provider.Refusal](err); ok {
		e.Status, e.Answer, code = refused.Status, refused.Answer(), refused.Code
	} else if err != nil {
		r.t.Fatal(err)
	} else {
		r.tell(told)
	}
	r.take(e)
	return code
}

func (r *run) take(e journal.Entry) {
	r.entries = append(r.entries, e)
	if err := r.state.Take(&e); err != nil {
		r.t.Fatal(err)
	}
}

// tool calls a tool; unanswered leaves it at its intent.
func (r *run) tool(tool *abi.Tool, names string, unanswered bool) (code string) {
	req := abi.CallToolCallRequest{Server: tool.Server, Name: tool.Name, CompositionID: names}
	text, err := json.Marshal(&req)
	if err != nil {
		r.t.Fatal(err)
	}
	e := journal.Entry{Index: len(r.entries), Call: abi.CallToolCall, At: r.at, Request: text, Answer: []byte(`{}`)}
	use := tooluse.Begin(&tooluse.Call{Index: e.Index, Request: &req, At: r.at}, "")
	use.Define(tool, "")
	refused, _ := errors.AsType[*provider.Refusal](r.state.Admit(&policy.Action{Call: abi.CallToolCall, Tool: tool.Server + ":" + tool.Name, Composition: names}, tool))
	switch {
	case refused != nil:
		e.Status, e.Answer, code = refused.Status, refused.Answer(), refused.Code
	case unanswered:
		r.tell(r.state.Tell(&Call{Task: "t", Use: use, Entry: &e, Phase: journal.Intent}))
		e.Open = true
		r.entries = append(r.entries, e)
		r.state.Begun(e)
		return ""
	case !tool.ReadOnly:
		r.tell(r.state.Tell(&Call{Task: "t", Use: use, Entry: &e, Phase: journal.Intent}))
		r.state.Begun(e)
		r.tell(r.state.Tell(&Call{Task: "t", Use: use, Entry: &e, Phase: journal.Result}))
		r.take(e)
		return ""
	}
	r.tell(r.state.Tell(&Call{Task: "t", Use: use, Entry: &e, Phase: journal.Whole}))
	r.take(e)
	return code
}

// again is the State of another life, which knows the record alone.
func (r *run) again() State {
	var s State
	s.Begun(r.entries[journal.Closed(r.entries):]...)
	for i := range r.entries[:journal.Closed(r.entries)] {
		if err := s.Take(&r.entries[i]); err != nil {
			r.t.Fatal(err)
		}
	}
	return s
}

// A plain model: which composition is open and at which ceiling. Whatever a plugin does, and wherever its Task is brought
// back from its record and ended, each composition has one start, the calls that were made in it, and one end after them.
func TestCompositions(t *testing.T) {
	all := abi.SideEffectLevels()
	tools := map[abi.SideEffectLevel]*abi.Tool{
		abi.LevelReadOnly: {Server: "fs", Name: "get", ReadOnly: true}, abi.LevelWorkspaceWrite: {Server: "fs", Name: "put"},
		abi.LevelProcessExec: {Server: "process", Name: "exec", OpenWorld: true}, abi.LevelNetwork: {Server: "web", Name: "get", ReadOnly: true, OpenWorld: true},
	}
	rapid.Check(t, func(t *rapid.T) {
		r := &run{t: t, at: noon}
		open, ceiling, last := "", -1, "none"
		var want []string
		children := 0
		steps := rapid.IntRange(0, 20).Draw(t, "steps")
		for range steps {
			if rapid.Bool().Draw(t, "brought back") {
				r.state = r.again()
			}
			index := len(r.entries)
			switch rapid.IntRange(0, 4).Draw(t, "step") {
			case 0:
				level := rapid.IntRange(0, 3).Draw(t, "ceiling")
				code := r.call(abi.CallCompositionBegin, &abi.CallCompositionBeginRequest{Language: "js", SnippetHash: hash, ManifestHash: hash, SideEffectCeiling: all[level]})
				if (code == CodeOpen) != (open != "") || code == "" != (open == "") {
					t.Fatalf("with %q open, another one: %q", open, code)
				}
				if code == "" {
					open, ceiling, children = fmt.Sprintf("t-%d", index), level, 0
					last = open
					want = append(want, "composition_start "+open)
				}
			case 1:
				id := rapid.SampledFrom([]string{last, open, "other"}).Draw(t, "ended")
				code := r.call(abi.CallCompositionEnd, &abi.CallCompositionEndRequest{CompositionID: id})
				if (code == "") != (id == open && open != "") {
					t.Fatalf("with %q open, the end of %q: %q", open, id, code)
				}
				if code == "" {
					want = append(want, fmt.Sprintf("composition_finish %s %d", open, children))
					open = ""
				}
			default:
				level := rapid.IntRange(0, 3).Draw(t, "level")
				names := rapid.SampledFrom([]string{"", last, "other"}).Draw(t, "named")
				code := r.tool(tools[all[level]], names, false)
				expect := ""
				switch {
				case names != "" && names != open:
					expect = CodeUnknown
				case open != "" && level > ceiling:
					expect = abi.CodeCompositionCeiling
				}
				if code != expect {
					t.Fatalf("with %q open at %d, a call at %d that names %q: %q, want %q", open, ceiling, level, names, code, expect)
				}
				if open != "" {
					children++
					want = append(want, fmt.Sprintf("composition_child_call %s call-%d", open, index), fmt.Sprintf("composition_child_result %s call-%d", open, index))
				}
			}
		}
		if rapid.Bool().Draw(t, "cut off") && open != "" && ceiling > 0 {
			want = append(want, fmt.Sprintf("composition_child_call %s call-%d", open, len(r.entries)), fmt.Sprintf("composition_child_result %s call-%d", open, len(r.entries)))
			children++
			r.tool(tools[abi.LevelWorkspaceWrite], "", true)
		}
		live, after := r.state, r.again()
		ends, same := live.Ends("t", abi.TaskCanceled, r.at, ""), after.Ends("t", abi.TaskCanceled, r.at, "")
		if a, b := fmt.Sprint(describe(ends)), fmt.Sprint(describe(same)); a != b {
			t.Fatalf("whoever ran it says %s, and who reads the record %s", a, b)
		}
		r.tell(ends)
		if open != "" {
			want = append(want, fmt.Sprintf("composition_error %s %d", open, children))
		}
		var got []string
		for _, ev := range r.told {
			got = append(got, text(ev))
		}
		if !slices.Equal(got, want) {
			t.Fatalf("told is\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	})
}

func describe(records []ledger.Record) (all []string) {
	for _, rec := range records {
		doc, _ := json.Marshal(rec.Payload, json.Deterministic(true))
		all = append(all, string(doc))
	}
	return all
}

func text(ev *abi.CompositionEvent) string {
	s := string(ev.Kind) + " " + ev.RunID
	if ev.CallID != "" {
		s += " " + ev.CallID
	}
	if ev.ChildCalls != nil {
		s += fmt.Sprint(" ", *ev.ChildCalls)
	}
	return s
}

// Every host call that is asked for before it is made has a level, and what is not known has the highest.
func TestLevels(t *testing.T) {
	for _, def := range abi.HostCalls() {
		if def.Effect != abi.EffectRead && def.Effect != abi.EffectWrite && def.Effect != abi.EffectLocal || def.Name == abi.CallToolCall {
			continue
		}
		if levels[def.Name] == "" {
			t.Errorf("%s has no level", def.Name)
		}
	}
	for tool, want := range map[string]abi.SideEffectLevel{
		"host:time_now": abi.LevelReadOnly, "host:memory_save": abi.LevelReadOnly, "host:memory_replace": abi.LevelWorkspaceWrite, "host:ask": abi.LevelReadOnly,
		"host:file_write": abi.LevelWorkspaceWrite, "host:nothing": abi.LevelNetwork, "skills:a": abi.LevelNetwork, "agents:a": abi.LevelNetwork,
		"fs:unknown": abi.LevelNetwork, "process:exec": abi.LevelNetwork, "": abi.LevelNetwork,
	} {
		if got := Level(&policy.Action{Call: abi.CallToolCall, Tool: tool}, nil); got != want {
			t.Errorf("%q is at %s, want %s", tool, got, want)
		}
	}
	for _, c := range []struct {
		tool abi.Tool
		want abi.SideEffectLevel
	}{
		{abi.Tool{Server: "process", Name: "exec", OpenWorld: true}, abi.LevelProcessExec},
		{abi.Tool{Server: "process", Name: "list_shells", ReadOnly: true}, abi.LevelReadOnly},
		{abi.Tool{Server: "client", Name: "terminal_run", OpenWorld: true}, abi.LevelProcessExec},
		{abi.Tool{Server: "client", Name: "fs_write", Destructive: true}, abi.LevelWorkspaceWrite},
		{abi.Tool{Server: "client", Name: "theirs", ReadOnly: true, OpenWorld: true}, abi.LevelNetwork},
		{abi.Tool{Server: "fs", Name: "terminal_run"}, abi.LevelWorkspaceWrite},
		{abi.Tool{Server: "skills", Name: "a", ReadOnly: true}, abi.LevelNetwork},
	} {
		if got := Level(&policy.Action{Call: abi.CallToolCall, Tool: c.tool.Server + ":" + c.tool.Name}, &c.tool); got != c.want {
			t.Errorf("%+v is at %s, want %s", c.tool, got, c.want)
		}
	}
	if Level(&policy.Action{Call: abi.CallMemoryWrite, Scope: abi.MemorySession}, nil) != abi.LevelReadOnly || Level(&policy.Action{Call: "call.of_a_newer_build"}, nil) != abi.LevelNetwork {
		t.Error("a memory of the session, or a call that is not known, has another level")
	}
	if within(abi.LevelReadOnly, "everything") {
		t.Error("a ceiling that is not known allows something")
	}
}

// What is wrong is refused, and nothing is told of it.
func TestRefusedRequests(t *testing.T) {
	good := abi.CallCompositionBeginRequest{Language: "js", SnippetHash: hash, ManifestHash: hash, SideEffectCeiling: abi.LevelReadOnly}
	r := &run{t: t, at: noon}
	for _, change := range []func(*abi.CallCompositionBeginRequest){
		func(q *abi.CallCompositionBeginRequest) { q.Language = "" },
		func(q *abi.CallCompositionBeginRequest) { q.Name = strings.Repeat("x", maxText+1) },
		func(q *abi.CallCompositionBeginRequest) { q.SnippetHash = hash[1:] },
		func(q *abi.CallCompositionBeginRequest) { q.ManifestHash = strings.ToUpper(hash) },
		func(q *abi.CallCompositionBeginRequest) { q.SideEffectCeiling = "" },
		func(q *abi.CallCompositionBeginRequest) { q.SideEffectCeiling = "Network" },
	} {
		bad := good
		if change(&bad); r.call(abi.CallCompositionBegin, &bad) != "invalid_request" {
			t.Errorf("%+v begins one", bad)
		}
	}
	if code := r.call(abi.CallCompositionBegin, &good); code != "" {
		t.Fatal(code)
	}
	id := fmt.Sprintf("t-%d", len(r.entries)-1)
	for want, bad := range map[*abi.CallCompositionEndRequest]string{
		{CompositionID: id, Message: "x"}:                                    "invalid_request",
		{CompositionID: id, FailureCategory: abi.CompositionTaskCanceled}:    "invalid_request", // the host's
		{CompositionID: id, Artifacts: []string{"a", "b"}}:                   "invalid_request",
		{CompositionID: id, Artifacts: slices.Repeat([]string{"a"}, 101)}:    "invalid_request",
		{CompositionID: id, Stdout: strings.Repeat("x", abi.MaxComposition)}: "too_large",
		{CompositionID: "t-0"}:                                               CodeUnknown,
		{FailureCategory: abi.CompositionSnippet, Message: "x"}:              CodeUnknown,
	} {
		if got := r.call(abi.CallCompositionEnd, want); got != bad {
			t.Errorf("%.80v: %q, want %q", want, got, bad)
		}
	}
	if code := r.call(abi.CallCompositionEnd, &abi.CallCompositionEndRequest{CompositionID: id, Artifacts: []string{"a"}}); code != "" {
		t.Error(code)
	}
	if len(r.told) != 2 {
		t.Errorf("%d steps were told", len(r.told))
	}
}

// What is large, deep or no JSON is left to the call's own events, and who may see no tools sees the kind alone.
func TestContentOfChildren(t *testing.T) {
	for content, kept := range map[string]bool{`{"a":1}`: true, `"` + strings.Repeat("x", abi.MaxCompositionContent) + `"`: false,
		strings.Repeat("[", abi.MaxDepth) + strings.Repeat("]", abi.MaxDepth): false, `{`: false, ``: false} {
		if got := bounded([]byte(content)); (got != nil) != kept || kept && string(got) != content {
			t.Errorf("%.40s: %.40s", content, got)
		}
	}
	for shown, want := range map[abi.ToolsVisibility]abi.ToolsVisibility{"": "", abi.ToolsPublic: abi.ToolsPublic, abi.ToolsInternal: abi.ToolsInternal} {
		child := &abi.CompositionChild{CompositionID: "c", CallID: "a", StartedAt: noon, Visibility: shown}
		told := Answered("t", child, &tooluse.End{At: noon, Answer: []byte(`{}`)})
		ev := told[0].Payload.(*abi.CompositionEvent)
		if ev.Visibility != want || (ev.Type == ev.Kind) != (shown == abi.ToolsInternal) || !told[0].Restricted {
			t.Errorf("%q: %+v", shown, ev)
		}
	}
	if Answered("t", nil, &tooluse.End{}) != nil {
		t.Error("something is told of what is no child")
	}
}
