package harn_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/tenancy"
)

// boundKey makes a key of one Workspace with some scopes.
func (n *node) boundKey(t testing.TB, workspace string, scopes ...string) func(*http.Request) {
	t.Helper()
	made := n.do(t, "POST", "/wharf/v1/keys", abi.CreateKeyRequest{Name: "bound to " + workspace, WorkspaceIDs: []string{workspace}, Scopes: scopes}).want(201)
	return key(made.get("key").(string))
}

// A key that is bound to a Workspace makes, changes, clones and offers Personas there, as far as
// its scopes go. A key of another Workspace is answered about them as about what is not there.
func TestPersonasOfAWorkspace(t *testing.T) {
	n := newNode(t)
	away := n.do(t, "POST", "/v1/workspaces", object{"name": "away", "root": "/away"}).want(201).id()
	own, stranger := n.boundKey(t, tenancy.DefaultWorkspace, "*"), n.boundKey(t, away, "*")
	reader := n.boundKey(t, tenancy.DefaultWorkspace, "personas:read")
	body := func(workspace string) object {
		o := object{"name": "scribe", "version": "1", "entry_workflow": "echo", "description": "d", "autonomy_tier": "suggest", "receipt_policy": "optional"}
		if workspace != "" {
			o["workspace_id"] = workspace
		}
		return o
	}
	made := n.do(t, "POST", "/v1/personas", body(tenancy.DefaultWorkspace), own, header("Idempotency-Key", "once")).want(201)
	if again := n.do(t, "POST", "/v1/personas", body(tenancy.DefaultWorkspace), own, header("Idempotency-Key", "once")).want(201); again.id() != made.id() ||
		made.get("workspace_id") != tenancy.DefaultWorkspace {
		t.Errorf("%s, and again %s", made.body, again.body)
	}
	n.do(t, "POST", "/v1/personas", body(""), own).wantError(403, abi.CodePermissionDenied)
	n.do(t, "POST", "/v1/personas", body(away), own).wantError(404, abi.CodeResourceNotFound)
	n.do(t, "POST", "/v1/personas", body(tenancy.DefaultWorkspace), reader).wantError(403, abi.CodePermissionDenied)
	for who, key := range map[string]func(*http.Request){"of default scopes": n.boundKey(t, tenancy.DefaultWorkspace),
		"of personas:write": n.boundKey(t, tenancy.DefaultWorkspace, "personas:read", "personas:write", "workspaces:read"),
		"of personas:own":   n.boundKey(t, tenancy.DefaultWorkspace, "personas:read", "personas:own", "workspaces:read")} {
		t.Log(who)
		n.do(t, "POST", "/v1/personas", body(tenancy.DefaultWorkspace), key).wantError(403, abi.CodePermissionDenied)
		n.do(t, "PATCH", "/v1/personas/"+made.id(), object{"autonomy_tier": "act_auto"}, key).wantError(403, abi.CodePermissionDenied)
		n.do(t, "POST", "/wharf/v1/personas/"+made.id()+"/clone", object{"name": "x"}, key).wantError(403, abi.CodePermissionDenied)
	}
	n.do(t, "PATCH", "/v1/personas/"+made.id(), object{"name": "x"}, reader).wantError(403, abi.CodePermissionDenied)
	n.do(t, "PATCH", "/v1/personas/"+made.id(), object{"workspace_id": away}).wantError(400, abi.CodeInvalidRequest)
	n.do(t, "PATCH", "/v1/personas/"+made.id(), object{"autonomy_tier": "shadow"}, own).want(200)
	n.do(t, "POST", "/wharf/v1/personas/persona_echo/clone", object{"name": "ours"}, own).wantError(403, abi.CodePermissionDenied)
	clone := n.do(t, "POST", "/wharf/v1/personas/persona_echo/clone", object{"name": "ours", "workspace_id": tenancy.DefaultWorkspace}, own).want(201)
	n.submit(t, n.session(t), clone.id(), own, header("Prefer", "wait=30")).want(200)
	skill := n.do(t, "POST", "/wharf/v1/skills", object{"persona_id": made.id(), "name": "s", "description": "d"}, own).want(201)

	list := n.do(t, "GET", "/v1/personas?workspace_id="+tenancy.DefaultWorkspace+"&include_total=true", nil)
	if ids := list.ids(); !slices.Equal(ids, []string{clone.id(), made.id()}) || list.get("page", "total") != 2. {
		t.Errorf("its workspace lists %s", list.body)
	}
	if ids := n.do(t, "GET", "/v1/personas", nil, stranger).ids(); !slices.Contains(ids, "persona_echo") || slices.Contains(ids, made.id()) {
		t.Errorf("another workspace's key lists %v", ids)
	}
	elsewhere := n.do(t, "POST", "/v1/sessions", object{"workspace_id": away}, stranger).want(201).id()
	for _, ask := range []struct {
		method, path string
		body         object
	}{
		{"GET", "/v1/personas/ID", nil}, {"PATCH", "/v1/personas/ID", object{"name": "x"}}, {"GET", "/wharf/v1/personas/ID/versions", nil},
		{"POST", "/wharf/v1/personas/ID/clone", object{"name": "x", "workspace_id": away}},
		{"POST", "/v1/sessions", object{"workspace_id": away, "persona_id": "ID"}},
		{"POST", "/v1/tasks", object{"session_id": elsewhere, "persona_id": "ID", "input": object{"x": 1}}},
		{"POST", "/v1/connectors", object{"provider": "generic", "plugin": "echo#main", "target_persona_id": "ID"}},
		{"POST", "/wharf/v1/skills", object{"persona_id": "ID", "name": "s", "description": "d"}},
		{"GET", "/v1/skills/SKILL", nil}, {"PATCH", "/wharf/v1/skills/SKILL", object{"description": "x"}},
		{"POST", "/v1/sessions", object{"workspace_id": away, "skill_ids": []string{"SKILL"}}},
		{"POST", "/v1/tasks", object{"session_id": elsewhere, "metadata": object{"skill_id": "SKILL"}, "input": object{"x": 1}}},
		{"POST", "/v1/memories", object{"scope": "persona", "owner_id": "ID", "content": "c", "provenance": object{}}},
	} {
		answer := func(persona, skill string) *abi.Error {
			to := strings.NewReplacer("ID", persona, "SKILL", skill)
			return n.do(t, ask.method, to.Replace(ask.path), renamed(ask.body, to), stranger).wantError(404, abi.CodeResourceNotFound)
		}
		got, want := answer(made.id(), skill.id()), answer("persona_none", "skill_none")
		if strings.NewReplacer(made.id(), "persona_none", skill.id(), "skill_none").Replace(got.Message) != want.Message || got.Param != want.Param {
			t.Errorf("%s %s: %v, and of nothing %v", ask.method, ask.path, got, want)
		}
	}
}

// renamed returns a body with other names in it.
func renamed(body object, to *strings.Replacer) any {
	if body == nil {
		return nil
	}
	next := object{}
	for name, value := range body {
		switch v := value.(type) {
		case string:
			value = to.Replace(v)
		case []string:
			value = []string{to.Replace(v[0])}
		case object:
			value = renamed(v, to)
		}
		next[name] = value
	}
	return next
}
