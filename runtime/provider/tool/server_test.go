package tool

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/wharf-dev/wharf/runtime/provider/secret"
)

// asServer is the variable that makes the test binary a server of tools. It says
// which kind.
const asServer = "WHARF_TEST_SERVER"

func TestMain(m *testing.M) {
	if kind := os.Getenv(asServer); kind != "" {
		runServer(kind)
		return
	}
	os.Exit(m.Run())
}

func runServer(kind string) {
	if kind == "stubborn" || kind == "child" {
		signal.Ignore(syscall.SIGTERM)
	}
	if kind == "child" { // holds what it inherited, and does nothing
		select {}
	}
	if flood, ok := strings.CutPrefix(kind, "flood "); ok {
		runFlood(flood)
		return
	}
	if kind == "mute" {
		_, _ = io.Copy(io.Discard, os.Stdin)
		return
	}
	fmt.Fprintln(os.Stderr, "starting with", os.Getenv("TOKEN"))
	if err := testServer(context.Background()).Run(context.Background(), &mcp.StdioTransport{}); err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	if kind == "stubborn" {
		select {}
	}
}

type words struct {
	Text string `json:"text,omitempty"`
	Size int    `json:"size,omitempty"`
}

func say(text string) *mcp.CallToolResult {
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: text}}}
}

// testServer has a tool for everything that can happen. What hangs ends with life, if nobody calls it off:
// the SDK does not when a stream breaks, and waits for it.
func testServer(life context.Context) *mcp.Server {
	yes, no := true, false
	s := mcp.NewServer(&mcp.Implementation{Name: "test", Version: "1"}, nil)
	add := func(name string, hints *mcp.ToolAnnotations, do func(context.Context, words) (*mcp.CallToolResult, error)) {
		mcp.AddTool(s, &mcp.Tool{Name: name, Description: "does " + name, Annotations: hints},
			func(ctx context.Context, _ *mcp.CallToolRequest, in words) (*mcp.CallToolResult, any, error) {
				r, err := do(ctx, in)
				return r, nil, err
			})
	}
	add("echo", &mcp.ToolAnnotations{ReadOnlyHint: true}, func(_ context.Context, in words) (*mcp.CallToolResult, error) {
		return say(in.Text), nil
	})
	add("put", &mcp.ToolAnnotations{IdempotentHint: true, DestructiveHint: &no}, func(context.Context, words) (*mcp.CallToolResult, error) {
		return say("put"), nil
	})
	add("send", &mcp.ToolAnnotations{DestructiveHint: &yes}, func(context.Context, words) (*mcp.CallToolResult, error) { return say("sent"), nil })
	add("plain", nil, func(context.Context, words) (*mcp.CallToolResult, error) {
		return &mcp.CallToolResult{StructuredContent: map[string]any{"b": 1, "a": []any{true}}, Content: []mcp.Content{
			&mcp.ImageContent{Data: []byte{1, 2}, MIMEType: "image/png"}, &mcp.AudioContent{Data: []byte{3}, MIMEType: "audio/wav"},
			&mcp.ResourceLink{URI: "file:///a", Name: "a", MIMEType: "text/plain"},
			&mcp.EmbeddedResource{Resource: &mcp.ResourceContents{URI: "file:///b", Text: "b"}},
			&mcp.EmbeddedResource{Resource: &mcp.ResourceContents{URI: "file:///c", Blob: []byte{4}}},
		}}, nil
	})
	add("fail", nil, func(context.Context, words) (*mcp.CallToolResult, error) { return nil, fmt.Errorf("it went wrong") })
	add("big", nil, func(_ context.Context, in words) (*mcp.CallToolResult, error) {
		return say(strings.Repeat("x", in.Size)), nil
	})
	add("die", nil, func(context.Context, words) (*mcp.CallToolResult, error) { os.Exit(3); return nil, nil })
	add("hang", nil, func(ctx context.Context, w words) (*mcp.CallToolResult, error) {
		if w.Text != "" { // a pipe, that somebody reads who wants to know that it hangs
			if err := os.WriteFile(w.Text, []byte("hangs"), 0); err != nil {
				return nil, err
			}
		}
		select {
		case <-ctx.Done():
		case <-life.Done():
		}
		return nil, context.Canceled
	})
	add("pid", nil, func(context.Context, words) (*mcp.CallToolResult, error) { return say(fmt.Sprint(os.Getpid())), nil })
	add("env", nil, func(context.Context, words) (*mcp.CallToolResult, error) {
		return say(strings.Join(os.Environ(), "\n")), nil
	})
	add("spawn", nil, func(context.Context, words) (*mcp.CallToolResult, error) {
		child := exec.Command(os.Args[0])
		child.Env = append(os.Environ(), asServer+"=child")
		child.Stderr = os.Stderr
		err := child.Start()
		return say(fmt.Sprint(child.Process.Pid)), err
	})
	add("grow", nil, func(context.Context, words) (*mcp.CallToolResult, error) {
		s.AddTool(&mcp.Tool{Name: "grown", InputSchema: map[string]any{"type": "object"}},
			func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) { return say("grown"), nil })
		return say("grew"), nil
	})
	addSteps(s)
	addSources(s)
	return s
}

// addSteps has a server have a tool that says how far it is: so often, in every form, or as if it were
// another call.
func addSteps(s *mcp.Server) {
	mcp.AddTool(s, &mcp.Tool{Name: "steps", Description: "does steps"}, func(ctx context.Context, r *mcp.CallToolRequest, in words) (*mcp.CallToolResult, any, error) {
		token := r.Params.GetProgressToken()
		all := []*mcp.ProgressNotificationParams{{Progress: 1, Total: 4, Message: "with " + canary}, {Progress: 7}, {Progress: 9, Total: 3, Message: "done"}}
		for range in.Size {
			all = append(all, &mcp.ProgressNotificationParams{Progress: 1, Total: 1, Message: "again"})
		}
		for _, p := range all {
			if p.ProgressToken = token; token == nil {
				p.ProgressToken = "call-1"
			}
			if err := r.Session.NotifyProgress(ctx, p); err != nil {
				return nil, nil, err
			}
		}
		return say(fmt.Sprint(token != nil)), nil, nil
	})
}

// addSources has a server have resources and prompts, of every form, and a tool by which it
// gets more of them.
func addSources(s *mcp.Server) {
	reads := 0
	read := func(_ context.Context, r *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
		uri := r.Params.URI
		result := &mcp.ReadResourceResult{Cacheable: mcp.Cacheable{TTLMs: 3_600_000}}
		switch uri {
		case "test:///text":
			result.Contents = []*mcp.ResourceContents{{URI: uri, MIMEType: "text/plain", Text: "hello"}}
		case "test:///bytes":
			result.Contents = []*mcp.ResourceContents{{URI: uri, MIMEType: "image/png", Blob: []byte{0xff, 0}}, {URI: uri + "#2", Text: "two"}}
		case "test:///count":
			reads++
			result.Contents = []*mcp.ResourceContents{{URI: uri, Text: fmt.Sprint("read ", reads)}}
		default:
			size, err := strconv.Atoi(strings.TrimPrefix(uri, "test:///size/"))
			if err != nil {
				return nil, mcp.ResourceNotFoundError(uri)
			}
			result.Contents = []*mcp.ResourceContents{{URI: uri, Text: strings.Repeat("x", size)}}
		}
		return result, nil
	}
	for _, name := range []string{"text", "bytes", "count"} {
		s.AddResource(&mcp.Resource{URI: "test:///" + name, Name: name, Description: "holds " + name, MIMEType: "text/plain", Size: 5}, read)
	}
	s.AddResourceTemplate(&mcp.ResourceTemplate{URITemplate: "test:///size/{n}", Name: "size", Title: "Of a size"}, read)
	greet := func(_ context.Context, r *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
		return &mcp.GetPromptResult{Description: "greets", Messages: []*mcp.PromptMessage{
			{Role: "user", Content: &mcp.TextContent{Text: "Greet " + r.Params.Arguments["who"] + "."}},
			{Role: "assistant", Content: &mcp.ImageContent{Data: []byte{1}, MIMEType: "image/png"}},
			{Role: "user", Content: &mcp.EmbeddedResource{Resource: &mcp.ResourceContents{URI: "test:///text", Text: "hello"}}},
		}}, nil
	}
	s.AddPrompt(&mcp.Prompt{Name: "greet", Description: "does greet", Arguments: []*mcp.PromptArgument{{Name: "who", Description: "whom", Required: true}}}, greet)
	mcp.AddTool(s, &mcp.Tool{Name: "more", Description: "does more"}, func(context.Context, *mcp.CallToolRequest, words) (*mcp.CallToolResult, any, error) {
		s.AddResource(&mcp.Resource{URI: "test:///more", Name: "more"}, read)
		s.AddResourceTemplate(&mcp.ResourceTemplate{URITemplate: "test:///more/{n}", Name: "more"}, read)
		s.AddPrompt(&mcp.Prompt{Name: "more"}, greet)
		return say("more"), nil, nil
	})
}

// canary is the value of the secret "token".
const canary = "c4n4ry/+value"

func secrets() *secret.Store {
	_, log := newLogs()
	return secret.New(secret.Config{Log: log, Sources: map[string]secret.Source{"token": {Env: "T"}, "none": {Env: "N"}},
		Getenv: func(name string) (string, bool) { return map[string]string{"T": canary}[name], name == "T" }})
}

// logs collects what is logged.
type logs struct{ lines chan string }

func (l logs) Write(p []byte) (int, error) {
	select {
	case l.lines <- string(p):
	default:
	}
	return len(p), nil
}

func newLogs() (logs, *slog.Logger) {
	l := logs{make(chan string, 1000)}
	return l, slog.New(slog.NewTextHandler(l, &slog.HandlerOptions{Level: slog.LevelDebug}))
}

// child returns a server that is this binary, started as a process of its own.
func child(t *testing.T, kind string, change func(*MCPConfig)) *MCP {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	_, log := newLogs()
	c := MCPConfig{Name: "s", Command: exe, Env: map[string]string{asServer: kind}, Secrets: secrets(), Log: log}
	if change != nil {
		change(&c)
	}
	m := NewMCP(c)
	t.Cleanup(func() {
		if err := m.Close(); err != nil {
			t.Error(err)
		}
	})
	return m
}

// alive reports whether a process runs: a zombie does not.
func alive(pid string) bool {
	f, err := os.Open("/proc/" + pid + "/stat")
	if err != nil {
		return false
	}
	defer f.Close()
	line, _ := bufio.NewReader(f).ReadString('\n')
	_, state, _ := strings.Cut(line, ") ")
	return !strings.HasPrefix(state, "Z")
}

// eventually waits for something that another process does.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); !ok(); {
		if time.Now().After(deadline) {
			t.Fatal("it never happened: " + what)
		}
		time.Sleep(5 * time.Millisecond)
	}
}
