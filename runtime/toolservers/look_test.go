package toolservers_test

import (
	"context"
	"strings"
	"testing"

	json "github.com/go-json-experiment/json"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/desk"
	"github.com/wharf-dev/wharf/runtime/internal/roomtest"
	"github.com/wharf-dev/wharf/runtime/provider/tool"
)

// newSource is a server that has resources and prompts, too, and gives back what it was sent.
func newSource(t testing.TB) *server {
	s := newServer(t)
	read := func(_ context.Context, r *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
		if r.Params.URI == "test:///none" {
			return nil, mcp.ResourceNotFoundError(r.Params.URI)
		}
		return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{{URI: r.Params.URI, Text: "sent " + r.Extra.Header.Get("Authorization")}}}, nil
	}
	s.mcp.AddResource(&mcp.Resource{URI: "test:///a", Name: "a"}, read)
	s.mcp.AddResource(&mcp.Resource{URI: "test:///none", Name: "none"}, read)
	s.mcp.AddResourceTemplate(&mcp.ResourceTemplate{URITemplate: "test:///t/{x}", Name: "t"}, read)
	s.mcp.AddPrompt(&mcp.Prompt{Name: "greet", Description: canary}, func(_ context.Context, r *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
		return &mcp.GetPromptResult{Messages: []*mcp.PromptMessage{{Role: "user", Content: &mcp.TextContent{Text: r.Params.Arguments["who"] + canary}}}}, nil
	})
	return s
}

// looks are the ways to look at a server, with what each is told of the server of newSource.
func (r *room) looks() map[string]func(context.Context, *desk.Caller, string) (any, error) {
	return map[string]func(context.Context, *desk.Caller, string) (any, error){
		"tools": func(ctx context.Context, c *desk.Caller, id string) (any, error) {
			tools, _, err := r.ToolServerTools(ctx, c, id)
			return tools, err
		},
		"resources": func(ctx context.Context, c *desk.Caller, id string) (any, error) {
			return r.ToolServerResources(ctx, c, id)
		},
		"templates": func(ctx context.Context, c *desk.Caller, id string) (any, error) {
			return r.ToolServerTemplates(ctx, c, id)
		},
		"prompts": func(ctx context.Context, c *desk.Caller, id string) (any, error) {
			return r.ToolServerPrompts(ctx, c, id)
		},
		"read": func(ctx context.Context, c *desk.Caller, id string) (any, error) {
			return r.ReadToolServerResource(ctx, c, id, abi.ReadResourceRequest{URI: "test:///a"})
		},
		"get": func(ctx context.Context, c *desk.Caller, id string) (any, error) {
			return r.GetToolServerPrompt(ctx, c, id, abi.GetPromptRequest{Name: "greet", Arguments: map[string]string{"who": "Ada "}})
		},
	}
}

// People see what a server has, without what its headers hold, and nothing of it is recorded. To
// others, and when it is deleted, it is one that does not exist.
func TestLooksAtAServer(t *testing.T) {
	r, s := newRoom(t), newSource(t)
	r.NewWorkspace(t, "ws_other")
	about := r.create(t, abi.CreateToolServerRequest{Name: "docs", URL: s.URL, WorkspaceID: roomtest.Workspace, Headers: map[string]string{"Authorization": "Bearer " + canary}})
	before := r.events(t)
	want := map[string]string{"tools": `"name":"echo"`, "resources": `"uri":"test:///a"`, "templates": `"uri_template":"test:///t/{x}"`,
		"prompts": `"description":"{{secret:Authorization}}"`, "read": `"text":"sent {{secret:Authorization}}"`, "get": `"text":"Ada {{secret:Authorization}}"`}
	for name, look := range r.looks() {
		for who, c := range map[string]*desk.Caller{"root": r.Root(), "a key of the workspace": r.Bound(roomtest.Workspace)} {
			got, err := look(t.Context(), c, about.ID)
			if text := marshal(t, got); err != nil || !strings.Contains(text, want[name]) || strings.Contains(text, canary) {
				t.Errorf("%s is shown the %s %s, %v", who, name, text, err)
			}
		}
		strangers := r.Strangers()
		strangers["a key of another workspace"] = r.Bound("ws_other")
		for who, c := range strangers {
			_, err := look(t.Context(), c, about.ID)
			wantCode(t, err, abi.CodeResourceNotFound)
			_, absent := look(t.Context(), c, "tsrv_none")
			if strings.ReplaceAll(err.Error(), about.ID, "") != strings.ReplaceAll(absent.Error(), "tsrv_none", "") {
				t.Errorf("%s can tell: %v and %v", who, err, absent)
			}
		}
	}
	if after := r.events(t); after != before {
		t.Errorf("%d events before, %d after", before, after)
	}
	for uri, code := range map[string]abi.ErrorCode{"": abi.CodeInvalidRequest, "a\n": abi.CodeInvalidRequest, "test:///none": abi.CodeInvalidRequest} {
		_, err := r.ReadToolServerResource(t.Context(), r.Root(), about.ID, abi.ReadResourceRequest{URI: uri})
		wantCode(t, err, code)
	}
	_, err := r.GetToolServerPrompt(t.Context(), r.Root(), about.ID, abi.GetPromptRequest{})
	wantCode(t, err, abi.CodeInvalidRequest)
	s.CloseClientConnections()
	s.Close()
	_, err = r.ReadToolServerResource(t.Context(), r.Root(), about.ID, abi.ReadResourceRequest{URI: "test:///a"})
	wantCode(t, err, abi.CodeUpstreamUnavailable)
	if err := r.DeleteToolServer(t.Context(), r.Root(), nil, about.ID); err != nil {
		t.Fatal(err)
	}
	for _, look := range r.looks() {
		_, err := look(t.Context(), r.Root(), about.ID)
		wantCode(t, err, abi.CodeResourceNotFound)
	}
}

// A server that does not answer is waited for as long as its own calls may take.
func TestLooksAreBoundedInTime(t *testing.T) {
	r, s := newRoom(t), newSource(t)
	s.mcp.AddPrompt(&mcp.Prompt{Name: "hang"}, func(ctx context.Context, _ *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
		<-ctx.Done()
		return nil, ctx.Err()
	})
	about := r.create(t, abi.CreateToolServerRequest{Name: "docs", URL: s.URL, TimeoutMS: 300})
	_, err := r.GetToolServerPrompt(t.Context(), r.Root(), about.ID, abi.GetPromptRequest{Name: "hang"})
	wantCode(t, err, abi.CodeDeadlineExceeded)
}

// Plugins read of a server that was added what they may call of it.
func TestPluginsReadOfAddedServers(t *testing.T) {
	r, s := newRoom(t), newSource(t)
	r.NewWorkspace(t, "ws_other")
	r.create(t, abi.CreateToolServerRequest{Name: "docs", URL: s.URL, WorkspaceID: roomtest.Workspace, Plugins: []string{"agent"},
		Headers: map[string]string{"Authorization": "Bearer " + canary}})
	for call, request := range map[string]string{abi.CallResourceList: `{"server":"docs"}`, abi.CallResourceRead: `{"server":"docs","uri":"test:///a"}`,
		abi.CallPromptGet: `{"server":"docs","name":"greet"}`} {
		answer, _, err := r.ask(t, roomtest.Workspace, "agent", call, request)
		if err != nil || strings.Contains(answer, canary) || !strings.HasPrefix(answer, "{") {
			t.Errorf("%s: %s, %v", call, answer, err)
		}
		_, _, err = r.ask(t, roomtest.Workspace, "other", call, request)
		wantRefused(t, err, abi.CallDenied, tool.CodeDenied)
		_, _, err = r.ask(t, "ws_other", "agent", call, request)
		wantRefused(t, err, abi.CallDenied, tool.CodeDenied)
	}
}

func (r *room) events(t testing.TB) int {
	t.Helper()
	events, _, err := r.Desk.Events(t.Context(), r.Root(), desk.Filter{}, 0, 1000)
	if err != nil {
		t.Fatal(err)
	}
	return len(events)
}

func marshal(t testing.TB, v any) string {
	t.Helper()
	text, err := json.Marshal(v, json.Deterministic(true))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
