package acp_test

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/fasthttp/websocket"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/gateway"
	"github.com/wharf-dev/wharf/gateway/acp"
	"github.com/wharf-dev/wharf/gateway/acp/acptest"
	"github.com/wharf-dev/wharf/gateway/api"
	"github.com/wharf-dev/wharf/gateway/internal/gatewaytest"
	"github.com/wharf-dev/wharf/runtime/engine"
	"github.com/wharf-dev/wharf/runtime/enginetest"
	"github.com/wharf-dev/wharf/runtime/sandbox"
	"github.com/wharf-dev/wharf/storage/pebble/crashtest"
)

// patience bounds what a test waits for that should come at once.
const patience = 10 * time.Second

// node is a whole node behind a loopback listener.
type node struct {
	*enginetest.Node
	log gatewaytest.Log
	url string
	end func()
}

// newNode starts a node with some plugins besides "echo".
func newNode(t testing.TB, guests enginetest.Guests, configure ...enginetest.Configure) *node {
	t.Helper()
	return startNode(t, crashtest.NewDisk(), guests, gateway.Config{}, configure...)
}

// startNode starts a node on a disk; a second one on the same disk stands for a restart.
func startNode(t testing.TB, disk *crashtest.Disk, guests enginetest.Guests, cfg gateway.Config, configure ...enginetest.Configure) *node {
	t.Helper()
	return boot(t, disk, nil, guests, cfg, configure...)
}

// newNodeFor starts a node that asks its clients for what they have.
func newNodeFor(t testing.TB, clients *api.Hosts, guests enginetest.Guests, configure ...enginetest.Configure) *node {
	t.Helper()
	return boot(t, crashtest.NewDisk(), clients, guests, gateway.Config{}, configure...)
}

func boot(t testing.TB, disk *crashtest.Disk, clients *api.Hosts, guests enginetest.Guests, cfg gateway.Config, configure ...enginetest.Configure) *node {
	t.Helper()
	all := enginetest.Guests{"echo": enginetest.Echo}
	for name, g := range guests {
		all[name] = g
	}
	root, err := os.OpenRoot(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	n := &node{}
	n.Node = enginetest.Boot(t, disk, all, append(configure, func(_ *engine.Config, p *engine.Parts) {
		p.Models = func() []abi.NodeModel { return []abi.NodeModel{{Name: "large"}, {Name: "small", Default: true}} }
		p.Log, p.Files = slog.New(slog.NewTextHandler(&n.log, nil)), root
	})...)
	cfg.Node, cfg.Version = "test", "0.0.0"
	log := slog.New(slog.NewTextHandler(&n.log, nil))
	server := gateway.New(cfg, n.Engine, log, acp.New(cfg, api.New(n.Engine, cfg.Turns), acp.Node{Log: log, Clients: clients, DefaultPersona: "persona_echo", Version: "0.0.0", Models: []string{"large", "small"}, DefaultModel: "small"}))
	n.url, n.end = gatewaytest.Serve(t, n, server, patience)
	return n
}

// key makes an API key.
func (n *node) key(t testing.TB, req abi.CreateKeyRequest) string {
	t.Helper()
	req.Name = "k"
	made, err := n.CreateKey(t.Context(), n.Root, req)
	if err != nil {
		t.Fatal(err)
	}
	return gatewaytest.KeyOf(t, made.JSON)
}

// editor is a client, which holds every line of both sides against the schema.
type editor struct {
	t     testing.TB
	ws    *websocket.Conn
	check *acptest.Checker
	// elicits says that the client has declared what only later schemas have.
	elicits bool
	// answer answers what the node asks. It is called on a goroutine of its own.
	answer func(method string, params jsontext.Value) (result any, err *rpcError)
	// twice has it answer everything once more.
	twice atomic.Bool

	mu      sync.Mutex
	last    int
	waiting map[string]chan *line
	heard   []update
	idle    int           // how often an agent was said to be idle
	came    chan struct{} // closed with each line
	closed  error
}

type line struct {
	Version string         `json:"jsonrpc"`
	ID      jsontext.Value `json:"id,omitzero"`
	Method  string         `json:"method,omitzero"`
	Params  jsontext.Value `json:"params,omitzero"`
	Result  jsontext.Value `json:"result,omitzero"`
	Error   *rpcError      `json:"error,omitzero"`
}

type rpcError struct {
	Code    int            `json:"code"`
	Message string         `json:"message"`
	Data    jsontext.Value `json:"data,omitzero"`
}

// update is an update as the client has it.
type update struct {
	session string
	kind    string
	text    string
	event   string
	raw     jsontext.Value
}

// dial connects without saying anything.
func (n *node) dial(t testing.TB, key string) *editor {
	t.Helper()
	ws, resp, err := websocket.DefaultDialer.Dial("ws"+strings.TrimPrefix(n.url, "http")+"/acp", http.Header{"Authorization": {"Bearer " + key}})
	if err != nil {
		t.Fatal(err, resp)
	}
	check, err := acptest.New()
	if err != nil {
		t.Fatal(err)
	}
	e := &editor{t: t, ws: ws, check: check, waiting: map[string]chan *line{}, came: make(chan struct{})}
	done := make(chan struct{})
	go func() {
		defer close(done)
		e.read()
	}()
	t.Cleanup(func() {
		_ = ws.Close()
		<-done
	})
	return e
}

// connect connects a stock client, with some capabilities.
func (n *node) connect(t testing.TB, key, capabilities string) *editor {
	t.Helper()
	e := n.dial(t, key)
	e.elicits = strings.Contains(capabilities, `"elicitation"`)
	e.ok("initialize", `{"protocolVersion":1,"clientCapabilities":`+capabilities+`,"clientInfo":{"name":"test","version":"1"}}`)
	return e
}

const stock = `{}`

const aware = `{"_meta":{"harn":{"extensions":"v1"}}}`

func (e *editor) read() {
	for {
		_, text, err := e.ws.ReadMessage()
		if err != nil {
			e.mu.Lock()
			e.closed = err
			e.wake()
			e.mu.Unlock()
			return
		}
		if err := e.check.Agent(text); err != nil && !(e.elicits && bytes.Contains(text, []byte(`"elicitation/create"`))) {
			e.t.Error(err)
		}
		l := &line{}
		if err := json.Unmarshal(text, l); err != nil {
			e.t.Error(err)
			continue
		}
		e.take(l)
	}
}

func (e *editor) take(l *line) {
	if l.Method != "" && l.ID != nil {
		go e.give(l)
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if l.Method == "" {
		if to := e.waiting[string(l.ID)]; to != nil {
			delete(e.waiting, string(l.ID))
			to <- l
		}
	} else if l.Method == "agent/idle" {
		e.idle++
	} else {
		e.heard = append(e.heard, updateOf(l))
	}
	e.wake()
}

// wake is called with the lock.
func (e *editor) wake() {
	close(e.came)
	e.came = make(chan struct{})
}

func updateOf(l *line) update {
	var p struct {
		SessionID string         `json:"sessionId"`
		Update    jsontext.Value `json:"update"`
		Kind      string         `json:"kind"` // of what is no update
		Meta      struct {
			Harn struct {
				EventID string `json:"eventId"`
			} `json:"harn"`
		} `json:"_meta"`
	}
	_ = json.Unmarshal(l.Params, &p)
	var of struct {
		Kind    string         `json:"sessionUpdate"`
		Content jsontext.Value `json:"content"`
	}
	_ = json.Unmarshal(p.Update, &of)
	var content struct {
		Text string `json:"text"`
	}
	_ = json.Unmarshal(of.Content, &content)
	return update{p.SessionID, cmp.Or(of.Kind, p.Kind), content.Text, p.Meta.Harn.EventID, p.Update.Clone()}
}

func (e *editor) give(l *line) {
	out := &line{Version: "2.0", ID: l.ID, Error: &rpcError{Code: -32601, Message: "no"}}
	if e.answer != nil {
		result, failed := e.answer(l.Method, l.Params)
		if out.Error = failed; failed == nil {
			out.Result, _ = json.Marshal(result)
		}
	}
	e.write(out)
	if e.twice.Load() {
		e.write(out)
	}
}

func (e *editor) write(l *line) {
	text, err := json.Marshal(l)
	if err != nil {
		e.t.Error(err)
	}
	e.send(text)
}

func (e *editor) send(text []byte) {
	e.mu.Lock()
	defer e.mu.Unlock()
	_ = e.ws.WriteMessage(websocket.TextMessage, text)
}

// ask sends a request and returns its answer when that comes.
func (e *editor) ask(method, params string) <-chan *line {
	e.mu.Lock()
	e.last++
	id := fmt.Sprint(e.last)
	e.mu.Unlock()
	return e.askAs(id, method, params)
}

func (e *editor) askAs(id, method, params string) <-chan *line {
	to := make(chan *line, 1)
	e.mu.Lock()
	e.waiting[id] = to
	e.mu.Unlock()
	l := &line{Version: "2.0", ID: jsontext.Value(id), Method: method, Params: jsontext.Value(params)}
	text, err := json.Marshal(l)
	if err != nil {
		e.t.Fatal(err)
	}
	_ = e.check.Client(text) // so that it knows what is answered; tests say wrong things too
	e.send(text)
	return to
}

func (e *editor) notify(method, params string) {
	e.write(&line{Version: "2.0", Method: method, Params: jsontext.Value(params)})
}

// ok calls a method that is to succeed.
func (e *editor) ok(method, params string) jsontext.Value {
	e.t.Helper()
	l := receive(e.t, e.ask(method, params))
	if l.Error != nil {
		e.t.Fatalf("%s %s: %d %s %s", method, params, l.Error.Code, l.Error.Message, l.Error.Data)
	}
	return l.Result
}

// refused calls a method that is to fail.
func (e *editor) refused(code int, method, params string) *rpcError {
	e.t.Helper()
	l := receive(e.t, e.ask(method, params))
	if l.Error == nil || l.Error.Code != code {
		e.t.Fatalf("%s %s gave %s %+v, want the error %d", method, params, l.Result, l.Error, code)
	}
	return l.Error
}

// open makes a session.
func (e *editor) open(personas ...string) string {
	e.t.Helper()
	params := `{"cwd":"/home/ann/project","mcpServers":[]}`
	if len(personas) > 0 {
		params = `{"cwd":"/home/ann/project","mcpServers":[],"_meta":{"harn":{"personaId":"persona_` + personas[0] + `"}}}`
	}
	var of struct {
		SessionID string `json:"sessionId"`
	}
	if err := json.Unmarshal(e.ok("session/new", params), &of); err != nil || of.SessionID == "" {
		e.t.Fatal(err, of)
	}
	return of.SessionID
}

func promptOf(session, text string) string {
	return fmt.Sprintf(`{"sessionId":%q,"prompt":[{"type":"text","text":%q}]}`, session, text)
}

// prompt runs a turn and returns why it has stopped.
func (e *editor) prompt(session, text string) string {
	e.t.Helper()
	return stopOf(e.t, e.ok("session/prompt", promptOf(session, text)))
}

func stopOf(t testing.TB, result jsontext.Value) string {
	t.Helper()
	var of struct {
		StopReason string `json:"stopReason"`
	}
	if err := json.Unmarshal(result, &of); err != nil {
		t.Fatal(err, string(result))
	}
	return of.StopReason
}

// updates returns what was told by now, without the commands.
func (e *editor) updates() (all []update) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, u := range e.heard {
		if u.kind != "available_commands_update" {
			all = append(all, u)
		}
	}
	return all
}

// said returns the text that was told, by who has said it.
func (e *editor) said() string {
	var b strings.Builder
	for _, u := range e.updates() {
		switch u.kind {
		case "agent_message_chunk":
			fmt.Fprintf(&b, "[%s]", u.text)
		case "user_message_chunk":
			fmt.Fprintf(&b, "<%s>", u.text)
		}
	}
	return b.String()
}

// until waits until what was told is as wanted.
func (e *editor) until(what string, wanted func() bool) {
	e.t.Helper()
	late := time.After(patience)
	for {
		e.mu.Lock()
		came, closed := e.came, e.closed
		e.mu.Unlock()
		if wanted() {
			return
		}
		if closed != nil {
			e.t.Fatalf("%s: the connection is closed: %v", what, closed)
		}
		select {
		case <-came:
		case <-late:
			e.t.Fatalf("%s has not come; what was told: %v", what, e.updates())
		}
	}
}

// receive returns what comes next.
func receive[T any](t testing.TB, from <-chan T) (v T) {
	t.Helper()
	select {
	case v = <-from:
	case <-time.After(patience):
		t.Fatal("nothing has come")
	}
	return v
}

// says is a guest that says a text.
func says(text string) enginetest.Guest {
	return func(ctx context.Context, h sandbox.Host) error {
		return say(ctx, h, text)
	}
}

func say(ctx context.Context, h sandbox.Host, text string) error {
	body, err := json.Marshal(map[string]any{"role": "assistant", "parts": []any{map[string]any{"type": "text", "text": text}}})
	if err != nil {
		return err
	}
	return enginetest.Call(ctx, h, abi.CallMessageAppend, string(body))
}
