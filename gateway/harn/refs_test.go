package harn_test

import (
	"net/url"
	"testing"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/tenancy"
)

// A client finds its Session by what it calls it, and learns of the one that is there when it
// asks for a second.
func TestReferencesOverREST(t *testing.T) {
	n := newNode(t)
	ref := "/home/ä b?&=%2F+x"
	body := object{"workspace_id": tenancy.DefaultWorkspace, "refs": []object{{"kind": "acp_folder", "ref": ref}}}
	made := n.do(t, "POST", "/v1/sessions", body).want(201)
	refused := n.do(t, "POST", "/v1/sessions", body).wantError(409, abi.CodeConflict)
	if want := `{"kind":"acp_folder","ref":"/home/ä b?&=%2F+x","session_id":"` + made.id() + `"}`; string(refused.Details) != want {
		t.Errorf("the refusal has %s, want %s", refused.Details, want)
	}
	find := func(workspace, kind, ref string) string {
		return "/v1/sessions?" + url.Values{"workspace_id": {workspace}, "ref_kind": {kind}, "ref": {ref}}.Encode()
	}
	if got := n.do(t, "GET", find(tenancy.DefaultWorkspace, "acp_folder", ref), nil).ids(); len(got) != 1 || got[0] != made.id() {
		t.Errorf("found %v", got)
	}
	for _, path := range []string{find("ws_other", "acp_folder", ref), find(tenancy.DefaultWorkspace, "folder", ref), find(tenancy.DefaultWorkspace, "acp_folder", ref+" ")} {
		if got := n.do(t, "GET", path, nil).ids(); len(got) != 0 {
			t.Errorf("%s: %v", path, got)
		}
	}
	stranger := n.newKey(t, "another tenant", "*")
	if got := n.do(t, "GET", find(tenancy.DefaultWorkspace, "acp_folder", ref), nil, key(stranger)).ids(); len(got) != 0 {
		t.Errorf("a stranger finds %v", got)
	}
	for path, param := range map[string]string{
		find("", "acp_folder", ref): "workspace_id", find("ws_default", "", ref): "ref_kind", find("ws_default", "acp_folder", ""): "ref",
	} {
		if got := n.do(t, "GET", path, nil).wantError(400, abi.CodeInvalidRequest); got.Param != param {
			t.Errorf("%s names %s, want %s", path, got.Param, param)
		}
	}
}
