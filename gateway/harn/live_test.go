package harn_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/wharf-dev/wharf/abi"
)

// from names the live client that a request comes from.
func from(client string) func(*http.Request) { return header("Wharf-Client-Id", client) }

func TestLiveClientsOverREST(t *testing.T) {
	n := newNode(t)
	session := n.session(t)
	clients := "/wharf/v1/sessions/" + session + "/clients"
	first := n.do(t, "POST", clients, object{"client_id": "tui", "mode": "controller", "metadata": object{"surface": "tty"}}).want(200)
	if first.get("active_controller_id") != "tui" || first.get("previous_controller_id") != nil || first.get("client", "prompt_injection") != true || first.get("client", "metadata", "surface") != "tty" {
		t.Errorf("attached: %s", first.body)
	}
	n.do(t, "POST", clients, object{"client_id": "portal"}).want(200)
	if refused := n.do(t, "POST", clients, object{"client_id": "portal", "mode": "controller"}).wantError(409, abi.CodeConflict); !strings.Contains(string(refused.Details), `"active_controller_id":"tui"`) {
		t.Errorf("a second controller: %s", refused.Details)
	}
	if refused := n.submit(t, session, "persona_echo", from("portal")).wantError(409, abi.CodeConflict); !strings.Contains(string(refused.Details), `"reason":"not_controller"`) {
		t.Errorf("an observer submits: %s", refused.Details)
	}
	task := n.submit(t, session, "persona_echo", from("tui")).want(202)
	if task.get("input", "metadata", "client_id") != "tui" {
		t.Errorf("the message says nothing of its client: %s", task.body)
	}
	n.submit(t, session, "persona_echo").want(202)
	n.submit(t, session, "persona_echo", from("a\tb")).wantError(400, abi.CodeInvalidRequest)
	n.submit(t, session, "persona_echo", from(strings.Repeat("c", 129))).wantError(400, abi.CodeInvalidRequest)
	n.submit(t, session, "persona_echo", from("")).want(202) // it names none
	n.submit(t, session, "persona_echo", from("tui"), func(r *http.Request) { r.Header.Add("Wharf-Client-Id", "tui") }).wantError(400, abi.CodeInvalidRequest)

	over := n.do(t, "POST", clients+"/takeover", object{"client_id": "portal"}).want(200)
	if over.get("previous_controller_id") != "tui" || over.get("active_controller_id") != "portal" {
		t.Errorf("taken over: %s", over.body)
	}
	n.do(t, "POST", clients+"/heartbeat", object{"client_id": "tui"}).want(200)
	n.do(t, "POST", clients+"/heartbeat", object{"client_id": "nobody"}).wantError(404, abi.CodeResourceNotFound)
	gone := n.do(t, "POST", clients+"/detach", object{"client_id": "portal", "reason": "done"}).want(200)
	if gone.get("active_controller_id") != nil || gone.get("previous_controller_id") != "portal" {
		t.Errorf("detached: %s", gone.body)
	}
	if left := n.do(t, "GET", clients, nil).want(200); len(left.get("clients").([]any)) != 1 || left.get("client") != nil {
		t.Errorf("left: %s", left.body)
	}
}

func TestLiveClientsOverSockets(t *testing.T) {
	n := newNode(t)
	session := n.session(t)
	clients := "/wharf/v1/sessions/" + session + "/clients"
	a, _ := n.connect(t, connectPath(session))
	b, _ := n.connect(t, connectPath(session))
	if is := a.do("client.attach", object{"client_id": "a", "mode": "controller"}); is.Resource["active_controller_id"] != "a" {
		t.Errorf("attached: %+v", is)
	}
	b.do("client.attach", object{"client_id": "b", "metadata": object{"surface": "web"}})
	if refused := b.refused("client.attach", object{"client_id": "c"}); refused.Code != abi.CodeConflict {
		t.Errorf("a socket that is two clients: %+v", refused)
	}
	if refused := b.refused("message", object{"message": message("hello")}); !strings.Contains(string(refused.Details), "not_controller") {
		t.Errorf("an observer speaks: %+v", refused)
	}
	b.do("client.takeover", object{"client_id": "b"})
	if refused := a.refused("task.submit", object{"input": message("hi")}); !strings.Contains(string(refused.Details), `"active_controller_id":"b"`) {
		t.Errorf("the former controller submits: %+v", refused)
	}
	a.do("client.heartbeat", object{"metadata": object{"x": 1}})
	a.do("client.detach", object{})
	if refused := a.refused("client.detach", object{}); refused.Code != abi.CodeConflict {
		t.Errorf("detached twice: %+v", refused)
	}
	a.do("task.submit", object{"input": message("hi")}) // it names no client any more

	// Who was seen to leave is out at once, and everybody is told.
	_ = b.conn.Close()
	for {
		f := a.want("event")
		if f.Event.Event == abi.EventLiveClient && strings.Contains(string(f.Event.Payload), `"client_exit"`) {
			break
		}
	}
	if left := n.do(t, "GET", clients, nil).want(200); len(left.get("clients").([]any)) != 0 || left.get("active_controller_id") != nil {
		t.Errorf("left: %s", left.body)
	}
	named, _ := n.connect(t, connectPath(session), from("stranger"))
	if refused := named.refused("message", object{"message": message("hello")}); !strings.Contains(string(refused.Details), "not_controller") {
		t.Errorf("a socket that was opened as a client: %+v", refused)
	}
}

func TestModelsAndSettingsOverREST(t *testing.T) {
	n := newNode(t)
	all := n.do(t, "GET", "/wharf/v1/models", nil).want(200)
	if len(all.get("models").([]any)) != 0 || len(all.get("providers").([]any)) != 0 {
		t.Errorf("a node without models: %s", all.body)
	}
	session := "/v1/sessions/" + n.session(t)
	if refused := n.do(t, "PATCH", session, object{"model": "main"}).wantError(400, abi.CodeInvalidRequest); refused.Param != "model" {
		t.Errorf("a model that there is not: %+v", refused)
	}
	if is := n.do(t, "PATCH", session, object{"persona_id": "persona_echo", "model": nil}).want(200); is.get("persona_id") != "persona_echo" {
		t.Errorf("a persona: %s", is.body)
	}
	n.do(t, "PATCH", session, object{"persona_id": "persona_nobody"}).wantError(404, abi.CodeResourceNotFound)
	if is := n.do(t, "PATCH", session, object{"persona_id": nil}).want(200); is.get("persona_id") != nil {
		t.Errorf("no persona: %s", is.body)
	}
}
