package main

import (
	"context"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/cmd/wharf/internal/client"
)

// askingArguments are those of a call of the plugin "calls" that asks its user something.
var askingArguments = map[string]any{"program": []any{map[string]any{"call": "input.request", "request": map[string]any{"prompt": "Which port?",
	"schema": map[string]any{"type": "object", "properties": map[string]any{"port": map[string]any{"type": "integer"}}, "required": []string{"port"}}}}}}

// piped is a client that runs "wharf mcp".
type piped struct {
	*mcp.ClientSession
	stderr strings.Builder
}

func (r *rig) pipe(options *mcp.ClientOptions, with *mcp.ClientSessionOptions, args ...string) *piped {
	r.t.Helper()
	cmd := exec.Command(r.program, append([]string{"mcp"}, args...)...)
	cmd.Env = append(os.Environ(), "WHARF_API_KEY="+testKey)
	if r.node != nil {
		cmd.Env = append(cmd.Env, "WHARF_SERVER="+r.node.url)
	}
	p := &piped{}
	cmd.Stderr = &p.stderr
	session, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, options).Connect(r.t.Context(), &mcp.CommandTransport{Command: cmd}, with)
	if err != nil {
		r.t.Fatalf("%v\n%s", err, p.stderr.String())
	}
	p.ClientSession = session
	return p
}

// again starts the node anew, at the address that it had.
func (r *rig) again() {
	r.node.stop(syscall.SIGKILL)
	r.flags = append(r.flags, "--listen", strings.TrimPrefix(r.node.url, "http://"))
	r.start()
}

// A client that runs "wharf mcp" calls tools, in both revisions.
func TestPipe(t *testing.T) {
	r := newRig(t)
	for _, revision := range []string{"2025-11-25", "2026-07-28"} {
		t.Run(revision, func(t *testing.T) {
			p := r.pipe(nil, &mcp.ClientSessionOptions{ProtocolVersion: revision})
			if got := p.InitializeResult().ProtocolVersion; got != revision {
				t.Fatalf("the revision is %s", got)
			}
			tools, err := p.ListTools(t.Context(), nil)
			if err != nil || len(tools.Tools) == 0 {
				t.Fatal(tools, err)
			}
			var all sync.WaitGroup
			for _, text := range []string{"one", "two ☃", "three\nlines"} {
				all.Go(func() {
					res, err := p.CallTool(t.Context(), &mcp.CallToolParams{Name: "echo", Arguments: map[string]any{"text": text}})
					if err != nil || res.IsError || !strings.Contains(contentOf(res), strings.Split(text, "\n")[0]) {
						t.Errorf("%+v, %v", res, err)
					}
				})
			}
			all.Wait()
			if _, err := p.CallTool(t.Context(), &mcp.CallToolParams{Name: "nothing"}); err == nil {
				t.Error("a tool that is not there was called")
			}
			if err := p.Close(); err != nil {
				t.Errorf("%v\n%s", err, p.stderr.String())
			}
		})
	}
}

func contentOf(res *mcp.CallToolResult) string {
	var all strings.Builder
	for _, c := range res.Content {
		if text, ok := c.(*mcp.TextContent); ok {
			all.WriteString(text.Text)
		}
	}
	return all.String()
}

// A node that is killed and started again while a call waits for its user is asked again for the
// answer: the client stays connected.
func TestPipeOverKills(t *testing.T) {
	plugins, err := pluginFolder()
	if err != nil {
		t.Fatal(err)
	}
	r := newRig(t, "--set", "plugins.dir="+plugins)
	skill := abi.CreateSkillRequest{PersonaID: "persona_calls", Name: "asks", Description: "Asks.", InputSchema: jsontext.Value(`{"type":"object"}`)}
	if _, err := client.Do[abi.Skill](t.Context(), r.client, client.Post(skill, "/wharf/v1/skills")); err != nil {
		t.Fatal(err)
	}
	for _, revision := range []string{"2025-11-25", "2026-07-28"} {
		t.Run(revision, func(t *testing.T) {
			asked := 0
			p := r.pipe(&mcp.ClientOptions{ElicitationHandler: func(context.Context, *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
				if asked++; asked == 1 {
					r.again()
				}
				return &mcp.ElicitResult{Action: "accept", Content: map[string]any{"port": 8080}}, nil
			}}, &mcp.ClientSessionOptions{ProtocolVersion: revision})
			res, err := p.CallTool(t.Context(), &mcp.CallToolParams{Name: "asks", Arguments: askingArguments})
			if err != nil || res.IsError || asked == 0 {
				t.Fatalf("%+v, %v, asked %d times\n%s", res, err, asked, p.stderr.String())
			}
			r.again()
			if _, err := p.ListTools(t.Context(), nil); err != nil {
				t.Errorf("after another kill: %v\n%s", err, p.stderr.String())
			}
			if err := p.Close(); err != nil {
				t.Errorf("%v\n%s", err, p.stderr.String())
			}
		})
	}
}

// The pipe says what to do where no node answers, to people and to the client, and ends; with --embedded
// it is a node itself, which finds its data again.
func TestPipeWithoutANode(t *testing.T) {
	program, err := buildWharf()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(program, "mcp", "--server", "http://127.0.0.1:9")
	cmd.Env = append(os.Environ(), "WHARF_API_KEY="+testKey)
	stdin, err := cmd.StdinPipe() // which stays open
	if err != nil {
		t.Fatal(err)
	}
	defer stdin.Close()
	var stdout, stderr strings.Builder
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(stdin, "no json\n"+`{"jsonrpc":"2.0","id":"a","method":"initialize","params":{}}`+"\n"); err != nil {
		t.Fatal(err)
	}
	if _ = cmd.Wait(); cmd.ProcessState.ExitCode() != exitUnreachable || !strings.Contains(stderr.String(), "wharf serve") {
		t.Errorf("%d: %s", cmd.ProcessState.ExitCode(), stderr.String())
	}
	lines := strings.Split(strings.TrimSpace(stdout.String()), "\n")
	if len(lines) != 2 || !strings.Contains(lines[0], "-32700") || !strings.Contains(lines[1], `"id":"a","error"`) || !strings.Contains(lines[1], "no node answers") {
		t.Errorf("the client was told %q", lines)
	}
	data := t.TempDir()
	for range 2 {
		r := &rig{t: t, program: program}
		p := r.pipe(nil, nil, "--embedded", "--server", "http://127.0.0.1:9", "--listen", "127.0.0.1:0", "--data", data, "--set", pluginCacheSet())
		if res, err := p.CallTool(t.Context(), &mcp.CallToolParams{Name: "echo", Arguments: map[string]any{"text": "hi"}}); err != nil || !strings.Contains(contentOf(res), "hi") {
			t.Errorf("%+v, %v\n%s", res, err, p.stderr.String())
		}
		if err := p.Close(); err != nil {
			t.Errorf("%v\n%s", err, p.stderr.String())
		}
	}
}
