package harn_test

import (
	"testing"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/tenancy"
)

// A Persona is renamed without a new version, cloned with its policy, and retired: nothing new
// names it then, until that is taken back.
func TestLifeOfAPersona(t *testing.T) {
	n := newNode(t)
	made := n.do(t, "POST", "/v1/personas", object{"name": "careful", "version": "7", "entry_workflow": "echo", "description": "d", "autonomy_tier": "suggest",
		"receipt_policy": "optional", "budget": object{"tool_calls": 3}, "metadata": object{"a": 1}}).want(201)
	at := "/v1/personas/" + made.id()
	renamed := n.do(t, "PATCH", at, object{"name": "wary"}).want(200)
	if renamed.get("name") != "wary" || renamed.get("version") != "7" {
		t.Errorf("renamed, it is %s", renamed.body)
	}
	if got := n.do(t, "PATCH", at, object{"name": ""}).wantError(400, abi.CodeInvalidRequest); got.Param != "name" {
		t.Errorf("no name: %s", got.Param)
	}

	session := n.session(t)
	running := n.submit(t, session, made.id(), header("Prefer", "wait=30")).want(200).id()
	n.do(t, "PATCH", at, object{"retired": true}).want(200)
	retired := n.do(t, "GET", at, nil).want(200)
	if retired.get("retired_at") == nil || retired.get("version") != "7" {
		t.Errorf("retired, it is %s", retired.body)
	}
	if again := n.do(t, "PATCH", at, object{"retired": true}).want(200); again.get("retired_at") != retired.get("retired_at") {
		t.Errorf("retired again, it is %s", again.body)
	}
	n.submit(t, session, made.id()).wantError(409, abi.CodeConflict)
	n.do(t, "POST", "/v1/sessions", object{"workspace_id": tenancy.DefaultWorkspace, "persona_id": made.id()}).wantError(409, abi.CodeConflict)
	n.do(t, "GET", "/v1/tasks/"+running, nil).want(200)

	clone := n.do(t, "POST", "/wharf/v1/personas/"+made.id()+"/clone", object{"name": "bold"}).want(201)
	if clone.id() == made.id() || clone.get("name") != "bold" || clone.get("version") != "1" || clone.get("retired_at") != nil ||
		clone.get("autonomy_tier") != "suggest" || clone.get("budget", "tool_calls") != 3. || clone.get("metadata", "a") != 1. {
		t.Errorf("the clone is %s", clone.body)
	}
	n.do(t, "PATCH", "/v1/personas/"+clone.id(), object{"autonomy_tier": "act_auto"}).want(200)
	if got := n.do(t, "GET", at, nil).get("autonomy_tier"); got != "suggest" {
		t.Errorf("what changes the clone makes the other %v", got)
	}
	n.submit(t, session, clone.id(), header("Prefer", "wait=30")).want(200)
	n.do(t, "PATCH", at, object{"retired": false}).want(200)
	n.submit(t, session, made.id(), header("Prefer", "wait=30")).want(200)

	n.do(t, "POST", "/wharf/v1/personas/persona_none/clone", object{"name": "x"}).wantError(404, abi.CodeResourceNotFound)
	n.do(t, "POST", "/wharf/v1/personas/"+made.id()+"/clone", object{}).wantError(400, abi.CodeInvalidRequest)
	bound := n.do(t, "POST", "/wharf/v1/keys", abi.CreateKeyRequest{Name: "bound", WorkspaceIDs: []string{tenancy.DefaultWorkspace}}).want(201).get("key").(string)
	n.do(t, "POST", "/wharf/v1/personas/"+made.id()+"/clone", object{"name": "x"}, key(bound)).wantError(403, abi.CodePermissionDenied)
	n.do(t, "PATCH", at, object{"retired": true}, key(bound)).wantError(403, abi.CodePermissionDenied)
	stranger := n.newKey(t, "another tenant", "*")
	n.do(t, "POST", "/wharf/v1/personas/"+made.id()+"/clone", object{"name": "x"}, key(stranger)).wantError(404, abi.CodeResourceNotFound)
}
