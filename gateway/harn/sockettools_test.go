package harn_test

import (
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/enginetest"
	"github.com/wharf-dev/wharf/runtime/provider"
	"github.com/wharf-dev/wharf/runtime/provider/tool"
)

// mediated is what a Task of a Session can do with the tools of its clients.
type mediated struct {
	t       testing.TB
	tools   *tool.Tools
	session string
	tenant  string
	key     string
}

func (m mediated) call(name, request string) (<-chan []byte, <-chan error) {
	answers, errs := make(chan []byte, 1), make(chan error, 1)
	go func() {
		plan, err := m.tools.Prepare(m.t.Context(), &provider.Call{Name: name, Request: []byte(request), Plugin: "p",
			Tenant: m.tenant, SessionID: m.session, TaskID: "task_1", IdempotencyKey: m.key})
		if err == nil {
			var answer []byte
			if answer, err = plan.Do(m.t.Context(), func(string) {}); err == nil {
				answers <- answer
				return
			}
		}
		errs <- err
	}()
	return answers, errs
}

func (m mediated) refused(request string) *provider.Refusal {
	m.t.Helper()
	answers, errs := m.call(abi.CallToolCall, request)
	select {
	case a := <-answers:
		m.t.Fatalf("answered: %s", a)
	case err := <-errs:
		if refusal, ok := err.(*provider.Refusal); ok {
			return refusal
		}
		m.t.Fatal(err)
	}
	return nil
}

// A client offers tools to its Session's Tasks, answers their calls, and takes the
// offer with it when it leaves.
func TestSocketTools(t *testing.T) {
	n := newNode(t)
	session, other := n.session(t), n.session(t)
	caller, err := n.Authenticate(t.Context(), enginetest.RootKey)
	if err != nil {
		t.Fatal(err)
	}
	tools := tool.New(tool.Config{Servers: map[string]tool.Server{tool.ServerClient: n.offers}, Grants: map[string][]string{"p": {"client:*"}}})
	m := mediated{t, tools, session, caller.TenantID, "task_1-7"}
	s, _ := n.connect(t, connectPath(session))
	s.do("tools.register", object{"tools": []object{
		{"name": "look", "description": "looks", "read_only": true, "input_schema": object{"type": "object"}}, {"name": "press"}}})

	answers, _ := m.call(abi.CallToolList, `{}`)
	if list := string(<-answers); !strings.Contains(list, `"server":"client","name":"look"`) || !strings.Contains(list, `"press"`) {
		t.Errorf("tools %s", list)
	}
	answers, errs := m.call(abi.CallToolCall, `{"server":"client","name":"look","arguments":{"at":"the sky"}}`)
	call := s.want("tool.call")
	if call.Name != "look" || call.CallID != "task_1-7" || call.Task != "task_1" || call.Arguments["at"] != "the sky" || call.DeadlineAt == "" {
		t.Errorf("call %+v", call)
	}
	s.do("tool.result", object{"call_id": call.CallID, "content": []object{{"type": "text", "text": "blue"}}, "structured": object{"hue": 240}})
	select {
	case text := <-answers:
		var got abi.CallToolCallAnswer
		if err := json.Unmarshal(text, &got); err != nil || got.Content[0].Text != "blue" || string(got.Structured) != `{"hue":240}` {
			t.Errorf("answer %s", text)
		}
	case err := <-errs:
		t.Fatal(err)
	}
	if err := s.refused("tool.result", object{"call_id": call.CallID}); err.Code != abi.CodeConflict {
		t.Errorf("a second answer: %+v", err)
	}
	// No other Session, tenant or socket has part in it.
	for _, elsewhere := range []mediated{{t, tools, other, caller.TenantID, "k"}, {t, tools, session, "tenant_x", "k"}} {
		if r := elsewhere.refused(`{"server":"client","name":"look"}`); r.Status != abi.CallNotFound {
			t.Errorf("elsewhere: %v", r)
		}
	}
	foreign, _ := n.connect(t, connectPath(session))
	_, errs = m.call(abi.CallToolCall, `{"server":"client","name":"press"}`)
	call = s.want("tool.call")
	if err := foreign.refused("tool.result", object{"call_id": call.CallID}); err.Code != abi.CodeConflict {
		t.Errorf("another client's answer: %+v", err)
	}
	// A write whose client leaves may have been done; a read was not worth keeping.
	m.key = "task_1-8"
	_, readErrs := m.call(abi.CallToolCall, `{"server":"client","name":"look"}`)
	s.want("tool.call")
	s.conn.Close()
	for want, errs := range map[abi.CallStatus]<-chan error{abi.CallIndeterminate: errs, abi.CallUnavailable: readErrs} {
		if r, ok := (<-errs).(*provider.Refusal); !ok || r.Status != want {
			t.Errorf("%v, want status %d", r, want)
		}
	}
	if r := m.refused(`{"server":"client","name":"press"}`); r.Status != abi.CallNotFound {
		t.Errorf("after the client has left: %v", r)
	}
}

// A name belongs to the actor that offered it first, for as long as it is connected,
// and what a client offered before stays when it may not offer more.
func TestSocketToolNames(t *testing.T) {
	n := newNode(t)
	session := n.session(t)
	offer := func(names ...string) object {
		tools := []object{}
		for _, name := range names {
			tools = append(tools, object{"name": name, "read_only": true})
		}
		return object{"tools": tools}
	}
	other := n.newKey(t, "default", "sessions:write", "events:read", "sessions:read")
	first, _ := n.connect(t, connectPath(session))
	second, _ := n.connect(t, connectPath(session), key(other))
	second.do("tools.register", offer("mine"))
	first.do("tools.register", offer("pay", "look"))
	if err := second.refused("tools.register", offer("more", "pay")); err.Code != abi.CodeConflict || !strings.Contains(err.Message, `"pay"`) {
		t.Errorf("a name of another actor: %+v", err)
	}
	if err := first.refused("tools.register", offer("mine")); err.Code != abi.CodeConflict {
		t.Errorf("the second's offer is gone: %+v", err)
	}
	again, _ := n.connect(t, connectPath(session))
	again.do("tools.register", offer("pay"))
	first.do("tools.register", offer())
	if err := second.refused("tools.register", offer("pay")); err.Code != abi.CodeConflict {
		t.Errorf("the first actor still offers it: %+v", err)
	}
	again.do("tools.register", offer())
	second.do("tools.register", offer("pay"))
}

// What a client offers is checked, and the newest offer counts.
func TestSocketToolOffers(t *testing.T) {
	n := newNode(t)
	s, _ := n.connect(t, connectPath(n.session(t)))
	many := make([]object, 65)
	for i := range many {
		many[i] = object{"name": strings.Repeat("t", i+1)}
	}
	for name, tools := range map[string][]object{
		"too many": many, "no name": {{"name": ""}}, "twice": {{"name": "a"}, {"name": "a"}},
		"too large": {{"name": "a", "description": strings.Repeat("x", 200<<10)}},
		"a line":    {{"name": "a\nb"}}, "escape": {{"name": "\x1b[2Ja"}}, "backwards": {{"name": "pay\u202e"}}, "a pattern": {{"name": "get_*"}},
	} {
		if err := s.refused("tools.register", object{"tools": tools}); err.Code != abi.CodeInvalidRequest || err.Param == "" {
			t.Errorf("%s: %+v", name, err)
		}
	}
	all, _ := n.connect(t, "/v1/events/stream")
	if err := all.refused("tools.register", object{"tools": []object{{"name": "a"}}}); err.Code != abi.CodeInvalidRequest {
		t.Errorf("a socket without a Session: %+v", err)
	}
}

// Whatever a client sends is answered with a frame that its schema allows.
func FuzzSocketFrame(f *testing.F) {
	for _, seed := range []string{
		`{"type":"ping","id":"1"}`, `{"type":"message","message":{"role":"user","parts":[{"type":"text","text":"t"}]},"idempotency_key":"k"}`,
		`{"type":"task.submit","input":{}}`, `{"type":"task.cancel","task_id":"task_1"}`, `{"type":"session.truncate","keep_turns":0}`,
		`{"type":"input","task_id":"t","message":{}}`, `{"type":"approval","request_id":"r","decision":"denied"}`, `{"type":"tools.register","tools":[{"name":"a"}]}`,
		`{"type":"tool.result","call_id":"c","content":[{"type":"text","text":"x"}]}`, `{"type":"resume","after_event_id":"1"}`, `{"type":"subscribe"}`,
		`{`, `[]`, `null`, `{"type":"\ud800"}`, "\xff", `{"type":"ping","type":"pong"}`, `{"TYPE":"ping"}`,
	} {
		f.Add([]byte(seed))
	}
	n := newNode(f)
	session := n.session(f)
	f.Fuzz(func(t *testing.T, frame []byte) {
		s, _ := n.connect(t, connectPath(session))
		if err := s.conn.WriteMessage(1, frame); err != nil {
			t.Fatal(err)
		}
		for {
			got, err := s.next()
			if err != nil {
				if jsontext.Value(frame).IsValid() {
					t.Fatalf("%q: %v", frame, err)
				}
				return // closed, which is an answer too
			}
			if got.Type == "ack" || got.Type == "error" || got.Type == "pong" {
				return
			}
		}
	})
}
