package harn_test

import (
	"strconv"
	"testing"

	"github.com/wharf-dev/wharf/abi"
)

// A client sees what a quota says, and is told when to come back.
func TestQuotasOverREST(t *testing.T) {
	n := newNode(t)
	session := n.session(t)
	made := n.do(t, "POST", "/wharf/v1/quotas", object{"scope": "persona", "owner_id": "persona_echo",
		"limits": object{"tasks": 1}, "window_seconds": 86400}).want(201)
	id, _ := made.get("id").(string)
	n.finished(t, session)
	refused := n.submit(t, session, "persona_echo")
	err := refused.wantError(429, abi.CodeRateLimited)
	if seconds, bad := strconv.Atoi(refused.header.Get("Retry-After")); bad != nil || seconds < 1 || seconds > 86401 || len(err.Details) == 0 {
		t.Errorf("Retry-After %q, %+v", refused.header.Get("Retry-After"), err)
	}
	shown := n.do(t, "GET", "/v1/quotas/"+id, nil).want(200)
	if shown.get("usage", "tasks") != 1.0 || shown.get("exhaustion_reason") != "tasks" {
		t.Errorf("%s", shown.body)
	}
	changed := n.do(t, "PATCH", "/wharf/v1/quotas/"+id, object{"limits": object{"tasks": 1, "usd": 0}}).want(200)
	if changed.get("usage", "tasks") != 1.0 {
		t.Errorf("%s", changed.body)
	}
	n.submit(t, session, "persona_echo").wantError(422, abi.CodePolicyViolation)
	if got := n.do(t, "GET", "/v1/quotas", nil).ids(); len(got) != 1 || got[0] != id {
		t.Errorf("%q", got)
	}
	n.do(t, "GET", "/v1/quotas/quota_none", nil).wantError(404, abi.CodeResourceNotFound)
}
