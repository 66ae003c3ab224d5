package harn_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/lestrrat-go/jwx/v3/jwk"
	"github.com/lestrrat-go/jwx/v3/jwt"

	"github.com/wharf-dev/wharf/abi"
)

// form sends fields as OAuth does, with no credentials but those that options add.
func (n *node) form(t *testing.T, fields string, options ...func(*http.Request)) *answer {
	t.Helper()
	options = append([]func(*http.Request){header("Authorization", ""), header(abi.VersionHeader, ""),
		header("Content-Type", "application/x-www-form-urlencoded")}, options...)
	return n.do(t, "POST", "/oauth/token", fields, options...)
}

func basicAuth(id, secret string) func(*http.Request) {
	return func(r *http.Request) { r.SetBasicAuth(url.QueryEscape(id), url.QueryEscape(secret)) }
}

func TestTokenEndpoint(t *testing.T) {
	n := newNode(t)
	made := n.do(t, "POST", "/wharf/v1/keys", object{"name": "ci", "actor": "ci@acme", "scopes": []string{"tasks:read", "sessions:read"}}).want(201)
	id, secret := made.id(), made.get("key").(string)
	grant := "grant_type=client_credentials"
	post := grant + "&client_id=" + id + "&client_secret=" + secret
	for name, c := range map[string]struct {
		fields, scope string
		options       []func(*http.Request)
	}{
		"basic":          {grant, "tasks:read sessions:read", []func(*http.Request){basicAuth(id, secret)}},
		"basic and id":   {grant + "&client_id=" + id, "tasks:read sessions:read", []func(*http.Request){basicAuth(id, secret)}},
		"post":           {post, "tasks:read sessions:read", nil},
		"narrower":       {post + "&scope=tasks:read", "tasks:read", nil},
		"unknown fields": {post + "&audience=x&flavour=x", "tasks:read sessions:read", nil},
		"empty scope":    {post + "&scope=", "tasks:read sessions:read", nil},
	} {
		t.Run(name, func(t *testing.T) {
			a := n.form(t, c.fields, c.options...).want(200)
			if a.get("scope") != c.scope || a.get("token_type") != "Bearer" || a.get("expires_in") != 900.0 {
				t.Errorf("%s", a.body)
			}
			if a.header.Get("Cache-Control") != "no-store" {
				t.Errorf("Cache-Control %q", a.header.Get("Cache-Control"))
			}
			token := key(a.get("access_token").(string))
			n.do(t, "GET", "/v1/tasks", nil, token).want(200)
			n.do(t, "POST", "/v1/tasks", object{}, token).wantError(403, abi.CodePermissionDenied)
			if strings.Contains(c.scope, "sessions:read") {
				n.do(t, "GET", "/v1/sessions", nil, token).want(200)
			} else {
				n.do(t, "GET", "/v1/sessions", nil, token).wantError(403, abi.CodePermissionDenied)
			}
		})
	}
}

func TestTokenEndpointRefuses(t *testing.T) {
	n := newNode(t)
	made := n.do(t, "POST", "/wharf/v1/keys", object{"name": "ci", "scopes": []string{"tasks:read"}}).want(201)
	id, secret := made.id(), made.get("key").(string)
	token := n.token(t, id, secret)
	revoked := n.do(t, "POST", "/wharf/v1/keys", object{"name": "gone"}).want(201)
	n.do(t, "DELETE", "/wharf/v1/keys/"+revoked.id(), nil).want(200)
	grant := "grant_type=client_credentials"
	good := grant + "&client_id=" + id + "&client_secret=" + secret
	for name, c := range map[string]struct {
		fields, code string
		status       int
		options      []func(*http.Request)
	}{
		"nothing":             {"", "invalid_request", 400, nil},
		"no client":           {grant, "invalid_client", 401, nil},
		"wrong secret":        {grant + "&client_id=" + id + "&client_secret=wharf_wrong", "invalid_client", 401, nil},
		"another's id":        {grant + "&client_id=" + revoked.id() + "&client_secret=" + secret, "invalid_client", 401, nil},
		"wrong basic":         {grant, "invalid_client", 401, []func(*http.Request){basicAuth(id, "wharf_wrong")}},
		"bearer":              {grant, "invalid_client", 401, []func(*http.Request){key(secret)}},
		"broken basic":        {grant, "invalid_client", 401, []func(*http.Request){header("Authorization", "Basic !!!")}},
		"both":                {good, "invalid_request", 400, []func(*http.Request){basicAuth(id, secret)}},
		"revoked":             {grant + "&client_id=" + revoked.id() + "&client_secret=" + revoked.get("key").(string), "invalid_client", 401, nil},
		"a token for a token": {grant + "&client_id=" + id + "&client_secret=" + token, "invalid_client", 401, nil},
		"another grant":       {strings.Replace(good, "client_credentials", "password", 1), "unsupported_grant_type", 400, nil},
		"twice":               {good + "&scope=tasks:read&scope=tasks:read", "invalid_request", 400, nil},
		"more than it has":    {good + "&scope=tasks:write", "invalid_scope", 400, nil},
		"all":                 {good + "&scope=*", "invalid_scope", 400, nil},
		"another resource":    {good + "&resource=" + url.QueryEscape("https://other.example/mcp"), "invalid_target", 400, nil},
		"one that begins so":  {good + "&resource=" + url.QueryEscape(n.url+".evil.example/mcp"), "invalid_target", 400, nil},
		"unknown scope":       {good + "&scope=cakes:eat", "invalid_scope", 400, nil},
		"JSON":                {`{"grant_type":"client_credentials"}`, "invalid_request", 400, []func(*http.Request){header("Content-Type", "application/json")}},
	} {
		t.Run(name, func(t *testing.T) {
			a := n.form(t, c.fields, c.options...).want(c.status)
			if a.get("error") != c.code || a.header.Get("Cache-Control") != "no-store" {
				t.Errorf("%s", a.body)
			}
			if challenge := a.header.Get("WWW-Authenticate"); (c.status == 401) != strings.HasPrefix(challenge, "Basic") {
				t.Errorf("WWW-Authenticate %q", challenge)
			}
			if strings.Contains(string(a.body), secret) {
				t.Errorf("the secret is repeated: %s", a.body)
			}
		})
	}
	n.form(t, good+"&resource="+url.QueryEscape(n.url+"/mcp")).want(200)
	n.form(t, good+"&x="+strings.Repeat("x", 100<<10)).wantError(413, abi.CodePayloadTooLarge)
}

// What a caller does with a token is done as with the key: same actor, tenant and
// Workspaces, and one memory of what was done for an Idempotency-Key.
func TestTokenStandsForItsKey(t *testing.T) {
	n := newNode(t)
	made := n.do(t, "POST", "/wharf/v1/keys", object{"name": "ci", "actor": "ci@acme", "workspace_ids": []string{"ws_default"}}).want(201)
	secret := made.get("key").(string)
	token := n.token(t, made.id(), secret)
	once := header("Idempotency-Key", "one")
	first := n.do(t, "POST", "/v1/sessions", object{"workspace_id": "ws_default"}, key(secret), once).want(201).id()
	if again := n.do(t, "POST", "/v1/sessions", object{"workspace_id": "ws_default"}, key(token), once).want(201).id(); again != first {
		t.Errorf("%s by the key, %s by its token", first, again)
	}
	second := n.do(t, "POST", "/v1/sessions", object{"workspace_id": "ws_default"}, key(token)).want(201).id()
	events := n.do(t, "GET", "/v1/sessions/"+second+"/events", nil).want(200).get("data").([]any)
	if actor := events[0].(map[string]any)["actor"]; actor != "ci@acme" {
		t.Errorf("actor %v", actor)
	}
	other := n.do(t, "POST", "/v1/workspaces", object{"name": "other", "root": "/o"}).want(201).id()
	n.do(t, "GET", "/v1/workspaces/"+other, nil, key(token)).wantError(404, abi.CodeResourceNotFound)
}

// An outside issuer's token acts as who the issuer says, within what the operator
// lets the issuer say.
func TestOutsideToken(t *testing.T) {
	n := newNode(t)
	alice := key(n.corp.sign(t, map[string]any{"scope": "sessions:write cakes:eat"}))
	session := n.do(t, "POST", "/v1/sessions", object{"workspace_id": "ws_default"}, alice).want(201).id()
	events := n.do(t, "GET", "/v1/sessions/"+session+"/events", nil).want(200).get("data").([]any)
	if actor := events[0].(map[string]any)["actor"]; actor != "corp:alice" {
		t.Errorf("actor %v", actor)
	}
	n.do(t, "GET", "/v1/sessions/"+session, nil, alice).wantError(403, abi.CodePermissionDenied)
	for reason, changes := range map[string]map[string]any{
		"the access token has expired": {"exp": 1}, "the access token is not for this audience": {"aud": "https://other.example.com"},
		"the access token is invalid": {"nbf": 9999999999},
	} {
		if err := n.do(t, "GET", "/v1/tasks", nil, key(n.corp.sign(t, changes))).wantError(401, abi.CodeUnauthenticated); err.Message != reason {
			t.Errorf("%q, want %q", err.Message, reason)
		}
	}
}

func TestIssuerMetadata(t *testing.T) {
	n := newNode(t)
	none := header("Authorization", "")
	a := n.do(t, "GET", "/.well-known/oauth-authorization-server", nil, none).want(200)
	if a.get("issuer") != ownIssuer || a.get("token_endpoint") != n.url+"/oauth/token" || a.get("jwks_uri") != n.url+"/.well-known/jwks.json" {
		t.Errorf("%s", a.body)
	}
	set, err := jwk.Parse(n.do(t, "GET", "/.well-known/jwks.json", nil, none).want(200).body)
	if err != nil {
		t.Fatal(err)
	}
	made := n.do(t, "POST", "/wharf/v1/keys", object{"name": "ci"}).want(201)
	token := n.token(t, made.id(), made.get("key").(string))
	if _, err := jwt.Parse([]byte(token), jwt.WithKeySet(set), jwt.WithIssuer(ownIssuer), jwt.WithAudience(ownIssuer)); err != nil {
		t.Error(err)
	}
}
