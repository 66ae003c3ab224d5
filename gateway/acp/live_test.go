package acp_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/enginetest"
	"github.com/wharf-dev/wharf/runtime/sandbox"
)

// clientsOf reads who is attached.
func clientsOf(t testing.TB, result jsontext.Value) (all abi.LiveClients) {
	t.Helper()
	if err := json.Unmarshal(result, &all); err != nil {
		t.Fatal(err)
	}
	return all
}

// Of two editors at one session the one that controls it prompts and is asked; a takeover changes which
// that is, and an editor that leaves gives the control back.
func TestControl(t *testing.T) {
	n := newNode(t, asking)
	first, second := n.connect(t, enginetest.RootKey, aware), n.connect(t, enginetest.RootKey, aware)
	s := first.open("pay")
	second.ok("session/load", `{"sessionId":"`+s+`","cwd":"/home/me/work","mcpServers":[]}`)
	first.ok("session/attach", `{"sessionId":"`+s+`","clientId":"one","mode":"controller"}`)
	refused := second.refused(-32600, "session/attach", `{"sessionId":"`+s+`","clientId":"two","mode":"controller"}`)
	if !strings.Contains(fmt.Sprint(refused), "one") {
		t.Errorf("the refusal does not say who controls: %+v", refused)
	}
	second.ok("_harn/session/attach", `{"sessionId":"`+s+`","clientId":"two","mode":"observer"}`)
	if is := second.refused(-32600, "session/prompt", promptOf(s, "go")); !strings.Contains(string(is.Data), "not_controller") {
		t.Errorf("an observer prompts: %+v", is)
	}
	askedFirst, askedSecond := make(chan jsontext.Value, 10), make(chan jsontext.Value, 10)
	first.answer = func(_ string, params jsontext.Value) (any, *rpcError) {
		askedFirst <- params.Clone()
		<-t.Context().Done() // it never answers
		return nil, nil
	}
	second.answer = func(_ string, params jsontext.Value) (any, *rpcError) {
		askedSecond <- params.Clone()
		return jsontext.Value(`{"granted":true}`), nil
	}
	turn := first.ask("session/prompt", promptOf(s, "go"))
	receive(t, askedFirst)
	if len(askedSecond) != 0 {
		t.Error("an observer is asked")
	}
	all := clientsOf(t, second.ok("session/takeover", `{"sessionId":"`+s+`","clientId":"two"}`))
	if all.ActiveControllerID == nil || *all.ActiveControllerID != "two" || all.PreviousControllerID == nil || *all.PreviousControllerID != "one" {
		t.Errorf("the takeover: %+v", all)
	}
	receive(t, askedSecond) // the question goes to the new controller
	if got := stopOf(t, receive(t, turn).Result); got != "end_turn" {
		t.Error(got)
	}
	second.ok("session/heartbeat", `{"sessionId":"`+s+`","clientId":"two","_meta":{"harn":{"surface":"portal"}}}`)
	all = clientsOf(t, second.ok("session/detach", `{"sessionId":"`+s+`","clientId":"two"}`))
	if all.ActiveControllerID != nil || len(all.Clients) != 1 {
		t.Errorf("the detach: %+v", all)
	}
}

// A connection that ends takes its client out of the Session.
func TestLeavingDetaches(t *testing.T) {
	n := newNode(t, asking)
	first, second := n.connect(t, enginetest.RootKey, aware), n.connect(t, enginetest.RootKey, aware)
	s := first.open("pay")
	second.ok("session/load", `{"sessionId":"`+s+`","cwd":"/home/me/work","mcpServers":[]}`)
	first.ok("session/attach", `{"sessionId":"`+s+`","clientId":"one","mode":"controller"}`)
	_ = first.ws.Close()
	second.until("the client that has left is detached", func() bool {
		for _, u := range second.updates() {
			if u.kind == "live_session_client" && strings.Contains(string(u.raw), "client_exit") {
				return true
			}
		}
		return false
	})
	second.ok("session/attach", `{"sessionId":"`+s+`","clientId":"two","mode":"controller"}`)
}

// takes is a guest that waits for its inbox, and says what came.
func takes(ctx context.Context, h sandbox.Host) error {
	status, answer, err := h.Call(ctx, abi.CallInboxTake, []byte(`{"checkpoint":"turn","wait":true}`))
	if err != nil {
		return err
	}
	return say(ctx, h, fmt.Sprintf("%d %s", status, answer))
}

// What is said meanwhile waits until it is taken: then it is a message of the user with the id that was
// given for it, once.
func TestInbox(t *testing.T) {
	n := newNode(t, enginetest.Guests{"takes": takes, "echo": says("done")})
	e := n.connect(t, enginetest.RootKey, aware)
	s := e.open("takes")
	of := func(members string) string { return `{"sessionId":"` + s + `",` + members + `}` }
	var queued struct {
		Status, MessageID, ReminderID string
		PendingCount                  int
		Injections                    []struct{ Kind, MessageID, ReminderID, Body string }
	}
	read := func(result jsontext.Value) {
		t.Helper()
		if err := json.Unmarshal(result, &queued, json.MatchCaseInsensitiveNames(true)); err != nil {
			t.Fatal(err)
		}
	}
	read(e.ok("session/inject", of(`"mode":"queue","content":"one"`)))
	if queued.Status != "accepted" || queued.MessageID == "" {
		t.Fatalf("%+v", queued)
	}
	kept := queued.MessageID
	read(e.ok("session/replace_inject", of(`"messageId":"`+kept+`","content":[{"type":"text","text":"two"}]`)))
	read(e.ok("_harn/session/inject", of(`"mode":"steer","content":"three"`)))
	read(e.ok("session/revoke_inject", of(`"messageId":"`+queued.MessageID+`"`)))
	if queued.Status != "revoked" {
		t.Errorf("%+v", queued)
	}
	read(e.ok("session/remind", of(`"body":"The tide turns.","tags":["sea"]`)))
	reminder := queued.ReminderID
	if is := e.refused(-32602, "session/remind", of(`"body":"x","colour":"red"`)); !strings.Contains(string(is.Data), "HARN-RMD-001") {
		t.Errorf("%+v", is)
	}
	read(e.ok("session/pending_injections", of(`"x":1`)))
	if queued.PendingCount != 2 || queued.Injections[0].MessageID != kept || queued.Injections[1].Body != "The tide turns." {
		t.Errorf("%+v", queued)
	}
	read(e.ok("session/revoke_reminder", of(`"reminderId":"`+reminder+`"`)))
	if got := e.prompt(s, "go"); got != "end_turn" || !strings.Contains(e.said(), kept) {
		t.Errorf("%s: %s", got, e.said())
	}
	told := 0
	for _, u := range e.updates() {
		if u.kind == "user_message" && strings.Contains(string(u.raw), "two") {
			told++
		}
	}
	if told != 1 {
		t.Errorf("what was said is told %d times: %v", told, e.updates())
	}
	if is := e.refused(-32600, "session/revoke_inject", of(`"messageId":"`+kept+`"`)); !strings.HasPrefix(string(is.Data), `{"reason":"already_delivered"`) {
		t.Errorf("%+v", is)
	}
}

// An agent that waits for its inbox goes on when it is woken.
func TestResumeAgent(t *testing.T) {
	n := newNode(t, enginetest.Guests{"takes": takes})
	e := n.connect(t, enginetest.RootKey, aware)
	s := e.open("takes")
	turn := e.ask("session/prompt", promptOf(s, "go"))
	e.until("the agent is idle, and is so again", func() bool { return e.idled() >= 2 })
	e.notify("agent/resume", `{}`)
	if got := stopOf(t, receive(t, turn).Result); got != "end_turn" || !strings.Contains(e.said(), "resumed") {
		t.Errorf("%s: %s", got, e.said())
	}
}

// The catalogue of models is told by both of its names.
func TestProviderCatalog(t *testing.T) {
	e := newNode(t, asking).connect(t, enginetest.RootKey, aware)
	if got := string(e.ok("_harn/providerCatalog", `{}`)); !strings.Contains(got, `"schemaVersion":2`) || !strings.Contains(got, `"models":[`) {
		t.Error(got)
	}
}

// idled counts how often the node has said that an agent is idle.
func (e *editor) idled() (n int) {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.idle
}
