package clients

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wharf-dev/wharf/conformance/internal/nodetest"
	"github.com/wharf-dev/wharf/internal/loopback"
)

// granted is what token.mjs prints.
type granted struct {
	Answer struct {
		AccessToken string `json:"access_token"`
		Scope       string
	}
	Header  struct{ Alg, Kid string }
	Claims  map[string]any
	Refused string
	Status  int
}

// grant has a client get a token from an issuer; kind and method are those of token.mjs.
func grant(t *testing.T, issuer, kind, method, client, secret, scope, audience string) granted {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "node", "token.mjs", issuer, kind, method, client, secret, scope, audience)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("token.mjs: %v", err)
	}
	var got granted
	if err := json.Unmarshal(out, &got); err != nil {
		t.Fatalf("token.mjs printed %q: %v", out, err)
	}
	return got
}

// as sends a request with a bearer, and returns the answer's status and header.
func as(t *testing.T, n *nodetest.Node, bearer, method, path string, body any) (int, http.Header) {
	t.Helper()
	text, err := json.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}
	req, err := http.NewRequestWithContext(t.Context(), method, n.URL+path, bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+bearer)
	req.Header.Set("Harn-Agents-Protocol-Version", nodetest.Version)
	req.Header.Set("Content-Type", "application/json")
	answer, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	if _, err := io.Copy(io.Discard, answer.Body); err != nil {
		t.Fatal(err)
	}
	return answer.StatusCode, answer.Header
}

// TestOwnIssuer gets tokens from the node's own issuer with the openid-client package,
// which finds it by its metadata, and has them verified by jose with its published keys.
func TestOwnIssuer(t *testing.T) {
	needPackages(t)
	n := builder.Start(t)
	key := call(t, n, "POST", "/wharf/v1/keys", map[string]any{"name": "robot", "scopes": []string{"sessions:read", "tasks:read"}})
	id, secret := key["id"].(string), key["key"].(string)
	var token string
	for _, method := range []string{"basic", "post"} {
		got := grant(t, n.URL, "oauth2", method, id, secret, "sessions:read", n.URL)
		token = got.Answer.AccessToken
		if got.Answer.Scope != "sessions:read" || got.Header.Alg != "ES256" || got.Claims["client_id"] != id {
			t.Errorf("%s: %+v", method, got)
		}
		if status, _ := as(t, n, token, "GET", "/v1/sessions", nil); status != 200 {
			t.Errorf("%s: with the token, sessions answer %d", method, status)
		}
		if status, _ := as(t, n, token, "GET", "/v1/tasks", nil); status != 403 {
			t.Errorf("%s: without the scope, tasks answer %d", method, status)
		}
		if got := grant(t, n.URL, "oauth2", method, id, secret[1:], "", n.URL); got.Refused != "invalid_client" || got.Status != 401 {
			t.Errorf("%s: a wrong secret: %+v", method, got)
		}
		if got := grant(t, n.URL, "oauth2", method, id, secret, "tasks:write", n.URL); got.Refused != "invalid_scope" || got.Status != 400 {
			t.Errorf("%s: a scope that the key lacks: %+v", method, got)
		}
	}
	n.Kill(t)
	n.Run(t)
	if status, _ := as(t, n, token, "GET", "/v1/sessions", nil); status != 200 {
		t.Errorf("after a restart, the token answers %d", status)
	}
	call(t, n, "DELETE", "/wharf/v1/keys/"+id, nil)
	if status, _ := as(t, n, token, "GET", "/v1/sessions", nil); status != 401 {
		t.Errorf("the token of a revoked key answers %d", status)
	}
}

// provider is an OpenID provider in a process of its own, on an address that it keeps.
type provider struct {
	url, port string
	stop      func()
}

// What tokens are for: the node, the node and not for long, and somebody else.
const (
	forNode  = "https://wharf.test"
	forShort = "https://wharf.test/short"
	forOther = "https://other.test"
)

func newProvider(t *testing.T) *provider {
	t.Helper()
	_, port, _ := net.SplitHostPort(loopback.Free(t))
	return &provider{url: "http://127.0.0.1:" + port, port: port}
}

// start starts the process, which has other keys than the one before.
func (p *provider) start(t *testing.T, algorithm string) {
	t.Helper()
	lifetimes := fmt.Sprintf(`{"%s":3600,"%s":1,"%s":3600}`, forNode, forShort, forOther)
	cmd := exec.CommandContext(t.Context(), "node", "issuer.mjs", p.port, algorithm, "sessions:read sessions:write node:admin", lifetimes)
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(stdout)
	for lines.Scan() && lines.Text() != p.url {
	}
	drained := make(chan struct{})
	go func() {
		defer close(drained)
		_, _ = io.Copy(io.Discard, stdout) // what it warns of
	}()
	stopped := false
	p.stop = func() {
		if stopped {
			return
		}
		stopped = true
		_ = stdin.Close()
		<-drained
		_ = cmd.Wait()
	}
	t.Cleanup(p.stop)
}

// token gets a token for an audience.
func (p *provider) token(t *testing.T, scope, audience string) string {
	t.Helper()
	got := grant(t, p.url, "oidc", "basic", "robot", "a-secret-of-the-robot", scope, audience)
	if got.Refused != "" {
		t.Fatalf("the provider refuses: %s", got.Refused)
	}
	return got.Answer.AccessToken
}

// trusting starts a node that takes the provider's tokens.
func (p *provider) trusting(t *testing.T) *nodetest.Node {
	t.Helper()
	config := save(t, filepath.Join(t.TempDir(), "wharf.yaml"), []byte(fmt.Sprintf(`
oauth:
  issuers:
    corp:
      issuer: %s
      audience: [%s, %s]
      leeway: 1ms
      scopes: [sessions:read, sessions:write]
`, p.url, forNode, forShort)))
	return builder.StartWith(t, nodetest.Options{Args: []string{"--config", config}})
}

// TestOutsideIssuer has callers come with the tokens of the oidc-provider package.
func TestOutsideIssuer(t *testing.T) {
	needPackages(t)
	p := newProvider(t)
	p.start(t, "ES256")
	n := p.trusting(t)
	want := func(what, token, method, path string, status int) http.Header {
		t.Helper()
		got, header := as(t, n, token, method, path, map[string]any{"workspace_id": workspace(t, n)})
		if got != status {
			t.Errorf("%s: %s %s answers %d, want %d", what, method, path, got, status)
		}
		return header
	}
	reads := p.token(t, "sessions:read", forNode)
	want("a reader", reads, "GET", "/v1/sessions", 200)
	want("a reader", reads, "POST", "/v1/sessions", 403)
	want("a reader", reads, "GET", "/v1/tasks", 403)
	all := p.token(t, "sessions:read sessions:write node:admin", forNode)
	want("a writer", all, "POST", "/v1/sessions", 201)
	want("a scope that the issuer cannot give here", all, "GET", "/wharf/v1/keys", 403)
	if events := list(t, n, "/v1/events"); events[len(events)-1]["actor"] != "corp:robot" {
		t.Errorf("the last event is by %v", events[len(events)-1]["actor"])
	}
	want("a token for somebody else", p.token(t, "sessions:read", forOther), "GET", "/v1/sessions", 401)
	want("a changed token", strings.Replace(reads, ".", ".e", 1), "GET", "/v1/sessions", 401)

	short := p.token(t, "sessions:read", forShort)
	wait(t, "a token to expire", func() bool {
		status, header := as(t, n, short, "GET", "/v1/sessions", nil)
		if status == 401 && !strings.Contains(header.Get("WWW-Authenticate"), `error="invalid_token"`) {
			t.Errorf("the challenge to an expired token is %s", header.Get("WWW-Authenticate"))
		}
		return status == 401
	})
	want("a token that has not expired", reads, "GET", "/v1/sessions", 200)
	p.rotate(t, n, reads)
}

// rotate stops the provider, and starts it with other keys; old is a token of the keys
// it has.
func (p *provider) rotate(t *testing.T, n *nodetest.Node, old string) {
	status := func(token string) int {
		t.Helper()
		got, _ := as(t, n, token, "GET", "/v1/sessions", nil)
		return got
	}
	unseen := p.token(t, "sessions:read", forNode)
	p.stop()
	if got := status(unseen); got != 200 {
		t.Errorf("while the provider is down, a token that was not seen before answers %d", got)
	}
	p.start(t, "RS256")
	next := p.token(t, "sessions:read", forNode)
	wait(t, "the new keys to be taken", func() bool { return status(next) == 200 })
	if got := status(old); got != 401 {
		t.Errorf("a token of keys that are gone answers %d", got)
	}
	p.stop()
	n.Kill(t)
	n.Run(t)
	got, header := as(t, n, next, "GET", "/v1/sessions", nil)
	if got != 503 || header.Get("Retry-After") == "" {
		t.Errorf("when the keys cannot be known, a token answers %d, Retry-After %q", got, header.Get("Retry-After"))
	}
	p.start(t, "EdDSA")
	last := p.token(t, "sessions:read", forNode)
	wait(t, "the provider to be found again", func() bool { return status(last) == 200 })
}

// workspace returns the id of the node's first Workspace.
func workspace(t *testing.T, n *nodetest.Node) string {
	t.Helper()
	return list(t, n, "/v1/workspaces")[0]["id"].(string)
}
