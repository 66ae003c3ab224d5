package mcp_test

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/enginetest"
)

// A request that is answered without the SDK has the answer that the SDK gives.
func TestPlainRequestsAreAnsweredAsTheSDKDoes(t *testing.T) {
	n := newNode(t, nil)
	n.skill(t, "echo", abi.CreateSkillRequest{Name: "greet", InputSchema: []byte(`{"type":"object","properties":{"who":{"type":"string"}}}`)})
	n.skill(t, "echo", abi.CreateSkillRequest{Name: "needs", Metadata: []byte(`{"mcp":{"requires":["sampling"]}}`)})
	n.skill(t, "echo", abi.CreateSkillRequest{Name: "later", Metadata: []byte(`{"mcp":{"task_support":"required"}}`)})
	reader := n.key(t, []string{"skills:read"})
	const client = `"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{"elicitation":{}},"io.modelcontextprotocol/clientInfo":{"name":"hand","version":"1"}`
	for what, of := range map[string]struct{ key, method, name, params, query string }{
		"the list":                      {enginetest.RootKey, "tools/list", "", ``, ""},
		"a cursor of no list":           {enginetest.RootKey, "tools/list", "", `"cursor":"!",`, ""},
		"a call":                        {enginetest.RootKey, "tools/call", "greet", `"name":"greet","arguments":{"who":"you"},`, ""},
		"arguments that do not fit":     {enginetest.RootKey, "tools/call", "greet", `"name":"greet","arguments":{"who":1},`, ""},
		"arguments that are no object":  {enginetest.RootKey, "tools/call", "greet", `"name":"greet","arguments":[],`, ""},
		"an unknown tool":               {enginetest.RootKey, "tools/call", "nobody", `"name":"nobody",`, ""},
		"what the client cannot":        {enginetest.RootKey, "tools/call", "needs", `"name":"needs",`, ""},
		"what only a task can":          {enginetest.RootKey, "tools/call", "later", `"name":"later",`, ""},
		"a caller who may not":          {reader, "tools/call", "greet", `"name":"greet",`, ""},
		"a workspace that is not there": {reader, "tools/list", "", ``, "?workspace=ws_01JAAAAAAAAAAAAAAAAAAAAAAA"},
		"the header of another tool":    {enginetest.RootKey, "tools/call", "greet", `"name":"needs",`, ""},
	} {
		ask := func(more string) (status int, answer string) {
			body := `{"jsonrpc":"2.0","id":"one","method":"` + of.method + `","params":{` + of.params + `"_meta":{` + client + more + `}}}`
			header := map[string]string{"Mcp-Protocol-Version": stateless, "Mcp-Method": of.method}
			if of.name != "" {
				header["Mcp-Name"] = of.name
			}
			got := n.sendTo(t, t.Context(), http.MethodPost, "/mcp"+of.query, of.key, body, header)
			text, err := io.ReadAll(got.Body)
			if err != nil {
				t.Fatal(what, err)
			}
			return got.StatusCode, answerIn(t, string(text))
		}
		status, answer := ask("")
		wantStatus, want := ask(`,"progressToken":7`) // which only the SDK sees to
		if status != wantStatus || answer != want {
			t.Errorf("%s: %d %s\nthe SDK answers %d %s", what, status, answer, wantStatus, want)
		}
		if status == http.StatusOK && !strings.Contains(answer, `"one"`) {
			t.Errorf("%s: %s", what, answer)
		}
	}
}

// answerIn returns the last message of an answer, without what differs between two calls.
func answerIn(t *testing.T, body string) string {
	t.Helper()
	if i := strings.LastIndex(body, "data: "); i >= 0 {
		body = body[i+len("data: "):]
	}
	var m map[string]any
	if err := json.Unmarshal([]byte(body), &m); err != nil {
		t.Fatalf("%s: %v", body, err)
	}
	if res, is := m["result"].(map[string]any); is {
		if meta, is := res["_meta"].(map[string]any); is {
			delete(meta, "wharf.dev/taskId")
			delete(meta, "wharf.dev/receiptId")
		}
	}
	text, err := json.Marshal(m, json.Deterministic(true))
	if err != nil {
		t.Fatal(err)
	}
	canonical := jsontext.Value(text)
	if err := canonical.Canonicalize(); err != nil {
		t.Fatal(err)
	}
	return string(canonical)
}
