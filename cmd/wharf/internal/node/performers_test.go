package node

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/cmd/wharf/internal/config"
	"github.com/wharf-dev/wharf/runtime/harnesses"
	"github.com/wharf-dev/wharf/runtime/provider"
	"github.com/wharf-dev/wharf/runtime/provider/agent"
)

// configured reads a configuration file of the given content.
func configured(t *testing.T, content string) *config.Config {
	t.Helper()
	file := filepath.Join(t.TempDir(), "wharf.yaml")
	put(t, filepath.Dir(file), "wharf.yaml", []byte(content))
	eff, err := config.Load(config.Sources{File: file})
	if err != nil {
		t.Fatal(err)
	}
	return &eff.Config
}

// perform makes a host call as the engine does, and returns what the plugin reads.
func perform(t *testing.T, calls map[string]provider.Performer, plugin, call, request string) string {
	t.Helper()
	plan, err := calls[call].Prepare(t.Context(), &provider.Call{Name: call, Plugin: plugin, TaskID: "task_1", Request: []byte(request)})
	if err != nil {
		return err.Error()
	}
	answer, err := plan.Do(t.Context(), func(string) {})
	if err != nil {
		return err.Error()
	}
	return string(answer)
}

// TestTheConfigurationReachesEveryHostCall drives each call through what the file
// says: for a plugin that was granted something, and for one that was not.
func TestTheConfigurationReachesEveryHostCall(t *testing.T) {
	const value = "the value of a secret"
	t.Setenv("TEST_TOKEN", value)
	var keys []string
	outside := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		keys = append(keys, r.Header.Get("X-Key")+r.Header.Get("Authorization"))
		if r.URL.Path == "/v1/chat/completions" {
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprint(w, `{"id":"1","object":"chat.completion","model":"tiny","choices":[{"index":0,"finish_reason":"stop",
				"message":{"role":"assistant","content":"Ahoy."}}],"usage":{"prompt_tokens":1000000,"completion_tokens":2000000,"total_tokens":3000000}}`)
		}
	}))
	defer outside.Close()
	server := mcp.NewServer(&mcp.Implementation{Name: "test", Version: "1"}, nil)
	server.AddTool(&mcp.Tool{Name: "greet", InputSchema: map[string]any{"type": "object"}},
		func(_ context.Context, _ *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "Hello."}}}, nil
		})
	tools := httptest.NewServer(mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return server }, nil))
	defer tools.Close()
	defer tools.CloseClientConnections()
	c := configured(t, fmt.Sprintf(`
models:
  tiny: {provider: openai, base_url: %[1]s/v1, model: tiny, api_key: {secret: token}}
prices:
  openai/tiny: {input: 1, output: 2}
secrets:
  token: {env: TEST_TOKEN}
tools:
  t: {url: "%[2]s"}
grants:
  p:
    models: ["*"]
    secrets: [token]
    tools: ["t:*"]
    http: [{hosts: "%[3]s", private: true}]
settings:
  p: {color: blue}
`, outside.URL, tools.URL, strings.TrimPrefix(outside.URL, "http://")))
	calls, closer, err := performers(c, nil, newClients(nil), newHosts(nil, slog.Default()), nil, &agent.Agents{}, harnesses.NewRemote(false), newSecrets(c, slog.New(slog.DiscardHandler)), nil, "test", slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := closer.Close(); err != nil {
			t.Error(err)
		}
	}()
	for _, test := range []struct{ call, request, granted, not string }{
		{abi.CallConfigGet, `{"name":"color"}`, `{"value":"blue"}`, `{"value":null}`},
		{abi.CallSecretUse, `{"name":"token"}`, `{"handle":"{{secret:token}}"}`, "grants.q.secrets"},
		{abi.CallHTTPFetch, `{"url":"` + outside.URL + `/x","header":{"X-Key":"{{secret:token}}"}}`, `"status":200`, "grants.q.http"},
		{abi.CallToolList, `{}`, `"name":"greet"`, `{"tools":[]}`},
		{abi.CallToolCall, `{"server":"t","name":"greet"}`, `Hello.`, "grants.q.tools"},
		{abi.CallLLMComplete, `{"messages":[{"role":"user","text":"Hi"}]}`, `Ahoy.`, `"q"`},
		{abi.CallLLMComplete, `{"messages":[{"role":"user","text":"Hi"}]}`, `"cost":5,"currency":"USD"`, `"q"`},
	} {
		if got := perform(t, calls, "p", test.call, test.request); !strings.Contains(got, test.granted) || strings.Contains(got, value) {
			t.Errorf("%s answers %s, want %s", test.call, got, test.granted)
		}
		if got := perform(t, calls, "q", test.call, test.request); !strings.Contains(got, test.not) {
			t.Errorf("%s without a grant answers %s, want %s", test.call, got, test.not)
		}
	}
	if got := strings.Join(keys, "|"); got != value+"|Bearer "+value+"|Bearer "+value {
		t.Errorf("the keys were %s", got)
	}
}

func TestWithoutAConfigurationNothingIsReached(t *testing.T) {
	calls, closer, err := performers(&config.Config{}, nil, newClients(nil), newHosts(nil, slog.Default()), nil, &agent.Agents{}, harnesses.NewRemote(false), newSecrets(&config.Config{}, slog.New(slog.DiscardHandler)), nil, "test", slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	defer closer.Close()
	for call, request := range map[string]string{
		abi.CallSecretUse: `{"name":"x"}`, abi.CallHTTPFetch: `{"url":"https://example.com/"}`,
		abi.CallToolCall: `{"server":"x","name":"y"}`, abi.CallLLMComplete: `{"messages":[{"role":"user","text":"x"}]}`,
	} {
		_, err := calls[call].Prepare(t.Context(), &provider.Call{Name: call, Plugin: "p", Request: []byte(request)})
		if refused, ok := err.(*provider.Refusal); !ok || refused.Status == abi.CallOK || refused.Message == "" {
			t.Errorf("%s: %v", call, err)
		}
	}
}

func TestAScriptThatIsMissingStopsTheStart(t *testing.T) {
	c := configured(t, "models:\n  script: "+filepath.Join(t.TempDir(), "absent.json")+"\n  m: {provider: script}\n")
	c.Listen, c.Data = "127.0.0.1:0", filepath.Join(t.TempDir(), "data")
	_, err := Start(t.Context(), Options{Config: *c, Version: "test", Log: slog.New(slog.DiscardHandler)})
	if start, ok := errors.AsType[*StartError](err); !ok || !errors.Is(err, os.ErrNotExist) || start.Try == "" {
		t.Errorf("got %v", err)
	}
}
