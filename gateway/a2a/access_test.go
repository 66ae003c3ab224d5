package a2a_test

import (
	"strings"
	"testing"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/enginetest"
)

// Every method of both versions refuses who may not ask it, by JSON-RPC and by REST, and treats what
// is another's like what is not there.
func TestWrongPrincipals(t *testing.T) {
	n := newNode(t, enginetest.Guests{"ask": asking})
	a := n.rpc(t, "SendMessage", object{"message": with(says("m1", "hi"), object{"metadata": as("ask"), "contextId": "c"})})
	id := a.text("result.task.id")
	made := n.rpc(t, "CreateTaskPushNotificationConfig", object{"taskId": id, "id": "p", "url": "http://127.0.0.1:1/"})
	if made.text("result.id") != "p" {
		t.Fatalf("%s", made.body)
	}
	other, err := n.CreateWorkspace(t.Context(), n.Root, nil, abi.CreateWorkspaceRequest{Name: "other", Root: "wharf:///other"})
	if err != nil {
		t.Fatal(err)
	}
	stranger := n.key(t, "other", []string{abi.ScopeAll})
	elsewhere := n.key(t, "", []string{abi.ScopeAll}, other.ID)
	powerless := n.key(t, "", []string{"memories:read"})
	old := func(id string) object {
		return object{"kind": "message", "messageId": id, "role": "user", "taskId": "TASK", "parts": []object{{"kind": "text", "text": "80"}}}
	}
	type asked struct {
		method, path string
		params       object
	}
	all := []asked{
		{"SendMessage", "POST /message:send", object{"message": with(says("m2", "80"), object{"taskId": "TASK"})}},
		{"SendStreamingMessage", "POST /message:stream", object{"message": with(says("m3", "80"), object{"taskId": "TASK"})}},
		{"GetTask", "GET /tasks/TASK", object{"id": "TASK"}}, {"CancelTask", "POST /tasks/TASK:cancel", object{"id": "TASK"}}, {"SubscribeToTask", "POST /tasks/TASK:subscribe", object{"id": "TASK"}},
		{"CreateTaskPushNotificationConfig", "POST /tasks/TASK/pushNotificationConfigs", object{"taskId": "TASK", "url": "http://127.0.0.1:1/"}},
		{"GetTaskPushNotificationConfig", "GET /tasks/TASK/pushNotificationConfigs/p", object{"taskId": "TASK", "id": "p"}},
		{"ListTaskPushNotificationConfigs", "GET /tasks/TASK/pushNotificationConfigs", object{"taskId": "TASK"}},
		{"DeleteTaskPushNotificationConfig", "DELETE /tasks/TASK/pushNotificationConfigs/p", object{"taskId": "TASK", "id": "p"}},
		{"message/send", "POST /v1/message:send", object{"message": old("m4")}}, {"message/stream", "POST /v1/message:stream", object{"message": old("m5")}},
		{"tasks/get", "GET /v1/tasks/TASK", object{"id": "TASK"}}, {"tasks/cancel", "POST /v1/tasks/TASK:cancel", object{"id": "TASK"}}, {"tasks/resubscribe", "GET /v1/tasks/TASK:subscribe", object{"id": "TASK"}},
		{"tasks/pushNotificationConfig/set", "POST /v1/tasks/TASK/pushNotificationConfigs", object{"taskId": "TASK", "pushNotificationConfig": object{"url": "http://127.0.0.1:1/"}}},
		{"tasks/pushNotificationConfig/get", "GET /v1/tasks/TASK/pushNotificationConfigs/p", object{"id": "TASK", "pushNotificationConfigId": "p"}},
		{"tasks/pushNotificationConfig/list", "GET /v1/tasks/TASK/pushNotificationConfigs", object{"id": "TASK"}},
		{"tasks/pushNotificationConfig/delete", "DELETE /v1/tasks/TASK/pushNotificationConfigs/p", object{"id": "TASK", "pushNotificationConfigId": "p"}},
	}
	text := func(v any) string { return strings.ReplaceAll(string(v.(answer).body), id, "TASK") }
	for _, q := range all {
		ask := func(task string, o option) (rpc, rest answer) {
			method, path, _ := strings.Cut(strings.ReplaceAll(q.path, "TASK", task), " ")
			rpc = n.do(t, "POST", "/a2a", strings.ReplaceAll(textOf(t, object{"jsonrpc": "2.0", "id": 1, "method": q.method, "params": q.params}), "TASK", task), o)
			body := any(nil)
			if method == "POST" {
				body = strings.ReplaceAll(textOf(t, q.params), "TASK", task)
			}
			return rpc, n.do(t, method, "/a2a"+path, body, o)
		}
		for name, o := range map[string]option{"another tenant": by(stranger), "another workspace": by(elsewhere)} {
			rpc, rest := ask(id, o)
			rpc.fails(-32001)
			unknown, unknownRest := ask("task_unknown", o)
			if got, want := withoutRequest(text(rpc)), strings.ReplaceAll(withoutRequest(string(unknown.body)), "task_unknown", "TASK"); got != want {
				t.Errorf("%s of %s: %s, and of an unknown task %s", q.method, name, got, want)
			}
			if rest.status != 404 || unknownRest.status != 404 {
				t.Errorf("%s of %s: %d %s", q.path, name, rest.status, rest.body)
			}
		}
		rpc, rest := ask(id, by(powerless))
		if rpc.want(403).fails(-31403); rest.status != 403 {
			t.Errorf("%s without a scope: %d %s", q.path, rest.status, rest.body)
		}
		rpc, rest = ask(id, by(""))
		if rpc.want(401); rest.status != 401 || rest.header.Get("WWW-Authenticate") == "" {
			t.Errorf("%s by nobody: %d %s", q.path, rest.status, rest.body)
		}
		rpc, rest = ask(id, by("a-key-that-is-none-at-all"))
		if rpc.want(401); rest.status != 401 {
			t.Errorf("%s by a made up key: %d", q.path, rest.status)
		}
	}
	if got := n.rpc(t, "ListTasks", object{}, by(stranger)); got.get("result.totalSize") != 0.0 {
		t.Errorf("%s", got.body)
	}
	if got := n.rpc(t, "ListTasks", object{"contextId": "c"}, by(elsewhere)); got.get("result.totalSize") != 0.0 {
		t.Errorf("%s", got.body)
	}
	n.rpc(t, "ListTasks", object{}, by(powerless)).want(403)
	// The context of another is a name that is free.
	mine := n.rpc(t, "SendMessage", object{"message": with(says("m1", "hi"), object{"contextId": "c"})}, by(elsewhere))
	if mine.text("result.task.metadata.wharf.workspace_id") != other.ID {
		t.Errorf("%s", mine.body)
	}
	if left := n.rpc(t, "GetTask", object{"id": id}); left.text("result.status.state") != "TASK_STATE_INPUT_REQUIRED" {
		t.Errorf("somebody has changed the task: %s", left.body)
	}
}

// A key that may not read Artifacts, or Messages, is shown where they are, or none.
func TestContentTakesItsScope(t *testing.T) {
	n := newNode(t, enginetest.Guests{"busy": busy})
	id := n.rpc(t, "SendMessage", object{"message": with(says("m1", "hi"), object{"metadata": as("busy")})}).text("result.task.id")
	a := n.rpc(t, "GetTask", object{"id": id}, by(n.key(t, "", []string{"tasks:read"})))
	if a.get("result.artifacts.0.parts.0.text") != nil || !strings.HasSuffix(a.text("result.artifacts.0.parts.0.url"), "/content") || len(a.get("result.history").([]any)) != 0 {
		t.Errorf("%s", a.body)
	}
}

// The public card tells nothing of a tenant; that of whoever is known has the Skills.
func TestCards(t *testing.T) {
	n := newNode(t, nil)
	if _, err := n.CreateSkill(t.Context(), n.Root, nil, abi.CreateSkillRequest{PersonaID: "persona_echo", Name: "secret skill", Description: "d"}); err != nil {
		t.Fatal(err)
	}
	card := n.do(t, "GET", "/.well-known/agent-card.json", nil, by("")).want(200)
	if same := n.do(t, "GET", "/.well-known/agent.json", nil, by("")).want(200); string(same.body) != string(card.body) {
		t.Errorf("the older path has %s", same.body)
	}
	if strings.Contains(string(card.body), "secret skill") || card.text("url") != n.url+"/a2a" || card.get("capabilities.pushNotifications") != true || card.get("capabilities.extensions.0.uri") != extension ||
		card.get("securitySchemes.bearer.type") != "http" || card.get("securitySchemes.bearer.httpAuthSecurityScheme.scheme") != "bearer" || card.get("capabilities._meta.harn.externalAgent.schema") != "harn.external_agent.v1" {
		t.Errorf("the card is %s", card.body)
	}
	for name, a := range map[string]answer{"1.0": n.rpc(t, "GetExtendedAgentCard", object{}), "0.3": n.rpc(t, "agent/getAuthenticatedExtendedCard", object{}),
		"REST": n.do(t, "GET", "/a2a/extendedAgentCard", nil).want(200), "0.3 REST": n.do(t, "GET", "/a2a/v1/card", nil).want(200)} {
		if !strings.Contains(string(a.body), "secret skill") {
			t.Errorf("%s: %s", name, a.body)
		}
	}
	n.rpc(t, "GetExtendedAgentCard", object{}, by("")).want(401)
	if a := n.rpc(t, "GetExtendedAgentCard", object{}, by(n.key(t, "other", []string{abi.ScopeAll}))); strings.Contains(string(a.body), "secret skill") {
		t.Errorf("%s", a.body)
	}
}
