package harn_test

import (
	"strings"
	"testing"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/tenancy"
)

// A Task and its Session are made by one request. What is told of the Session says so of the
// Session alone.
func TestATaskWithItsSession(t *testing.T) {
	n := newNode(t)
	own := object{"workspace_id": tenancy.DefaultWorkspace, "refs": []object{{"kind": "a2a_context", "ref": "c1"}}}
	task := n.do(t, "POST", "/v1/tasks", object{"input": message("hi"), "session": own}, header("Prefer", "wait=60")).want(200)
	session := task.get("session_id").(string)
	if got := n.do(t, "GET", "/v1/sessions/"+session, nil).want(200); got.get("state") != "ACTIVE" || got.get("transcript") != "/v1/sessions/"+session+"/messages" {
		t.Errorf("%s", got.body)
	}
	var page struct {
		Data []abi.Event `json:"data"`
	}
	n.do(t, "GET", "/v1/sessions/"+session+"/events?limit=3", nil).want(200).into(&page)
	for i, want := range []abi.EventKind{abi.EventSessionCreated, abi.EventReferenceTaken, abi.EventUserMessage} {
		ev := page.Data[i]
		ofTask := want == abi.EventUserMessage
		if ev.Event != want || ev.SessionID != session || (ev.TaskID == task.id()) != ofTask || (ev.TaskID == "") == ofTask {
			t.Errorf("event %d: %+v", i, ev)
		}
	}
	refused := n.do(t, "POST", "/v1/tasks", object{"input": message("hi"), "session": own}).wantError(409, abi.CodeConflict)
	if !strings.Contains(string(refused.Details), session) {
		t.Errorf("%s", refused.Details)
	}
	for path, body := range map[string]object{
		"/v1/tasks": {"input": object{}, "session": own, "session_id": session}, "/v1/sessions/" + session + "/tasks": {"input": object{}, "session": own},
	} {
		if got := n.do(t, "POST", path, body).wantError(400, abi.CodeInvalidRequest); got.Param != "session" {
			t.Errorf("%s: %+v", path, got)
		}
	}
	for body, param := range map[string]string{`{"input":{},"session":7}`: "session", `{"input":{},"session":{"workspace_id":"ws_default","hidden":"yes"}}`: "session.hidden",
		`{"input":{},"session":{}}`: "session.workspace_id", `{"input":{},"session":null}`: "session_id"} {
		if got := n.do(t, "POST", "/v1/tasks", []byte(body)).wantError(400, abi.CodeInvalidRequest); got.Param != param {
			t.Errorf("%s names %s, want %s", body, got.Param, param)
		}
	}
}

// Over a socket, whose own Session has no part in it, the same is one write with the same request
// over REST.
func TestATaskWithItsSessionOverASocket(t *testing.T) {
	n := newNode(t)
	s, _ := n.connect(t, connectPath(n.session(t)))
	own := object{"workspace_id": tenancy.DefaultWorkspace, "hidden": true}
	made := s.do("task.submit", object{"input": object{}, "session": own, "idempotency_key": "k"}).Resource
	task, session := made["id"].(string), made["session_id"].(string)
	rest := n.do(t, "POST", "/v1/tasks", object{"input": object{}, "session": own}, header("Idempotency-Key", "k")).want(202)
	if rest.id() != task || rest.get("session_id") != session || rest.header.Get("Idempotent-Replayed") != "true" {
		t.Errorf("the socket made %v, REST %s", made, rest.body)
	}
	n.waitEnded(t, task)
	if got := n.do(t, "GET", "/v1/sessions/"+session, nil).want(200); got.get("state") != "CLOSED" || got.get("only_task_id") != task {
		t.Errorf("%s", got.body)
	}
	if got := s.refused("task.submit", object{"input": object{}, "session": own, "session_id": session}); got.Param != "session" {
		t.Errorf("both: %+v", got)
	}
	for _, path := range []string{"/v1/sessions", "/v1/sessions?workspace_id=" + tenancy.DefaultWorkspace} {
		if got := n.do(t, "GET", path, nil).ids(); strings.Contains(strings.Join(got, " "), session) {
			t.Errorf("%s lists it: %v", path, got)
		}
	}
	n.do(t, "POST", "/v1/sessions/"+session+"/tasks", object{"input": object{}}).wantError(409, abi.CodeConflict)
}
