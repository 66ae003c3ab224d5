package harn_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/gateway"
)

// fill puts ids into a route's path.
func fill(path string, ids map[string]string) string {
	for name, id := range ids {
		path = strings.ReplaceAll(path, "{"+name+"}", id)
	}
	return path
}

// Every route, met by every caller that it must turn away.
func TestAccess(t *testing.T) {
	n := newNode(t)
	session := n.session(t)
	task := n.finished(t, session)
	ids := map[string]string{
		"session_id": session, "task_id": task, "workspace_id": "ws_default", "persona_id": "persona_echo",
		"event_id":    n.do(t, "GET", "/v1/events", nil).ids()[0],
		"message_id":  n.do(t, "GET", "/v1/sessions/"+session+"/messages", nil).ids()[0],
		"outcome_id":  n.do(t, "GET", "/v1/outcomes", nil).ids()[0],
		"branch_id":   n.do(t, "POST", "/v1/sessions/"+session+"/branches", object{"kind": "session", "base_ref": "m"}).id(),
		"artifact_id": n.do(t, "POST", "/v1/artifacts", object{"kind": "file", "mime_type": "text/plain", "visibility": "public", "content": "aGk="}).id(),
	}
	ids["receipt_id"] = receiptOf(task)
	nobody := n.newKey(t, "", "quotas:write") // a scope that no route of this build needs
	stranger := n.newKey(t, "another tenant", "*")
	bodies := map[string]object{
		"truncateSession": {"keep_turns": 1}, "createBranch": {"kind": "session", "base_ref": "m"},
		"appendMessage": {"message": message("m")}, "appendTaskMessage": {"kind": "interrupt", "message": message("m")},
	}
	for _, rt := range n.server.Routes() {
		t.Run(rt.Operation, func(t *testing.T) {
			body := any(object{})
			if bodies[rt.Operation] != nil {
				body = bodies[rt.Operation]
			}
			if rt.Body == gateway.BodyNone {
				body = nil
			}
			path := fill(rt.Path, ids)
			ask := func(options ...func(*http.Request)) *answer {
				t.Helper()
				return n.do(t, rt.Method, path, body, options...)
			}
			if rt.Public {
				if a := ask(header("Authorization", ""), header(abi.VersionHeader, "")); a.status >= 300 {
					t.Errorf("a public route answers a stranger with %d: %s", a.status, a.body)
				}
				return
			}
			for name, value := range map[string]string{
				"no key": "", "unknown key": "Bearer an-unknown-key-that-is-long", "other scheme": "Basic " + rootKey, "no token": "Bearer ", "bare": rootKey,
			} {
				a := ask(header("Authorization", value))
				if a.wantError(401, abi.CodeUnauthenticated); a.header.Get("WWW-Authenticate") == "" {
					t.Errorf("%s: no WWW-Authenticate", name)
				}
			}
			checkVersions(t, rt, ask)
			if rt.Scope != "" {
				ask(key(nobody)).wantError(403, abi.CodePermissionDenied)
			}
			if owner := strings.Contains(rt.Path, "_id}"); owner && !strings.Contains(rt.Path, "{persona_id}") && !strings.Contains(rt.Path, "{workspace_id}") && !rt.Unimplemented {
				ask(key(stranger)).wantError(404, abi.CodeResourceNotFound)
			}
		})
	}
}

func checkVersions(t *testing.T, rt gateway.Route, ask func(...func(*http.Request)) *answer) {
	t.Helper()
	if rt.Unversioned {
		return
	}
	for _, version := range []string{"", "agents-protocol-2031-01-01", strings.ToUpper(abi.ProtocolVersion)} {
		err := ask(header(abi.VersionHeader, version)).wantError(426, abi.CodeUnsupportedVersion)
		if !strings.Contains(string(err.Details), `"supported_versions":["`+abi.ProtocolVersion+`"]`) {
			t.Errorf("details %s", err.Details)
		}
	}
}

// Another tenant's ids in queries and bodies are as absent as those in paths.
func TestOtherTenantsIDs(t *testing.T) {
	n := newNode(t)
	session := n.session(t)
	task := n.finished(t, session)
	stranger := key(n.newKey(t, "another tenant", "*"))
	for _, path := range []string{
		"/v1/events?session_id=" + session, "/v1/events?task_id=" + task, "/v1/events/stream?session_id=" + session,
		"/v1/events/stream?task_id=" + task,
	} {
		n.do(t, "GET", path, nil, stranger).wantError(404, abi.CodeResourceNotFound)
	}
	for _, path := range []string{"/v1/tasks?session_id=" + session, "/v1/outcomes?task_id=" + task, "/v1/artifacts?task_id=" + task} {
		if ids := n.do(t, "GET", path, nil, stranger).ids(); len(ids) > 0 {
			t.Errorf("%s: %v", path, ids)
		}
	}
	n.do(t, "POST", "/v1/tasks", object{"session_id": session, "input": object{}}, stranger).wantError(404, abi.CodeResourceNotFound)
	n.do(t, "POST", "/v1/artifacts", object{"task_id": task, "kind": "file", "mime_type": "a/b", "visibility": "public"}, stranger).
		wantError(404, abi.CodeResourceNotFound)
	// A position is the node's, so another tenant's event id is a place like any other.
	last := n.do(t, "GET", "/v1/tasks/"+task+"/events", nil).ids()[0]
	n.do(t, "GET", "/v1/events?after_event_id="+last, nil, stranger).want(200)
	n.do(t, "GET", "/v1/events/"+last, nil, stranger).wantError(404, abi.CodeResourceNotFound)
}

func TestMetricsAreLocal(t *testing.T) {
	n := newNode(t)
	none := header("Authorization", "")
	if a := n.do(t, "GET", "/metrics", nil, none).want(200); !strings.Contains(string(a.body), "wharf_http_requests_total") {
		t.Errorf("%s", a.body)
	}
	proxied := header("X-Forwarded-For", "203.0.113.9")
	n.do(t, "GET", "/metrics", nil, none, proxied).wantError(401, abi.CodeUnauthenticated)
	n.do(t, "GET", "/metrics", nil, key(n.newKey(t, "", "admin")), proxied).wantError(403, abi.CodePermissionDenied)
	n.do(t, "GET", "/metrics", nil, proxied).want(200)
}
