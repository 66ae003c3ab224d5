package harn_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/enginetest"
)

// sealedParts are parts of every type, whose content begins with "canary".
func sealedParts(visibility string) (parts []object) {
	for kind, members := range map[string]object{
		"text": {"text": "canary"}, "json": {"value": object{"canary": 1}},
		"tool_call":    {"tool_call_id": "canary1", "name": "canary2", "input": object{"canary": 1}},
		"tool_result":  {"tool_call_id": "canary1", "output": "canary", "status": "error"},
		"artifact_ref": {"artifact_id": "canary"}, "file_ref": {"uri": "canary:x", "mime_type": "canary/x"},
		"image_ref": {"artifact_id": "canary", "mime_type": "canary/x"},
	} {
		members["type"], members["visibility"] = kind, visibility
		parts = append(parts, members)
	}
	return parts
}

// What is withheld of a resource leaves one that is valid by its own schema, in every
// answer: n.do holds answers against the OpenAPI document, and this what events state.
func TestRedactedAnswersFitTheirSchemas(t *testing.T) {
	n := newNode(t)
	session := n.session(t)
	plain := key(n.newKey(t, "", abi.DefaultScopes()...))
	artifact := n.do(t, "POST", "/v1/artifacts", object{"kind": "file", "mime_type": "a/b", "visibility": "public"}).want(201).id()
	var messages, memories []string
	for _, visibility := range []string{"internal", "receipt_only"} {
		parts := sealedParts(visibility)
		for _, p := range parts {
			if p["artifact_id"] != nil {
				p["artifact_id"] = artifact
			}
		}
		said := object{"role": "user", "parts": parts}
		messages = append(messages, n.do(t, "POST", "/v1/sessions/"+session+"/messages", object{"message": said}).want(201).id())
		n.do(t, "POST", "/v1/sessions/"+session+"/tasks", object{"input": said}, header("Prefer", "wait=30")).want(200)
		for _, content := range []any{"canary", object{"canary": 1}, object{"type": "artifact_ref", "artifact_id": artifact, "visibility": "public"}} {
			memories = append(memories, n.do(t, "POST", "/v1/memories", object{"scope": "session", "owner_id": session, "content": content,
				"provenance": object{}, "visibility": visibility}).want(201).id())
		}
	}
	gone := n.do(t, "POST", "/v1/memories", object{"scope": "session", "owner_id": session, "content": "canary", "provenance": object{}}).want(201).id()
	n.do(t, "DELETE", "/v1/memories/"+gone, nil).want(204)

	paths := []string{"/v1/sessions/" + session + "/messages", "/v1/tasks", "/v1/outcomes", "/v1/memories", "/v1/memories/" + gone}
	for _, id := range messages {
		paths = append(paths, "/v1/messages/"+id)
	}
	for _, id := range memories {
		paths = append(paths, "/v1/memories/"+id)
	}
	for _, path := range paths {
		for who, option := range map[string]func(*http.Request){"a reader of internal content": key(enginetest.RootKey), "anybody": plain} {
			if a := n.do(t, "GET", path, nil, option).want(200); who == "anybody" && strings.Contains(string(a.body), "canary") {
				t.Errorf("%s shows %s what is not public: %s", path, who, a.body)
			}
			if a := n.do(t, "GET", "/v1/memories/"+gone, nil, option); a.get("content", "redacted") != true {
				t.Errorf("a Memory whose content was taken away, to %s: %s", who, a.body)
			}
		}
	}
	for _, option := range []func(*http.Request){key(enginetest.RootKey), plain} {
		n.checkStated(t, n.do(t, "GET", "/v1/events?limit=200", nil, option).want(200), "message", "Message", len(messages))
		n.checkStated(t, n.do(t, "GET", "/v1/events?limit=200", nil, option).want(200), "memory", "Memory", len(memories)+2)
	}
}

// checkStated checks the resources of one kind that events state.
func (n *node) checkStated(t *testing.T, events *answer, object, schema string, atLeast int) {
	t.Helper()
	var list struct {
		Data []struct{ Payload map[string]any }
	}
	if err := json.Unmarshal(events.body, &list, json.MatchCaseInsensitiveNames(true)); err != nil {
		t.Fatal(err)
	}
	for _, ev := range list.Data {
		if ev.Payload[object] == nil {
			continue
		}
		atLeast--
		text, err := json.Marshal(ev.Payload[object])
		if err != nil {
			t.Fatal(err)
		}
		n.schema.validate(t, schema, text)
	}
	if atLeast > 0 {
		t.Errorf("%d %s fewer than there should be: %s", atLeast, schema, events.body)
	}
}
