package harn_test

import (
	"cmp"
	"crypto/x509"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/lestrrat-go/jwx/v3/jwa"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/gateway"
	"github.com/wharf-dev/wharf/runtime/enginetest"
)

// The tests of access are made from the route table: a new route is tested without
// anybody's doing. Where that needs to know something about the route it fails and says
// what: a fixture for a new path parameter, or a reason why a route is public.

// publicRoutes are the routes that need no credentials, and why.
var publicRoutes = map[string]string{
	"getLiveness": "health", "getHealth": "health", "getReadiness": "health", "getVersion": "the build",
	"getMetrics": "has a rule of its own: TestMetricsAreLocal", "getOpenAPI": "documentation",
	"getDiscovery": "discovery", "getAgentCard": "discovery", "getPublishedKeys": "public keys",
	"issueToken": "checks the client's credentials itself: TestTokenEndpoint", "getTokenKeys": "public keys",
	"getAuthorizationServer": "discovery",
	"receiveWebhook":         "the path holds a secret, and the sender signs",
	"validateWebhook":        "the path holds a secret, and nothing is told but that it is there",
}

// fixtures make, for the name of a path parameter, something that the root key sees
// and that belongs to its tenant and to the Workspace ws_default. Where there is none,
// the route that creates such things is asked, with the least that its schema allows or
// with what bodies holds.
var fixtures = map[string]func(n *node, t *testing.T) string{
	"session_id": func(n *node, t *testing.T) string { return n.session(t) },
	"task_id":    func(n *node, t *testing.T) string { return n.finished(t, n.session(t)) },
	"workspace_id": func(n *node, t *testing.T) string {
		return n.do(t, "POST", "/v1/workspaces", object{"name": "w", "root": "/w"}).id()
	},
	"event_id": func(n *node, t *testing.T) string {
		return n.do(t, "GET", "/v1/tasks/"+n.finished(t, n.session(t))+"/events", nil).ids()[0]
	},
	"message_id": func(n *node, t *testing.T) string {
		session := n.session(t)
		n.finished(t, session)
		return n.do(t, "GET", "/v1/sessions/"+session+"/messages", nil).ids()[0]
	},
	"outcome_id": func(n *node, t *testing.T) string {
		return n.do(t, "GET", "/v1/outcomes?task_id="+n.finished(t, n.session(t)), nil).ids()[0]
	},
	"receipt_id": func(n *node, t *testing.T) string { return receiptOf(n.finished(t, n.session(t))) },
	"branch_id": func(n *node, t *testing.T) string {
		return n.do(t, "POST", "/v1/sessions/"+n.session(t)+"/branches", object{"kind": "session", "base_ref": "m"}).id()
	},
	"artifact_id": func(n *node, t *testing.T) string {
		return n.do(t, "POST", "/v1/artifacts", object{"workspace_id": "ws_default", "kind": "file", "mime_type": "text/plain", "visibility": "public", "content": "aGk="}).id()
	},
	"skill_id": func(n *node, t *testing.T) string {
		return n.do(t, "POST", "/wharf/v1/skills", object{"persona_id": "persona_echo", "name": "s", "description": "d"}).want(201).id()
	},
	"persona_id": func(n *node, t *testing.T) string {
		return n.do(t, "POST", "/v1/personas", bodies["createPersona"]).want(201).id()
	},
	"memory_id": func(n *node, t *testing.T) string {
		session := n.session(t)
		n.submit(t, session, "persona_keep", header("Prefer", "wait=30")).want(200)
		return n.do(t, "GET", "/v1/memories?session_id="+session, nil).ids()[0]
	},
	"name": func(n *node, t *testing.T) string { // of a secret in the Vault that was made for vault_id
		n.do(t, "PUT", "/wharf/v1/vaults/"+n.do(t, "GET", "/v1/vaults", nil).ids()[0]+"/secrets/token", object{"value": "v"}).want(200)
		return "token"
	},
	"tool_id": func(*node, *testing.T) string { return "host:time_now" },
	"tool_server_id": func(n *node, t *testing.T) string {
		name := strings.ToLower(strings.TrimPrefix(n.session(t), "sess_")) // one that is free
		return n.do(t, "POST", "/wharf/v1/tool-servers", object{"workspace_id": "ws_default", "name": name, "url": "https://tools.test/mcp"}).want(201).id()
	},
	"skill_bundle_id": func(n *node, t *testing.T) string {
		name := strings.ToLower(strings.TrimPrefix(n.session(t), "sess_")) // one that is free
		return n.do(t, "POST", "/wharf/v1/skill-bundles", object{"workspace_id": "ws_default", "content": skillZip(name, "")}).want(201).id()
	},
	"key_id": func(n *node, t *testing.T) string {
		return n.do(t, "POST", "/wharf/v1/keys", object{"name": "made for a test"}).want(201).id()
	},
}

// bodies are the requests of routes for which what follows from the schema will not do.
var bodies = map[string]object{
	"createConnector":     {"provider": "generic", "plugin": "echo#main"},
	"placeHold":           {"resource_id": "ws_default", "reason": "case 1"},
	"createVault":         {"workspace_id": "ws_default", "provider": "local", "capabilities": []string{"read", "write"}},
	"updateVault":         {"capabilities": []string{"read", "write"}},
	"createToolServer":    {"workspace_id": "ws_default", "name": "tools", "url": "https://tools.test/mcp"},
	"installSkillBundle":  {"workspace_id": "ws_default", "content": skillZip("listed", "")},
	"upgradeSkillBundle":  {"content": skillZip("listed", "")},
	"rollbackSkillBundle": {"version": "1.0.0"},
	"createWebhook":       {"workspace_id": "ws_default", "url": "https://receiver.test/in", "events": []string{"task.completed"}},
	"createPersona":       {"name": "p", "version": "1", "description": "d", "entry_workflow": "echo", "autonomy_tier": "act_auto", "receipt_policy": "optional", "tools": []string{}, "capabilities": []string{}},
	"createMemory":        {"scope": "workspace", "owner_id": "ws_default", "content": "c", "provenance": object{}},
	"createInjection":     {"mode": "queue", "parts": []any{object{"type": "text", "text": "x"}}},
	"replaceInjection":    {"parts": []any{object{"type": "text", "text": "y"}}},
	"createReminder":      {"body": "x"},
	"truncateSession":     {"keep_turns": 1}, "appendMessage": {"message": message("m")},
	"appendTaskMessage": {"kind": "interrupt", "message": message("m")},
}

// table is what the tests of access need to know of a node.
type table struct {
	*node
	corp *corp
	ids  map[string]string // by path parameter
	doc  openAPI
}

// document returns the node's OpenAPI document.
func (n *node) document(t *testing.T) (doc openAPI) {
	t.Helper()
	if err := json.Unmarshal(n.server.OpenAPI(), &doc, json.MatchCaseInsensitiveNames(true)); err != nil {
		t.Fatal(err)
	}
	return doc
}

func newTable(t *testing.T) *table {
	t.Helper()
	n := newNode(t)
	tb := &table{node: n, corp: n.corp, ids: map[string]string{}, doc: n.document(t)}
	for _, rt := range n.server.Routes() {
		for _, name := range pathParams(&rt) {
			if _, made := tb.ids[name]; !made && !rt.Public {
				tb.ids[name] = tb.fixture(t, &rt, name)
			}
		}
	}
	return tb
}

// fixture makes something that the path parameter of that name can name. It returns ""
// when this node has nothing of the kind, and no way to make it.
func (tb *table) fixture(t *testing.T, rt *gateway.Route, name string) (id string) {
	t.Helper()
	if make := fixtures[name]; make != nil {
		return make(tb.node, t)
	}
	none := false
	collection, _, _ := strings.Cut(rt.Path, "/{"+name+"}")
	for _, other := range tb.server.Routes() {
		if other.Path != collection {
			continue
		}
		a := tb.ask(t, &other, tb.ids)
		switch {
		case other.Method == http.MethodPost && a.status == 201:
			return a.id()
		case other.Method == http.MethodPost && a.status != 501:
			t.Errorf("%s answers %d to the least that its schema allows: add a body for %s to bodies, in access_test.go: %s", other.Path, a.status, other.Operation, a.body)
			return ""
		case other.Method == http.MethodGet && a.status == 200 && len(a.ids()) == 0:
			none = true
		}
	}
	if !none {
		t.Errorf("%s %s has the path parameter %q: add to fixtures, in access_test.go, how something is made that it can name", rt.Method, rt.Path, name)
	}
	return ""
}

// TestAccess meets every route with every caller that it must turn away.
func TestAccess(t *testing.T) {
	tb := newTable(t)
	strangers, lacking := tb.strangers(t), tb.lacking(t)
	otherTenant, otherWorkspace := tb.elsewhere(t), tb.nextDoor(t)
	for i, rt := range tb.server.Routes() {
		if testing.Short() && i%5 != 0 {
			continue // they are asked one after another: the race detector learns from some what it learns from all
		}
		t.Run(rt.Operation, func(t *testing.T) {
			if rt.Public {
				tb.checkPublic(t, &rt)
				return
			}
			for name, value := range strangers {
				tb.checkStranger(t, &rt, name, value)
			}
			checkVersions(t, rt, func(options ...func(*http.Request)) *answer { return tb.ask(t, &rt, tb.ids, options...) })
			if rt.Scope != "" {
				for _, credential := range lacking(rt.Scope) {
					a := tb.ask(t, &rt, tb.ids, key(credential))
					a.wantError(403, abi.CodePermissionDenied)
					if want := `error="insufficient_scope", scope="` + rt.Scope + `"`; !strings.Contains(a.header.Get("WWW-Authenticate"), want) {
						t.Errorf("WWW-Authenticate %q, want %s", a.header.Get("WWW-Authenticate"), want)
					}
				}
			}
			for _, credential := range otherTenant {
				tb.checkHidden(t, &rt, credential, tb.without(nodeParams))
			}
			for _, credential := range otherWorkspace {
				tb.checkHidden(t, &rt, credential, tb.without(append(nodeParams, sharedParams...)))
			}
		})
	}
	tb.checkNotVacuous(t)
}

// strangers are the headers of callers that nobody knows, by what is wrong with them.
func (tb *table) strangers(t *testing.T) map[string]string {
	t.Helper()
	c := tb.corp
	der, err := x509.MarshalPKIXPublicKey(c.key.Public())
	if err != nil {
		t.Fatal(err)
	}
	good := c.sign(t, nil)
	all := map[string]string{
		"no key": "", "bad key": "Bearer an-unknown-key-that-is-long", "other scheme": "Basic " + enginetest.RootKey, "no token": "Bearer ", "bare": enginetest.RootKey,
		"cut token": "Bearer " + good[:len(good)-4], "unsigned": "Bearer " + c.unsigned(t),
		"the public key as a secret": "Bearer " + signed(t, c.claims(nil), jwa.HS256(), der),
		"another's signature":        "Bearer " + signed(t, c.claims(nil), jwa.ES256(), newSigner(t)),
		"revoked key's token":        "Bearer " + tb.revokedToken(t),
	}
	for name, changes := range map[string]map[string]any{
		"expired": {"exp": time.Now().Add(-time.Hour).Unix()}, "no expiry": {"exp": nil}, "not yet valid": {"nbf": time.Now().Add(time.Hour).Unix()},
		"wrong audience": {"aud": ownIssuer}, "no audience": {"aud": nil}, "wrong issuer": {"iss": "https://id.example.org"},
		"no tenant": {"tenant": nil}, "unknown tenant": {"tenant": "nobody"}, "no workspaces": {"workspaces": nil},
	} {
		all[name+" token"] = "Bearer " + c.sign(t, changes)
	}
	return all
}

func (tb *table) revokedToken(t *testing.T) string {
	t.Helper()
	made := tb.do(t, "POST", "/wharf/v1/keys", object{"name": "to be revoked", "scopes": []string{"*"}}).want(201)
	token := tb.token(t, made.id(), made.get("key").(string))
	tb.do(t, "GET", "/v1/tasks", nil, key(token)).want(200)
	tb.do(t, "DELETE", "/wharf/v1/keys/"+made.id(), nil).want(200)
	return token
}

// token gets an access token of the node's own issuer.
func (n *node) token(t *testing.T, id, secret string, scopes ...string) string {
	t.Helper()
	token, err := n.IssueToken(t.Context(), id, secret, scopes)
	if err != nil {
		t.Fatal(err)
	}
	return token.AccessToken
}

// lacking returns, for a scope, a key and tokens of both issuers with all others.
func (tb *table) lacking(t *testing.T) func(scope string) []string {
	made := map[string][]string{}
	return func(scope string) []string {
		t.Helper()
		if made[scope] == nil {
			others := slices.DeleteFunc(abi.Scopes(), func(s string) bool { return s == scope })
			a := tb.do(t, "POST", "/wharf/v1/keys", object{"name": "all but " + scope, "scopes": others}).want(201)
			secret := a.get("key").(string)
			made[scope] = []string{secret, tb.token(t, a.id(), secret), tb.token(t, tb.rootID(t), enginetest.RootKey, others...),
				tb.corp.sign(t, map[string]any{"scope": strings.Join(others, " ")})}
		}
		return made[scope]
	}
}

func (tb *table) rootID(t *testing.T) string {
	t.Helper()
	caller, err := tb.Authenticate(t.Context(), enginetest.RootKey)
	if err != nil {
		t.Fatal(err)
	}
	return caller.KeyID
}

// allButNode are all scopes but the one that reaches over tenants.
func allButNode() []string {
	return slices.DeleteFunc(abi.Scopes(), func(s string) bool { return s == abi.ScopeNode })
}

// elsewhere are callers with every right in another tenant.
func (tb *table) elsewhere(t *testing.T) []string {
	t.Helper()
	made := tb.do(t, "POST", "/wharf/v1/keys", object{"name": "of another", "tenant": "another tenant", "scopes": allButNode()}).want(201)
	secret := made.get("key").(string)
	return []string{secret, tb.token(t, made.id(), secret), tb.corp.sign(t, map[string]any{"tenant": "another tenant", "scope": strings.Join(allButNode(), " ")})}
}

// nextDoor are callers with every right in another Workspace of the tenant.
func (tb *table) nextDoor(t *testing.T) []string {
	t.Helper()
	other := tb.do(t, "POST", "/v1/workspaces", object{"name": "next door", "root": "/next-door"}).want(201).id()
	made := tb.do(t, "POST", "/wharf/v1/keys", object{"name": "next door", "workspace_ids": []string{other}, "scopes": allButNode()}).want(201)
	secret := made.get("key").(string)
	return []string{secret, tb.token(t, made.id(), secret), tb.corp.sign(t, map[string]any{"workspaces": []string{other}, "scope": strings.Join(allButNode(), " ")})}
}

// sharedParams name what every Workspace of a tenant sees.
var sharedParams = []string{"persona_id", "key_id", "skill_id"}

// nodeParams name what the node has, which every tenant sees.
var nodeParams = []string{"tool_id"}

func (tb *table) without(names []string) map[string]string {
	ids := maps.Clone(tb.ids)
	for _, name := range names {
		delete(ids, name)
	}
	return ids
}

// ask makes the route's request, with the given ids in its path.
func (tb *table) ask(t *testing.T, rt *gateway.Route, ids map[string]string, options ...func(*http.Request)) *answer {
	t.Helper()
	filled := maps.Clone(ids)
	for _, name := range pathParams(rt) {
		filled[name] = cmp.Or(ids[name], "no-"+name)
	}
	return tb.do(t, rt.Method, fill(rt.Path, filled), tb.body(t, rt), options...)
}

func (tb *table) body(t *testing.T, rt *gateway.Route) any {
	t.Helper()
	switch {
	case rt.Body == gateway.BodyNone:
		return nil
	case bodies[rt.Operation] != nil:
		return bodies[rt.Operation]
	case rt.Request == "":
		return object{}
	}
	return sampler{tb.doc.Components.Schemas, tb.ids}.of(tb.doc.Components.Schemas[rt.Request])
}

func (tb *table) checkPublic(t *testing.T, rt *gateway.Route) {
	t.Helper()
	if publicRoutes[rt.Operation] == "" {
		t.Errorf("%s %s needs no credentials: if that is right, say why in publicRoutes, in access_test.go", rt.Method, rt.Path)
	}
	if rt.Method != http.MethodGet || len(pathParams(rt)) > 0 {
		return
	}
	if a := tb.ask(t, rt, nil, header("Authorization", ""), header(abi.VersionHeader, "")); a.status >= 300 {
		t.Errorf("a public route answers a stranger with %d: %s", a.status, a.body)
	}
}

// checkStranger checks that a stranger learns nothing: not even whether what they ask
// for is there, or whether their request is well-formed.
func (tb *table) checkStranger(t *testing.T, rt *gateway.Route, name, value string) {
	t.Helper()
	a := tb.ask(t, rt, tb.ids, header("Authorization", value), header(abi.VersionHeader, ""))
	if a.status != 401 {
		t.Errorf("%s: status %d: %s", name, a.status, a.body)
		return
	}
	a.wantError(401, abi.CodeUnauthenticated)
	challenge := a.header.Get("WWW-Authenticate")
	if _, token, ok := strings.Cut(value, "Bearer "); !ok || token == "" {
		if challenge != `Bearer realm="wharf"` {
			t.Errorf("%s: WWW-Authenticate %q", name, challenge)
		}
		return
	}
	if !strings.HasPrefix(challenge, `Bearer realm="wharf", error="invalid_token"`) {
		t.Errorf("%s: WWW-Authenticate %q", name, challenge)
	}
}

// checkHidden checks that what a caller may not see answers exactly as what is not
// there, and that lists do not show it.
func (tb *table) checkHidden(t *testing.T, rt *gateway.Route, credential string, ids map[string]string) {
	t.Helper()
	params := pathParams(rt)
	if slices.ContainsFunc(params, func(name string) bool { return ids[name] == "" }) {
		return
	}
	if len(params) == 0 {
		if rt.Method == http.MethodGet && rt.Media == "" {
			tb.checkNotListed(t, rt, credential, ids)
		}
		return
	}
	absent := map[string]string{}
	for _, name := range params {
		absent[name] = missing(ids[name])
	}
	hidden, nothing := tb.ask(t, rt, ids, key(credential)), tb.ask(t, rt, absent, key(credential))
	if hidden.status != 403 { // that nobody may do this from there tells nothing of what is there
		hidden.wantError(404, abi.CodeResourceNotFound)
	}
	if a, b := anonymous(hidden, params, ids), anonymous(nothing, params, absent); a != b || hidden.status != nothing.status {
		t.Errorf("what is hidden answers %d\n%s\nand what is absent %d\n%s", hidden.status, a, nothing.status, b)
	}
}

// missing returns an id like the given one, of something that does not exist.
func missing(id string) string {
	if prefix, _, ok := strings.Cut(id, "_"); ok {
		return prefix + "_00000000000000000000000000"
	}
	return "999999999"
}

// anonymous returns an answer without the ids that it repeats.
func anonymous(a *answer, params []string, ids map[string]string) string {
	text := strings.ReplaceAll(string(a.body), a.header.Get("X-Request-Id"), "{request}")
	for _, name := range params {
		text = strings.ReplaceAll(text, ids[name], "{"+name+"}")
	}
	return text
}

func (tb *table) checkNotListed(t *testing.T, rt *gateway.Route, credential string, ids map[string]string) {
	t.Helper()
	a := tb.ask(t, rt, nil, key(credential))
	if a.status != 200 {
		return
	}
	for name, id := range ids {
		if strings.Contains(id, "_") && strings.Contains(string(a.body), id) {
			t.Errorf("the list shows %s %s: %s", name, id, a.body)
		}
	}
}

// checkNotVacuous checks that it was the caller that was wrong, and not the request:
// with the root key no route refuses it, or says that there is nothing. Routes that end
// something come last.
func (tb *table) checkNotVacuous(t *testing.T) {
	order := map[string]int{"GET": 0, "PATCH": 1, "PUT": 2, "POST": 3, "DELETE": 4}
	routes := slices.Clone(tb.server.Routes())
	slices.SortStableFunc(routes, func(a, b gateway.Route) int { return cmp.Compare(order[a.Method], order[b.Method]) })
	for _, rt := range routes {
		nothing := slices.ContainsFunc(pathParams(&rt), func(name string) bool { return tb.ids[name] == "" })
		if rt.Public || rt.Media == gateway.MediaEventStream || nothing {
			continue
		}
		switch a := tb.ask(t, &rt, tb.ids); a.status {
		case 401, 403, 404, 500:
			t.Errorf("%s %s answers the root key with %d, so that what is tested above says nothing: %s", rt.Method, rt.Path, a.status, a.body)
		}
	}
}

func pathParams(rt *gateway.Route) (names []string) {
	for segment := range strings.SplitSeq(rt.Path, "/") {
		if name, ok := strings.CutPrefix(segment, "{"); ok {
			names = append(names, strings.TrimSuffix(name, "}"))
		}
	}
	return names
}

// sampler makes the least that schemas of the OpenAPI document allow. Members that are
// named like a path parameter hold its id.
type sampler struct {
	schemas map[string]any
	ids     map[string]string
}

func (sm sampler) of(s any) any {
	schema, _ := s.(map[string]any)
	if target, ok := schema["$ref"].(string); ok {
		return sm.of(sm.schemas[target[strings.LastIndexByte(target, '/')+1:]])
	}
	if value, ok := schema["const"]; ok {
		return value
	}
	if values, ok := schema["enum"].([]any); ok {
		return values[0]
	}
	for _, choice := range []string{"anyOf", "oneOf"} {
		if options, ok := schema[choice].([]any); ok {
			return sm.of(options[0])
		}
	}
	switch fmt.Sprint(schema["type"]) {
	case "object":
		return sm.object(schema)
	case "array":
		return []any{sm.of(schema["items"])}
	case "integer", "number":
		return cmp.Or(schema["minimum"], any(1))
	case "boolean":
		return false
	}
	return "x"
}

func (sm sampler) object(schema map[string]any) any {
	made := object{}
	properties, _ := schema["properties"].(map[string]any)
	required, _ := schema["required"].([]any)
	for _, member := range required {
		name := member.(string)
		if made[name] = sm.of(properties[name]); sm.ids[name] != "" {
			made[name] = sm.ids[name]
		}
	}
	return made
}

// fill puts ids into a route's path.
func fill(path string, ids map[string]string) string {
	for name, id := range ids {
		path = strings.ReplaceAll(path, "{"+name+"}", id)
	}
	return path
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
	if a := n.do(t, "GET", "/metrics", nil, none).want(200); !strings.Contains(string(a.body), "wharf_http_connections") {
		t.Errorf("%s", a.body)
	}
	proxied := header("X-Forwarded-For", "203.0.113.9")
	n.do(t, "GET", "/metrics", nil, none, proxied).wantError(401, abi.CodeUnauthenticated)
	n.do(t, "GET", "/metrics", nil, key(n.newKey(t, "", "admin")), proxied).wantError(403, abi.CodePermissionDenied)
	n.do(t, "GET", "/metrics", nil, proxied).want(200)
	scraper := key(n.newKey(t, "", abi.ScopeMetrics))
	n.do(t, "GET", "/metrics", nil, scraper, proxied).want(200)
	n.do(t, "GET", "/wharf/v1/keys", nil, scraper).wantError(403, abi.CodePermissionDenied)
	n.do(t, "POST", "/wharf/v1/backup", []byte(`{}`), scraper).wantError(403, abi.CodePermissionDenied)
}
