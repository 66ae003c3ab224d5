package tool

import (
	"bufio"
	"context"
	"encoding/base64"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/internal/loopback"
)

// npmServer returns the script of a server that other people wrote, or skips the
// test.
func npmServer(t *testing.T, name string) string {
	t.Helper()
	if _, err := exec.LookPath("node"); err != nil {
		t.Skip("needs node, which is not installed")
	}
	script, err := filepath.Abs(filepath.Join("..", "..", "..", "conformance", "clients", "node_modules",
		"@modelcontextprotocol", name, "dist", "index.js"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(script); err != nil {
		t.Skip(`needs the npm packages: run "npm ci" in conformance/clients`)
	}
	return script
}

func node(t *testing.T, args ...string) *Tools {
	t.Helper()
	return toolsOf(child(t, "", func(c *MCPConfig) {
		c.Command, c.Args = "node", args
		c.Env = map[string]string{"TOKEN": "{{secret:token}}"}
	}))
}

// everything checks server-everything over some transport.
func everything(t *testing.T, tools *Tools) {
	answer, err := call(t, tools, "s", "echo", `{"message":"ahoy"}`)
	if err != nil || len(answer.Content) != 1 || answer.Content[0].Text != "Echo: ahoy" {
		t.Errorf("got %+v, %v", answer, err)
	}
	answer, err = call(t, tools, "s", "get-sum", `{"a":2,"b":3}`)
	if err != nil || !strings.Contains(answer.Content[0].Text, "5") {
		t.Errorf("got %+v, %v", answer, err)
	}
	answer, err = call(t, tools, "s", "get-tiny-image", `{}`)
	image := false
	for _, c := range answer.Content {
		image = image || c.Type == "image" && c.MimeType == "image/png" && strings.HasPrefix(string(c.Data), "\x89PNG")
	}
	if err != nil || !image {
		t.Errorf("no image in %+v, %v", answer, err)
	}
	answer, err = call(t, tools, "s", "get-sum", `{"a":"x"}`)
	if err == nil && !answer.IsError {
		t.Errorf("it adds up what is no number: %+v", answer)
	}
	answer, err = call(t, tools, "s", "get-structured-content", `{"location":"New York"}`)
	if err != nil || !strings.Contains(string(answer.Structured), `"temperature":`) {
		t.Errorf("got %+v, %v", answer, err)
	}
}

func TestServerEverythingOverStdio(t *testing.T) {
	tools := node(t, npmServer(t, "server-everything"), "stdio")
	everything(t, tools)
	answer, err := call(t, tools, "s", "get-env", `{}`)
	if err != nil || !strings.Contains(answer.Content[0].Text, "{{secret:token}}") || strings.Contains(answer.Content[0].Text, canary) {
		t.Errorf("got %+v, %v", answer, err)
	}
}

func TestServerEverythingOverHTTP(t *testing.T) {
	everythingAt(t, "streamableHttp", "/mcp", "listening on port", false)
}

func TestServerEverythingOverSSE(t *testing.T) {
	everythingAt(t, "sse", "/sse", "running on port", true)
}

// everythingAt checks server-everything over HTTP. It is gone for a while, and used again when it is back.
func everythingAt(t *testing.T, kind, path, says string, legacy bool) {
	script := npmServer(t, "server-everything")
	_, port, err := net.SplitHostPort(loopback.Free(t))
	if err != nil {
		t.Fatal(err)
	}
	begin := func() (end func()) {
		ctx, cancel := context.WithCancel(t.Context())
		cmd := exec.CommandContext(ctx, "node", "--import", loopbackOnly(), script, kind)
		cmd.Env = append(os.Environ(), "PORT="+port)
		out, err := cmd.StderrPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		for lines := bufio.NewScanner(out); lines.Scan(); {
			if strings.Contains(lines.Text(), says) {
				break
			}
		}
		return func() {
			cancel()
			_ = cmd.Wait()
		}
	}
	end := begin()
	m := overHTTP(t, "http://127.0.0.1:"+port+path, func(c *MCPConfig) { c.Legacy, c.Reconnect = legacy, ByItself })
	tools := toolsOf(m)
	everything(t, tools)
	end()
	defer begin()()
	eventually(t, "it is used again", func() bool {
		answer, err := call(t, tools, "s", "echo", `{"message":"again"}`)
		return err == nil && answer.Content[0].Text == "Echo: again"
	})
	everything(t, tools)
	if err := tools.Close(); err != nil {
		t.Error(err)
	}
}

// loopbackOnly makes a node program listen on loopback, where it would listen on
// every interface.
func loopbackOnly() string {
	script := `import net from "node:net"; const listen = net.Server.prototype.listen;
net.Server.prototype.listen = function (port, ...rest) { return listen.call(this, Number(port), "127.0.0.1", ...rest.filter((r) => typeof r === "function")); };`
	return "data:text/javascript;base64," + base64.StdEncoding.EncodeToString([]byte(script))
}

func TestServerFilesystem(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "a.txt")
	if err := os.WriteFile(file, []byte("from the file"), 0o600); err != nil {
		t.Fatal(err)
	}
	tools := node(t, npmServer(t, "server-filesystem"), dir)
	for _, tool := range list(t, tools, "s") {
		switch {
		case strings.HasPrefix(tool.Name, "read_") && !tool.ReadOnly:
			t.Errorf("%s is not taken as read-only: %+v", tool.Name, tool)
		case tool.Name == "write_file" && (tool.ReadOnly || !tool.Idempotent || !tool.Destructive):
			t.Errorf("%+v", tool)
		case tool.Name == "edit_file" && (tool.ReadOnly || tool.Idempotent):
			t.Errorf("%+v", tool)
		}
	}
	answer, err := call(t, tools, "s", "read_text_file", fmt.Sprintf(`{"path":%q}`, file))
	if err != nil || answer.IsError || answer.Content[0].Text != "from the file" {
		t.Errorf("got %+v, %v", answer, err)
	}
	plan, _, err := ask(t, tools, abi.CallToolCall, fmt.Sprintf(
		`{"server":"s","name":"write_file","arguments":{"path":%q,"content":"by the tool"}}`, filepath.Join(dir, "b.txt")))
	if err != nil || plan.Effect != abi.EffectWrite || !plan.Repeatable {
		t.Errorf("%+v, %v", plan, err)
	}
	if got, err := os.ReadFile(filepath.Join(dir, "b.txt")); string(got) != "by the tool" {
		t.Errorf("%q, %v", got, err)
	}
	answer, err = call(t, tools, "s", "read_text_file", `{"path":"/etc/hostname"}`)
	if err != nil || !answer.IsError {
		t.Errorf("it reads beyond its folder: %+v, %v", answer, err)
	}
}
