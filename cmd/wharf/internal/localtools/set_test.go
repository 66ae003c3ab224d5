package localtools

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// kindVar has this program be an MCP server of a kind.
const kindVar = "LOCALTOOLS_TEST_SERVER"

func TestMain(m *testing.M) {
	kind := os.Getenv(kindVar)
	if kind == "" {
		os.Exit(m.Run())
	}
	if file, held := strings.CutPrefix(kind, "held:"); held { // says nothing until there is a file
		for _, err := os.Stat(file); err != nil; _, err = os.Stat(file) {
			time.Sleep(time.Millisecond)
		}
	}
	s := mcp.NewServer(&mcp.Implementation{Name: "test", Version: "1"}, nil)
	for _, name := range []string{"one", "two"} {
		s.AddTool(&mcp.Tool{Name: name, InputSchema: map[string]any{"type": "object"}}, func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: name}, &mcp.ImageContent{Data: []byte("abc"), MIMEType: "image/png"}}}, nil
		})
	}
	if err := s.Run(context.Background(), &mcp.StdioTransport{}); err != nil {
		os.Exit(1)
	}
}

// told are the warnings and changes of a Set.
type told struct {
	mu       sync.Mutex
	warnings []string
	changed  chan struct{}
}

func (w *told) warn(err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.warnings = append(w.warnings, err.Error())
}

func (w *told) all() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return strings.Join(w.warnings, "\n")
}

func start(t *testing.T, patience time.Duration, kinds ...string) (*Set, *told) {
	t.Helper()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	var commands []Command
	for i, kind := range kinds {
		commands = append(commands, Command{Name: fmt.Sprint("server", i), Path: program, Env: map[string]string{kindVar: kind, "HANDLE": "{{secret:a}}"}})
	}
	w := &told{changed: make(chan struct{}, 16)}
	s := Start(commands, Options{Dir: t.TempDir(), Warn: w.warn, Changed: func() { w.changed <- struct{}{} }, Patience: patience})
	t.Cleanup(s.Close)
	return s, w
}

func names(s *Set, t *testing.T, others Others) string {
	t.Helper()
	var all []string
	for _, tool := range s.List(t.Context(), others) {
		all = append(all, tool.Name)
	}
	return strings.Join(all, " ")
}

// A server that does not answer keeps nobody from the tools of another, and its own are there once it has answered.
func TestLateServer(t *testing.T) {
	file := t.TempDir() + "/go"
	s, w := start(t, 100*time.Millisecond, "held:"+file, "ready")
	for names(s, t, Others{}) == "" { // until the other has been started
	}
	if !strings.Contains(w.all(), "server0 has not answered") {
		t.Errorf("people are told %q", w.all())
	}
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	<-w.changed
	for !strings.Contains(w.all(), "the tool one of server1 is left out: server0 has one of this name") { // until both list
		if got := names(s, t, Others{}); got != "one two" && got != "" {
			t.Fatalf("the tools are %s", got)
		}
	}
}

// What others have comes first, and no more is listed than a node takes.
func TestOthers(t *testing.T) {
	s, w := start(t, time.Minute, "ready")
	if got := names(s, t, Others{Names: []string{"one"}}); got != "two" || s.Has("one") {
		t.Errorf("the tools are %s", got)
	}
	full := make([]string, MaxTools-1)
	for i := range full {
		full[i] = fmt.Sprint("other", i)
	}
	if got := names(s, t, Others{Names: full}); got != "one" || !strings.Contains(w.all(), "1 tools are left out") {
		t.Errorf("the tools are %s; people are told %q", got, w.all())
	}
	if got := names(s, t, Others{Bytes: MaxToolBytes}); got != "" {
		t.Errorf("the tools are %s", got)
	}
}

// A call says what it is answered in words, and one of a tool that is not there that it is not.
func TestCall(t *testing.T) {
	s, _ := start(t, time.Minute, "ready")
	names(s, t, Others{})
	got, err := s.Call(t.Context(), "one", jsontext.Value(`{}`))
	if err != nil || string(got) != `"one\n\n(image, image/png, 3 bytes)"` {
		t.Errorf("it answers %s, %v", got, err)
	}
	_, err = s.Call(t.Context(), "three", jsontext.Value(`{}`))
	if f, ok := errors.AsType[*Failure](err); !ok || f.Code != CodeNoTool {
		t.Errorf("it answers %v", err)
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.Call(gone, "one", jsontext.Value(`{}`)); !errors.Is(err, context.Canceled) {
		t.Errorf("nobody waits, and it answers %v", err)
	}
}
