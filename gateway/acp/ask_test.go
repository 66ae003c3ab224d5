package acp_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/gateway"
	"github.com/wharf-dev/wharf/runtime/desk"
	"github.com/wharf-dev/wharf/runtime/enginetest"
	"github.com/wharf-dev/wharf/runtime/sandbox"
	"github.com/wharf-dev/wharf/storage/pebble/crashtest"
)

// asks is a guest that makes a call which waits, and says what it was answered.
func asks(call, request string) enginetest.Guest {
	return func(ctx context.Context, h sandbox.Host) error {
		status, answer, err := h.Call(ctx, call, []byte(request))
		if err != nil {
			return err
		}
		return say(ctx, h, fmt.Sprintf("%d %s", status, answer))
	}
}

var asking = enginetest.Guests{
	"pay":   asks(abi.CallApprovalRequest, `{"call_id":"c","action":"pay","arguments":{"eur":10}}`),
	"port":  asks(abi.CallInputRequest, `{"call_id":"c","prompt":"Which port?","schema":{"type":"object","properties":{"port":{"type":"integer"}},"required":["port"]}}`),
	"name":  asks(abi.CallInputRequest, `{"call_id":"c","prompt":"Which name?"}`),
	"login": asks(abi.CallAuthRequest, `{"call_id":"c","provider":"github","url":"https://github.example/device","prompt":"Log in"}`),
}

// answers answers whatever the node asks with a text, and tells what was asked.
func answers(e *editor, text string) <-chan jsontext.Value {
	asked := make(chan jsontext.Value, 10)
	e.answer = func(_ string, params jsontext.Value) (any, *rpcError) {
		asked <- params.Clone()
		return jsontext.Value(text), nil
	}
	return asked
}

// Every documented shape of an answer is understood, and no other one approves.
func TestPermissionAnswers(t *testing.T) {
	n := newNode(t, asking)
	for answer, want := range map[string]string{
		`{"outcome":{"outcome":"selected","optionId":"allow_once"}}`:  `"approved"`,
		`{"outcome":{"outcome":"selected"}}`:                          `"approved"`,
		`{"outcome":{"outcome":"selected","optionId":"reject_once"}}`: `"denied"`,
		`{"outcome":{"outcome":"selected","optionId":"other"}}`:       `"denied"`,
		`{"outcome":{"outcome":"cancelled"}}`:                         `"denied"`,
		`{"granted":true}`:                                            `"approved"`,
		`{"granted":true,"args":{"eur":5}}`:                           `"eur":5`,
		`{"granted":false,"reason":"too much"}`:                       `too much`,
		`{}`:                                                          `host_error`,
		`null`:                                                        `host_error`,
		`{"granted":"yes"}`:                                           `host_error`,
	} {
		e := n.connect(t, enginetest.RootKey, stock)
		asked := answers(e, answer)
		s := e.open("pay")
		if got := e.prompt(s, "go"); got != "end_turn" || !strings.Contains(e.said(), want) {
			t.Errorf("%s: %s, %s", answer, got, e.said())
		}
		if first := string(receive(t, asked)); !strings.Contains(first, `"options"`) || !strings.Contains(first, `"approvalRequest"`) {
			t.Errorf("asked: %s", first)
		}
	}
}

// A client that does not know the question, or errs, lets nothing happen.
func TestPermissionErrorsFailClosed(t *testing.T) {
	n := newNode(t, asking)
	e := n.connect(t, enginetest.RootKey, stock) // it answers that there is no such method
	if got := e.prompt(e.open("pay"), "go"); got != "end_turn" || !strings.Contains(e.said(), "denied") || !strings.Contains(e.said(), "host_error") {
		t.Errorf("%s, %s", got, e.said())
	}
}

// pending returns the requests of a node that nobody has settled.
func (n *node) pending(t testing.TB) (all []abi.PermissionRequest) {
	t.Helper()
	list, err := n.Permissions(t.Context(), n.Root, desk.Filter{}, abi.PermissionPending, desk.Page{Limit: 10})
	if err != nil {
		t.Fatal(err)
	}
	for _, doc := range list.Docs {
		all = append(all, enginetest.As[abi.PermissionRequest](t, doc))
	}
	return all
}

func (n *node) decide(t testing.TB, id, decision string) {
	t.Helper()
	if _, err := n.RespondPermission(t.Context(), n.Root, nil, id, abi.RespondRequest{Decision: decision}); err != nil {
		t.Fatal(err)
	}
}

// What is decided elsewhere is not waited for, and the client's late answer changes nothing.
func TestPermissionDecidedElsewhere(t *testing.T) {
	n := newNode(t, asking)
	e := n.connect(t, enginetest.RootKey, aware)
	late := make(chan struct{})
	asked := make(chan jsontext.Value, 1)
	e.answer = func(_ string, params jsontext.Value) (any, *rpcError) {
		asked <- params.Clone()
		<-late
		return jsontext.Value(`{"outcome":{"outcome":"selected","optionId":"reject_once"}}`), nil
	}
	s := e.open("pay")
	turn := e.ask("session/prompt", promptOf(s, "go"))
	receive(t, asked)
	n.decide(t, n.pending(t)[0].ID, "approved")
	if got := stopOf(t, receive(t, turn).Result); got != "end_turn" || !strings.Contains(e.said(), `"approved"`) {
		t.Errorf("%s, %s", got, e.said())
	}
	close(late)
	if got := e.prompt(s+"", "again"); got != "end_turn" { // it is asked anew, and rejects
		t.Errorf("the next turn: %s", got)
	}
	kinds := ""
	for _, u := range e.updates() {
		kinds += u.kind + " "
	}
	if !strings.Contains(kinds, "hitl_request") || !strings.Contains(kinds, "hitl_resolved") {
		t.Errorf("told: %s", kinds)
	}
}

// Whoever may not approve is told so; the request stays for those who may.
func TestSelfApproval(t *testing.T) {
	n := newNode(t, asking)
	made, err := n.CreatePersona(t.Context(), n.Root, nil, abi.CreatePersonaRequest{Name: "careful", Version: "1", EntryWorkflow: "pay", Description: new("d"),
		AutonomyTier: abi.TierActAuto, ReceiptPolicy: abi.ReceiptOptional, Tools: []string{"*"}, Capabilities: []string{"*"},
		Approvals: &abi.ApprovalPolicy{Quorum: 1, SelfApproval: false}})
	if err != nil {
		t.Fatal(err)
	}
	key := n.key(t, abi.CreateKeyRequest{Scopes: abi.DefaultScopes(), Actor: "ann"})
	e := n.connect(t, key, stock)
	answers(e, `{"outcome":{"outcome":"selected","optionId":"allow_once"}}`)
	var of struct {
		SessionID string `json:"sessionId"`
	}
	if err := json.Unmarshal(e.ok("session/new", `{"cwd":"/x","mcpServers":[],"_meta":{"harn":{"personaId":"`+made.ID+`"}}}`), &of); err != nil {
		t.Fatal(err)
	}
	turn := e.ask("session/prompt", promptOf(of.SessionID, "go"))
	e.until("why the decision was not taken", func() bool { return strings.Contains(e.said(), "was not taken") })
	n.decide(t, n.pending(t)[0].ID, "approved")
	if got := stopOf(t, receive(t, turn).Result); got != "end_turn" || !strings.Contains(e.said(), `"approved"`) {
		t.Errorf("%s, %s", got, e.said())
	}
}

// What was asked in another life of the node is asked again when the session is opened again.
func TestPermissionAfterRestart(t *testing.T) {
	for _, method := range []string{"session/load", "session/resume"} {
		t.Run(method, func(t *testing.T) {
			disk := crashtest.NewDisk()
			n := startNode(t, disk, asking, gateway.Config{})
			e := n.connect(t, enginetest.RootKey, stock)
			asked := make(chan struct{})
			e.answer = func(string, jsontext.Value) (any, *rpcError) {
				close(asked)
				<-t.Context().Done() // it never answers
				return nil, nil
			}
			s := e.open("pay")
			e.ask("session/prompt", promptOf(s, "go"))
			receive(t, asked)
			n.end()
			again := startNode(t, disk, asking, gateway.Config{})
			e = again.connect(t, enginetest.RootKey, stock)
			answers(e, `{"outcome":{"outcome":"selected","optionId":"allow_once"}}`)
			e.ok(method, `{"sessionId":"`+s+`","cwd":"/home/ann/project","mcpServers":[]}`)
			e.until("the end of the turn", func() bool { return strings.Contains(e.said(), `"approved"`) })
		})
	}
}

// A question that a stock client cannot be asked is told as text, ends the turn, and is answered by the
// next prompt.
func TestQuestionsInWords(t *testing.T) {
	n := newNode(t, asking)
	for guest, c := range map[string]struct{ asked, said, want string }{
		"port":  {"Which port?", `{"port":80}`, `"port":80`},
		"name":  {"Which name?", "Bob", "Bob"},
		"login": {"https://github.example/device", "I did", "I did"},
	} {
		e := n.connect(t, enginetest.RootKey, stock)
		s := e.open(guest)
		if got := e.prompt(s, "go"); got != "end_turn" || !strings.Contains(e.said(), c.asked) {
			t.Fatalf("%s: %s, %s", guest, got, e.said())
		}
		if guest == "port" {
			e.refused(-32602, "session/prompt", promptOf(s, "eighty")) // it stays open
		}
		if got := e.prompt(s, c.said); got != "end_turn" || !strings.Contains(e.said(), c.want) {
			t.Errorf("%s: %s, %s", guest, got, e.said())
		}
		if tasks := len(n.tasksOf(t, s)); tasks != 1 {
			t.Errorf("%s: %d tasks, want the one that has asked", guest, tasks)
		}
	}
}

func (n *node) tasksOf(t testing.TB, session string) (all []abi.Task) {
	t.Helper()
	list, err := n.List(t.Context(), n.Root, abi.ObjectTask, desk.Filter{SessionID: session}, desk.Page{Limit: 100})
	if err != nil {
		t.Fatal(err)
	}
	for _, doc := range list.Docs {
		all = append(all, enginetest.As[abi.Task](t, doc))
	}
	return all
}

// A client that can be asked is asked.
func TestElicitation(t *testing.T) {
	n := newNode(t, asking)
	for guest, c := range map[string]struct{ answer, want string }{
		"port":  {`{"action":"accept","content":{"port":80}}`, `"port":80`},
		"name":  {`{"action":{"action":"accept","content":{"answer":"Bob"}}}`, "Bob"},
		"login": {`{"action":"decline"}`, "decline"},
	} {
		e := n.connect(t, enginetest.RootKey, `{"elicitation":{"form":{},"url":{}}}`)
		asked := answers(e, c.answer)
		s := e.open(guest)
		if got := e.prompt(s, "go"); got != "end_turn" || !strings.Contains(e.said(), c.want) {
			t.Errorf("%s: %s, %s", guest, got, e.said())
		}
		if first := string(receive(t, asked)); !strings.Contains(first, `"sessionId":"`+s) {
			t.Errorf("%s was asked: %s", guest, first)
		}
	}
}
