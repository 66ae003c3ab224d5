package harn_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/enginetest"
	"github.com/wharf-dev/wharf/runtime/tenancy"
)

// A whole conversation, as a client of conformance level Core has it.
func TestCore(t *testing.T) {
	n := newNode(t)
	session := n.session(t)

	first := n.submit(t, session, "").want(202)
	if status := first.get("status"); status != "SUBMITTED" {
		t.Errorf("a Task is answered as %v, want SUBMITTED", status)
	}
	task := n.finished(t, session)

	got := n.do(t, "GET", "/v1/tasks/"+task, nil).want(200)
	outcome, _ := got.get("outcome_id").(string)
	if got.get("input", "role") != "user" || outcome == "" {
		t.Errorf("task %s", got.body)
	}
	if o := n.do(t, "GET", "/v1/outcomes/"+outcome, nil).want(200); o.get("summary") != "said hello" || o.get("task_id") != task {
		t.Errorf("outcome %s", o.body)
	}
	if ids := n.do(t, "GET", "/v1/outcomes?task_id="+task, nil).ids(); !slices.Equal(ids, []string{outcome}) {
		t.Errorf("outcomes of the task: %v", ids)
	}
	if ids := n.do(t, "GET", "/v1/sessions/"+session+"/tasks", nil).ids(); !slices.Equal(ids, []string{task, first.id()}) {
		t.Errorf("tasks %v, want the newest first", ids)
	}
	messages := n.do(t, "GET", "/v1/sessions/"+session+"/messages", nil)
	if got := len(messages.ids()); got < 3 {
		t.Errorf("%d messages", got)
	}
	n.do(t, "GET", "/v1/messages/"+messages.ids()[0], nil).want(200)
	events := n.do(t, "GET", "/v1/tasks/"+task+"/events", nil)
	for _, id := range events.ids() {
		n.do(t, "GET", "/v1/events/"+id, nil).want(200)
	}
}

func TestSessions(t *testing.T) {
	n := newNode(t)
	a := n.do(t, "POST", "/v1/sessions", object{
		"workspace_id": tenancy.DefaultWorkspace, "persona_id": nil, "metadata": object{"k": 1},
		"initial_messages": []object{message("one"), message("two"), message("three")},
	}).want(201)
	at := "/v1/sessions/" + a.id()
	if s := n.do(t, "PATCH", at, object{"summary": "short"}).want(200); s.get("summary") != "short" || s.get("metadata", "k") != 1.0 {
		t.Errorf("after PATCH: %s", s.body)
	}
	fork := n.do(t, "POST", at+"/fork", nil).want(201)
	if fork.get("parent_session_id") != a.id() {
		t.Errorf("fork %s", fork.body)
	}
	for _, name := range []string{"keep_turns", "turns", "keep"} {
		n.do(t, "POST", at+"/truncate", object{name: 2}).want(200)
	}
	if got := n.do(t, "GET", at+"/messages", nil).ids(); len(got) != 2 {
		t.Errorf("%d messages after keeping 2 turns", len(got))
	}
	if got := n.do(t, "GET", "/v1/sessions/"+fork.id()+"/messages", nil).ids(); len(got) != 3 {
		t.Errorf("%d messages in the fork, want all 3", len(got))
	}
	branch := n.do(t, "POST", at+"/branches", object{"kind": "session", "base_ref": "main"}).want(201)
	n.do(t, "GET", "/v1/branches/"+branch.id(), nil).want(200)
	if got := n.do(t, "GET", at+"/branches", nil).ids(); !slices.Contains(got, branch.id()) {
		t.Errorf("branches %v", got)
	}
	if s := n.do(t, "POST", at+"/close", nil).want(200); s.get("state") != "CLOSED" {
		t.Errorf("after close: %s", s.body)
	}
	n.do(t, "POST", at+"/messages", object{"message": message("late")}).wantError(409, abi.CodeConflict)
}

func TestWorkspacesAndPersonas(t *testing.T) {
	n := newNode(t)
	ws := n.do(t, "POST", "/v1/workspaces", object{"name": "lab", "root": "/lab"}).want(201).id()
	if a := n.do(t, "PATCH", "/v1/workspaces/"+ws, object{"name": "office"}).want(200); a.get("name") != "office" || a.get("root") != "/lab" {
		t.Errorf("after PATCH: %s", a.body)
	}
	if got := n.do(t, "GET", "/v1/workspaces", nil).ids(); !slices.Equal(got, []string{ws, tenancy.DefaultWorkspace}) {
		t.Errorf("workspaces %v", got)
	}
	got := n.do(t, "GET", "/v1/personas", nil).ids()
	slices.Sort(got)
	if !slices.Equal(got, []string{"persona_crowd", "persona_echo", "persona_hold", "persona_keep"}) {
		t.Errorf("personas %v", got)
	}
	n.do(t, "GET", "/v1/personas/persona_echo", nil).want(200)
}

func TestCancel(t *testing.T) {
	n := newNode(t)
	task := n.submit(t, n.session(t), "persona_hold").want(202).id()
	<-n.held
	if a := n.do(t, "POST", "/v1/tasks/"+task+"/cancel", object{"reason": "enough"}).want(200); a.get("status") != "CANCELED" {
		t.Errorf("after cancel: %s", a.body)
	}
	n.do(t, "POST", "/v1/tasks/"+task+"/cancel", nil).wantError(409, abi.CodeConflict)
}

func TestTopLevelSubmit(t *testing.T) {
	n := newNode(t)
	session := n.session(t)
	n.do(t, "POST", "/v1/tasks", object{"input": object{"any": "thing"}, "session_id": session}).want(202)
	err := n.do(t, "POST", "/v1/tasks", object{"input": object{}}).wantError(400, abi.CodeInvalidRequest)
	if err.Param != "session_id" {
		t.Errorf("param %q, want session_id", err.Param)
	}
	other := n.session(t)
	err = n.do(t, "POST", "/v1/sessions/"+session+"/tasks", object{"input": object{}, "session_id": other}).wantError(400, abi.CodeInvalidRequest)
	if err.Param != "session_id" {
		t.Errorf("param %q, want session_id", err.Param)
	}
}

func TestTaskMessages(t *testing.T) {
	n := newNode(t)
	task := n.submit(t, n.session(t), "persona_hold").want(202).id()
	<-n.held
	at := "/v1/tasks/" + task + "/messages"
	n.do(t, "POST", at, object{"kind": "interrupt", "message": message("wait")}).want(201)
	n.do(t, "POST", at, object{"kind": "input", "message": message("42")}).wantError(400, abi.CodeInvalidStateTransition)
	n.do(t, "POST", at, object{"kind": "shout", "message": message("42")}).wantError(400, abi.CodeInvalidRequest)
	n.do(t, "POST", at, object{"kind": "input"}).wantError(400, abi.CodeInvalidRequest)
}

// What this build does not do reads as absent and refuses writes.
func TestLaterLevels(t *testing.T) {
	n := newNode(t)
	task := n.finished(t, n.session(t))
	for _, list := range []string{"memories", "vaults", "connectors", "quotas", "permission-requests",
		"tasks/" + task + "/permission-requests"} {
		if got := n.do(t, "GET", "/v1/"+list, nil).ids(); len(got) != 0 {
			t.Errorf("%s: %v", list, got)
		}
	}
	for _, one := range []string{"memories/mem_1", "vaults/vault_1", "connectors/conn_1", "skills/skill_1", "quotas/quota_1"} {
		n.do(t, "GET", "/v1/"+one, nil).wantError(404, abi.CodeResourceNotFound)
	}
}

func TestPreferWait(t *testing.T) {
	n := newNode(t)
	session := n.session(t)
	a := n.submit(t, session, "persona_echo", header("Prefer", `respond-async, Wait="20"; x=y`)).want(200)
	if a.get("status") != "COMPLETED" || a.header.Get("Preference-Applied") != "wait=20" {
		t.Errorf("%s %q", a.body, a.header.Get("Preference-Applied"))
	}
	a = n.submit(t, session, "persona_hold", header("Prefer", "wait=1")).want(202)
	if a.get("status") != "WORKING" || a.header.Get("Preference-Applied") != "wait=1" {
		t.Errorf("%s %q", a.body, a.header.Get("Preference-Applied"))
	}
	for _, odd := range []string{"wait", "wait=", "wait=soon", "wait=-1", "wait=0", "wait=1e3", "wait=99999999999999999999", "waiting=3", ";,=;"} {
		if a := n.submit(t, session, "persona_hold", header("Prefer", odd)).want(202); a.header.Get("Preference-Applied") != "" {
			t.Errorf("%q was applied", odd)
		}
	}
}

// Who waits for a Task is answered when the node drains.
func TestPreferWaitEndsWithTheNode(t *testing.T) {
	n := newNode(t)
	session := n.session(t)
	answered := make(chan *answer, 1)
	go func() { answered <- n.submit(t, session, "persona_hold", header("Prefer", "wait=60")) }()
	<-n.held
	n.server.Drain()
	if a := <-answered; a.want(202).get("status") == "COMPLETED" {
		t.Errorf("%s", a.body)
	}
}

func TestIdempotency(t *testing.T) {
	n := newNode(t)
	session := n.session(t)
	once := header("Idempotency-Key", "k-1")
	submit := func(body string, options ...func(*http.Request)) *answer {
		return n.do(t, "POST", "/v1/sessions/"+session+"/tasks", body, append(options, once)...)
	}
	first := submit(`{"input":{"a":1,"b":[2]},"persona_id":"persona_echo"}`).want(202)
	if first.header.Get("Idempotent-Replayed") != "" {
		t.Error("the first answer says that it is none")
	}
	again := submit(` {"persona_id": "persona_echo", "input": {"b":[2.0], "a":1e0}} `).want(202)
	if again.id() != first.id() || again.header.Get("Idempotent-Replayed") != "true" || again.get("status") != "SUBMITTED" {
		t.Errorf("the retry answers %s, the first %s", again.body, first.body)
	}
	waited := submit(`{"input":{"a":1,"b":[2]},"persona_id":"persona_echo"}`, header("Prefer", "wait=30")).want(200)
	if waited.id() != first.id() || waited.header.Get("Idempotent-Replayed") != "true" {
		t.Errorf("the waiting retry answers %s", waited.body)
	}
	submit(`{"input":{"a":2}}`).wantError(409, abi.CodeIdempotencyKeyReused)
	if got := n.do(t, "GET", "/v1/sessions/"+session+"/tasks", nil).ids(); len(got) != 1 {
		t.Errorf("%d tasks, want 1", len(got))
	}
	// The key's scope holds the target: elsewhere it is another key.
	n.do(t, "POST", "/v1/sessions/"+session+"/messages", object{"message": message("x")}, once).want(201)
	for _, bad := range []string{strings.Repeat("k", 256)} {
		err := n.do(t, "POST", "/v1/sessions/"+session+"/close", nil, header("Idempotency-Key", bad)).wantError(400, abi.CodeInvalidRequest)
		if err.Param != "Idempotency-Key" {
			t.Errorf("param %q", err.Param)
		}
	}
	n.do(t, "POST", "/v1/sessions/"+session+"/close", nil, func(r *http.Request) { r.Header["Idempotency-Key"] = []string{""} }).
		wantError(400, abi.CodeInvalidRequest)
	n.do(t, "POST", "/v1/sessions/"+session+"/close", nil, func(r *http.Request) { r.Header["Idempotency-Key"] = []string{"a", "b"} }).
		wantError(400, abi.CodeInvalidRequest)
}

// Every idempotent route takes a key, and answers its retry with the same resource.
func TestEveryWriteIsIdempotent(t *testing.T) {
	n := newNode(t)
	fresh := func() string { return n.session(t) }
	for operation, write := range map[string]func(options ...func(*http.Request)) *answer{
		"createSession": func(o ...func(*http.Request)) *answer {
			return n.do(t, "POST", "/v1/sessions", object{"workspace_id": tenancy.DefaultWorkspace}, o...)
		},
		"createWorkspace": func(o ...func(*http.Request)) *answer {
			return n.do(t, "POST", "/v1/workspaces", object{"name": "w", "root": "/w"}, o...)
		},
		"updateWorkspace": func(o ...func(*http.Request)) *answer {
			return n.do(t, "PATCH", "/v1/workspaces/"+tenancy.DefaultWorkspace, object{"name": "w"}, o...)
		},
		"registerArtifact": func(o ...func(*http.Request)) *answer {
			return n.do(t, "POST", "/v1/artifacts", object{"kind": "file", "mime_type": "text/plain", "visibility": "public", "content": "aGk="}, o...)
		},
	} {
		t.Run(operation, func(t *testing.T) {
			first := write(header("Idempotency-Key", "key of "+operation))
			again := write(header("Idempotency-Key", "key of "+operation))
			if again.status != first.status || again.id() != first.id() || again.header.Get("Idempotent-Replayed") != "true" {
				t.Errorf("first %d %s\nagain %d %s", first.status, first.body, again.status, again.body)
			}
		})
	}
	for operation, write := range map[string]struct {
		path string
		body any
	}{
		"updateSession": {"", object{"summary": "s"}}, "closeSession": {"/close", nil}, "forkSession": {"/fork", object{}},
		"truncateSession": {"/truncate", object{"keep_turns": 0}}, "appendMessage": {"/messages", object{"message": message("m")}},
		"createBranch": {"/branches", object{"kind": "session", "base_ref": "b"}}, "submitSessionTask": {"/tasks", object{"input": object{}}},
	} {
		t.Run(operation, func(t *testing.T) {
			method := "POST"
			if write.path == "" {
				method = "PATCH"
			}
			at := "/v1/sessions/" + fresh() + write.path
			first := n.do(t, method, at, write.body, header("Idempotency-Key", operation))
			again := n.do(t, method, at, write.body, header("Idempotency-Key", operation))
			if first.status >= 300 || again.status != first.status || again.id() != first.id() || again.header.Get("Idempotent-Replayed") != "true" {
				t.Errorf("first %d %s\nagain %d %s", first.status, first.body, again.status, again.body)
			}
		})
	}
}

func TestPagination(t *testing.T) {
	n := newNode(t)
	var want []string
	for range 7 {
		want = append([]string{n.session(t)}, want...)
	}
	for limit := 1; limit <= 8; limit++ {
		var got []string
		cursor := ""
		for {
			a := n.do(t, "GET", fmt.Sprintf("/v1/sessions?limit=%d&cursor=%s", limit, cursor), nil)
			got = append(got, a.ids()...)
			next, more := a.get("page", "next_cursor").(string)
			if more != a.get("page", "has_more").(bool) {
				t.Fatalf("page %v", a.get("page"))
			}
			if !more {
				break
			}
			cursor = next
		}
		if !slices.Equal(got, want) {
			t.Errorf("limit %d: %v, want %v", limit, got, want)
		}
	}
	for _, limit := range []string{"0", "-1", "201", "many", "", "1.5", "9999999999999999999999"} {
		if err := n.do(t, "GET", "/v1/sessions?limit="+limit, nil).wantError(400, abi.CodeInvalidRequest); err.Param != "limit" {
			t.Errorf("limit %q: param %q", limit, err.Param)
		}
	}
}

// A cursor is good for the list it came from and for nothing else.
func TestCursorIsBoundToItsList(t *testing.T) {
	n := newNode(t)
	session, other := n.session(t), n.session(t)
	for range 3 {
		n.do(t, "POST", "/v1/sessions/"+session+"/messages", object{"message": message("m")}).want(201)
		n.do(t, "POST", "/v1/sessions/"+other+"/messages", object{"message": message("m")}).want(201)
	}
	cursor := n.do(t, "GET", "/v1/sessions/"+session+"/messages?limit=1", nil).get("page", "next_cursor").(string)
	n.do(t, "GET", "/v1/sessions/"+session+"/messages?cursor="+cursor, nil).want(200)
	tampered := "A" + cursor[1:]
	if tampered == cursor {
		tampered = "B" + cursor[1:]
	}
	stranger := n.newKey(t, "stranger", "*")
	personas := n.do(t, "GET", "/v1/personas?limit=1", nil).get("page", "next_cursor").(string)
	for name, a := range map[string]*answer{
		"another session":  n.do(t, "GET", "/v1/sessions/"+other+"/messages?cursor="+cursor, nil),
		"another resource": n.do(t, "GET", "/v1/workspaces?cursor="+cursor, nil),
		"another filter":   n.do(t, "GET", "/v1/tasks?session_id="+session+"&cursor="+cursor, nil),
		"another tenant":   n.do(t, "GET", "/v1/personas?cursor="+personas, nil, key(stranger)),
		"tampered":         n.do(t, "GET", "/v1/sessions/"+session+"/messages?cursor="+tampered, nil),
		"truncated":        n.do(t, "GET", "/v1/sessions/"+session+"/messages?cursor="+cursor[:4], nil),
		"not base64":       n.do(t, "GET", "/v1/sessions/"+session+"/messages?cursor=%21%21", nil),
	} {
		if err := a.wantError(400, abi.CodeInvalidRequest); err.Param != "cursor" {
			t.Errorf("%s: param %q", name, err.Param)
		}
	}
}

func TestEventRanges(t *testing.T) {
	n := newNode(t)
	session := n.session(t)
	n.finished(t, session)
	all := n.do(t, "GET", "/v1/events?limit=200", nil)
	ids := all.ids()
	var got []string
	after := ""
	for {
		a := n.do(t, "GET", "/v1/events?limit=2&after_event_id="+after, nil)
		got = append(got, a.ids()...)
		next, more := a.get("page", "next_cursor").(string)
		if !more {
			break
		}
		if next != got[len(got)-1] {
			t.Fatalf("next_cursor %q, the last id is %q", next, got[len(got)-1])
		}
		after = next
	}
	if !slices.Equal(got, ids) {
		t.Errorf("in pages %v, at once %v", got, ids)
	}
	// A client that turns the pages of any list adds the cursor to the query that it began with.
	var turned []string
	for cursor := ""; ; {
		a := n.do(t, "GET", "/v1/events?limit=2&after_event_id="+ids[0]+"&cursor="+cursor, nil)
		turned = append(turned, a.ids()...)
		next, more := a.get("page", "next_cursor").(string)
		if !more || len(turned) > len(ids) {
			break
		}
		cursor = next
	}
	if !slices.Equal(turned, ids[1:]) {
		t.Errorf("with a cursor %v, want %v", turned, ids[1:])
	}
	for _, bad := range []string{"x", "-1", "01", "1.0", "99999999", "99999999999999999999999"} {
		for _, path := range []string{"/v1/events", "/v1/sessions/" + session + "/events", "/v1/events/stream"} {
			if err := n.do(t, "GET", path+"?after_event_id="+bad, nil).wantError(400, abi.CodeInvalidRequest); err.Param != "after_event_id" {
				t.Errorf("%s %q: param %q", path, bad, err.Param)
			}
		}
	}
	n.do(t, "GET", "/v1/events/none", nil).wantError(404, abi.CodeResourceNotFound)
	n.do(t, "GET", "/v1/events/999999", nil).wantError(404, abi.CodeResourceNotFound)
}

// What is not public is withheld from callers without events:internal, and what
// is for receipts only from everybody.
func TestRedaction(t *testing.T) {
	n := newNode(t)
	session := n.session(t)
	task := n.finished(t, session)
	outcome := n.do(t, "GET", "/v1/tasks/"+task, nil).get("outcome_id").(string)
	plain := n.newKey(t, "", abi.DefaultScopes()...)
	for _, path := range []string{
		"/v1/sessions/" + session + "/messages", "/v1/outcomes/" + outcome, "/v1/outcomes", "/v1/events?limit=200",
		"/v1/tasks/" + task + "/events", "/v1/tasks/" + task + "/stream",
	} {
		for _, c := range []struct {
			key    string
			hidden bool
		}{{plain, true}, {enginetest.RootKey, false}} {
			body := string(n.do(t, "GET", path, nil, key(c.key)).want(200).body)
			if got := !strings.Contains(body, "the hidden thought"); got != c.hidden {
				t.Errorf("%s: internal content withheld: %v, want %v", path, got, c.hidden)
			}
			if strings.Contains(body, "the sealed proof") {
				t.Errorf("%s shows content that is for receipts only", path)
			}
			if !strings.Contains(body, "hello") || !strings.Contains(body, `"redacted":true`) {
				t.Errorf("%s: %s", path, body)
			}
		}
	}
}

// What a Session keeps, and Memory that is not public, is for readers of internal
// content; a redacted Memory is for nobody.
func TestKeptThingsAreInternal(t *testing.T) {
	n := newNode(t)
	session := n.session(t)
	task := n.submit(t, session, "persona_keep", header("Prefer", "wait=10")).want(200).get("id").(string)
	plain := n.newKey(t, "", abi.DefaultScopes()...)
	list := n.do(t, "GET", "/v1/memories?session_id="+session, nil).want(200)
	memory := list.get("data").([]any)[0].(map[string]any)["id"].(string)
	for path, kept := range map[string][]string{
		"/v1/tasks/" + task + "/events": {"the kept value", "the kept fact"}, "/v1/events?limit=200": {"the kept value", "the kept fact"},
		"/v1/memories": {"the kept fact"}, "/v1/memories/" + memory: {"the kept fact"},
	} {
		open, shut := string(n.do(t, "GET", path, nil).want(200).body), string(n.do(t, "GET", path, nil, key(plain)).want(200).body)
		for _, text := range kept {
			if !strings.Contains(open, text) || strings.Contains(shut, text) || !strings.Contains(shut, `"redacted":true`) {
				t.Errorf("%s: %q is shown to a reader of internal content: %v, to others: %v", path, text, strings.Contains(open, text), strings.Contains(shut, text))
			}
		}
	}
	n.do(t, "DELETE", "/v1/memories/"+memory, nil, key(plain)).want(204)
	if body := string(n.do(t, "GET", "/v1/memories/"+memory, nil).want(200).body); strings.Contains(body, "the kept fact") || !strings.Contains(body, "redacted_at") {
		t.Errorf("a redacted Memory: %s", body)
	}
}

func TestDiscovery(t *testing.T) {
	n := newNode(t)
	public := []func(*http.Request){header("Authorization", ""), header(abi.VersionHeader, "")}
	d := n.do(t, "GET", "/v1", nil, public...).want(200)
	if d.get("current_version") != abi.ProtocolVersion || d.get("capabilities", "sse") != true || d.get("capabilities", "websocket") != true {
		t.Errorf("discovery %s", d.body)
	}
	card := n.do(t, "GET", "/v1/agent-card", nil, public...).want(200)
	if card.get("public_url") != n.url {
		t.Errorf("card %s", card.body)
	}
	for _, transport := range []string{"mcp", "acp", "GRPC"} {
		if strings.Contains(string(card.body), `"`+transport+`"`) {
			t.Errorf("the card offers %s: %s", transport, card.body)
		}
	}
}

func TestKeys(t *testing.T) {
	n := newNode(t)
	a := n.do(t, "POST", "/wharf/v1/keys", object{"name": "ci", "scopes": []string{"tasks:read"}}, header(abi.VersionHeader, "")).want(201)
	secret, id := a.get("key").(string), a.id()
	n.do(t, "GET", "/v1/tasks", nil, key(secret)).want(200)
	list := n.do(t, "GET", "/wharf/v1/keys", nil)
	if !slices.Contains(list.ids(), id) || strings.Contains(string(list.body), secret) || strings.Contains(string(list.body), `"hash"`) {
		t.Errorf("keys %s", list.body)
	}
	n.do(t, "POST", "/wharf/v1/keys", object{"name": "x"}, key(secret)).wantError(403, abi.CodePermissionDenied)
	n.do(t, "DELETE", "/wharf/v1/keys/"+id, nil).want(200)
	n.do(t, "GET", "/v1/tasks", nil, key(secret)).wantError(401, abi.CodeUnauthenticated)
	n.do(t, "DELETE", "/wharf/v1/keys/key_none", nil).wantError(404, abi.CodeResourceNotFound)
}

func TestBackup(t *testing.T) {
	n := newNode(t)
	if a := n.do(t, "POST", "/wharf/v1/backup", object{"dir": "/backup"}).want(201); a.get("dir") != "/backup" {
		t.Errorf("%s", a.body)
	}
	for _, dir := range []string{"", "relative/path"} {
		if err := n.do(t, "POST", "/wharf/v1/backup", object{"dir": dir}).wantError(400, abi.CodeInvalidRequest); err.Param != "dir" {
			t.Errorf("param %q", err.Param)
		}
	}
	admin := n.newKey(t, "", "admin")
	n.do(t, "POST", "/wharf/v1/backup", object{"dir": "/b"}, key(admin)).wantError(403, abi.CodePermissionDenied)
}
