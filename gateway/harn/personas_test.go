package harn_test

import (
	"testing"

	"github.com/wharf-dev/wharf/abi"
)

func TestPersonas(t *testing.T) {
	n := newNode(t)
	body := func(change object) object {
		o := object{"name": "scribe", "version": "1", "entry_workflow": "echo", "description": "", "autonomy_tier": "suggest",
			"receipt_policy": "optional", "tools": []string{"fs:*"}, "budget": object{"usd": 0.5}}
		for name, value := range change {
			o[name] = value
		}
		return o
	}
	made := n.do(t, "POST", "/v1/personas", body(nil), header("Idempotency-Key", "once")).want(201)
	id := made.get("id").(string)
	if again := n.do(t, "POST", "/v1/personas", body(nil), header("Idempotency-Key", "once")).want(201); again.get("id") != id {
		t.Errorf("a retry made %v", again.get("id"))
	}
	path := "/v1/personas/" + id
	if got := n.do(t, "GET", path, nil).want(200); got.get("autonomy_tier") != "suggest" || got.get("version") != "1" {
		t.Errorf("%s", got.body)
	}
	if got := n.do(t, "PATCH", path, object{"autonomy_tier": "shadow", "quota_id": nil}).want(200); got.get("version") != "2" {
		t.Errorf("%s", got.body)
	}
	n.do(t, "PATCH", path, object{"autonomy_teir": "shadow"}).wantError(400, abi.CodeInvalidRequest)
	n.do(t, "PATCH", path, object{"quota_id": 7}).wantError(400, abi.CodeInvalidRequest)
	n.do(t, "POST", "/v1/personas", body(object{"surprise": 1})).wantError(400, abi.CodeInvalidRequest)
	if err := n.do(t, "POST", "/v1/personas", body(object{"budget": object{"usd": -1}})).wantError(400, abi.CodeInvalidRequest); err.Param != "budget.usd" {
		t.Errorf("%+v", err)
	}
	versions := "/wharf" + path + "/versions"
	first := n.do(t, "GET", versions+"?limit=1", nil).want(200)
	if list := first.get("data").([]any); len(list) != 1 || list[0].(object)["version"] != "2" {
		t.Errorf("%s", first.body)
	}
	cursor := first.get("page").(object)["next_cursor"].(string)
	if rest := n.do(t, "GET", versions+"?cursor="+cursor, nil).want(200).get("data").([]any); len(rest) != 1 || rest[0].(object)["version"] != "1" {
		t.Errorf("%v", rest)
	}
	n.do(t, "GET", "/wharf/v1/personas/persona_none/versions", nil).wantError(404, abi.CodeResourceNotFound)
	reader := key(n.newKey(t, "", "personas:read"))
	n.do(t, "GET", versions, nil, reader).want(200)
	n.do(t, "PATCH", path, object{"description": "mine"}, reader).wantError(403, abi.CodePermissionDenied)
	other := key(n.newKey(t, "other", "personas:read", "personas:write"))
	n.do(t, "GET", versions, nil, other).wantError(404, abi.CodeResourceNotFound)
	n.do(t, "PATCH", path, object{"description": "mine"}, other).wantError(404, abi.CodeResourceNotFound)
}
