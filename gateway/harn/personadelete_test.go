package harn_test

import (
	"strings"
	"testing"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/tenancy"
)

// A Persona is deleted over REST: nothing new names it, Tasks that were taken go on to their end,
// those that have ended are replayed and exported as before, and what uses it is named.
func TestAPersonaIsDeleted(t *testing.T) {
	n := newNode(t)
	make := func(entry string) string {
		return n.do(t, "POST", "/v1/personas", object{"name": "p", "version": "1", "entry_workflow": entry, "description": "d", "autonomy_tier": "act_auto",
			"receipt_policy": "optional"}).want(201).id()
	}
	const own = "/wharf/v1/personas/"
	held, echoes := make("hold"), make("echo")
	session := n.session(t)
	running := n.submit(t, session, held).want(202).id()
	<-n.held
	ended := n.submit(t, session, echoes, header("Prefer", "wait=30")).want(200).id()
	connector := n.do(t, "POST", "/v1/connectors", object{"provider": "generic", "plugin": "echo#normalize", "target_persona_id": echoes}).want(201).id()

	got := n.do(t, "DELETE", own+echoes, nil).wantError(409, abi.CodeConflict)
	if !strings.Contains(got.Message, connector) {
		t.Errorf("who uses it is not named: %s", got.Message)
	}
	n.do(t, "DELETE", "/v1/connectors/"+connector, nil).want(204)
	n.do(t, "DELETE", own+echoes, nil, key(n.newKey(t, "", "personas:read"))).wantError(403, abi.CodePermissionDenied)
	n.do(t, "DELETE", own+echoes, nil, key(n.newKey(t, "another tenant", "*"))).wantError(404, abi.CodeResourceNotFound)
	n.do(t, "DELETE", own+"persona_echo", nil).wantError(409, abi.CodeConflict)
	for range 2 { // the second is answered as the first
		n.do(t, "DELETE", own+echoes, nil, header("Idempotency-Key", "gone")).want(204)
	}
	n.do(t, "DELETE", own+echoes, nil).wantError(404, abi.CodeResourceNotFound)
	n.do(t, "DELETE", own+held, nil).want(204)

	for _, id := range []string{held, echoes} {
		n.do(t, "GET", "/v1/personas/"+id, nil).wantError(404, abi.CodeResourceNotFound)
		n.do(t, "GET", own+id+"/versions", nil).wantError(404, abi.CodeResourceNotFound)
		n.do(t, "PATCH", "/v1/personas/"+id, object{"retired": false}).wantError(404, abi.CodeResourceNotFound)
		if got := n.submit(t, session, id).wantError(404, abi.CodeResourceNotFound); !strings.Contains(got.Message, id) {
			t.Errorf("a Task that names it: %s", got.Message)
		}
		n.do(t, "POST", "/v1/sessions", object{"workspace_id": tenancy.DefaultWorkspace, "persona_id": id}).wantError(404, abi.CodeResourceNotFound)
		n.do(t, "POST", "/v1/connectors", object{"provider": "generic", "plugin": "echo#normalize", "target_persona_id": id}).wantError(404, abi.CodeResourceNotFound)
	}
	if list := n.do(t, "GET", "/v1/personas?limit=200", nil).want(200).body; strings.Contains(string(list), echoes) {
		t.Error("it is still listed")
	}
	if events := n.do(t, "GET", "/v1/events?limit=200", nil).want(200).body; strings.Count(string(events), "vendor.wharf.persona_deleted") != 2 {
		t.Errorf("its events: %s", events)
	}

	n.leave <- struct{}{}
	n.waitEnded(t, running)
	if got := n.do(t, "GET", "/v1/tasks/"+running, nil).want(200).get("status"); got != "COMPLETED" {
		t.Errorf("the Task that ran ends as %v", got)
	}
	n.do(t, "GET", "/v1/tasks/"+ended, nil).want(200)
	n.do(t, "GET", "/wharf/v1/tasks/"+ended+"/record", nil).want(200)
	n.do(t, "POST", "/v1/tasks/"+ended+"/replay", object{}).want(202)
}
