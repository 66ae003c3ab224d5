package prove_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/wharf-dev/wharf/conformance/internal/nodetest"
)

// TestAddedToolServers adds a server of tools to a node that runs, has a Task call its tool and read its
// resource and its prompt, kills the node, and does so again: the server's secret reaches it alone. A
// replay calls nothing. People read the same, and none of it is in the log.
func TestAddedToolServers(t *testing.T) {
	const secret = "canary-of-a-tool-server"
	var calls, reads, bare atomic.Int64
	tools := mcp.NewServer(&mcp.Implementation{Name: "test", Version: "1"}, nil)
	mcp.AddTool(tools, &mcp.Tool{Name: "note"}, func(context.Context, *mcp.CallToolRequest, struct{}) (*mcp.CallToolResult, any, error) {
		calls.Add(1)
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "noted, with " + secret}}}, nil, nil
	})
	tools.AddResource(&mcp.Resource{Name: "menu", URI: "desk://menu", MIMEType: "text/plain"}, func(context.Context, *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
		reads.Add(1)
		return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{{URI: "desk://menu", Text: "soup, with " + secret}}}, nil
	})
	tools.AddResourceTemplate(&mcp.ResourceTemplate{Name: "days", URITemplate: "desk://menu/{day}"}, func(context.Context, *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
		return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{{URI: "desk://menu/monday", Blob: []byte{0, 1}}}}, nil
	})
	tools.AddPrompt(&mcp.Prompt{Name: "greet", Arguments: []*mcp.PromptArgument{{Name: "who", Required: true}}}, func(_ context.Context, r *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
		reads.Add(1)
		return &mcp.GetPromptResult{Messages: []*mcp.PromptMessage{{Role: "user", Content: &mcp.TextContent{Text: "Hello " + r.Params.Arguments["who"]}}}}, nil
	})
	inner := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return tools }, nil)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("X-Key") != secret {
			bare.Add(1)
		}
		inner.ServeHTTP(w, r)
	}))
	defer server.Close()
	defer server.CloseClientConnections()
	defer server.Listener.Close() // the node connects again by itself

	node := builder.StartWith(t, nodetest.Options{Args: append(withPlugins(t), "--set", "tool_servers.private=true")})
	c := newClient(node)
	id := text(c.post(t, "/wharf/v1/tool-servers", object{"name": "desk", "url": server.URL, "headers": object{"X-Key": secret}}), "id")
	listed := false
	for _, tool := range c.all(t, "/v1/tools") {
		listed = listed || text(tool, "id") == "desk:note"
	}
	if !listed || text(c.get(t, "/v1/tools/desk:note"), "source") != "mcp" {
		t.Error("the tool is not listed")
	}
	persona := c.persona(t, "act_auto", object{"tools": []string{"desk:*"}})
	var task string
	for life := range 2 {
		task = c.submit(t, c.session(t), persona, program(step("tool.call", `{"server":"desk","name":"note"}`),
			step("resource.list", `{"server":"desk"}`), step("resource.read", `{"server":"desk","uri":"desk://menu"}`),
			step("prompt.get", `{"server":"desk","name":"greet","arguments":{"who":"Ada"}}`)))
		if ended := c.settled(t, task); text(ended, "status") != "COMPLETED" || int(calls.Load()) != life+1 || int(reads.Load()) != 2*(life+1) {
			t.Fatalf("%v after %d calls and %d reads: %v", ended["status"], calls.Load(), reads.Load(), ended["failure"])
		}
		node.Kill(t)
		node.Run(t)
	}
	c.replayed(t, task, nil)
	if calls.Load() != 2 || reads.Load() != 4 || bare.Load() != 0 {
		t.Errorf("%d calls, %d reads, %d requests without the secret", calls.Load(), reads.Load(), bare.Load())
	}
	events := len(c.all(t, "/v1/events"))
	at := "/wharf/v1/tool-servers/" + id
	for _, look := range []struct {
		method, path string
		body         any
		status       int
		want         string
	}{
		{http.MethodGet, at + "/tools", nil, 200, `"name":"note"`},
		{http.MethodGet, at + "/resources", nil, 200, `"uri":"desk://menu"`},
		{http.MethodGet, at + "/resource-templates", nil, 200, `"uri_template":"desk://menu/{day}"`},
		{http.MethodGet, at + "/prompts", nil, 200, `"name":"who"`},
		{http.MethodPost, at + "/resources/read", object{"uri": "desk://menu"}, 200, `"text":"soup, with {{secret:X-Key}}"`},
		{http.MethodPost, at + "/resources/read", object{"uri": "desk://menu/monday"}, 200, `"data":"AAE="`},
		{http.MethodPost, at + "/prompts/get", object{"name": "greet", "arguments": object{"who": "Bo"}}, 200, `"text":"Hello Bo"`},
		{http.MethodPost, at + "/resources/read", object{"uri": "elsewhere://"}, 400, "not found"},
		{http.MethodPost, at + "/resources/read", object{}, 400, "uri"},
		{http.MethodPost, at + "/prompts/get", object{"name": "none"}, 400, "none"},
		{http.MethodGet, "/wharf/v1/tool-servers/tsrv_none/resources", nil, 404, "tsrv_none"},
	} {
		if a, err := c.try(t.Context(), look.method, look.path, look.body); err != nil {
			t.Error(err)
		} else if a.status != look.status || !strings.Contains(string(a.body), look.want) || strings.Contains(string(a.body), secret) {
			t.Errorf("%s %s is answered %d %s, want %d and %s", look.method, look.path, a.status, a.body, look.status, look.want)
		}
	}
	if now := len(c.all(t, "/v1/events")); now != events {
		t.Errorf("looking has written %d events", now-events)
	}
	for _, path := range []string{"/wharf/v1/tool-servers/" + id, "/wharf/v1/tool-servers", "/v1/events?limit=200", "/v1/tasks/" + task + "/events", "/wharf/v1/tasks/" + task + "/record"} {
		if a := c.ask(t, http.MethodGet, path, nil); a.status != http.StatusOK || strings.Contains(string(a.body), secret) {
			t.Errorf("%s: %d %s", path, a.status, a.body)
		}
	}
}
