package tool

import (
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/internal/loopback"
	"github.com/wharf-dev/wharf/runtime/provider"
)

// toolsOf grants the plugin "p" everything that the server "s" has.
func toolsOf(s Server) *Tools {
	_, log := newLogs()
	return New(Config{Servers: map[string]Server{"s": s}, Grants: map[string][]string{"p": {"s:*"}}, Log: log})
}

// both runs a test against a child process and against a server over HTTP, by both transports.
func both(t *testing.T, test func(t *testing.T, tools *Tools)) {
	limit := func(c *MCPConfig) { c.Answer = 200_000 }
	t.Run("stdio", func(t *testing.T) { test(t, toolsOf(child(t, "plain", limit))) })
	t.Run("http", func(t *testing.T) {
		s := testServer(t.Context())
		h := httptest.NewServer(mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s }, nil))
		t.Cleanup(h.Close)
		t.Cleanup(h.CloseClientConnections)
		test(t, toolsOf(overHTTP(t, h.URL, limit)))
	})
	t.Run("sse", func(t *testing.T) {
		s := testServer(t.Context())
		h := httptest.NewServer(mcp.NewSSEHandler(func(*http.Request) *mcp.Server { return s }, nil))
		t.Cleanup(h.Close)
		t.Cleanup(h.CloseClientConnections)
		test(t, toolsOf(overHTTP(t, h.URL, func(c *MCPConfig) { limit(c); c.Legacy = true })))
	})
}

func overHTTP(t *testing.T, url string, change func(*MCPConfig)) *MCP {
	t.Helper()
	_, log := newLogs()
	c := MCPConfig{Name: "s", URL: url, Secrets: secrets(), Log: log}
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

func TestHintsDecideWhatACallIs(t *testing.T) {
	both(t, func(t *testing.T, tools *Tools) {
		got := map[string][3]bool{}
		for _, tool := range list(t, tools, "s") {
			got[tool.Name] = [3]bool{tool.ReadOnly, tool.Idempotent, tool.Destructive}
			if tool.Description != "does "+tool.Name || !strings.Contains(string(tool.InputSchema), `"properties"`) {
				t.Errorf("%+v", tool)
			}
		}
		for name, want := range map[string][3]bool{"echo": {true, false, false}, "put": {false, true, false},
			"send": {false, false, true}, "plain": {false, false, true}} {
			if got[name] != want {
				t.Errorf("%s is %v, want %v", name, got[name], want)
			}
		}
	})
}

func TestTheOperatorKnowsBetter(t *testing.T) {
	m := child(t, "plain", func(c *MCPConfig) {
		c.ReadOnly, c.Idempotent, c.Writes = []string{"pl*", "pid"}, []string{"send"}, []string{"echo", "pid"}
	})
	for _, tool := range list(t, toolsOf(m), "s") {
		want := map[string][2]bool{"plain": {true, false}, "send": {false, true}, "echo": {}, "pid": {}, "put": {false, true}}[tool.Name]
		if got := [2]bool{tool.ReadOnly, tool.Idempotent}; got != want {
			t.Errorf("%s is %v, want %v", tool.Name, got, want)
		}
	}
}

func TestAnswersOfTools(t *testing.T) {
	both(t, func(t *testing.T, tools *Tools) {
		answer, err := call(t, tools, "s", "echo", `{"text":"hello"}`)
		if err != nil || !reflect.DeepEqual(answer.Content, []abi.ToolContent{{Type: "text", Text: "hello"}}) {
			t.Errorf("got %+v, %v", answer, err)
		}
		answer, err = call(t, tools, "s", "plain", "{}")
		want := abi.CallToolCallAnswer{Structured: []byte(`{"a":[true],"b":1}`), Content: []abi.ToolContent{
			{Type: "image", Data: []byte{1, 2}, MimeType: "image/png"}, {Type: "audio", Data: []byte{3}, MimeType: "audio/wav"},
			{Type: "resource", URI: "file:///a", MimeType: "text/plain", Text: "a"},
			{Type: "resource", URI: "file:///b", Text: "b"}, {Type: "resource", URI: "file:///c", Data: []byte{4}},
		}}
		if err != nil || !reflect.DeepEqual(answer, want) {
			t.Errorf("got %+v, %v", answer, err)
		}
		answer, err = call(t, tools, "s", "fail", "{}")
		if err != nil || !answer.IsError || answer.Content[0].Text != "it went wrong" {
			t.Errorf("got %+v, %v", answer, err)
		}
		if answer, err = call(t, tools, "s", "big", `{"size":100000}`); err != nil || len(answer.Content[0].Text) != 1e5 {
			t.Errorf("got %d bytes, %v", len(answer.Content), err)
		}
		_, err = call(t, tools, "s", "big", `{"size":200000}`)
		refused(t, err, abi.CallTooLarge, "it may have 200000")
		_, err = call(t, tools, "s", "big", `{"size":2000000}`)
		refused(t, err, abi.CallUnavailable, "broke off")
		if _, err = call(t, tools, "s", "echo", "{}"); err != nil {
			t.Errorf("after an answer that was too large: %v", err)
		}
	})
}

func TestATimeoutEndsTheCallAndNotTheConnection(t *testing.T) {
	m := child(t, "plain", func(c *MCPConfig) { c.Timeout = time.Second })
	if _, err := m.List(t.Context()); err != nil {
		t.Fatal(err)
	}
	tools := toolsOf(m)
	before, err := call(t, tools, "s", "pid", "{}")
	if err != nil {
		t.Fatal(err)
	}
	_, err = call(t, tools, "s", "hang", "{}")
	refused(t, err, abi.CallTimeout, "s:hang was not done within 1s")
	if after, err := call(t, tools, "s", "pid", "{}"); err != nil || after.Content[0].Text != before.Content[0].Text {
		t.Errorf("%+v, %+v, %v", before, after, err)
	}
}

func TestAListIsFetchedOnceAndWhenItChanges(t *testing.T) {
	both(t, func(t *testing.T, tools *Tools) {
		m := tools.servers["s"].(*MCP)
		list(t, tools, "s")
		m.mu.Lock()
		l := m.link
		m.mu.Unlock()
		if l.tools.known() == nil {
			t.Fatal("the list is not kept")
		}
		if _, err := call(t, tools, "s", "grow", "{}"); err != nil {
			t.Fatal(err)
		}
		eventually(t, "the new tool is listed", func() bool { return strings.Contains(names(list(t, tools, "s")), "s:grown") })
		if answer, err := call(t, tools, "s", "grown", "{}"); err != nil || answer.Content[0].Text != "grown" {
			t.Errorf("got %+v, %v", answer, err)
		}
	})
}

func TestAServerThatDiesIsStartedAgain(t *testing.T) {
	tools := toolsOf(child(t, "plain", nil))
	_, err := call(t, tools, "s", "die", "{}")
	refused(t, err, abi.CallUnavailable, "whether it did what it was asked is not known")
	first, err := call(t, tools, "s", "pid", "{}")
	if err != nil {
		t.Fatal(err)
	}
	pid, _ := strconv.Atoi(first.Content[0].Text)
	hanging, pipe := make(chan error, 1), filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	go func() {
		_, err := call(t, tools, "s", "hang", `{"text":"`+pipe+`"}`)
		hanging <- err
	}()
	if _, err := os.ReadFile(pipe); err != nil { // until it hangs there: another process would hang longer
		t.Fatal(err)
	}
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	if err := <-hanging; err != nil {
		refused(t, err, abi.CallUnavailable, "")
	} else {
		t.Error("a hanging tool has answered")
	}
	second, err := call(t, tools, "s", "pid", "{}")
	if err != nil || second.Content[0].Text == first.Content[0].Text {
		t.Errorf("%+v, %v", second, err)
	}
	if alive(first.Content[0].Text) {
		t.Error("the first process is still there")
	}
}

func TestAServerThatKeepsDyingIsLeftAlone(t *testing.T) {
	m := child(t, "plain", func(c *MCPConfig) { c.Command = "/no/such/program" })
	var err error
	for range 6 {
		_, err = m.List(t.Context())
		refused(t, err, abi.CallUnavailable, "")
	}
	refused(t, err, abi.CallUnavailable, "left alone for a while")
	if strings.Contains(err.Error(), "/no/such") {
		t.Errorf("the plugin learns %v", err)
	}
}

func TestPausesGrow(t *testing.T) {
	last := time.Duration(-1)
	for failures := range 40 {
		p := pause(failures)
		if p < last || p > maxPause {
			t.Errorf("after %d failures: %v, after %v", failures, p, last)
		}
		last = p
	}
	if pause(0) != 0 || last != maxPause {
		t.Errorf("from %v to %v", pause(0), last)
	}
}

func TestCloseLeavesNoProcess(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("looks for processes in /proc, which only Linux has")
	}
	for _, kind := range []string{"plain", "stubborn"} {
		t.Run(kind, func(t *testing.T) {
			m := child(t, kind, nil)
			tools := toolsOf(m)
			answer, err := call(t, tools, "s", "pid", "{}")
			if err != nil {
				t.Fatal(err)
			}
			pids := []string{answer.Content[0].Text}
			if kind == "stubborn" {
				answer, err = call(t, tools, "s", "spawn", "{}")
				if err != nil {
					t.Fatal(err)
				}
				pids = append(pids, answer.Content[0].Text)
			}
			if err := tools.Close(); err != nil {
				t.Fatal(err)
			}
			if _, err := os.Stat("/proc/" + pids[0]); err == nil {
				t.Error("the process, or its zombie, is still there")
			}
			eventually(t, "what it started is gone too", func() bool { return !alive(pids[len(pids)-1]) })
			_, err = call(t, tools, "s", "pid", "{}")
			refused(t, err, abi.CallUnavailable, "shut down")
		})
	}
}

func TestCloseDoesNotWaitForCalls(t *testing.T) {
	both(t, func(t *testing.T, tools *Tools) {
		if _, err := call(t, tools, "s", "echo", "{}"); err != nil {
			t.Fatal(err)
		}
		hanging := make(chan error, 1)
		go func() {
			_, err := call(t, tools, "s", "hang", "{}")
			hanging <- err
		}()
		if err := tools.Close(); err != nil {
			t.Fatal(err)
		}
		refused(t, <-hanging, abi.CallUnavailable, "")
	})
}

func TestCloseWhileItConnects(t *testing.T) {
	m := child(t, "mute", nil)
	listing := make(chan error, 1)
	go func() {
		_, err := m.List(t.Context())
		listing <- err
	}()
	eventually(t, "it connects", func() bool {
		m.mu.Lock()
		defer m.mu.Unlock()
		return m.connecting != nil
	})
	if err := m.Close(); err != nil {
		t.Fatal(err)
	}
	refused(t, <-listing, abi.CallUnavailable, "")
}

func TestOneConnectionForAll(t *testing.T) {
	tools := toolsOf(child(t, "plain", nil))
	var all sync.WaitGroup
	var pids sync.Map
	for range 8 {
		all.Go(func() {
			answer, err := call(t, tools, "s", "pid", "{}")
			if err != nil {
				t.Error(err)
				return
			}
			pids.Store(answer.Content[0].Text, true)
		})
	}
	all.Wait()
	count := 0
	pids.Range(func(any, any) bool { count++; return true })
	if count != 1 {
		t.Errorf("%d processes", count)
	}
}

func TestTheEnvironmentOfAProcess(t *testing.T) {
	lines, log := newLogs()
	m := child(t, "plain", func(c *MCPConfig) {
		c.Env["TOKEN"], c.Env["MODE"] = "Bearer {{secret:token}}", "test"
		c.Environ = func() []string {
			return []string{"PATH=/bin", "HOME=/h", "AWS_SECRET_ACCESS_KEY=node's own", "WHARF_API_KEY=k"}
		}
		c.Log = log
	})
	answer, err := call(t, toolsOf(m), "s", "env", "{}")
	if err != nil {
		t.Fatal(err)
	}
	got := answer.Content[0].Text
	for _, want := range []string{"PATH=/bin", "HOME=/h", "MODE=test", "TOKEN=Bearer {{secret:token}}"} {
		if !strings.Contains(got, want) {
			t.Errorf("%s is missing in %s", want, got)
		}
	}
	if strings.Contains(got, "node's own") || strings.Contains(got, "WHARF_API_KEY") || strings.Contains(got, canary) {
		t.Errorf("the plugin reads %s", got)
	}
	if err := m.Close(); err != nil {
		t.Fatal(err)
	}
	close(lines.lines)
	said := false
	for line := range lines.lines {
		said = said || strings.Contains(line, "starting with Bearer {{secret:token}}")
		if strings.Contains(line, canary) {
			t.Errorf("the log has %s", line)
		}
	}
	if !said {
		t.Error("what the process wrote to standard error is not in the log")
	}
}

func TestASecretThatCannotBeRead(t *testing.T) {
	m := child(t, "plain", func(c *MCPConfig) { c.Env["TOKEN"] = "{{secret:none}}" })
	_, err := m.List(t.Context())
	refused(t, err, abi.CallUnavailable, `the secret "none" cannot be read now`)
}

func TestHeadersGoToTheConfiguredHostAlone(t *testing.T) {
	var strayed atomic.Bool
	stray := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { strayed.Store(true) }))
	defer stray.Close()
	s := testServer(t.Context())
	inner := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s }, nil)
	var bare atomic.Int64
	h := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer "+canary {
			bare.Add(1)
		}
		if r.URL.Path == "/away" {
			http.Redirect(w, r, stray.URL, http.StatusTemporaryRedirect)
			return
		}
		inner.ServeHTTP(w, r)
	}))
	defer h.Close()
	defer h.CloseClientConnections()
	headers := func(c *MCPConfig) { c.Headers = map[string]string{"Authorization": "Bearer {{secret:token}}"} }
	m := overHTTP(t, h.URL, headers)
	answer, err := call(t, toolsOf(m), "s", "echo", `{"text":"`+canary+`"}`)
	if err != nil || answer.Content[0].Text != "{{secret:token}}" || bare.Load() != 0 {
		t.Errorf("got %+v, %v; %d requests without the header", answer, err, bare.Load())
	}
	if err := m.Close(); err != nil {
		t.Error(err)
	}
	_, err = overHTTP(t, h.URL+"/away", headers).List(t.Context())
	refused(t, err, abi.CallUnavailable, "cannot be reached")
	if strayed.Load() {
		t.Error("the redirect was followed")
	}
}

// TestAServerOverHTTPThatIsRestarted goes on at the same address with a server that
// knows nothing of the session.
func TestAServerOverHTTPThatIsRestarted(t *testing.T) {
	serve := func(ln net.Listener) *http.Server {
		s := testServer(t.Context())
		h := &http.Server{Handler: mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s }, nil)}
		go func() { _ = h.Serve(ln) }()
		return h
	}
	ln, err := net.Listen("tcp", loopback.Free(t))
	if err != nil {
		t.Fatal(err)
	}
	address := ln.Addr().String()
	h := serve(ln)
	tools := toolsOf(overHTTP(t, "http://"+address, nil))
	if _, err := call(t, tools, "s", "echo", "{}"); err != nil {
		t.Fatal(err)
	}
	if err := h.Close(); err != nil {
		t.Fatal(err)
	}
	if ln, err = net.Listen("tcp", address); err != nil {
		t.Fatal(err)
	}
	h = serve(ln)
	defer h.Close()
	eventually(t, "it works again", func() bool {
		answer, err := call(t, tools, "s", "echo", `{"text":"again"}`)
		return err == nil && answer.Content[0].Text == "again"
	})
}

// TestAHostileServer holds that nonsense is a refusal, and harms nothing.
func TestAHostileServer(t *testing.T) {
	for name, answer := range map[string]string{
		"no JSON":   "hello\n",
		"no object": "[1,2]\n",
		"no answer": `{"jsonrpc":"2.0","id":999,"result":{}}` + "\n",
	} {
		t.Run(name, func(t *testing.T) {
			m := child(t, "plain", func(c *MCPConfig) {
				c.Command, c.Args = "sh", []string{"-c", fmt.Sprintf("printf '%%s' '%s'; exec cat >/dev/null", answer)}
				c.Timeout = 500 * time.Millisecond
			})
			tools := toolsOf(m)
			_, _, err := ask(t, tools, abi.CallToolList, abi.CallToolListRequest{Server: "s"})
			if r, ok := err.(*provider.Refusal); !ok || r.Status != abi.CallUnavailable && r.Status != abi.CallTimeout {
				t.Errorf("got %v", err)
			}
		})
	}
}
