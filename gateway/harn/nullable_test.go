package harn_test

import (
	"slices"
	"testing"

	json "github.com/go-json-experiment/json"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/tenancy"
	"github.com/wharf-dev/wharf/storage/pebble/crashtest"
)

// TestNullClears holds that every member of a PATCH that may be null is taken away by
// null, and stays when it is not named.
func TestNullClears(t *testing.T) {
	n := bootWhole(t, crashtest.NewDisk(), t.TempDir())
	made := func(path string, body any) string { return n.do(t, "POST", path, body).want(201).id() }
	session := n.session(t)
	quota := made("/wharf/v1/quotas", object{"scope": "workspace", "owner_id": tenancy.DefaultWorkspace, "limits": object{"tasks": 1000}})
	anySchema := object{"type": "object"}
	try := map[string]struct {
		path   string
		values object
	}{
		"UpdateSessionRequest":   {"/v1/sessions/" + session, object{"summary": "s", "name": "n", "context": "c", "persona_id": "persona_echo", "model": "main"}},
		"UpdateWorkspaceRequest": {"/v1/workspaces/" + made("/v1/workspaces", object{"name": "w", "root": "/"}), object{"host": "h", "repository": "r", "quota_id": quota}},
		"UpdatePersonaRequest": {"/v1/personas/" + made("/v1/personas", object{"name": "p", "version": "1", "entry_workflow": "echo", "description": "d",
			"autonomy_tier": "act_auto", "receipt_policy": "optional"}), object{"quota_id": quota}},
		"UpdateConnectorRequest": {"/v1/connectors/" + made("/v1/connectors", object{"provider": "generic", "plugin": "sick#" + abi.DefaultExport}),
			object{"target_persona_id": "persona_echo", "target_session_id": session}},
		"UpdateWebhookRequest": {"/wharf/v1/webhooks/" + made("/wharf/v1/webhooks", object{"url": "https://receiver.test", "events": []string{"task.*"}}),
			object{"session_id": session, "task_id": "task_a", "persona_id": "persona_echo"}},
		"UpdateSkillRequest": {"/wharf/v1/skills/" + made("/wharf/v1/skills", object{"persona_id": "persona_echo", "name": "s", "description": "d"}),
			object{"input_schema": anySchema, "output_schema": anySchema}},
	}
	var doc struct {
		Components struct {
			Schemas map[string]struct {
				Properties map[string]struct {
					Type  any      `json:"type"`
					AnyOf []object `json:"anyOf"`
				} `json:"properties"`
			} `json:"schemas"`
		} `json:"components"`
	}
	if err := json.Unmarshal(n.server.OpenAPI(), &doc); err != nil {
		t.Fatal(err)
	}
	for _, r := range n.server.Routes() {
		if r.Method != "PATCH" {
			continue
		}
		for name, p := range doc.Components.Schemas[r.Request].Properties {
			types, _ := p.Type.([]any)
			if !slices.Contains(types, any("null")) && !slices.ContainsFunc(p.AnyOf, func(s object) bool { return s["type"] == "null" }) {
				continue
			}
			value := try[r.Request].values[name]
			if value == nil {
				t.Errorf("%s: %s may be null, and is not tried", r.Request, name)
				continue
			}
			path := try[r.Request].path
			for _, step := range []struct {
				body object
				left bool
			}{{object{name: value}, true}, {object{}, true}, {object{name: nil}, false}} {
				shown := n.do(t, "PATCH", path, step.body).want(200)
				if (shown.get(name) != nil) != step.left {
					t.Errorf("%s %v: %s is %v", path, step.body, name, shown.get(name))
				}
			}
		}
	}
}
