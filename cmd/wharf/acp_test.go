package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/cmd/wharf/internal/client"
)

// toolsVar has this program be an MCP server of a kind over its standard input and output.
const toolsVar = "WHARF_TEST_TOOLS"

// serveTools is an MCP server.
func serveTools(kind string) error {
	if kind == "silent" {
		_, err := io.Copy(io.Discard, os.Stdin)
		return err
	}
	s := mcp.NewServer(&mcp.Implementation{Name: kind, Version: "1"}, nil)
	add := func(name string, do func(args jsontext.Value) *mcp.CallToolResult) {
		tool := &mcp.Tool{Name: name, Description: "Does it.", InputSchema: map[string]any{"type": "object"}}
		s.AddTool(tool, func(_ context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return do(jsontext.Value(req.Params.Arguments)), nil
		})
	}
	says := func(text string) *mcp.CallToolResult {
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: text}}}
	}
	if kind == "many" {
		for i := range 1000 {
			add(fmt.Sprintf("many_%d", i), func(jsontext.Value) *mcp.CallToolResult { return says(fmt.Sprintf("one of many, pid=%d", os.Getpid())) })
		}
		add("bad*name", func(jsontext.Value) *mcp.CallToolResult { return says("") })
	}
	add("who", func(args jsontext.Value) *mcp.CallToolResult {
		dir, _ := os.Getwd()
		return says(fmt.Sprintf("pid=%d dir=%s token=%d key=%d args=%s", os.Getpid(), dir, len(os.Getenv("TOKEN")), len(os.Getenv("WHARF_API_KEY")), args))
	})
	add("fail", func(jsontext.Value) *mcp.CallToolResult {
		r := says("the disk is full")
		r.IsError = true
		return r
	})
	add("die", func(jsontext.Value) *mcp.CallToolResult {
		os.Exit(3)
		return nil
	})
	add("grow", func(jsontext.Value) *mcp.CallToolResult {
		add("grown", func(jsontext.Value) *mcp.CallToolResult { return says("new") })
		return says("grown")
	})
	return s.Run(context.Background(), &mcp.StdioTransport{})
}

// acp starts an editor whose sessions have the Persona that makes the calls it is told to.
func (r *rig) acp() *acpEditor {
	r.t.Helper()
	p := startACP(r.t, []string{"WHARF_API_KEY=" + testKey}, "--server", r.node.url, "--persona", "persona_calls")
	p.begin()
	return p
}

// secretToken is what no log and no node may have.
const secretToken = "token-5e1f"

func toolServer(name, kind string) string {
	program, _ := os.Executable()
	return fmt.Sprintf(`{"name":%q,"command":%q,"args":["x"],"env":[{"name":%q,"value":%q},{"name":"TOKEN","value":%q}]}`, name, program, toolsVar, kind, secretToken)
}

// run has a Task of a session make host calls, and returns its events as text.
func (r *rig) run(session string, calls ...string) (events, task string) {
	r.t.Helper()
	input := `{"program":[` + strings.Join(calls, ",") + `]}`
	made, err := r.client.Submit(r.t.Context(), abi.SubmitTaskRequest{Input: jsontext.Value(input), SessionID: session, PersonaID: "persona_calls"}, client.SubmitOptions{})
	if err != nil {
		r.t.Fatal(err)
	}
	var all strings.Builder
	for e, err := range r.client.Follow(r.t.Context(), client.TaskStream(made.Value.ID)) {
		if err != nil {
			r.t.Fatal(err)
		}
		all.Write(e.JSON)
		all.WriteByte('\n')
		if endOf(&e.Value, made.Value.ID) != "" {
			break
		}
	}
	return all.String(), made.Value.ID
}

func callTool(name string) string {
	return fmt.Sprintf(`{"call":"tool.call","request":{"server":"client","name":%q,"arguments":{"q":"é"}}}`, name)
}

const listTools = `{"call":"tool.list","request":{"server":"client"}}`

// An editor that knows nothing but ACP has the tools of the MCP servers that it names by commands: they run beside the
// pipe, one process for a session, until the session or the pipe ends.
func TestACPRunsToolServers(t *testing.T) {
	plugins, err := pluginFolder()
	if err != nil {
		t.Fatal(err)
	}
	config := filepath.Join(t.TempDir(), "wharf.yaml")
	if err := os.WriteFile(config, []byte("plugins:\n  dir: "+plugins+"\ngrants:\n  calls:\n    tools: [\"client:*\"]\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	r := newRig(t, "--config", config)
	p, dir := r.acp(), t.TempDir()
	session := p.open(dir, toolServer("files", "small"), toolServer("copy", "small"), `{"name":"none","command":"/no/such/program","args":[],"env":[]}`)
	other := p.open(dir)

	events, task := r.run(session, listTools, callTool("who"), callTool("fail"))
	first := pidIn(t, events)
	for _, want := range []string{"dir=" + dir + " token=10 key=0 args={\\\"q\\\":\\\"é\\\"}", "the disk is full", `"is_error":true`} {
		if !strings.Contains(events, want) {
			t.Errorf("%s is not in %s", want, events)
		}
	}
	if events, _ := r.run(other, callTool("who")); strings.Contains(events, "pid=") {
		t.Errorf("the tools of one session are another's: %s", events)
	}
	for _, want := range []string{"the tool who of copy is left out: files has one of this name", "server: none"} {
		if !strings.Contains(p.toPeople(), want) {
			t.Errorf("people are not told %q, but %s", want, p.toPeople())
		}
	}

	events, _ = r.run(session, callTool("die"), callTool("who"))
	if second := pidIn(t, events); !strings.Contains(events, "broke off") || second == first || alive(first) {
		t.Errorf("of a server that has died: %s", events)
	}
	events, _ = r.run(session, callTool("grow"))
	for !strings.Contains(events, `"new"`) { // until the node has heard that there is another tool
		events, _ = r.run(session, callTool("grown"))
	}

	r.again()
	events, _ = r.run(session, callTool("who"))
	for !strings.Contains(events, "pid=") { // until the pipe is back
		events, _ = r.run(session, callTool("who"))
	}
	last := pidIn(t, events)

	many := p.open(dir, toolServer("many", "many"))
	events, _ = r.run(many, listTools, callTool("many_0"))
	if n := strings.Count(events, `"name":"many_`); !strings.Contains(events, "one of many") || n > 257 {
		t.Errorf("%d tools are told of", n)
	}
	manyPID := pidIn(t, events)
	for _, want := range []string{"a node takes at most 256 tools", "the name of a tool has no *"} {
		if !strings.Contains(p.toPeople(), want) {
			t.Errorf("people are not told %q, but %s", want, p.toPeople())
		}
	}
	p.ask("session/close", fmt.Sprintf(`{"sessionId":%q}`, many))

	p.end()
	for _, pid := range []int{last, manyPID} {
		if alive(pid) {
			t.Errorf("the server %d lives on after the pipe", pid)
		}
	}
	r.replaysWithoutServer(task)
	if strings.Contains(p.toPeople()+events+string(r.node.log()), secretToken) {
		t.Error("what the environment of a server has is told")
	}
}

// replaysWithoutServer wants a Task's replay to be answered from its record.
func (r *rig) replaysWithoutServer(task string) {
	r.t.Helper()
	made, err := client.Do[abi.Task](r.t.Context(), r.client, client.Post(nil, "/v1/tasks/{}/replay", task))
	if err != nil {
		r.t.Fatal(err)
	}
	var end abi.TaskStatus
	for e, err := range r.client.Follow(r.t.Context(), client.TaskStream(made.Value.ID)) {
		if err != nil {
			r.t.Fatal(err)
		}
		if end = endOf(&e.Value, made.Value.ID); end != "" {
			break
		}
	}
	if end != abi.TaskCompleted {
		r.t.Errorf("the replay is %s", end)
	}
}

// What cannot be run is refused at once, with nothing of its environment, and nothing reaches the node.
func TestACPRefusesToolServers(t *testing.T) {
	r := newRig(t)
	p := r.acp()
	for _, bad := range []string{
		`{"name":"a","command":"./run","args":[],"env":[{"name":"TOKEN","value":"token-5e1f"}]}`,
		`{"name":"a","command":"","args":[],"env":[{"name":"TOKEN","value":"token-5e1f"}]}`,
		`{"name":"a","args":[],"env":[{"name":"TOKEN","value":"token-5e1f"}]}`,
		`{"command":"/bin/sh","args":[],"env":[{"name":"TOKEN","value":"token-5e1f"}]}`,
		`{"name":"a","command":"/bin/sh","args":[],"env":[{"name":"A=B","value":"token-5e1f"}]}`,
		`{"name":"a","command":"/bin/sh","args":"-c","env":[{"name":"TOKEN","value":"token-5e1f"}]}`,
		`{"name":"a","command":"/bin/sh","args":[],"env":{"TOKEN":"token-5e1f"}}`,
		`"token-5e1f"`,
		`{"type":"http","name":"a","url":"http://127.0.0.1:9/mcp","headers":[]}`,
		`{"type":"sse","name":"a","url":"http://127.0.0.1:9/mcp","headers":[]}`,
	} {
		answer := p.call("session/new", `{"cwd":"/","mcpServers":[`+bad+`]}`)
		if said := string(answer.Error); !strings.Contains(said, "-32602") || !strings.Contains(said, "mcpServers") || strings.Contains(said, secretToken) {
			t.Errorf("%s: the client is told %s", bad, said)
		}
	}
	p.end()
	if strings.Contains(p.toPeople(), secretToken) {
		t.Errorf("people are told %s", p.toPeople())
	}
}

func pidIn(t *testing.T, answers string) int {
	t.Helper()
	m := regexp.MustCompile(`pid=(\d+)`).FindStringSubmatch(answers)
	if m == nil {
		t.Fatalf("no tool has answered: %s", answers)
	}
	pid, err := strconv.Atoi(m[1])
	if err != nil {
		t.Fatal(err)
	}
	return pid
}

// alive reports whether there is a process.
func alive(pid int) bool { return syscall.Kill(pid, 0) == nil }
