package openharness_test

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/pem"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/engine"
	"github.com/wharf-dev/wharf/runtime/enginetest"
	"github.com/wharf-dev/wharf/runtime/provider"
	"github.com/wharf-dev/wharf/runtime/sandbox"
)

// TestMain has the process trust the certificate of the tests' receivers.
func TestMain(m *testing.M) {
	server := httptest.NewUnstartedServer(nil)
	server.StartTLS()
	authority := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	server.Close()
	dir, err := os.MkdirTemp("", "openharness")
	if err == nil {
		file := filepath.Join(dir, "roots.pem")
		if err = os.WriteFile(file, authority, 0o600); err == nil {
			err = os.Setenv("SSL_CERT_FILE", file)
		}
	}
	if err != nil {
		panic(err)
	}
	code := m.Run()
	_ = os.RemoveAll(dir)
	os.Exit(code)
}

// received is a delivery as its receiver got it.
type received struct {
	header http.Header
	body   []byte
}

// receiver takes deliveries over TLS.
func receiver(t testing.TB) (url string, got chan received) {
	t.Helper()
	got = make(chan received, 100)
	s := httptest.NewTLSServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		got <- received{r.Header, body}
	}))
	t.Cleanup(s.Close)
	return s.URL, got
}

func next(t testing.TB, got chan received) received {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	select {
	case r := <-got:
		return r
	case <-ctx.Done():
		t.Fatal("nothing has come")
		return received{}
	}
}

// makes appends an artifact, and says what it has used.
func makes(ctx context.Context, h sandbox.Host) error {
	if err := call(ctx, h, abi.CallArtifactPut, "{\"kind\":\"file\",\"mime_type\":\"text/plain\",\"name\":\"a.txt\"}\nhello"); err != nil {
		return err
	}
	if err := call(ctx, h, abi.CallLLMComplete, `{"messages":[{"role":"user","text":"?"}]}`); err != nil {
		return err
	}
	return call(ctx, h, abi.CallOutput, `{"summary":"made"}`)
}

// thinking gives a node a model.
func thinking(_ *engine.Config, p *engine.Parts) {
	p.Performers = map[string]provider.Performer{abi.CallLLMComplete: thinker{}}
}

// thinker is a model that has little to say.
type thinker struct{}

func (thinker) Prepare(_ context.Context, c *provider.Call) (provider.Plan, error) {
	return provider.Plan{Effect: abi.EffectRead, Do: func(context.Context, func(string)) ([]byte, error) {
		c.Thinks("let me see")
		return []byte(`{"provider":"acme","model":"m","stop_reason":"end","text":"hm","usage":{"input_tokens":3,"output_tokens":4}}`), nil
	}}, nil
}

func breaks(ctx context.Context, h sandbox.Host) error {
	return call(ctx, h, abi.CallOutput, `{"summary":"x","failure":{"code":"it_broke","message":"it is broken"}}`)
}

// A receiver is told of the end of an execution with what it made and used, signed in both ways.
func TestWebhooks(t *testing.T) {
	url, got := receiver(t)
	n := newNode(t, enginetest.Guests{"agent": makes, "breaks": breaks}, thinking)
	made := n.do(t, "POST", "/wharf/webhooks", map[string]any{"url": url, "events": []string{"execution.completed", "session.created"}}).want(201)
	secret := made.text("webhook.secret")
	h, err := n.Harness(t.Context(), n.Root, "wharf")
	if err != nil {
		t.Fatal(err)
	}
	session := n.sessionIn(t, h.WorkspaceID)
	if r := next(t, got); r.header.Get("X-OpenHarness-Event") != "session.created" || !strings.Contains(string(r.body), `"session_id":"`+session) {
		t.Errorf("%s", r.body)
	}
	task := n.Submit(t, session, h.PersonaID)
	r := next(t, got)
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write(r.body)
	if want := "sha256=" + hex.EncodeToString(mac.Sum(nil)); r.header.Get("X-OpenHarness-Signature") != want {
		t.Errorf("the signature is %q", r.header.Get("X-OpenHarness-Signature"))
	}
	if r.header.Get("webhook-signature") == "" || r.header.Get("X-OpenHarness-Delivery") == "" || r.header.Get("X-OpenHarness-Delivery") != r.header.Get("webhook-id") {
		t.Errorf("%v", r.header)
	}
	body := answer{t: t, body: r.body}
	if body.text("execution_id") != task || body.text("harness_id") != "wharf" || body.text("status") != "completed" || body.text("event") != "execution.completed" ||
		body.get("usage.total_tokens") != 7.0 || body.text("artifacts.0.name") != "a.txt" || body.get("artifacts.0.size_bytes") != 5.0 {
		t.Errorf("%s", r.body)
	}
	schema.fits(t, "ExecutionCompletedWebhook", append(r.body[:len(r.body)-1:len(r.body)-1], `,"signature":"in the header"}`...))
	n.Submit(t, session, "persona_breaks")
	failed := answer{t: t, body: next(t, got).body}
	if failed.text("status") != "failed" || failed.text("error.code") != "it_broke" {
		t.Errorf("%s", failed.body)
	}
	if list := n.do(t, "GET", "/wharf/webhooks", nil).want(200); list.text("webhooks.0.url") != url || strings.Contains(string(list.body), secret) ||
		!strings.HasSuffix(secret, strings.TrimPrefix(list.text("webhooks.0.secret"), "whsec_…")) {
		t.Errorf("%s", list.body)
	}
	n.do(t, "DELETE", "/wharf/webhooks/"+made.text("webhook.id"), nil).want(204)
	if list := n.do(t, "GET", "/wharf/webhooks", nil).want(200); list.get("webhooks.0") != nil {
		t.Errorf("%s", list.body)
	}
}

// Somebody who wants errors is told of failures alone.
func TestWebhookOfErrors(t *testing.T) {
	url, got := receiver(t)
	n := newNode(t, enginetest.Guests{"breaks": breaks})
	n.do(t, "POST", "/wharf/webhooks", map[string]any{"url": url, "events": []string{"error"}}).want(201)
	session := n.Session(t)
	n.Wait(t, n.Submit(t, session, "persona_agent"))
	n.Submit(t, session, "persona_breaks")
	if r := next(t, got); r.header.Get("X-OpenHarness-Event") != "error" || (answer{t: t, body: r.body}).text("error.code") != "it_broke" {
		t.Errorf("%s", r.body)
	}
}

func TestBadWebhooks(t *testing.T) {
	n := newNode(t, nil)
	for name, body := range map[string]string{
		"http":        `{"url":"http://receiver.example/","events":["execution.completed"]}`,
		"no url":      `{"events":["execution.completed"]}`,
		"no events":   `{"url":"https://receiver.example/"}`,
		"other event": `{"url":"https://receiver.example/","events":["task.completed"]}`,
		"short":       `{"url":"https://receiver.example/","events":["execution.*"],"secret":"x"}`,
		"password":    `{"url":"https://me:pass@receiver.example/","events":["execution.*"]}`,
	} {
		if message := n.do(t, "POST", "/wharf/webhooks", body).fails(400, "VALIDATION_ERROR"); strings.Contains(message, "pass") && name != "password" {
			t.Errorf("%s: %s", name, message)
		}
	}
}

// A webhook is that of its harness, and of nobody else.
func TestWhoseWebhooks(t *testing.T) {
	n := newNode(t, nil)
	n.do(t, "POST", "", register).want(201)
	made := n.do(t, "POST", "/mine/webhooks", `{"url":"https://receiver.example/secret-path","events":["execution.*"]}`).want(201)
	id := made.text("webhook.id")
	h, err := n.Harness(t.Context(), n.Root, "mine")
	if err != nil {
		t.Fatal(err)
	}
	reads := n.key(t, []string{"webhooks:read"})
	if list := n.do(t, "GET", "/mine/webhooks", nil, by(reads)).want(200); strings.Contains(string(list.body), "secret-path") {
		t.Errorf("a key that may not write webhooks sees where deliveries go: %s", list.body)
	}
	if list := n.do(t, "GET", "/wharf/webhooks", nil).want(200); list.get("webhooks.0") != nil {
		t.Errorf("%s", list.body)
	}
	n.do(t, "DELETE", "/wharf/webhooks/"+id, nil).fails(404, "NOT_FOUND")
	n.do(t, "DELETE", "/mine/webhooks/"+id, nil, by(reads)).fails(403, "FORBIDDEN")
	n.do(t, "POST", "/mine/webhooks", `{}`, by(reads)).fails(403, "FORBIDDEN")
	n.do(t, "GET", "/mine/webhooks", nil, by("")).fails(401, "UNAUTHORIZED")
	n.do(t, "GET", "/mine/webhooks", nil, by(n.stranger(t))).fails(404, "NOT_FOUND")
	n.do(t, "DELETE", "/mine/webhooks/"+id, nil, by(n.key(t, []string{"*"}, "ws_default"))).fails(404, "NOT_FOUND")
	n.do(t, "DELETE", "/mine/webhooks/"+id, nil, by(n.key(t, []string{"*"}, h.WorkspaceID))).want(204)
}
