package openharness_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/desk"
	"github.com/wharf-dev/wharf/runtime/engine"
	"github.com/wharf-dev/wharf/runtime/enginetest"
	"github.com/wharf-dev/wharf/runtime/harnesses"
	"github.com/wharf-dev/wharf/runtime/provider"
	"github.com/wharf-dev/wharf/runtime/provider/tool"
	"github.com/wharf-dev/wharf/runtime/sandbox"
)

// canary is the key of the other server.
const canary = "canary-4711-key"

// other is a server of the protocol that knows one harness and one key.
func other(t testing.TB) (url string, runs *atomic.Int32) {
	t.Helper()
	runs = new(atomic.Int32)
	polls := 0
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if r.Header.Get("Authorization") != "Bearer "+canary {
			w.WriteHeader(401)
			return
		}
		switch r.Method + " " + strings.TrimPrefix(r.URL.Path, "/v1/harnesses/there") {
		case "GET ":
			_, _ = w.Write([]byte(`{"harness":{}}`))
		case "POST /execute":
			if runs.Add(1); r.Header.Get("Idempotency-Key") == "" {
				t.Error("an execution is begun without an Idempotency-Key")
			}
			w.WriteHeader(202)
			_, _ = w.Write([]byte(`{"execution_id":"exec_1","status":"pending"}`))
		case "GET /executions/exec_1":
			if polls++; polls < 3 {
				_, _ = w.Write([]byte(`{"execution":{"status":"running"}}`))
				return
			}
			_, _ = w.Write([]byte(`{"execution":{"status":"completed"}}`))
		case "GET /executions/exec_1/result":
			_, _ = w.Write([]byte(`{"result":{"output":"done there"}}`))
		default:
			w.WriteHeader(404)
		}
	}))
	t.Cleanup(s.Close)
	return s.URL, runs
}

// hosting is a node whose plugin agent asks the server of a hosted harness, as the bundled one
// does.
func hosting(t testing.TB) *node {
	t.Helper()
	remote := harnesses.NewRemote(true)
	tools := tool.New(tool.Config{Servers: map[string]tool.Server{harnesses.ServerRemote: remote}, Grants: map[string][]string{"agent": {"remote:*"}}})
	return newNode(t, enginetest.Guests{"agent": func(ctx context.Context, h sandbox.Host) error {
		for _, request := range []string{`{"server":"remote","name":"run","arguments":{"message":"hi"}}`,
			`{"server":"remote","name":"wait","arguments":{"execution_id":"exec_1"}}`, `{"server":"remote","name":"result","arguments":{"execution_id":"exec_1"}}`} {
			if err := call(ctx, h, abi.CallToolCall, request); err != nil {
				return err
			}
		}
		return call(ctx, h, abi.CallOutput, `{"summary":"done there"}`)
	}}, func(c *engine.Config, p *engine.Parts) {
		c.Harnesses.Private, p.RemoteHarnesses = true, remote
		p.Performers = map[string]provider.Performer{abi.CallToolCall: tools, abi.CallToolList: tools}
	})
}

// A hosted harness runs on its server: its executions are Tasks here, and its key is shown to nobody.
func TestHostedHarness(t *testing.T) {
	url, runs := other(t)
	n := hosting(t)
	made := n.do(t, "POST", "", `{"id":"far","name":"Far","vendor":"v","description":"d","execution_type":"hosted","config":{"base_url":"`+url+`/v1/harnesses/there"}}`).want(201)
	if strings.Contains(string(made.body), url) {
		t.Errorf("where it runs is told: %s", made.body)
	}
	if got := n.do(t, "GET", "/far/capabilities", nil).want(200); got.get("capabilities.execution.supported") != true || got.get("capabilities.agents.supported") != false {
		t.Errorf("%s", got.body)
	}
	n.do(t, "POST", "/far/validate-credentials", `{"api_key":"wrong-key"}`).want(200)
	for body, want := range map[string][2]bool{
		`{"api_key":"wrong-key","store":true}`:                                              {false, false},
		`{"api_key":"` + canary + `"}`:                                                      {true, false},
		`{"api_key":"` + canary + `","base_url":"` + url + `/v1/harnesses/nowhere"}`:        {false, false},
		`{"api_key":"` + canary + `","base_url":"http://127.0.0.1:1/"}`:                     {false, false},
		`{"api_key":"` + canary + `","base_url":"` + url + `/v1/harnesses/there"}`:          {true, false},
		`{"api_key":"` + canary + `","store":true}`:                                         {true, true},
		`{"api_key":"` + canary + `","store":true,"base_url":"` + url + `/v1/harnesses/x"}`: {false, false},
	} {
		if got := n.do(t, "POST", "/far/validate-credentials", body).want(200); got.get("valid") != want[0] || got.get("stored") != want[1] || want[0] == (got.get("error") != nil) {
			t.Errorf("%s: %s", body, got.body)
		}
	}
	h, err := n.Harness(t.Context(), n.Root, "far")
	if err != nil {
		t.Fatal(err)
	}
	task := n.Wait(t, n.Submit(t, n.sessionIn(t, h.WorkspaceID), h.PersonaID))
	if task.Status != abi.TaskCompleted || runs.Load() != 1 {
		t.Errorf("it ended as %s after %d runs", task.Status, runs.Load())
	}
	elsewhere := n.Wait(t, n.Submit(t, n.Session(t), "persona_agent"))
	if elsewhere.Status != abi.TaskFailed || runs.Load() != 1 {
		t.Error("a task of another workspace has asked the server of the harness")
	}
	events, _, err := n.Events(t.Context(), n.Root, desk.Filter{}, 0, 10_000)
	if err != nil {
		t.Fatal(err)
	}
	for _, ev := range events {
		if rec := ev.Record(); strings.Contains(string(rec.State)+string(rec.Payload), canary) {
			t.Errorf("the log has the key in %s", rec.Kind)
		}
	}
	if strings.Contains(n.log.String(), canary) {
		t.Error("the node's log has the key")
	}
	if _, err := n.CloseSession(t.Context(), n.Root, nil, task.SessionID); err != nil {
		t.Fatal(err)
	}
	n.do(t, "DELETE", "/far", nil).want(204)
}

// Of a harness that runs here a key is one of the node.
func TestKeysOfTheNode(t *testing.T) {
	n := newNode(t, nil)
	n.do(t, "POST", "", register).want(201)
	h, err := n.Harness(t.Context(), n.Root, "mine")
	if err != nil {
		t.Fatal(err)
	}
	for key, want := range map[string]bool{
		n.key(t, []string{"tasks:read"}):               true,
		n.key(t, []string{"tasks:read"}, "ws_default"): false,
		n.key(t, []string{"*"}, h.WorkspaceID):         true,
		n.stranger(t):                                  false,
		"nonsense":                                     false,
	} {
		if got := n.do(t, "POST", "/mine/validate-credentials", map[string]string{"api_key": key}).want(200); got.get("valid") != want || got.get("stored") != false {
			t.Errorf("%s", got.body)
		}
	}
	for _, bad := range []string{`{}`, `{"api_key":"a b"}`, `{"api_key":"é"}`, `{"api_key":"k","base_url":"ftp://x"}`, `{"api_key":"k","base_url":"http://127.0.0.1/"}`} {
		n.do(t, "POST", "/mine/validate-credentials", bad).fails(400, "VALIDATION_ERROR")
	}
	n.do(t, "POST", "/mine/validate-credentials", `{"api_key":"k"}`, by(n.key(t, []string{"harnesses:read"}))).fails(403, "FORBIDDEN")
	n.do(t, "POST", "", `{"id":"far","name":"Far","vendor":"v","description":"d","execution_type":"hosted"}`).fails(400, "VALIDATION_ERROR")
	n.do(t, "POST", "", `{"id":"far","name":"Far","vendor":"v","description":"d","execution_type":"hosted","config":{"base_url":"http://10.0.0.1/"}}`).fails(400, "VALIDATION_ERROR")
}
