package harn_test

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"text/tabwriter"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/gateway"
	"github.com/wharf-dev/wharf/gateway/harn"
	"github.com/wharf-dev/wharf/runtime/tenancy"
	"github.com/wharf-dev/wharf/storage/pebble/crashtest"
)

const authorityFile = "testdata/authority.txt"

const authorityHead = `# Who may do what. Made by TestAuthority from the route table and the commands of WebSockets;
# a person reviews each change of it.
#
# scopes: the smallest sets of scopes with which the request is let in, for a key that is bound to nothing.
#   "any" is a key with any scope. Opening a WebSocket takes events:read besides.
# here: a key with every scope that is bound to the Workspace that is asked about;
# both: to that one and another; elsewhere: to another only;
# tenant: a key of another tenant with every scope but node:admin.
# yes: let in; 403: refused; 404: told that there is no such thing.

`

// doings are what one route or command does in several ways, each of which may take
// scopes of its own. Others are done in one way.
var doings = map[string][]doing{
	"appendTaskMessage": {
		{way: "interrupt", body: object{"kind": "interrupt", "message": message("m")}},
		{way: "input", with: "asked", body: object{"kind": "input", "message": message("m")}},
		{way: "authorization", with: "authorized", body: object{"kind": "input", "message": message("m")}},
		{way: "approval", with: "approved", body: object{"kind": "tool_confirmation", "message": decided}},
	},
	"appendMessage": {{body: object{"message": message("m")}}},
	"registerArtifact": {{body: object{"workspace_id": tenancy.DefaultWorkspace, "kind": "file", "mime_type": "text/plain",
		"visibility": "public", "content": "aGk="}}},
	"createConnector":          {{body: object{"provider": "generic", "plugin": "echo#main", "workspace_id": tenancy.DefaultWorkspace}}},
	"respondPermissionRequest": {{way: "approval", body: object{"decision": "denied"}}},
	"updateWorkspace":          {{way: "name", body: object{"name": "w"}}, {way: "quota", body: object{"quota_id": nil}}},
	"createQuota": {
		{way: "workspace", body: object{"scope": "workspace", "owner_id": tenancy.DefaultWorkspace, "limits": object{"tasks": 1e6}}},
		{way: "persona", body: object{"scope": "persona", "owner_id": "persona_echo", "limits": object{"tasks": 1e6}}},
		{way: "tenant", body: object{"scope": "tenant", "limits": object{"tasks": 1e6}}},
		{way: "organization", body: object{"scope": "organization", "limits": object{"tasks": 1e6}}},
	},
	"createVault": {
		{way: "workspace", body: object{"provider": "local", "capabilities": []string{"read", "write"}, "workspace_id": tenancy.DefaultWorkspace}},
		{way: "tenant", body: object{"provider": "local", "capabilities": []string{"read", "write"}}},
	},
	"createMemory": {
		{way: "workspace", body: object{"scope": "workspace", "owner_id": tenancy.DefaultWorkspace, "content": "c", "provenance": object{}}},
		{way: "persona", body: object{"scope": "persona", "owner_id": "persona_echo", "content": "c", "provenance": object{}}},
	},
	"createKey": {
		{way: "tenant", body: object{"name": "k", "scopes": []string{"admin"}}},
		{way: "another tenant", body: object{"name": "k", "scopes": []string{"admin"}, "tenant": "a tenant"}},
	},
	"submitTask": {
		{way: "named session", body: object{"session_id": "{session_id}", "input": object{}}},
		{way: "its session", body: object{"session": object{"workspace_id": tenancy.DefaultWorkspace}, "input": object{}}},
	},
	"createSession": {
		{way: "empty", body: object{"workspace_id": tenancy.DefaultWorkspace}},
		{way: "messages", body: object{"workspace_id": tenancy.DefaultWorkspace, "initial_messages": []object{message("m")}}},
	},

	"message": {{body: object{"session_id": "{session_id}", "message": message("m")}}},
	"task.submit": {
		{way: "named session", body: object{"session_id": "{session_id}", "input": object{}}},
		{way: "its session", body: object{"session": object{"workspace_id": tenancy.DefaultWorkspace}, "input": object{}}},
	},
	"task.cancel": {{body: object{"task_id": "{task_id}"}}}, "task.get": {{body: object{"task_id": "{task_id}"}}},
	"session.get": {{body: object{"session_id": "{session_id}"}}}, "session.truncate": {{body: object{"session_id": "{session_id}", "keep_turns": 9}}},
	"input": {
		{way: "request", with: "asked", body: object{"request_id": "{request_id}", "message": message("m")}},
		{way: "task", with: "asked", body: object{"task_id": "{task_id}", "message": message("m")}},
	},
	"authorization": {
		{way: "request", with: "authorized", body: object{"request_id": "{request_id}", "message": message("m")}},
		{way: "task", with: "authorized", body: object{"task_id": "{task_id}", "message": message("m")}},
	},
	"approval": {
		{way: "request", with: "approved", body: object{"request_id": "{request_id}", "decision": "approved"}},
		{way: "task", with: "approved", body: object{"task_id": "{task_id}", "decision": "approved"}},
	},
	"tools.register": {{body: object{"tools": []object{}}}}, "tool.result": {{body: object{"call_id": "c"}}},
	"attachLiveClient": {
		{way: "observer", body: object{"client_id": "eye"}}, {way: "controller", body: object{"client_id": "hand", "mode": "controller"}}},
	"takeoverSession": {{body: object{"client_id": "hand"}}},
	"client.attach": {
		{way: "observer", body: object{"session_id": "{session_id}", "client_id": "socket"}},
		{way: "controller", body: object{"session_id": "{session_id}", "client_id": "socket", "mode": "controller", "takeover": true}}},
	"client.takeover":  {{body: object{"session_id": "{session_id}", "client_id": "socket"}}},
	"client.heartbeat": {{}}, "client.detach": {{}},
	"subscribe": {{}}, "resume": {{body: object{"after_event_id": "1"}}}, "ping": {{}},
	// What another has queued takes sessions:write besides, as the routes show.
	"inject":            {{body: object{"session_id": "{session_id}", "mode": "steer", "parts": bodies["createInjection"]["parts"]}}},
	"replace_injection": {{body: object{"session_id": "{session_id}", "injection_id": "inj_none", "parts": bodies["createInjection"]["parts"]}}},
	"revoke_injection":  {{body: object{"session_id": "{session_id}", "injection_id": "inj_none"}}},
	"remind":            {{body: object{"session_id": "{session_id}", "reminder": object{"body": "x"}}}},
	"revoke_reminder":   {{body: object{"session_id": "{session_id}", "injection_id": "inj_none"}}},
	"wake":              {{body: object{"session_id": "{session_id}"}}},
}

// doing is one way in which something is done.
type doing struct {
	way  string
	body object
	with string // the Task that it is about, by what it waits for; "" is one that has ended
}

var decided = object{"role": "user", "parts": []object{{"type": "json", "value": object{"decision": "approved"}}}}

// authority is a node, and keys that may do much and little.
type authority struct {
	*table
	single                        map[string]string // by scope
	here, both, elsewhere, tenant string
	waiting                       map[string]map[string]string // ids of what waits, by what for
	sockets                       map[string]*socket           // by key
	quiet                         string                       // a Session in which nothing happens

	mu    sync.Mutex
	least map[string]any // bodies that schemas allow, by operation
}

// newAuthority starts a node that has one of everything that routes can name.
func newAuthority(t *testing.T) *authority {
	t.Helper()
	n := bootWhole(t, crashtest.NewDisk(), t.TempDir())
	a := &authority{table: &table{node: n, ids: map[string]string{}, doc: n.document(t)}, single: map[string]string{},
		waiting: map[string]map[string]string{}, sockets: map[string]*socket{}, least: map[string]any{}}
	a.makeKeys(t)
	for _, rt := range n.server.Routes() {
		for _, name := range pathParams(&rt) {
			if a.ids[name] == "" && !rt.Public {
				a.ids[name] = a.make(t, &rt, name)
			}
		}
	}
	a.quiet = a.session(t)
	for kind, persona := range map[string]string{"asked": "persona_ask", "approved": "persona_approve", "authorized": "persona_authorize"} {
		a.waiting[kind] = a.ask(t, persona)
	}
	return a
}

func (a *authority) makeKeys(t *testing.T) {
	t.Helper()
	for _, s := range abi.Scopes() {
		a.single[s] = a.newKey(t, "", s)
	}
	next := a.do(t, "POST", "/v1/workspaces", object{"name": "next door", "root": "/next-door"}).want(201).id()
	bound := func(workspaces ...string) string {
		made := a.do(t, "POST", "/wharf/v1/keys", object{"name": "bound", "scopes": []string{"*"}, "workspace_ids": workspaces}).want(201)
		return made.get("key").(string)
	}
	a.here, a.both, a.elsewhere = bound(tenancy.DefaultWorkspace), bound(next, tenancy.DefaultWorkspace), bound(next)
	a.tenant = a.newKey(t, "another tenant", allButNode()...)
}

// ask returns the ids of a Task that waits for somebody.
func (a *authority) ask(t *testing.T, persona string) map[string]string {
	t.Helper()
	session := a.session(t)
	task := a.submit(t, session, persona).want(202).id()
	asked := "task.input_required"
	if persona == "persona_authorize" {
		asked = "task.auth_required"
	}
	a.until(t, "/v1/tasks/"+task+"/stream", asked)
	request := a.do(t, "GET", "/v1/tasks/"+task+"/permission-requests", nil).ids()[0]
	return map[string]string{"task_id": task, "session_id": session, "request_id": request}
}

// make makes what a path parameter can name, in the Workspace ws_default.
func (a *authority) make(t *testing.T, rt *gateway.Route, name string) string {
	t.Helper()
	switch name {
	case "workspace_id":
		return tenancy.DefaultWorkspace
	case "tool_id":
		return "host:time_now"
	case "receipt_id":
		return a.do(t, "GET", "/v1/tasks/"+a.finished(t, a.session(t)), nil).get("receipt_id").(string)
	case "request_id":
		return a.ask(t, "persona_approve")["request_id"]
	case "memory_id":
		return a.do(t, "POST", "/v1/memories", doings["createMemory"][0].body).want(201).id()
	case "quota_id":
		return a.do(t, "POST", "/wharf/v1/quotas", doings["createQuota"][0].body).want(201).id()
	case "vault_id":
		return a.do(t, "POST", "/v1/vaults", doings["createVault"][0].body).want(201).id()
	case "name":
		a.do(t, "PUT", "/wharf/v1/vaults/"+a.ids["vault_id"]+"/secrets/token", object{"value": "v"}).want(200)
		return "token"
	case "connector_id":
		return a.do(t, "POST", "/v1/connectors", object{"provider": "generic", "plugin": "sick#" + abi.DefaultExport}).want(201).id()
	case "injection_id", "reminder_id":
		maps.Copy(a.ids, a.queued(t)) // of one Session
		return a.ids[name]
	case "dead_letter_id":
		return a.deadLetters(t, a.ids["connector_id"])
	}
	return a.fixture(t, rt, name)
}

// queued makes a Session, and what waits for its Tasks.
func (a *authority) queued(t *testing.T) map[string]string {
	t.Helper()
	a.ids["session_id"] = a.session(t)
	at := "/wharf/v1/sessions/" + a.ids["session_id"]
	return map[string]string{"injection_id": a.do(t, "POST", at+"/injections", bodies["createInjection"]).want(201).id(),
		"reminder_id": a.do(t, "POST", at+"/reminders", bodies["createReminder"]).want(201).id()}
}

// outcome makes the request of a route as one who has the key.
func (a *authority) outcome(t *testing.T, rt *gateway.Route, d *doing, key string) string {
	t.Helper()
	ids := maps.Clone(a.ids)
	if d.with != "" {
		maps.Copy(ids, a.waiting[d.with])
	}
	for _, name := range pathParams(rt) {
		ids[name] = cmp.Or(ids[name], "no-"+name)
	}
	if strings.HasSuffix(rt.Path, "/connect") {
		s, refused := a.knock(t, fill(rt.Path, ids), header("Authorization", "Bearer "+key))
		if s == nil {
			return verdict(refused.StatusCode)
		}
		return verdict(200)
	}
	resp, err := http.DefaultClient.Do(a.request(t, rt.Method, fill(rt.Path, ids), a.filled(t, rt, d, ids), header("Authorization", "Bearer "+key)))
	if err != nil {
		t.Error(err)
		return "broken"
	}
	defer resp.Body.Close()
	if rt.Media != gateway.MediaEventStream {
		_, _ = io.Copy(io.Discard, resp.Body) // so that the connection is used again
	}
	return verdict(resp.StatusCode)
}

// filled returns the body of a doing, or the least that the route's schema allows.
func (a *authority) filled(t *testing.T, rt *gateway.Route, d *doing, ids map[string]string) any {
	if d.body != nil {
		return filled(d.body, ids)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if _, made := a.least[rt.Operation]; !made {
		a.least[rt.Operation] = a.body(t, rt)
	}
	return a.least[rt.Operation]
}

// filled puts ids into the members of a body.
func filled(body object, ids map[string]string) object {
	with := object{}
	for name, value := range body {
		if text, ok := value.(string); ok {
			value = fill(text, ids)
		}
		with[name] = value
	}
	return with
}

// verdict says what a status means to the one who asked. What is wrong with the request
// is said after it is known who may make it.
func verdict(status int) string {
	switch status {
	case 401, 403, 404, 500:
		return fmt.Sprint(status)
	}
	return "yes"
}

// said performs a command as one who has the key.
func (a *authority) said(t *testing.T, command string, d *doing, key string) string {
	t.Helper()
	s := a.sockets[key]
	if s == nil {
		at := "/v1/sessions/" + a.quiet + "/connect"
		if key == a.elsewhere || key == a.tenant {
			at = "/v1/events/stream"
		}
		s, _ = a.connect(t, at, header("Authorization", "Bearer "+key))
		a.sockets[key] = s
	}
	ids := maps.Clone(a.ids)
	if d.with != "" {
		maps.Copy(ids, a.waiting[d.with])
	}
	id := s.send(command, filled(d.body, ids))
	for {
		f, err := s.next()
		switch {
		case err != nil:
			t.Errorf("%s: %v", command, err)
			return "broken"
		case f.ID != id:
		case f.Error != nil && f.Error.Code == abi.CodePermissionDenied:
			return "403"
		case f.Error != nil && f.Error.Code == abi.CodeResourceNotFound:
			return "404"
		default:
			return "yes"
		}
	}
}

// TestAuthority meets every route and every command with each scope alone, and with
// each pair where none alone does, and with everything from each wrong place; and holds
// what it is told against a table that people review.
func TestAuthority(t *testing.T) {
	a := newAuthority(t)
	var table bytes.Buffer
	w := tabwriter.NewWriter(&table, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "what\tscopes\there\tboth\telsewhere\ttenant")
	for _, rt := range a.lastEnds() {
		for _, d := range doingsOf(rt.Operation) {
			fmt.Fprintln(w, a.routeRow(t, &rt, &d))
		}
	}
	maps.Copy(a.ids, a.queued(t)) // the other Session was deleted
	for _, command := range harn.SocketCommands() {
		if doings[command] == nil {
			t.Errorf("add to doings, in authority_test.go, how the command %s is sent", command)
		}
		for _, d := range doings[command] {
			fmt.Fprintln(w, a.commandRow(t, command, &d))
		}
	}
	w.Flush()
	checkAuthority(t, authorityHead+table.String())
}

// doingsOf returns the ways of an operation, one if nothing is said of them.
func doingsOf(operation string) []doing {
	if all := doings[operation]; all != nil {
		return all
	}
	return []doing{{}}
}

func checkAuthority(t *testing.T, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(filepath.FromSlash(authorityFile), []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(filepath.FromSlash(authorityFile))
	if err != nil {
		t.Fatal(err)
	}
	old := strings.Split(strings.ReplaceAll(string(want), "\r\n", "\n"), "\n")
	now := strings.Split(got, "\n")
	for _, line := range now {
		if !slices.Contains(old, line) {
			t.Errorf("not as reviewed in %s: %s", authorityFile, line)
		}
	}
	for _, line := range old {
		if !slices.Contains(now, line) {
			t.Errorf("reviewed in %s, and not so: %s", authorityFile, line)
		}
	}
}

// lastEnds returns the routes that need credentials, those that end something last.
func (a *authority) lastEnds() []gateway.Route {
	routes := slices.DeleteFunc(slices.Clone(a.server.Routes()), func(rt gateway.Route) bool { return rt.Public })
	slices.SortStableFunc(routes, func(x, y gateway.Route) int { return cmp.Compare(ends(&x), ends(&y)) })
	return routes
}

func ends(rt *gateway.Route) int {
	switch {
	case rt.Method == http.MethodDelete, rt.Operation == "closeSession", rt.Operation == "abandonBranch", rt.Operation == "mergeBranch":
		return 1
	}
	return 0
}

func (a *authority) routeRow(t *testing.T, rt *gateway.Route, d *doing) string {
	t.Helper()
	fresh := func() {
		if params := pathParams(rt); ends(rt) > 0 && len(params) > 0 {
			last := params[len(params)-1]
			a.ids[last] = a.make(t, rt, last)
		}
	}
	places := make([]string, 0, 4)
	for _, key := range []string{a.tenant, a.elsewhere, a.both, a.here} {
		fresh()
		places = append(places, a.outcome(t, rt, d, key))
	}
	slices.Reverse(places)
	fresh()
	scopes := a.scopes(t, rt.Scope, func(scope ...string) string {
		key := a.single[scope[0]]
		if len(scope) > 1 {
			key = a.newKey(t, "", scope...)
		}
		return a.outcome(t, rt, d, key)
	})
	return row(rt.Method+" "+rt.Path, d, scopes, places)
}

func (a *authority) commandRow(t *testing.T, command string, d *doing) string {
	t.Helper()
	places := make([]string, 0, 4)
	for _, key := range []string{a.tenant, a.elsewhere, a.both, a.here} {
		places = append(places, a.said(t, command, d, key))
	}
	slices.Reverse(places)
	named := "tasks:write"
	if strings.HasPrefix(command, "client.") {
		named = "sessions:read"
	}
	scopes := a.inTurn(t, named, func(scope ...string) string { return a.said(t, command, d, a.opening(t, scope...)) })
	return row("frame "+command, d, scopes, places)
}

// opening returns a key with scopes that also opens a WebSocket.
func (a *authority) opening(t *testing.T, scopes ...string) string {
	t.Helper()
	id := strings.Join(scopes, "+")
	if a.single["opening "+id] == "" {
		a.single["opening "+id] = a.newKey(t, "", append(slices.Clone(scopes), "events:read")...)
	}
	return a.single["opening "+id]
}

func row(what string, d *doing, scopes []string, places []string) string {
	if d.way != "" {
		what += " (" + d.way + ")"
	}
	return what + "\t" + strings.Join(scopes, " | ") + "\t" + strings.Join(places, "\t")
}

// scopes returns the smallest sets of scopes that do. The scope that the route names is
// tried last, for what it lets happen must not stand in the way of another.
func (a *authority) scopes(t *testing.T, named string, try func(...string) string) []string {
	t.Helper()
	var mu sync.Mutex
	var wait sync.WaitGroup
	var do []string
	for _, s := range abi.Scopes() {
		if s == named {
			continue
		}
		wait.Go(func() {
			if try(s) != "403" {
				mu.Lock()
				defer mu.Unlock()
				do = append(do, s)
			}
		})
	}
	wait.Wait()
	if named != "" && try(named) != "403" {
		do = append(do, named)
	}
	return a.smallest(t, do, named, try)
}

// inTurn is scopes for what cannot be tried at one time.
func (a *authority) inTurn(t *testing.T, named string, try func(...string) string) []string {
	t.Helper()
	var do []string
	for _, s := range abi.Scopes() {
		if try(s) != "403" {
			do = append(do, s)
		}
	}
	return a.smallest(t, do, named, try)
}

func (a *authority) smallest(t *testing.T, do []string, named string, try func(...string) string) []string {
	t.Helper()
	slices.Sort(do)
	switch {
	case len(do) == len(abi.Scopes()):
		return []string{"any"}
	case len(do) > 0:
		return do
	}
	for _, s := range abi.Scopes() {
		if s != named && try(named, s) != "403" {
			do = append(do, named+"+"+s)
		}
	}
	return do
}
