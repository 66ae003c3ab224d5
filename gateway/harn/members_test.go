package harn_test

import (
	"cmp"
	"encoding/base64"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/gateway"
)

// tolerant are the routes that ignore members that they do not know. What a client
// sends is in what they require, so that nothing is lost.
var tolerant = []string{"createWorkspace", "submitTask", "submitSessionTask", "cancelTask"}

// Every write refuses a member that it does not know, and names it, or says in the
// OpenAPI document that it ignores such members.
func TestUnknownMembers(t *testing.T) {
	tb := newTable(t)
	for _, rt := range tb.server.Routes() {
		if rt.Request == "" || rt.Body == gateway.BodyForm {
			continue
		}
		t.Run(rt.Operation, func(t *testing.T) {
			if rt.Tolerant != slices.Contains(tolerant, rt.Operation) {
				t.Fatalf("tolerant: %v; is a member that is lost no loss?", rt.Tolerant)
			}
			a := tb.askWith(t, &rt, "wharf_unknown", 1)
			if rt.Tolerant {
				if a.status >= 300 && a.status != 409 { // the Task has ended
					t.Errorf("answered %d: %s", a.status, a.body)
				}
				return
			}
			if err := a.wantError(400, abi.CodeInvalidRequest); err.Param != "wharf_unknown" {
				t.Errorf("param %q: %s", err.Param, a.body)
			}
		})
	}
}

// Every member that the document describes is read: one of a wrong type is refused by
// its name, and by nothing but its type.
func TestEveryDescribedMemberIsRead(t *testing.T) {
	tb := newTable(t)
	var doc openAPI
	if err := json.Unmarshal(tb.server.OpenAPI(), &doc, json.MatchCaseInsensitiveNames(true)); err != nil {
		t.Fatal(err)
	}
	for _, rt := range tb.server.Routes() {
		if rt.Request == "" || rt.Body == gateway.BodyForm {
			continue
		}
		described, _ := doc.Components.Schemas[rt.Request].(map[string]any)
		properties, _ := described["properties"].(map[string]any)
		for name, schema := range properties {
			wrong, some := wrongFor(schema)
			if !some {
				continue
			}
			a := tb.askWith(t, &rt, name, wrong)
			if why := unread[rt.Operation+" "+name]; why != "" {
				continue
			}
			if a.status != 400 {
				t.Errorf("%s: %s of a wrong type is answered %d: %s", rt.Operation, name, a.status, a.body)
				continue
			}
			err := a.wantError(400, abi.CodeInvalidRequest)
			if strings.Contains(err.Message, "there is no member") || err.Param != name && !strings.HasPrefix(err.Param, name+".") && !strings.HasPrefix(err.Param, name+"[") {
				t.Errorf("%s: %s of a wrong type: param %q, %s", rt.Operation, name, err.Param, err.Message)
			}
		}
	}
}

// unread are members whose reading cannot be seen here, and why.
var unread = map[string]string{
	"createVault metadata": "this node keeps no vaults", "updateVault metadata": "there is none", "updateQuota metadata": "there is none",
	"replayTask metadata": "the engine is replaced", "forkTask metadata": "the engine is replaced",
}

// askWith makes the least that a route takes, and one more member.
func (tb *table) askWith(t *testing.T, rt *gateway.Route, name string, value any) *answer {
	t.Helper()
	body, ids := object{}, maps.Clone(tb.ids)
	maps.Copy(body, asObject(tb.body(t, rt)))
	if rt.Operation == "submitTask" {
		body["session_id"] = tb.ids["session_id"]
	}
	for _, param := range pathParams(rt) {
		ids[param] = cmp.Or(ids[param], "no-"+param)
	}
	body[name] = value
	return tb.do(t, rt.Method, fill(rt.Path, ids), body)
}

// wrongFor returns a value that a schema does not allow, and whether there is one.
func wrongFor(schema any) (any, bool) {
	s, _ := schema.(map[string]any)
	switch kind := s["type"].(type) {
	case string:
		if kind == "boolean" {
			return 1, true
		}
		return false, true
	case []any:
		return false, true
	}
	return false, s["$ref"] != nil
}

func asObject(v any) object {
	members, _ := v.(object)
	return members
}

// A Message has its content in parts; content that is elsewhere is not lost in silence.
func TestContentOfAMessageIsNotLost(t *testing.T) {
	n := newNode(t)
	session := n.session(t)
	said := object{"role": "user", "parts": []object{}, "content": "hello"}
	for path, c := range map[string]struct {
		body  object
		param string
	}{
		"/v1/sessions/" + session + "/tasks":    {object{"input": said}, "input.content"},
		"/v1/sessions/" + session + "/messages": {object{"message": said}, "message.content"},
		"/v1/sessions":                          {object{"workspace_id": "ws_default", "initial_messages": []object{said}}, "initial_messages[0].content"},
	} {
		if err := n.do(t, "POST", path, c.body).wantError(400, abi.CodeInvalidRequest); err.Param != c.param {
			t.Errorf("%s: param %q, want %q", path, err.Param, c.param)
		}
	}
	// An object that is no Message is the client's own.
	n.do(t, "POST", "/v1/sessions/"+session+"/tasks", object{"input": object{"content": "hello"}}).want(202)
}

func TestContentOfAnArtifactIsNotLost(t *testing.T) {
	n := newNode(t)
	hello := base64.StdEncoding.EncodeToString([]byte("hello"))
	with := func(members object) *answer {
		body := object{"kind": "file", "mime_type": "text/plain", "visibility": "public"}
		maps.Copy(body, members)
		return n.do(t, "POST", "/v1/artifacts", body)
	}
	for _, name := range []string{"content", "content_base64"} {
		id := with(object{name: hello}).want(201).id()
		if got := string(n.do(t, "GET", "/v1/artifacts/"+id+"/content", nil).want(200).body); got != "hello" {
			t.Errorf("%s: the content is %q", name, got)
		}
	}
	for param, members := range map[string]object{
		"content_base64": {"content": hello, "content_base64": hello}, "uri": {"content": hello, "uri": "https://example.com/x"}, "data": {"data": hello},
	} {
		if err := with(members).wantError(400, abi.CodeInvalidRequest); err.Param != param {
			t.Errorf("param %q, want %q", err.Param, param)
		}
	}
}

// What describes an upload and is misspelt, or comes too late, does not pass for nothing.
func TestUploadsAreDescribedOrRefused(t *testing.T) {
	n := newNode(t)
	if err := n.do(t, "POST", "/v1/artifacts?visiblity=internal", "x", header("Content-Type", "text/plain")).wantError(400, abi.CodeInvalidRequest); err.Param != "visiblity" {
		t.Errorf("param %q", err.Param)
	}
	field := func(name string) string {
		return "--b\r\nContent-Disposition: form-data; name=\"" + name + "\"\r\n\r\ninternal\r\n"
	}
	const file = "--b\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a.txt\"\r\nContent-Type: text/plain\r\n\r\nhello\r\n"
	form := func(body string) *answer {
		return n.do(t, "POST", "/v1/artifacts", body+"--b--\r\n", header("Content-Type", "multipart/form-data; boundary=b"))
	}
	if v := form(field("visibility") + file).want(201).get("visibility"); v != "internal" {
		t.Errorf("visibility %v", v)
	}
	for param, body := range map[string]string{"visibility": file + field("visibility"), "visiblity": field("visiblity") + file, "file": file + file} {
		if err := form(body).wantError(400, abi.CodeInvalidRequest); err.Param != param {
			t.Errorf("param %q, want %q", err.Param, param)
		}
	}
	if ids := n.do(t, "GET", "/v1/artifacts", nil).ids(); len(ids) != 1 {
		t.Errorf("%d artifacts, want the one that was described", len(ids))
	}
}

// A Message refers to Artifacts that are there, for whoever says it.
func TestReferencesToArtifacts(t *testing.T) {
	n := newNode(t)
	session := n.session(t)
	other := n.do(t, "POST", "/v1/workspaces", object{"name": "next door", "root": "/x"}).want(201).id()
	register := func(workspace string) string {
		return n.do(t, "POST", "/v1/artifacts", object{"kind": "image", "mime_type": "image/png", "visibility": "public", "workspace_id": workspace}).want(201).id()
	}
	there, hidden := register("ws_default"), register(other)
	bound := key(n.do(t, "POST", "/wharf/v1/keys", object{"name": "bound", "workspace_ids": []string{"ws_default"}}).want(201).get("key").(string))
	s, _ := n.connect(t, connectPath(session))
	for _, kind := range []string{"artifact_ref", "image_ref"} {
		say := func(id string) object {
			return object{"role": "user", "parts": []object{{"type": "text", "text": "look"}, {"type": kind, "artifact_id": id, "mime_type": "image/png"}}}
		}
		writes := func(id string, option func(*http.Request)) map[string]*answer {
			return map[string]*answer{
				"parts[1].artifact_id":       n.do(t, "POST", "/v1/sessions/"+session+"/messages", object{"message": say(id)}, option),
				"input.parts[1].artifact_id": n.do(t, "POST", "/v1/sessions/"+session+"/tasks", object{"input": say(id)}, option),
				"initial_messages[0].parts[1].artifact_id": n.do(t, "POST", "/v1/sessions",
					object{"workspace_id": "ws_default", "initial_messages": []object{say(id)}}, option),
			}
		}
		for _, id := range []string{"art_nope", hidden} {
			for param, a := range writes(id, bound) {
				if err := a.wantError(404, abi.CodeResourceNotFound); err.Param != param || !strings.Contains(err.Message, id) {
					t.Errorf("param %q, want %q: %s", err.Param, param, err.Message)
				}
			}
		}
		for _, a := range writes(there, bound) {
			if a.status >= 300 {
				t.Errorf("status %d: %s", a.status, a.body)
			}
		}
		if err := s.refused("message", object{"message": say("art_nope")}); err.Code != abi.CodeResourceNotFound || err.Param != "parts[1].artifact_id" {
			t.Errorf("over a socket: %+v", err)
		}
		if err := s.refused("task.submit", object{"input": say("art_nope")}); err.Code != abi.CodeResourceNotFound {
			t.Errorf("over a socket: %+v", err)
		}
	}
}
