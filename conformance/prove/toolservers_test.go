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

// TestAddedToolServers adds a server of tools to a node that runs, has a Task call its tool, kills
// the node, and calls it again: the server's secret reaches it alone. A replay calls nothing.
func TestAddedToolServers(t *testing.T) {
	const secret = "canary-of-a-tool-server"
	var calls, bare atomic.Int64
	tools := mcp.NewServer(&mcp.Implementation{Name: "test", Version: "1"}, nil)
	mcp.AddTool(tools, &mcp.Tool{Name: "note"}, func(context.Context, *mcp.CallToolRequest, struct{}) (*mcp.CallToolResult, any, error) {
		calls.Add(1)
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "noted, with " + secret}}}, nil, nil
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
	persona := c.persona(t, "act_auto", object{"tools": []string{"desk:note"}})
	var task string
	for life := range 2 {
		task = c.submit(t, c.session(t), persona, program(step("tool.call", `{"server":"desk","name":"note"}`)))
		if ended := c.settled(t, task); text(ended, "status") != "COMPLETED" || int(calls.Load()) != life+1 {
			t.Fatalf("%v after %d calls: %v", ended["status"], calls.Load(), ended["failure"])
		}
		node.Kill(t)
		node.Run(t)
	}
	c.replayed(t, task, nil)
	if calls.Load() != 2 || bare.Load() != 0 {
		t.Errorf("%d calls, %d requests without the secret", calls.Load(), bare.Load())
	}
	for _, path := range []string{"/wharf/v1/tool-servers/" + id, "/wharf/v1/tool-servers", "/v1/events?limit=200", "/v1/tasks/" + task + "/events", "/wharf/v1/tasks/" + task + "/record"} {
		if a := c.ask(t, http.MethodGet, path, nil); a.status != http.StatusOK || strings.Contains(string(a.body), secret) {
			t.Errorf("%s: %d %s", path, a.status, a.body)
		}
	}
}
