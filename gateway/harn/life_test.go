package harn_test

import (
	"slices"
	"testing"

	"github.com/wharf-dev/wharf/abi"
)

// A paused Session refuses Tasks, under whatever parent, and takes what it is told; resumed, it
// takes them again. A deleted one is gone, and its Tasks are.
func TestSessionsArePausedAndDeleted(t *testing.T) {
	n := newNode(t)
	session := n.session(t)
	done := n.finished(t, session)
	at := "/wharf/v1/sessions/" + session
	if got := n.do(t, "POST", at+"/pause", nil).want(200).get("state"); got != "PAUSED" {
		t.Errorf("paused, it is %v", got)
	}
	n.submit(t, session, "persona_echo").wantError(409, abi.CodeConflict)
	n.do(t, "POST", "/v1/tasks", object{"session_id": session, "input": message("hi"), "parent_task_id": done}).wantError(409, abi.CodeConflict)
	n.do(t, "POST", "/v1/sessions/"+session+"/messages", object{"message": message("kept")}).want(201)
	n.do(t, "POST", at+"/pause", nil).wantError(400, abi.CodeInvalidStateTransition)
	if got := n.do(t, "GET", "/v1/sessions?status=PAUSED", nil).ids(); !slices.Equal(got, []string{session}) {
		t.Errorf("paused are %v", got)
	}
	n.do(t, "POST", at+"/resume", nil).want(200)
	n.finished(t, session)

	reader := n.newKey(t, "default", "sessions:read")
	for _, path := range []string{at + "/pause", at + "/resume"} {
		n.do(t, "POST", path, nil, key(reader)).wantError(403, abi.CodePermissionDenied)
	}
	n.do(t, "DELETE", at, nil, key(reader)).wantError(403, abi.CodePermissionDenied)
	n.do(t, "DELETE", at, nil, header("Idempotency-Key", "gone")).want(204)
	n.do(t, "DELETE", at, nil, header("Idempotency-Key", "gone")).want(204)
	n.do(t, "DELETE", at, nil).wantError(404, abi.CodeResourceNotFound)
	n.do(t, "GET", "/v1/sessions/"+session, nil).wantError(404, abi.CodeResourceNotFound)
	n.do(t, "GET", "/v1/sessions/"+session+"/messages", nil).wantError(404, abi.CodeResourceNotFound)
	n.submit(t, session, "persona_echo").wantError(404, abi.CodeResourceNotFound)
	if got := n.do(t, "GET", "/v1/sessions", nil).ids(); len(got) != 0 {
		t.Errorf("there still are %v", got)
	}
	n.do(t, "GET", "/v1/tasks/"+done, nil).wantError(404, abi.CodeResourceNotFound) // they go with it
}
