package harn_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/gateway/harn"
	"github.com/wharf-dev/wharf/runtime/provider/tool"
)

// ownTools are those that every node of these tests has, as far as they are granted.
var ownTools = []string{"host:artifact_read", "host:ask", "host:file_edit", "host:file_list", "host:file_read", "host:file_remove", "host:file_search", "host:file_write",
	"host:memory_append", "host:memory_replace", "host:memory_save", "host:memory_search", "host:plan_set", "host:skill_read", "host:time_now", "skills:persona_keep"}

// mcpServer puts a server with tools of the given names in the place of "extra".
func (n *node) mcpServer(t *testing.T, names ...string) {
	t.Helper()
	s := mcp.NewServer(&mcp.Implementation{Name: "test", Version: "1"}, nil)
	for _, name := range names {
		s.AddTool(&mcp.Tool{Name: name, Description: "does " + name, Annotations: &mcp.ToolAnnotations{ReadOnlyHint: true},
			InputSchema: map[string]any{"type": "object", "properties": map[string]any{"x": map[string]any{"const": 7}}}},
			func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
				return nil, errors.New("not called")
			})
	}
	h := httptest.NewServer(mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s }, nil))
	m := tool.NewMCP(tool.MCPConfig{Name: "extra", URL: h.URL})
	n.extra.Server = m
	t.Cleanup(func() {
		if err := m.Close(); err != nil {
			t.Error(err)
		}
		h.CloseClientConnections()
		h.Close()
	})
}

func TestToolsAreListed(t *testing.T) {
	n := newNode(t)
	n.mcpServer(t, "ask", "dir/look", "zap")
	want := append([]string{"extra:ask", "extra:dir/look", "extra:zap"}, ownTools...)
	if got := n.do(t, "GET", "/v1/tools", nil).ids(); !slices.Equal(got, want) {
		t.Errorf("tools %v, want %v", got, want)
	}
	var paged []string
	for query := "?limit=3"; query != ""; {
		a := n.do(t, "GET", "/v1/tools"+query, nil)
		paged, query = append(paged, a.ids()...), ""
		if next, more := a.get("page", "next_cursor").(string); more {
			query = "?limit=3&cursor=" + next
		}
	}
	if !slices.Equal(paged, want) {
		t.Errorf("by pages %v, want %v", paged, want)
	}
	for _, id := range want {
		if got := n.do(t, "GET", "/v1/tools/"+url.PathEscape(id), nil).id(); got != id {
			t.Errorf("%s is %s", id, got)
		}
	}
	a := n.do(t, "GET", "/v1/tools/extra:ask", nil).want(200)
	for _, part := range []string{`"object":"tool"`, `"name":"ask"`, `"description":"does ask"`, `"server":"extra"`, `"source":"mcp"`, `"read_only":true`,
		`"input_schema":{"properties":{"x":{"const":7}},"type":"object"}`, `"plugins":["echo","keep"]`} {
		if !strings.Contains(string(a.body), part) {
			t.Errorf("%s is not in %s", part, a.body)
		}
	}
	for id, source := range map[string]string{"host:time_now": "host", "skills:persona_keep": "skill"} {
		if got := n.do(t, "GET", "/v1/tools/"+id, nil).want(200).get("source"); got != source {
			t.Errorf("the source of %s is %v", id, got)
		}
	}
	// Neither what no plugin is granted, nor what there is not.
	for _, id := range []string{"skills:persona_echo", "extra:none", "none:ask", "extra", ":", "ask", "extra:"} {
		n.do(t, "GET", "/v1/tools/"+id, nil).wantError(404, abi.CodeResourceNotFound)
	}
}

// Clients are told what they can run; what reaches the node's servers needs a scope.
func TestToolsNeedAScope(t *testing.T) {
	n := newNode(t)
	none, some := key(n.newKey(t, "", "tasks:read")), key(n.newKey(t, "another tenant", "skills:read"))
	for _, path := range []string{"/v1/tools", "/v1/tools/host:time_now", "/v1/capabilities"} {
		n.do(t, "GET", path, nil, none).wantError(403, abi.CodePermissionDenied)
		n.do(t, "GET", path, nil, some).want(200)
	}
	n.do(t, "GET", "/v1/runtime", nil, none).want(200)
}

// down is a server that does not answer.
type down struct{ tool.Server }

func (down) List(context.Context) ([]abi.Tool, error) {
	return nil, errors.New("a secret of its address")
}

func TestAServerOfToolsIsDown(t *testing.T) {
	n := newNode(t)
	n.extra.Server = down{}
	a := n.do(t, "GET", "/v1/tools", nil).want(200)
	if got := a.ids(); !slices.Equal(got, ownTools) {
		t.Errorf("tools %v, want %v", got, ownTools)
	}
	if got, _ := a.get("page", "unreadable").([]any); len(got) != 1 || got[0] != "extra:*" {
		t.Errorf("the list does not say what it lacks: %s", a.body)
	}
	one := n.do(t, "GET", "/v1/tools/extra:ask", nil)
	one.wantError(502, abi.CodeUpstreamUnavailable)
	if strings.Contains(string(a.body)+string(one.body), "a secret") {
		t.Errorf("clients are told why: %s %s", a.body, one.body)
	}
	n.do(t, "GET", "/v1/tools/host:time_now", nil).want(200)
}

func TestCapabilities(t *testing.T) {
	n := newNode(t)
	var all []string
	for query := "?limit=7"; query != ""; {
		a := n.do(t, "GET", "/v1/capabilities"+query, nil)
		all, query = append(all, a.ids()...), ""
		if next, more := a.get("page", "next_cursor").(string); more {
			query = "?limit=7&cursor=" + next
		}
	}
	var want []string
	for _, c := range abi.HostCalls() {
		want = append(want, c.Name)
	}
	if slices.Sort(want); !slices.Equal(all, want) {
		t.Errorf("capabilities %v, want %v", all, want)
	}
}

func TestCapabilitiesSayWhatIsConfigured(t *testing.T) {
	n := newNodeWith(t, harn.Node{Reach: map[string]harn.Reach{
		abi.CallLLMComplete: {Available: true, Models: []string{"tiny"}}, abi.CallHTTPFetch: {},
	}})
	got := map[string]any{}
	var list struct {
		Data []struct {
			ID        string   `json:"id"`
			Family    string   `json:"family"`
			Available bool     `json:"available"`
			Models    []string `json:"models"`
		} `json:"data"`
	}
	n.do(t, "GET", "/v1/capabilities", nil).want(200).into(&list)
	for _, c := range list.Data {
		got[c.ID] = []any{c.Family, c.Available, len(c.Models)}
	}
	for id, want := range map[string]any{
		abi.CallLLMComplete: []any{"llm", true, 1}, abi.CallHTTPFetch: []any{"http", false, 0}, abi.CallClock: []any{"clock", true, 0},
	} {
		if a, b := marshal(t, got[id]), marshal(t, want); a != b {
			t.Errorf("%s is %s, want %s", id, a, b)
		}
	}
	if got := n.do(t, "GET", "/v1/tools", nil).ids(); len(got) > 0 {
		t.Errorf("a node without tools lists %v", got)
	}
}

func marshal(t *testing.T, v any) string {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestRuntime(t *testing.T) {
	n := newNodeWith(t, harn.Node{Sandbox: "wazero-1.2.3"})
	a := n.do(t, "GET", "/v1/runtime", nil).want(200)
	for _, test := range []struct {
		want any
		path []string
	}{
		{"runtime", []string{"object"}}, {"test", []string{"name"}}, {"0.0.0", []string{"version"}}, {"ready", []string{"status"}},
		{false, []string{"draining"}}, {abi.ProtocolVersion, []string{"protocol_version"}}, {"wazero", []string{"engine", "name"}},
		{"1.2.3", []string{"engine", "version"}}, {true, []string{"capabilities", "replay"}}, {200.0, []string{"limits", "page"}},
		{float64(32 << 20), []string{"limits", "body_bytes"}},
	} {
		if got := a.get(test.path...); got != test.want {
			t.Errorf("%v is %v, want %v", test.path, got, test.want)
		}
	}
	ended, end := context.WithCancel(t.Context())
	end()
	_ = n.Drain(ended)
	if a := n.do(t, "GET", "/v1/runtime", nil).want(200); a.get("status") != "draining" || a.get("draining") != true {
		t.Errorf("a node that drains says %s", a.body)
	}
}
