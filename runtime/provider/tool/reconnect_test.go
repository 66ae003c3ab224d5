package tool

import (
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/wharf-dev/wharf/abi"
)

// restartable is a server over HTTP that can be stopped and begun again at the same address.
type restartable struct {
	t       *testing.T
	address string
	handler func() http.Handler
	server  *http.Server
}

func newRestartable(t *testing.T, legacy bool) *restartable {
	r := &restartable{t: t, address: "127.0.0.1:0"}
	r.handler = func() http.Handler {
		s := testServer(t.Context())
		get := func(*http.Request) *mcp.Server { return s }
		if legacy {
			return mcp.NewSSEHandler(get, nil)
		}
		return mcp.NewStreamableHTTPHandler(get, nil)
	}
	r.start()
	t.Cleanup(r.stop)
	return r
}

func (r *restartable) start() {
	ln, err := net.Listen("tcp", r.address)
	if err != nil {
		r.t.Fatal(err)
	}
	r.address, r.server = ln.Addr().String(), &http.Server{Handler: r.handler()}
	go func(s *http.Server) { _ = s.Serve(ln) }(r.server)
}

func (r *restartable) stop() { _ = r.server.Close() }

// is waits for a state of a connection.
func is(t *testing.T, m *MCP, want abi.ToolServerStatus) {
	t.Helper()
	eventually(t, "it is "+string(want), func() bool { got, _ := m.State(); return got == want })
}

// A server that is to be connected to by itself is, also after it was away, and nobody has to ask.
func TestItConnectsByItself(t *testing.T) {
	r := newRestartable(t, true)
	m := overHTTP(t, "http://"+r.address, func(c *MCPConfig) { c.Legacy, c.Reconnect, c.Turns = true, ByItself, make(chan struct{}, 1) })
	if got, why := m.State(); got != abi.ToolServerDisconnected || why != "" {
		t.Errorf("before it has begun it is %s, %q", got, why)
	}
	m.Begin()
	is(t, m, abi.ToolServerConnected)
	r.stop()
	is(t, m, abi.ToolServerError)
	if _, why := m.State(); !strings.Contains(why, "cannot be reached") {
		t.Errorf("it says %q", why)
	}
	r.start()
	is(t, m, abi.ToolServerConnected)
	if answer, err := call(t, toolsOf(m), "s", "echo", `{"text":"again"}`); err != nil || answer.Content[0].Text != "again" {
		t.Errorf("%+v, %v", answer, err)
	}
}

// A process that dies is started again by itself, and a closed one is not.
func TestAProcessIsStartedAgainByItself(t *testing.T) {
	m := child(t, "plain", func(c *MCPConfig) { c.Reconnect = ByItself })
	m.Begin()
	is(t, m, abi.ToolServerConnected)
	tools := toolsOf(m)
	before, err := call(t, tools, "s", "pid", "{}")
	if err != nil {
		t.Fatal(err)
	}
	_, err = call(t, tools, "s", "die", "{}")
	refused(t, err, abi.CallUnavailable, "broke off")
	is(t, m, abi.ToolServerConnected)
	after, err := call(t, tools, "s", "pid", "{}")
	if err != nil || after.Content[0].Text == before.Content[0].Text {
		t.Errorf("%v, then %v, %v", before, after, err)
	}
	if err := m.Close(); err != nil {
		t.Fatal(err)
	}
	m.Begin()
	if got, _ := m.State(); got == abi.ToolServerConnected || alive(after.Content[0].Text) {
		t.Errorf("after it was closed it is %s", got)
	}
}

// One that is connected to only once stays disconnected when it has gone, until somebody has it
// connect.
func TestItConnectsOnlyOnce(t *testing.T) {
	m := child(t, "plain", func(c *MCPConfig) { c.Reconnect = OnlyOnce })
	tools := toolsOf(m)
	_, err := call(t, tools, "s", "die", "{}")
	refused(t, err, abi.CallUnavailable, "broke off")
	is(t, m, abi.ToolServerDisconnected)
	_, err = call(t, tools, "s", "echo", "{}")
	refused(t, err, abi.CallUnavailable, "is disconnected")
	m.Begin()
	is(t, m, abi.ToolServerConnected)
	if _, err := call(t, tools, "s", "echo", "{}"); err != nil {
		t.Error(err)
	}
	m.Rest()
	if _, err := call(t, tools, "s", "echo", "{}"); err != nil {
		t.Errorf("a connection that is there is used: %v", err)
	}
}
