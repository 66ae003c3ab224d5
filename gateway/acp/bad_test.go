package acp_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/fasthttp/websocket"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/gateway"
	"github.com/wharf-dev/wharf/runtime/enginetest"
	"github.com/wharf-dev/wharf/storage/pebble/crashtest"
)

// A client need not wait for the answer to initialize before it goes on.
func TestInitializeIsFirst(t *testing.T) {
	n := newNode(t, nil)
	for range 50 {
		e := n.dial(t, enginetest.RootKey)
		begun := e.ask("initialize", `{"protocolVersion":1,"clientCapabilities":{}}`)
		opened := e.ask("session/new", `{"cwd":"/x","mcpServers":[]}`)
		for _, answer := range []<-chan *line{begun, opened} {
			if l := <-answer; l.Error != nil {
				t.Fatal(l.Error)
			}
		}
	}
}

func TestInitialize(t *testing.T) {
	n := newNode(t, nil)
	e := n.dial(t, enginetest.RootKey)
	for _, method := range []string{"session/new", "session/list", "authenticate", "nonsense"} {
		e.refused(-32600, method, `{"cwd":"/x","mcpServers":[],"methodId":"m"}`)
	}
	e.refused(-32602, "initialize", `{}`)
	got := string(e.ok("initialize", `{"protocolVersion":9,"clientCapabilities":{}}`))
	for _, want := range []string{`"protocolVersion":1`, `"loadSession":true`, `"sessionUpdateExtensions"`, `"authMethods":[]`} {
		if !strings.Contains(got, want) {
			t.Errorf("%s lacks %s", got, want)
		}
	}
	e.refused(-32600, "initialize", `{"protocolVersion":1}`)
	e.refused(-32602, "authenticate", `{"methodId":"other"}`)
	e.ok("authenticate", `{"methodId":"wharf-key"}`)
}

// What is wrong is answered by what is wrong with it, and ends nothing.
func TestBadInput(t *testing.T) {
	n := newNode(t, nil)
	e := n.connect(t, enginetest.RootKey, stock)
	mine := e.open()
	stranger := n.connect(t, n.key(t, abi.CreateKeyRequest{Tenant: "other", Scopes: []string{abi.ScopeAll}}), stock)
	theirs := stranger.open()
	for _, c := range []struct {
		code           int
		method, params string
	}{
		{-32601, "session/nothing", `{}`},
		{-32601, "_harn/session/new", `{"cwd":"/x"}`},
		{-32602, "session/new", `[]`},
		{-32602, "session/new", `{"mcpServers":[]}`},
		{-32602, "session/new", `{"cwd":"relative","mcpServers":[]}`},
		{-32602, "session/new", `{"cwd":5,"mcpServers":[]}`},
		{-32602, "session/new", `{"cwd":"/x","mcpServers":[{"name":"a","command":"/bin/sh","args":[],"env":[]}]}`},
		{-32602, "session/new", `{"cwd":"/x","mcpServers":[{"type":"http","name":"a","url":"http://x","headers":[]}]}`},
		{-32602, "session/load", `{"cwd":"/x","mcpServers":[]}`},
		{-32002, "session/load", `{"sessionId":"sess_none","cwd":"/x","mcpServers":[]}`},
		{-32002, "session/load", `{"sessionId":"` + theirs + `","cwd":"/x","mcpServers":[]}`},
		{-32002, "session/resume", `{"sessionId":"` + theirs + `","cwd":"/x","mcpServers":[]}`},
		{-32002, "session/fork", `{"sessionId":"` + theirs + `"}`},
		{-32002, "session/close", `{"sessionId":"` + theirs + `"}`},
		{-32002, "session/prompt", promptOf(theirs, "x")},
		{-32002, "session/set_mode", `{"sessionId":"` + theirs + `","modeId":"persona_echo"}`},
		{-32602, "session/prompt", `{"prompt":[{"type":"text","text":"x"}]}`},
		{-32602, "session/prompt", `{"sessionId":"` + mine + `"}`},
		{-32602, "session/prompt", `{"sessionId":"` + mine + `","prompt":[]}`},
		{-32602, "session/prompt", `{"sessionId":"` + mine + `","prompt":[{"type":"smell"}]}`},
		{-32602, "session/prompt", `{"sessionId":"` + mine + `","prompt":"x"}`},
		{-32602, "session/fork", `{"sessionId":"` + mine + `","keep_first":0}`},
	} {
		failed := e.refused(c.code, c.method, c.params)
		if c.code == -32002 && !strings.Contains(string(failed.Data), "not_found") {
			t.Errorf("%s %s: %s", c.method, c.params, failed.Data)
		}
	}
	for _, text := range []string{`{`, `[{"jsonrpc":"2.0","id":1,"method":"session/list"}]`, `{"jsonrpc":"2.0","id":1,"id":2,"method":"session/list"}`,
		`{"jsonrpc":"2.0","id":{},"method":"session/list"}`, strings.Repeat("[", 5000) + strings.Repeat("]", 5000),
		`{"jsonrpc":"2.0","id":999,"result":{}}`, `{"jsonrpc":"2.0","id":"x","error":{"code":1,"message":"m"}}`,
		`{"jsonrpc":"2.0","method":"session/cancel"}`, `{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":"` + theirs + `"}}`,
		`{"jsonrpc":"2.0","method":"session/new","params":{"cwd":"/x"}}`, `{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":"none"}}`, `{"jsonrpc":"2.0","method":"_other/thing"}`} {
		e.send([]byte(text))
	}
	if got := e.prompt(mine, "hi"); got != "end_turn" {
		t.Errorf("afterwards: %s", got)
	}
	for _, id := range []string{`"a"`, `-3`, `"1"`, `""`} {
		if l := receive(t, e.askAs(id, "session/list", `{}`)); l.Error != nil || string(l.ID) != id {
			t.Errorf("the id %s: %+v", id, l)
		}
	}
	if l := stranger.list(`{}`); len(l.Sessions) != 1 {
		t.Errorf("another tenant sees %+v", l)
	}
}

// Keys without a scope are refused what needs it; without a key nothing is served.
func TestAccess(t *testing.T) {
	n := newNode(t, nil)
	reads := n.connect(t, n.key(t, abi.CreateKeyRequest{Scopes: []string{"sessions:read", "events:read"}}), stock)
	reads.refused(-32600, "session/new", `{"cwd":"/x","mcpServers":[]}`)
	reads.ok("session/list", `{}`)
	at := "ws" + strings.TrimPrefix(n.url, "http") + "/acp"
	for _, h := range []http.Header{{}, {"Authorization": {"Bearer none"}}, {"Authorization": {"Bearer " + enginetest.RootKey}, "Origin": {"https://evil.example"}},
		{"Authorization": {"Bearer " + enginetest.RootKey}, "Host": {"evil.example"}}} {
		ws, resp, err := websocket.DefaultDialer.Dial(at, h)
		if err == nil {
			_ = ws.Close()
			t.Errorf("%v was let in", h)
			continue
		}
		if resp == nil || resp.StatusCode != http.StatusUnauthorized && resp.StatusCode != http.StatusForbidden {
			t.Errorf("%v: %v %v", h, err, resp)
		}
	}
}

// A client that reads nothing is dropped, and holds up neither its Tasks nor other clients.
func TestSlowClient(t *testing.T) {
	n := startNode(t, crashtest.NewDisk(), enginetest.Guests{"long": says(strings.Repeat("long ", 100_000))}, gateway.Config{})
	e := n.connect(t, enginetest.RootKey, stock)
	s := e.open("long")
	for range 3 {
		e.prompt(s, "go")
	}
	ws, _, err := websocket.DefaultDialer.Dial("ws"+strings.TrimPrefix(n.url, "http")+"/acp", http.Header{"Authorization": {"Bearer " + enginetest.RootKey}})
	if err != nil {
		t.Fatal(err)
	}
	defer ws.Close()
	for i, l := range []string{`"method":"initialize","params":{"protocolVersion":1}`, `"method":"session/load","params":{"sessionId":"` + s + `","cwd":"/x","mcpServers":[]}`} {
		if err := ws.WriteMessage(websocket.TextMessage, []byte(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,%s}`, i, l))); err != nil {
			t.Fatal(err)
		}
	}
	if got := e.prompt(s, "go"); got != "end_turn" {
		t.Errorf("the other client's turn: %s", got)
	}
}
