package harn_test

import "testing"

// A fork is merged once, under whichever key; a misspelt strategy is refused.
func TestMergeOverREST(t *testing.T) {
	n := newNode(t)
	session := n.session(t)
	fork := object{}
	n.do(t, "POST", "/v1/sessions/"+session+"/fork", object{}).want(201).into(&fork)
	said := object{"message": object{"role": "user", "parts": []any{object{"type": "text", "text": "from the fork"}}}}
	n.do(t, "POST", "/v1/sessions/"+fork["id"].(string)+"/messages", said).want(201)
	branch := "/wharf/v1/branches/" + fork["branch_id"].(string)
	n.do(t, "POST", branch+"/merge", object{"stragety": "append"}).want(400)
	for range 2 { // the second is a retry
		merged := object{}
		n.do(t, "POST", branch+"/merge", object{}, header("Idempotency-Key", "once")).want(200).into(&merged)
		if merged["merged_into"] != "session:"+session || merged["merged_at"] == nil {
			t.Errorf("%v", merged)
		}
	}
	n.do(t, "POST", branch+"/merge", nil).want(409)
	n.do(t, "POST", branch+"/abandon", nil).want(409)
	if ids := n.do(t, "GET", "/v1/sessions/"+session+"/messages", nil).want(200).ids(); len(ids) != 1 {
		t.Errorf("the session has %v", ids)
	}
	again := object{}
	n.do(t, "POST", "/v1/sessions/"+fork["id"].(string)+"/fork", object{}).want(201).into(&again)
	at := "/wharf/v1/branches/" + again["branch_id"].(string)
	n.do(t, "POST", at+"/abandon", object{"reason": "it led nowhere"}).want(200)
	first := n.do(t, "GET", at+"/lineage?limit=1", nil).want(200)
	if ids := first.ids(); len(ids) != 1 || ids[0] != again["branch_id"] {
		t.Errorf("%v", ids)
	}
	if ids := n.do(t, "GET", at+"/lineage", nil).want(200).ids(); len(ids) != 2 || ids[1] != fork["branch_id"] {
		t.Errorf("%v", ids)
	}
}
