package engine_test

import (
	"strings"
	"testing"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/desk"
	"github.com/wharf-dev/wharf/runtime/enginetest"
	"github.com/wharf-dev/wharf/runtime/hostcall"
	"github.com/wharf-dev/wharf/runtime/memories"
	"github.com/wharf-dev/wharf/runtime/sessions"
	"github.com/wharf-dev/wharf/storage/pebble/crashtest"
)

// deepPart gives a Message one more part, which nests so deeply.
func deepPart(part string, levels int) func(string) string {
	return replace1(`"parts":[`, `"parts":[`+strings.Replace(part, "DEEP", nestedLists(levels), 1)+`,`)
}

// A Message that is too deep, or cannot be read, costs its Session's later Tasks itself
// and nothing else: the rest is told, the same at each replay, and can be passed on.
func TestUnreadableMessageIsTold(t *testing.T) {
	for _, test := range []struct {
		name   string
		change func(string) string
		want   []string // in what the plugin is told
		out    bool     // the Message is left out
	}{
		{"json", deepPart(`{"type":"json","value":DEEP,"visibility":"public"}`, 9_996), []string{`"value":{"redacted":true`, `"first"`}, false},
		{"a call", deepPart(`{"type":"tool_call","tool_call_id":"c1","name":"n","input":{"a":DEEP},"visibility":"public"}`, 9_995), []string{`"tool_call_id":"c1"`, `"input":{"redacted":true`, `"first"`}, false},
		{"a result", deepPart(`{"type":"tool_result","tool_call_id":"c1","status":"ok","output":DEEP,"visibility":"public"}`, 9_000), []string{`"tool_call_id":"c1"`, `"output":{"redacted":true`, `"first"`}, false},
		{"one level more than can be passed on", deepPart(`{"type":"json","value":DEEP,"visibility":"public"}`, hostcall.MaxListed-2), []string{`"value":{"redacted":true`}, false},
		{"as deep as it may be", deepPart(`{"type":"json","value":DEEP,"visibility":"public"}`, hostcall.MaxListed-3), []string{`"value":[[[`}, false},
		{"metadata", replace1(`"metadata":{}`, `"metadata":{"a":`+nestedLists(9_996)+`}`), []string{`"metadata":{"redacted":true`, `"first"`}, false},
		{"too deep for the decoder", tooDeep, []string{`"unreadable":["msg_`}, true},
		{"no JSON", func(string) string { return `{"parts":` }, []string{`"unreadable":["msg_`}, true},
		{"null", func(string) string { return `null` }, []string{`"unreadable":["msg_`}, true},
		{"of a wrong type", replace1(`"role":"user"`, `"role":7`), []string{`"unreadable":["msg_`}, true},
		{"for receipts only, and no JSON", func(string) string { return `{"receipt_only":` }, []string{`"unreadable":["msg_`}, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			p := newProgram(op{abi.CallTranscriptRead, `{}`})
			n := newNode(t, enginetest.Guests{"program": p.run, "echo": enginetest.Echo})
			session := n.Session(t)
			n.say(t, session, "first")
			n.say(t, session, "second")
			list, err := n.Messages(t.Context(), n.Root, session, desk.Page{Limit: 10})
			if err != nil {
				t.Fatal(err)
			}
			n.restate(t, n.Root.Tenant, abi.ObjectMessage, list.Docs[0].ID, test.change)
			for range 2 {
				id := n.Submit(t, session, "persona_program")
				if task := n.Wait(t, id); task.Status != abi.TaskCompleted {
					t.Fatalf("%s %+v", task.Status, task.Failure)
				}
				n.wantReplay(t, id)
			}
			runs := p.runs()
			told := runs[0][0]
			for _, want := range append(test.want, `"second"`) {
				if !strings.Contains(told, want) {
					t.Errorf("%q is not in what was told: %.300s", want, told)
				}
			}
			if strings.Contains(told, `"first"`) == test.out || abi.TooDeep([]byte(told), abi.MaxDepth) >= 0 {
				t.Errorf("told: %.300s", told)
			}
		})
	}
}

// A Memory that cannot be read is named by a search, and the others are found; a value of
// the Session that cannot be read can be set anew.
func TestUnreadableMemoryAndState(t *testing.T) {
	p := newProgram(op{abi.CallMemoryWrite, `{"scope":"session","content":"alpha one"}`},
		op{abi.CallMemoryWrite, `{"scope":"session","content":"alpha two"}`}, op{abi.CallStateSet, `{"key":"k","value":1}`})
	q := newProgram(op{abi.CallMemoryQuery, `{"scope":"session","text":"alpha"}`}, op{abi.CallMemoryQuery, `{"scope":"session","text":""}`},
		op{abi.CallStateGet, `{"key":"k"}`}, op{abi.CallStateSet, `{"key":"k","value":2}`}, op{abi.CallStateGet, `{"key":"k"}`})
	g := enginetest.Guests{"program": p.run, "query": q.run, "echo": enginetest.Echo}
	for name, test := range map[string]struct {
		memory func(string) string
		want   string
	}{
		"of a wrong type": {replace1(`"visibility":"internal"`, `"visibility":7`), `"unreadable":["mem_`},
		"too deep":        {replace1(`"content":"alpha one"`, `"content":{"alpha":"one","deep":`+nestedLists(9_990)+`}`), `"content":{"redacted":true`},
	} {
		t.Run(name, func(t *testing.T) {
			n := boot(t, crashtest.NewDisk(), g)
			defer func() { n.Stop(t) }()
			session := n.Session(t)
			n.Wait(t, n.Submit(t, session, "persona_program"))
			list, err := n.List(t.Context(), n.Root, abi.ObjectMemory, desk.Filter{SessionID: session}, desk.Page{Limit: 10})
			if err != nil || len(list.Docs) != 2 {
				t.Fatal(err, len(list.Docs))
			}
			n.restate(t, n.Root.Tenant, abi.ObjectMemory, list.Docs[1].ID, test.memory)
			n.restate(t, n.Root.Tenant, abi.ObjectState, sessions.StateID(session, "k"), func(string) string { return `{"key":` })
			n.Stop(t) // so that no value is remembered
			n = boot(t, n.Disk, g)
			id := n.Submit(t, session, "persona_query")
			if task := n.Wait(t, id); task.Status != abi.TaskCompleted {
				t.Fatalf("%s %+v", task.Status, task.Failure)
			}
			n.wantReplay(t, id)
			runs := q.runs()
			told := runs[len(runs)-1]
			if all := told[1]; !strings.Contains(all, test.want) || !strings.Contains(all, "alpha two") {
				t.Errorf("found: %.300s", all)
			}
			if !strings.Contains(told[0], "alpha two") {
				t.Errorf("found: %.300s", told[0])
			}
			if !strings.Contains(told[2], `"code":"unreadable"`) || !strings.Contains(told[4], `{"value":2}`) {
				t.Errorf("the state is %s, %s", told[2], told[4])
			}
			var f memories.Filter
			f.OwnerID = session
			shown, err := n.ListMemories(t.Context(), n.Root, f, desk.Page{Limit: 10})
			if err != nil || len(shown.Docs)+len(shown.Unreadable) != 2 {
				t.Errorf("%d memories, %v, %v", len(shown.Docs), shown.Unreadable, err)
			}
		})
	}
}
