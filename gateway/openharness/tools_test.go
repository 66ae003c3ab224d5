package openharness_test

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	json "github.com/go-json-experiment/json"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/engine"
	"github.com/wharf-dev/wharf/runtime/enginetest"
	"github.com/wharf-dev/wharf/runtime/owntools"
	"github.com/wharf-dev/wharf/runtime/provider"
	"github.com/wharf-dev/wharf/runtime/provider/tool"
	"github.com/wharf-dev/wharf/runtime/sandbox"
)

// invokes does what the bundled plugin does that calls one tool.
func invokes(ctx context.Context, h sandbox.Host) error {
	_, given, err := h.Call(ctx, abi.CallInput, []byte("{}"))
	if err != nil {
		return err
	}
	var asked abi.CallInputAnswer
	if err := json.Unmarshal(given, &asked); err != nil {
		return err
	}
	status, answer, err := h.Call(ctx, abi.CallToolCall, asked.Task.Input)
	switch {
	case err != nil:
		return err
	case status != abi.CallOK:
		return call(ctx, h, abi.CallOutput, fmt.Sprintf(`{"summary":"","failure":{"code":"tool_failed","message":%q}}`, answer))
	}
	if err := call(ctx, h, abi.CallMessageAppend, `{"role":"assistant","parts":[{"type":"json","value":`+string(answer)+`,"visibility":"public"}]}`); err != nil {
		return err
	}
	return call(ctx, h, abi.CallOutput, `{"summary":"called"}`)
}

// toolNode is a node that takes tools of tenants, and shows what it is told of them to everybody, as the
// bundled Persona that calls them does.
func toolNode(t testing.TB, configure ...func(*tool.Config)) *node {
	t.Helper()
	return toolNodeShowing(t, abi.ToolsPublic, configure...)
}

func toolNodeShowing(t testing.TB, shown abi.ToolsVisibility, configure ...func(*tool.Config)) *node {
	t.Helper()
	return newNode(t, enginetest.Guests{"invoke": invokes}, func(c *engine.Config, p *engine.Parts) {
		c.ToolServers.Private, c.ToolServers.Commands = true, map[string][]string{"shout": {"cat"}}
		for i := range p.Personas {
			p.Personas[i].ToolsVisibility = shown
		}
		p.AddedTools = tool.NewAdded()
		servers := map[string]tool.Server{}
		for name, own := range owntools.All(p.Personas) {
			servers[name] = own
		}
		cfg := tool.Config{Servers: servers, Added: p.AddedTools, Grants: map[string][]string{"invoke": {"host:*"}}, Log: p.Log}
		for _, one := range configure {
			one(&cfg)
		}
		tools := tool.New(cfg)
		t.Cleanup(func() { _ = tools.Close() })
		p.Performers = map[string]provider.Performer{abi.CallToolCall: tools, abi.CallToolList: tools}
	})
}

// mcpHandler is an MCP server with a tool that adds, a resource and a prompt.
func mcpHandler(sse bool) http.Handler {
	s := mcp.NewServer(&mcp.Implementation{Name: "t", Version: "1"}, nil)
	type sum struct {
		A int `json:"a"`
		B int `json:"b"`
	}
	mcp.AddTool(s, &mcp.Tool{Name: "add", Description: "adds"}, func(_ context.Context, _ *mcp.CallToolRequest, in sum) (*mcp.CallToolResult, any, error) {
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: fmt.Sprint(in.A + in.B)}, &mcp.TextContent{Text: "done"}}}, nil, nil
	})
	mcp.AddTool(s, &mcp.Tool{Name: "fail"}, func(context.Context, *mcp.CallToolRequest, struct{}) (*mcp.CallToolResult, any, error) {
		return nil, nil, fmt.Errorf("it went wrong")
	})
	mcp.AddTool(s, &mcp.Tool{Name: "steps"}, func(ctx context.Context, r *mcp.CallToolRequest, _ struct{}) (*mcp.CallToolResult, any, error) {
		for _, p := range []mcp.ProgressNotificationParams{{Progress: 1, Total: 3, Message: "fetching"}, {Progress: 2, Message: "mixing"}} {
			p.ProgressToken = r.Params.GetProgressToken()
			if err := r.Session.NotifyProgress(ctx, &p); err != nil {
				return nil, nil, err
			}
		}
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "stirred"}}}, nil, nil
	})
	s.AddResource(&mcp.Resource{URI: "test:///a", Name: "a", MIMEType: "text/plain"}, nil)
	s.AddPrompt(&mcp.Prompt{Name: "greet", Description: "greets", Arguments: []*mcp.PromptArgument{{Name: "who", Required: true}}}, nil)
	get := func(*http.Request) *mcp.Server { return s }
	if sse {
		return mcp.NewSSEHandler(get, nil)
	}
	return mcp.NewStreamableHTTPHandler(get, nil)
}

func serving(t testing.TB, h http.Handler) string {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	t.Cleanup(s.CloseClientConnections)
	return s.URL
}

// An MCP server is connected, shown with what it has, changed, asked for its health and disconnected.
func TestMCPServers(t *testing.T) {
	n := toolNode(t)
	for kind, url := range map[string]string{"http": serving(t, mcpHandler(false)), "sse": serving(t, mcpHandler(true))} {
		made := n.do(t, "POST", "/wharf/mcp-servers", map[string]any{"name": "My " + kind, "transport": map[string]any{"type": kind, "url": url}}).want(201)
		at := "/wharf/mcp-servers/" + made.text("server.id")
		for _, shown := range []answer{made, n.do(t, "GET", at, nil).want(200)} {
			if shown.text("server.name") != "My "+kind || shown.get("server.status") != "connected" || shown.text("server.transport.type") != kind ||
				shown.text("server.tools.0.name") != "add" || shown.text("server.resources.0.uri") != "test:///a" || shown.text("server.prompts.0.arguments.0.name") != "who" || shown.get("server.auto_reconnect") != true {
				t.Errorf("%s: %s", kind, shown.body)
			}
		}
		if got := n.do(t, "GET", at+"/tools", nil).want(200); got.text("tools.1.name") != "fail" {
			t.Errorf("%s", got.body)
		}
		n.do(t, "GET", at+"/resources", nil).want(200)
		n.do(t, "GET", at+"/prompts", nil).want(200)
		if got := n.do(t, "POST", at+"/health", nil).want(200); got.get("status") != "healthy" {
			t.Errorf("%s", got.body)
		}
		changed := n.do(t, "PATCH", at, map[string]any{"name": "Other", "auto_reconnect": false}).want(200)
		if changed.text("server.name") != "Other" || changed.get("server.auto_reconnect") != false || changed.get("server.status") != "connected" {
			t.Errorf("%s", changed.body)
		}
		if got := n.do(t, "GET", "/wharf/mcp-servers?status=connected", nil).want(200); got.get("total") != 1.0 || got.text("servers.0.name") != "Other" || got.text("data.0.id") != made.text("server.id") {
			t.Errorf("%s", got.body)
		}
		if got := n.do(t, "GET", "/wharf/mcp-servers?status=error", nil).want(200); got.get("total") != 0.0 {
			t.Errorf("%s", got.body)
		}
		n.do(t, "DELETE", at, nil).want(204)
		n.do(t, "GET", at, nil).fails(404, "NOT_FOUND")
		n.do(t, "DELETE", at, nil).fails(404, "NOT_FOUND")
	}
}

// Names are unique in a harness, and free in every other; one that cannot be connected to is there,
// and says so.
func TestNamesOfMCPServers(t *testing.T) {
	n := toolNode(t)
	n.do(t, "POST", "", `{"id":"second","name":"Second","vendor":"v","description":"d","execution_type":"sdk","config":{"binary_path":"echo"}}`).want(201)
	url := serving(t, mcpHandler(false))
	body := map[string]any{"name": "tickets", "transport": map[string]any{"type": "http", "url": url}}
	one := n.do(t, "POST", "/wharf/mcp-servers", body).want(201)
	n.do(t, "POST", "/wharf/mcp-servers", body).fails(409, "CONFLICT")
	h, err := n.Harness(t.Context(), n.Root, "second")
	if err != nil {
		t.Fatal(err)
	}
	bound := n.key(t, []string{abi.ScopeAll}, h.WorkspaceID)
	n.do(t, "GET", "/wharf/mcp-servers", nil, by(bound)).fails(404, "NOT_FOUND")
	gone := n.do(t, "POST", "/wharf/mcp-servers", map[string]any{"name": strings.Repeat("ä", 100), "transport": map[string]any{"type": "sse", "url": "http://127.0.0.1:1/"}}).want(201)
	if gone.get("server.status") != "error" || gone.text("server.last_error") == "" {
		t.Errorf("%s", gone.body)
	}
	if got := n.do(t, "POST", "/wharf/mcp-servers/"+gone.text("server.id")+"/health", nil).want(200); got.get("status") != "unhealthy" || got.text("last_error") == "" {
		t.Errorf("%s", got.body)
	}
	n.do(t, "PATCH", "/wharf/mcp-servers/"+gone.text("server.id"), map[string]any{"name": "tickets"}).fails(409, "CONFLICT")
	reader := n.key(t, []string{"tools:read", "harnesses:read"})
	if got := n.do(t, "GET", "/wharf/mcp-servers/"+one.text("server.id"), nil, by(reader)).want(200); strings.Contains(got.text("server.transport.url"), "/mcp") {
		t.Errorf("%s", got.body)
	}
}

// What cannot be connected is refused with the member.
func TestMCPServersThatAreRefused(t *testing.T) {
	n := toolNode(t)
	for body, want := range map[string]string{
		`{"transport":{"type":"http","url":"https://a.test"}}`:                                           "VALIDATION_ERROR",
		`{"name":"` + strings.Repeat("n", 101) + `","transport":{"type":"http","url":"https://a.test"}}`: "VALIDATION_ERROR",
		`{"name":"a"}`: "VALIDATION_ERROR", `{"name":"a","transport":{"type":"pipe","url":"https://a.test"}}`: "VALIDATION_ERROR",
		`{"name":"a","transport":{"type":"http"}}`: "VALIDATION_ERROR", `{"name":"a","transport":{"type":"sse","url":"file:///x"}}`: "VALIDATION_ERROR",
		`{"name":"a","transport":{"type":"stdio"}}`: "VALIDATION_ERROR", `{"name":1}`: "VALIDATION_ERROR",
	} {
		n.do(t, "POST", "/wharf/mcp-servers", body).fails(400, want)
	}
	n.do(t, "POST", "/wharf/mcp-servers", `{"name":"a","transport":{"type":"stdio","command":"sh","args":["-c","id"]}}`).fails(422, "COMMAND_NOT_ALLOWED")
	if got := n.do(t, "GET", "/wharf/mcp-servers", nil).want(200); got.get("total") != 0.0 {
		t.Errorf("%s", got.body)
	}
	n.do(t, "GET", "/wharf/mcp-servers?status=odd", nil).fails(400, "VALIDATION_ERROR")
	n.do(t, "GET", "/wharf/mcp-servers?limit=101", nil).fails(400, "VALIDATION_ERROR")
}

// The tools of a harness are one list with ids that stay, by source.
func TestToolsOfAHarness(t *testing.T) {
	n := toolNode(t)
	server := n.do(t, "POST", "/wharf/mcp-servers", map[string]any{"name": "sums", "transport": map[string]any{"type": "http", "url": serving(t, mcpHandler(false))}}).want(201).text("server.id")
	own := n.do(t, "POST", "/wharf/tools", `{"name":"shout","description":"d","input_schema":{"type":"object"},"handler":{"type":"command","command":"shout"}}`).want(201)
	if own.text("tool.source") != "custom" || own.get("tool.secret") != nil {
		t.Errorf("%s", own.body)
	}
	skill := n.registered(t, "wharf", "pdf", "1.0.0")
	from := map[string]any{"mcp": server, "skill": skill}
	for source, id := range map[string]string{"builtin": "host:time_now", "mcp": server + ":add", "skill": skill + ":skill_read", "custom": own.text("tool.id")} {
		list := n.do(t, "GET", "/wharf/tools?source="+source, nil).want(200)
		if list.text("tools.0.source") != source || list.text("data.0.id") != id || list.get("data.0.source_id") != from[source] {
			t.Errorf("%s: %s", source, list.body)
		}
		one := list.text("data.0.id")
		if got := n.do(t, "GET", "/wharf/tools/"+one, nil).want(200); got.text("tool.id") != one {
			t.Errorf("%s", got.body)
		}
		if source != "custom" {
			n.do(t, "DELETE", "/wharf/tools/"+one, nil).fails(403, "FORBIDDEN")
		}
	}
	all := n.do(t, "GET", "/wharf/tools?limit=1", nil).want(200)
	next := n.do(t, "GET", "/wharf/tools?limit=1&cursor="+all.text("cursor"), nil).want(200)
	if all.get("total") != next.get("total") || all.text("data.0.id") == next.text("data.0.id") || next.get("offset") != 1.0 {
		t.Errorf("%s, then %s", all.body, next.body)
	}
	n.do(t, "PATCH", "/wharf/mcp-servers/"+server, `{"name":"renamed"}`).want(200)
	n.do(t, "GET", "/wharf/tools/"+server+":add", nil).want(200)
	n.do(t, "DELETE", "/wharf/tools/"+own.text("tool.id"), nil).want(204)
	for _, id := range []string{own.text("tool.id"), "tool_none", "host:none", server + ":none"} {
		n.do(t, "GET", "/wharf/tools/"+id, nil).fails(404, "NOT_FOUND")
		n.do(t, "DELETE", "/wharf/tools/"+id, nil).fails(404, "NOT_FOUND")
		n.do(t, "POST", "/wharf/tools/"+id+"/invoke", `{"input":{}}`).fails(404, "NOT_FOUND")
	}
	n.do(t, "GET", "/wharf/tools?source=odd", nil).fails(400, "VALIDATION_ERROR")
}

// configured gives a node two servers of its own, of which a plugin may use one tool, and one that does not answer.
func configured(c *tool.Config, url string) {
	for name, at := range map[string]string{"sums": url, "secret": url, "down": "http://127.0.0.1:1/"} {
		c.Servers[name] = tool.NewMCP(tool.MCPConfig{Name: name, URL: at, Version: "1", Log: c.Log})
	}
	c.Grants["invoke"] = []string{"host:time_now", "skills:persona_echo", "sums:add", "down:*"}
	c.Grants["other"] = []string{"*"}
}

// The tools of the node and of the servers that its configuration names are listed as far as they can be called, and no further.
func TestToolsOfTheConfiguration(t *testing.T) {
	url := serving(t, mcpHandler(false))
	n := toolNode(t, func(c *tool.Config) { configured(c, url) })
	n.registered(t, "wharf", "pdf", "1.0.0")
	var ids []string
	list := n.do(t, "GET", "/wharf/tools?limit=100", nil).want(200)
	for i := range int(list.get("total").(float64)) {
		at := fmt.Sprintf("data.%d.", i)
		ids = append(ids, list.text(at+"source")+" "+list.text(at+"id"))
	}
	if want := "builtin host:time_now, mcp sums:add, builtin skills:"; !strings.HasPrefix(strings.Join(ids, ", "), want) || len(ids) != 3 {
		t.Errorf("listed are %q", ids)
	}
	got := n.do(t, "GET", "/wharf/tools/sums:add", nil).want(200)
	if got.text("tool.name") != "add" || got.text("tool.source") != "mcp" || got.get("tool.source_id") != nil || got.get("tool.input_schema.properties.a") == nil {
		t.Errorf("%s", got.body)
	}
	if got := n.do(t, "POST", "/wharf/tools/sums:add/invoke", `{"input":{"a":2,"b":3}}`).want(200); got.get("success") != true || got.text("output.content.0.text") != "5" {
		t.Errorf("%s", got.body)
	}
	n.do(t, "POST", "/wharf/tools/sums:add/invoke", `{"input":{"a":"x"}}`).fails(400, "VALIDATION_ERROR")
	n.do(t, "DELETE", "/wharf/tools/sums:add", nil).fails(403, "FORBIDDEN")
	for _, id := range []string{"sums:fail", "secret:add", "host:file_read", "nowhere:add", "remote:ask", "client:x", "skb_1:skill_read", "tsrv_1:add"} {
		n.do(t, "GET", "/wharf/tools/"+id, nil).fails(404, "NOT_FOUND")
		n.do(t, "POST", "/wharf/tools/"+id+"/invoke", `{"input":{}}`).fails(404, "NOT_FOUND")
	}
	n.do(t, "GET", "/wharf/tools/down:any", nil).fails(502, "UNAVAILABLE")
	n.do(t, "POST", "/wharf/tools/down:any/invoke", `{"input":{}}`).fails(502, "UNAVAILABLE")
}

// A skill that is installed is a tool that reads it, and a call of it is an execution that has the skill.
func TestSkillsAsTools(t *testing.T) {
	n := toolNode(t)
	skill := n.registered(t, "wharf", "pdf", "1.0.0")
	n.registered(t, "wharf", "other", "1.0.0")
	at := "/wharf/tools/" + skill + ":skill_read"
	got := n.do(t, "GET", at, nil).want(200)
	if got.text("tool.name") != "pdf" || got.text("tool.description") != "Does pdf." || got.text("tool.source") != "skill" || got.text("tool.source_id") != skill || got.get("tool.input_schema.properties.path") == nil {
		t.Errorf("%s", got.body)
	}
	n.do(t, "GET", "/wharf/skills/"+got.text("tool.source_id"), nil).want(200)
	for input, want := range map[string]string{`{}`: "Do it.", `{"path":"lib/fill.py"}`: "print(1)"} {
		if got := n.do(t, "POST", at+"/invoke", `{"input":`+input+`}`).want(200); got.get("success") != true || !strings.Contains(got.text("output.content.0.text"), want) {
			t.Errorf("%s: %s", input, got.body)
		}
	}
	if got := n.do(t, "POST", at+"/invoke", `{"input":{"path":"none.md"}}`).want(200); got.get("success") != false || got.text("error") == "" {
		t.Errorf("%s", got.body)
	}
	for _, input := range []string{`{"path":7}`, `{"skill":"other"}`, `[]`} {
		n.do(t, "POST", at+"/invoke", `{"input":`+input+`}`).fails(400, "VALIDATION_ERROR")
	}
	n.do(t, "DELETE", at, nil).fails(403, "FORBIDDEN")
	n.do(t, "POST", "", `{"id":"second","name":"Second","vendor":"v","description":"d","execution_type":"sdk","config":{"binary_path":"echo"}}`).want(201)
	n.do(t, "GET", strings.Replace(at, "/wharf", "/second", 1), nil).fails(404, "NOT_FOUND")
	n.do(t, "DELETE", "/wharf/skills/"+skill, nil).want(204)
	n.do(t, "GET", at, nil).fails(404, "NOT_FOUND")
	n.do(t, "POST", at+"/invoke", `{"input":{}}`).fails(404, "NOT_FOUND")
}

// A tool that is called is an execution, recorded like any other; its input fits its schema, or
// nothing is called.
func TestInvokingTools(t *testing.T) {
	n := toolNode(t)
	server := n.do(t, "POST", "/wharf/mcp-servers", map[string]any{"name": "sums", "transport": map[string]any{"type": "http", "url": serving(t, mcpHandler(false))}}).want(201).text("server.id")
	got := n.do(t, "POST", "/wharf/tools/"+server+":add/invoke", `{"input":{"a":2,"b":3}}`).want(200)
	if got.get("success") != true || got.text("output.content.0.text") != "5" || got.get("error") != nil {
		t.Errorf("%s", got.body)
	}
	task := n.Wait(t, got.text("execution_id"))
	if task.Status != abi.TaskCompleted || task.PersonaID != "persona_invoke" {
		t.Errorf("it is the task %+v", task)
	}
	if got := n.do(t, "POST", "/wharf/tools/"+server+":fail/invoke", `{"input":{}}`).want(200); got.get("success") != false || got.text("error") != "it went wrong" {
		t.Errorf("%s", got.body)
	}
	if got := n.do(t, "POST", "/wharf/tools/host:time_now/invoke", `{"input":{}}`).want(200); got.get("success") != true {
		t.Errorf("%s", got.body)
	}
	for _, body := range []string{`{}`, `{"input":[]}`, `{"input":null}`, `{"input":{"a":"x","b":1}}`} {
		n.do(t, "POST", "/wharf/tools/"+server+":add/invoke", body).fails(400, "VALIDATION_ERROR")
	}
	if said := n.do(t, "POST", "/wharf/tools/"+server+":add/invoke", `{"input":{"a":"x","b":1}}`).fails(400, "VALIDATION_ERROR"); !strings.Contains(said, "a") {
		t.Errorf("it does not say where: %s", said)
	}
	retry := header("Idempotency-Key", "once")
	first := n.do(t, "POST", "/wharf/tools/"+server+":add/invoke", `{"input":{"a":2,"b":3}}`, retry).want(200)
	again := n.do(t, "POST", "/wharf/tools/"+server+":add/invoke", `{"input":{"a":2,"b":3}}`, retry).want(200)
	if first.text("execution_id") != again.text("execution_id") || again.header.Get("Idempotent-Replayed") != "true" {
		t.Errorf("%s, then %s", first.body, again.body)
	}
}

// A custom tool gets a signed request, and its answer is the output.
func TestInvokingCustomTools(t *testing.T) {
	n := toolNode(t)
	var signed, body string
	url := serving(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		text, _ := io.ReadAll(r.Body)
		signed, body = r.Header.Get("X-OpenHarness-Signature"), string(text)
		_, _ = io.WriteString(w, `{"found":true}`)
	}))
	made := n.do(t, "POST", "/wharf/tools", `{"name":"look up","description":"d","input_schema":{"type":"object","required":["q"]},"handler":{"type":"webhook","url":"`+url+`"}}`).want(201)
	at := "/wharf/tools/" + made.text("tool.id") + "/invoke"
	got := n.do(t, "POST", at, `{"input":{"q":"x"}}`).want(200)
	if got.get("success") != true || got.get("output.found") != true {
		t.Errorf("%s", got.body)
	}
	if want := `{"tool":"look up","input":{"q":"x"},"execution_id":"` + got.text("execution_id") + `"}`; body != want {
		t.Errorf("it is sent %s", body)
	}
	mac := hmac.New(sha256.New, []byte(made.text("tool.secret")))
	mac.Write([]byte(body))
	if signed != "sha256="+hex.EncodeToString(mac.Sum(nil)) {
		t.Errorf("signed with %s", signed)
	}
	n.do(t, "POST", at, `{"input":{}}`).fails(400, "VALIDATION_ERROR")
	frames := n.stream(t, at+"/stream", `{"input":{"q":"x"}}`)
	if len(frames) != 2 || frames[0] != `{"type":"output","data":{"found":true}}` || !strings.HasPrefix(frames[1], `{"type":"done","success":true`) {
		t.Errorf("%q", frames)
	}
}

// stream makes a call and returns the data of its events, each of which is published.
func (n *node) stream(t testing.TB, path, body string, options ...option) (frames []string) {
	t.Helper()
	got := n.at(t, "POST", "/v1/harnesses"+path, body, options...).want(200)
	for line := range strings.SplitSeq(string(got.body), "\n") {
		if data, ok := strings.CutPrefix(line, "data: "); ok {
			schema.fits(t, "ToolStreamEvent", []byte(data))
			frames = append(frames, data)
		}
	}
	return frames
}

// A stream tells each block of content, a failure, and the end once; it goes on after what was told.
func TestStreamsOfTools(t *testing.T) {
	n := toolNode(t)
	server := n.do(t, "POST", "/wharf/mcp-servers", map[string]any{"name": "sums", "transport": map[string]any{"type": "http", "url": serving(t, mcpHandler(false))}}).want(201).text("server.id")
	at, retry := "/wharf/tools/"+server+":add/invoke/stream", header("Idempotency-Key", "k")
	frames := n.stream(t, at, `{"input":{"a":1,"b":1}}`, retry)
	if len(frames) != 3 || !strings.Contains(frames[0], `"text":"2"`) || !strings.Contains(frames[1], `"text":"done"`) || !strings.Contains(frames[2], `"success":true`) {
		t.Fatalf("%q", frames)
	}
	whole := string(n.at(t, "POST", "/v1/harnesses"+at, `{"input":{"a":1,"b":1}}`, retry).want(200).body)
	told := 0
	for line := range strings.SplitSeq(whole, "\n") {
		if id, ok := strings.CutPrefix(line, "id: "); ok {
			told++
			if rest := n.stream(t, at, `{"input":{"a":1,"b":1}}`, retry, header("Last-Event-ID", id)); strings.Join(rest, "\n") != strings.Join(frames[told:], "\n") {
				t.Errorf("after %s (%d): %q", id, told, rest)
			}
		}
	}
	n.do(t, "POST", at, `{"input":{"a":1,"b":1}}`, header("Last-Event-ID", "7")).fails(400, "VALIDATION_ERROR")
	frames = n.stream(t, "/wharf/tools/"+server+":fail/invoke/stream", `{"input":{}}`)
	if len(frames) != 3 || !strings.Contains(frames[1], `"it went wrong"`) || !strings.Contains(frames[2], `"success":false`) {
		t.Errorf("%q", frames)
	}
	n.do(t, "POST", at, `{"input":{"a":"x"}}`).fails(400, "VALIDATION_ERROR")
}

// A stream tells how far a tool says it is, before its answer, to whoever may call it, and again to whoever comes back.
func TestProgressOfTools(t *testing.T) {
	n := toolNode(t)
	for _, sse := range []bool{false, true} {
		kind := map[bool]string{false: "http", true: "sse"}[sse]
		server := n.do(t, "POST", "/wharf/mcp-servers", map[string]any{"name": "s " + kind, "transport": map[string]any{"type": kind, "url": serving(t, mcpHandler(sse))}}).want(201).text("server.id")
		at, retry := "/wharf/tools/"+server+":steps/invoke/stream", header("Idempotency-Key", kind)
		limited := by(n.key(t, []string{"tasks:read", "tasks:write", "sessions:write", "tools:read", "events:read"}))
		for range 2 {
			frames := n.stream(t, at, `{"input":{}}`, retry, limited)
			if len(frames) != 4 || frames[0] != `{"type":"progress","percentage":33.3,"message":"fetching"}` ||
				frames[1] != `{"type":"progress","percentage":0,"message":"mixing"}` || !strings.Contains(frames[2], `"stirred"`) || !strings.Contains(frames[3], `"success":true`) {
				t.Errorf("%s: %q", kind, frames)
			}
		}
	}
}

// Where a Persona does not show what its tools are asked and answer, what they say meanwhile is for keys with events:internal.
func TestProgressThatIsNotShown(t *testing.T) {
	n := toolNodeShowing(t, abi.ToolsNamed)
	server := n.do(t, "POST", "/wharf/mcp-servers", map[string]any{"name": "s", "transport": map[string]any{"type": "http", "url": serving(t, mcpHandler(false))}}).want(201).text("server.id")
	at, limited := "/wharf/tools/"+server+":steps/invoke/stream", by(n.key(t, []string{"tasks:read", "tasks:write", "sessions:write", "tools:read", "events:read"}))
	if frames := n.stream(t, at, `{"input":{}}`, limited); len(frames) != 2 {
		t.Errorf("%q", frames)
	}
	if frames := n.stream(t, at, `{"input":{}}`); len(frames) != 4 {
		t.Errorf("%q", frames)
	}
}

// What cannot be a tool is refused.
func TestCustomToolsThatAreRefused(t *testing.T) {
	n := toolNode(t)
	with := func(name, description, schema, handler string) string {
		return `{"name":"` + name + `","description":"` + description + `","input_schema":` + schema + `,"handler":` + handler + `}`
	}
	const hook, object = `{"type":"webhook","url":"https://a.test/"}`, `{"type":"object"}`
	for _, body := range []string{
		with("", "d", object, hook), with(strings.Repeat("n", 101), "d", object, hook), with("n", "", object, hook), with("n", strings.Repeat("d", 1001), object, hook),
		with("n", "d", `[]`, hook), with("n", "d", `{"type":1}`, hook), with("n", "d", object, `{"type":"webhook"}`), with("n", "d", object, `{"type":"other","url":"https://a.test"}`),
		with("n", "d", object, `{"type":"command"}`), with("n", "d", object, `{"type":"webhook","url":"ftp://a.test"}`), `{}`,
	} {
		n.do(t, "POST", "/wharf/tools", body).fails(400, "VALIDATION_ERROR")
	}
	n.do(t, "POST", "/wharf/tools", with("n", "d", object, `{"type":"command","command":"sh"}`)).fails(422, "COMMAND_NOT_ALLOWED")
	n.do(t, "POST", "/wharf/tools", with(strings.Repeat("n", 100), strings.Repeat("d", 1000), object, hook)).want(201)
	n.do(t, "POST", "/wharf/tools", with(strings.Repeat("n", 100), "d", object, hook)).fails(409, "CONFLICT")
}

// Every route of the two domains refuses whoever has no key, not its scope, another tenant's key, or one of another
// Workspace.
func TestWhoMayUseToolsOfAHarness(t *testing.T) {
	n := toolNode(t)
	n.do(t, "POST", "", `{"id":"second","name":"Second","vendor":"v","description":"d","execution_type":"sdk","config":{"binary_path":"echo"}}`).want(201)
	second, err := n.Harness(t.Context(), n.Root, "second")
	if err != nil {
		t.Fatal(err)
	}
	server := n.do(t, "POST", "/wharf/mcp-servers", map[string]any{"name": "sums", "transport": map[string]any{"type": "http", "url": serving(t, mcpHandler(false))}}).want(201).text("server.id")
	own := n.do(t, "POST", "/wharf/tools", `{"name":"shout","description":"d","input_schema":{"type":"object"},"handler":{"type":"command","command":"shout"}}`).want(201).text("tool.id")
	stranger, bound := n.stranger(t), n.key(t, []string{abi.ScopeAll}, second.WorkspaceID)
	for _, route := range []struct{ method, path, body, scope string }{
		{"GET", "/mcp-servers", "", "tools:read"}, {"POST", "/mcp-servers", `{"name":"x","transport":{"type":"http","url":"https://a.test"}}`, "tools:write"},
		{"GET", "/mcp-servers/" + server, "", "tools:read"}, {"PATCH", "/mcp-servers/" + server, `{"name":"x"}`, "tools:write"}, {"DELETE", "/mcp-servers/" + server, "", "tools:write"},
		{"GET", "/mcp-servers/" + server + "/tools", "", "tools:read"}, {"GET", "/mcp-servers/" + server + "/resources", "", "tools:read"},
		{"GET", "/mcp-servers/" + server + "/prompts", "", "tools:read"}, {"POST", "/mcp-servers/" + server + "/health", "", "tools:write"},
		{"GET", "/tools", "", "tools:read"}, {"POST", "/tools", `{"name":"x","description":"d","input_schema":{},"handler":{"type":"command","command":"shout"}}`, "tools:write"},
		{"GET", "/tools/" + own, "", "tools:read"}, {"DELETE", "/tools/" + own, "", "tools:write"},
		{"POST", "/tools/" + own + "/invoke", `{"input":{}}`, "tasks:write"}, {"POST", "/tools/" + own + "/invoke/stream", `{"input":{}}`, "tasks:write"},
	} {
		var others []string
		for _, s := range []string{"tools:read", "tools:write", "tasks:read", "tasks:write", "harnesses:read", "harnesses:write", "sessions:write"} {
			if s != route.scope {
				others = append(others, s)
			}
		}
		n.do(t, route.method, "/wharf"+route.path, route.body, by("")).fails(401, "UNAUTHORIZED")
		n.do(t, route.method, "/wharf"+route.path, route.body, by(n.key(t, others))).fails(403, "FORBIDDEN")
		n.do(t, route.method, "/wharf"+route.path, route.body, by(bound)).fails(404, "NOT_FOUND")
		if strings.Contains(route.path, server) || strings.Contains(route.path, own) {
			n.do(t, route.method, "/wharf"+route.path, route.body, by(stranger)).fails(404, "NOT_FOUND")
			n.do(t, route.method, "/second"+route.path, route.body).fails(404, "NOT_FOUND")
		}
	}
	if _, err := os.Stat("/bin/cat"); err == nil {
		limited := n.key(t, []string{"tasks:write", "sessions:write", "tools:read"})
		if got := n.do(t, "POST", "/wharf/tools/"+own+"/invoke", `{"input":{"a":1}}`, by(limited)).want(200); got.get("output.input.a") != 1.0 {
			t.Errorf("%s", got.body)
		}
		n.do(t, "POST", "/wharf/tools/"+own+"/invoke", `{"input":{}}`, by(n.key(t, []string{"tasks:write"}))).fails(403, "FORBIDDEN")
	}
}
