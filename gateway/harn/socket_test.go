package harn_test

import (
	"bytes"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/fasthttp/websocket"
	"github.com/go-json-experiment/json"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/gateway"
	"github.com/wharf-dev/wharf/runtime/enginetest"
)

// frames are the schemas of what goes over a socket.
var frames = sync.OnceValues(func() (*jsonschema.Compiler, error) {
	text, err := os.ReadFile("../../docs/websocket.schema.json")
	if err != nil {
		return nil, err
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		return nil, err
	}
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft2020)
	c.AssertFormat()
	return c, c.AddResource("mem:///frames.json", doc)
})

var compiling sync.Mutex // a compiler is for one at a time

// checkFrame checks a frame of one side against its schema.
func checkFrame(t testing.TB, side string, text []byte) {
	t.Helper()
	c, err := frames()
	if err != nil {
		t.Fatal(err)
	}
	compiling.Lock()
	schema, err := c.Compile("mem:///frames.json#/$defs/" + side)
	compiling.Unlock()
	if err != nil {
		t.Fatal(err)
	}
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		t.Fatalf("%v: %q", err, text)
	}
	if err := schema.Validate(v); err != nil {
		t.Errorf("no valid frame of the %s: %v\n%s", side, err, text)
	}
}

// socket is a WebSocket, used as a client does.
type socket struct {
	t    testing.TB
	conn *websocket.Conn
	resp *http.Response
	id   int
	kept []received // events that came while something else was waited for
}

// received is a frame from the node.
type received struct {
	Type       string                `json:"type"`
	ID         string                `json:"id"`
	Session    string                `json:"session_id"`
	Task       string                `json:"task_id"`
	Cursor     string                `json:"cursor"`
	Event      *abi.Event            `json:"event"`
	Replayed   bool                  `json:"replayed"`
	Resource   map[string]any        `json:"resource"`
	Again      bool                  `json:"idempotent_replayed"`
	Error      *abi.Error            `json:"error"`
	Request    abi.PermissionRequest `json:"request"`
	CallID     string                `json:"call_id"`
	Name       string                `json:"name"`
	Arguments  map[string]any        `json:"arguments"`
	Code       int                   `json:"code"`
	Reason     string                `json:"reason"`
	RequestID  string                `json:"request_id"`
	Version    string                `json:"version"`
	Actor      string                `json:"actor"`
	Limits     object                `json:"limits"`
	DeadlineAt string                `json:"deadline_at"`
	OK         bool                  `json:"ok"`
}

func headers(options ...func(*http.Request)) http.Header {
	r := &http.Request{Header: http.Header{}}
	r.Header.Set("Authorization", "Bearer "+enginetest.RootKey)
	r.Header.Set(abi.VersionHeader, abi.ProtocolVersion)
	for _, o := range options {
		o(r)
	}
	return r.Header
}

// knock opens a socket, or returns the answer that refused it.
func (n *node) knock(t testing.TB, path string, options ...func(*http.Request)) (*socket, *http.Response) {
	t.Helper()
	d := websocket.Dialer{HandshakeTimeout: patience}
	h := headers(options...)
	if h.Get("X-Compress") != "" {
		d.EnableCompression = true
		h.Del("X-Compress")
	}
	conn, resp, err := d.Dial("ws://"+n.addr+path, h)
	if err != nil {
		if resp == nil {
			t.Fatal(err)
		}
		return nil, resp
	}
	t.Cleanup(func() { conn.Close() })
	return &socket{t: t, conn: conn, resp: resp}, resp
}

// connect opens a socket and reads its hello.
func (n *node) connect(t testing.TB, path string, options ...func(*http.Request)) (*socket, received) {
	t.Helper()
	s, resp := n.knock(t, path, options...)
	if s == nil {
		t.Fatalf("%s: refused with %d", path, resp.StatusCode)
	}
	return s, s.want("hello")
}

// next reads a frame, or says how the socket was closed.
func (s *socket) next() (received, error) {
	s.t.Helper()
	_ = s.conn.SetReadDeadline(time.Now().Add(patience))
	_, text, err := s.conn.ReadMessage()
	if err != nil {
		return received{}, err
	}
	checkFrame(s.t, "server", text)
	var f received
	if err := json.Unmarshal(text, &f); err != nil {
		s.t.Fatalf("%v: %s", err, text)
	}
	return f, nil
}

// want reads frames until one of that type comes. Events that come before it are
// kept for those who want events.
func (s *socket) want(kind string) received {
	s.t.Helper()
	if kind == "event" && len(s.kept) > 0 {
		f := s.kept[0]
		s.kept = s.kept[1:]
		return f
	}
	for {
		f, err := s.next()
		if err != nil {
			s.t.Fatalf("waiting for %s: %v", kind, err)
		}
		switch f.Type {
		case kind:
			return f
		case "event":
			s.kept = append(s.kept, f)
		case "request":
		default:
			s.t.Fatalf("%s came, want %s: %+v", f.Type, kind, f)
		}
	}
}

// wantClosed reads to the end and checks the close code.
func (s *socket) wantClosed(code int) {
	s.t.Helper()
	for {
		_, err := s.next()
		if err == nil {
			continue
		}
		if closed, ok := errors.AsType[*websocket.CloseError](err); !ok || closed.Code != code {
			s.t.Fatalf("closed with %v, want %d", err, code)
		}
		return
	}
}

// send sends a command and returns its id.
func (s *socket) send(kind string, more object) string {
	s.t.Helper()
	s.id++
	id := fmt.Sprint("c", s.id)
	f := object{"type": kind, "id": id}
	for name, v := range more {
		f[name] = v
	}
	text, err := json.Marshal(f)
	if err != nil {
		s.t.Fatal(err)
	}
	checkFrame(s.t, "client", text)
	s.write(string(text))
	return id
}

func (s *socket) write(text string) {
	s.t.Helper()
	if err := s.conn.WriteMessage(websocket.TextMessage, []byte(text)); err != nil {
		s.t.Fatal(err)
	}
}

// do sends a command and returns its ack.
func (s *socket) do(kind string, more object) received {
	s.t.Helper()
	id := s.send(kind, more)
	if a := s.want("ack"); a.ID != id || !a.OK {
		s.t.Fatalf("ack %+v, want that of %s", a, id)
	} else {
		return a
	}
	return received{}
}

// refused sends a command and returns the error that it is answered with.
func (s *socket) refused(kind string, more object) *abi.Error {
	s.t.Helper()
	id := s.send(kind, more)
	a := s.want("error")
	if a.ID != id || a.Error == nil {
		s.t.Fatalf("error %+v, want that of %s", a, id)
	}
	return a.Error
}

func connectPath(session string) string { return "/v1/sessions/" + session + "/connect" }

func TestSocketHello(t *testing.T) {
	n := newNode(t)
	session := n.session(t)
	s, hello := n.connect(t, connectPath(session))
	if hello.Session != session || hello.Version != abi.ProtocolVersion || hello.Cursor == "" || hello.Limits["message_bytes"] != float64(1<<20) {
		t.Errorf("hello %+v", hello)
	}
	if id := s.resp.Header.Get("X-Request-Id"); id == "" || id != hello.RequestID {
		t.Errorf("request id %q in the handshake, %q in hello", id, hello.RequestID)
	}
	s.send("ping", nil)
	if pong := s.want("pong"); pong.ID != "c1" {
		t.Errorf("pong %+v", pong)
	}
}

// What is done over a socket is what is done over REST, and is seen as it happens.
func TestSocketCommands(t *testing.T) {
	n := newNode(t)
	session := n.session(t)
	s, _ := n.connect(t, connectPath(session))
	watcher, _ := n.connect(t, connectPath(session))
	sent := s.do("message", object{"message": message("hello")})
	if sent.Resource["object"] != "message" {
		t.Errorf("ack %+v", sent)
	}
	if ids := n.do(t, "GET", "/v1/sessions/"+session+"/messages", nil).ids(); len(ids) != 1 || ids[0] != sent.Resource["id"] {
		t.Errorf("messages %v, want %v", ids, sent.Resource["id"])
	}
	task := s.do("task.submit", object{"input": message("hi"), "persona_id": "persona_echo"}).Resource["id"].(string)
	var kinds []string
	for {
		f := watcher.want("event")
		if f.Replayed || f.Event.Replayed {
			t.Errorf("live event %s marked as replayed", f.Event.ID)
		}
		if f.Event.TaskID == task {
			kinds = append(kinds, string(f.Event.Event))
		}
		if f.Event.Event == abi.EventTaskCompleted {
			break
		}
	}
	if kinds[0] != "user.message" || kinds[1] != "task.submitted" {
		t.Errorf("events %v", kinds)
	}
	if got := s.do("task.get", object{"task_id": task}).Resource["status"]; got != "COMPLETED" {
		t.Errorf("status %v", got)
	}
	if got := s.do("session.get", nil).Resource["id"]; got != session {
		t.Errorf("session %v, want %s", got, session)
	}
	s.do("session.truncate", object{"keep_turns": 1})
	if ids := n.do(t, "GET", "/v1/sessions/"+session+"/messages", nil).ids(); len(ids) != 1 {
		t.Errorf("messages after truncating: %v", ids)
	}
	held := s.do("task.submit", object{"input": message("hi"), "persona_id": "persona_hold"}).Resource["id"]
	<-n.held
	if got := s.do("task.cancel", object{"task_id": held, "reason": "enough"}).Resource["id"]; got != held {
		t.Errorf("canceled %v, want %v", got, held)
	}
}

// A key used on one transport stands for the same write on the other.
func TestSocketIdempotency(t *testing.T) {
	n := newNode(t)
	session := n.session(t)
	s, _ := n.connect(t, connectPath(session))
	body := object{"message": message("once")}
	over := func(key string, body object) object {
		f := object{"idempotency_key": key}
		for name, v := range body {
			f[name] = v
		}
		return f
	}
	first := s.do("message", over("k1", body))
	again := s.do("message", over("k1", body))
	if again.Resource["id"] != first.Resource["id"] || !again.Again || first.Again {
		t.Errorf("first %+v, again %+v", first, again)
	}
	rest := n.do(t, "POST", "/v1/sessions/"+session+"/messages", body, header("Idempotency-Key", "k1")).want(201)
	if rest.id() != first.Resource["id"] || rest.header.Get("Idempotent-Replayed") != "true" {
		t.Errorf("over REST: %s", rest.body)
	}
	submit := object{"input": message("once"), "persona_id": "persona_echo"}
	task := n.do(t, "POST", "/v1/sessions/"+session+"/tasks", submit, header("Idempotency-Key", "k2")).want(202).id()
	if got := s.do("task.submit", over("k2", submit)); got.Resource["id"] != task || !got.Again {
		t.Errorf("submitted over REST as %s, then %+v", task, got)
	}
	if err := s.refused("message", over("k1", object{"message": message("other")})); err.Code != abi.CodeIdempotencyKeyReused {
		t.Errorf("error %+v", err)
	}
	if ids := n.do(t, "GET", "/v1/sessions/"+session+"/messages", nil).ids(); len(ids) < 1 {
		t.Error("no messages")
	}
}

// A resumed stream shows what was missed, marked, and then what happens, unmarked.
func TestSocketResume(t *testing.T) {
	n := newNode(t)
	session := n.session(t)
	s, hello := n.connect(t, connectPath(session))
	s.do("message", object{"message": message("one")})
	s.conn.Close()
	n.do(t, "POST", "/v1/sessions/"+session+"/messages", object{"message": message("two")}).want(201)

	check := func(s *socket) {
		t.Helper()
		for range 2 {
			if f := s.want("event"); !f.Replayed || !f.Event.Replayed {
				t.Errorf("missed event not marked: %+v", f)
			}
		}
		s.do("message", object{"message": message("three")})
	}
	s, again := n.connect(t, connectPath(session)+"?after_event_id="+hello.Cursor)
	if again.Cursor != hello.Cursor {
		t.Errorf("cursor %q, want %q", again.Cursor, hello.Cursor)
	}
	check(s)
	s, _ = n.connect(t, connectPath(session))
	s.do("resume", object{"after_event_id": hello.Cursor})
	for range 3 {
		if f := s.want("event"); !f.Replayed {
			t.Errorf("not marked: %+v", f)
		}
	}
	s.do("message", object{"message": message("four")})
	s.want("event")
	s.do("subscribe", nil)
	if f := s.want("event"); f.Replayed || f.Event.Event != abi.EventSessionCreated {
		t.Errorf("first event of the stream: %+v", f.Event)
	}
	if err := s.refused("resume", object{"after_event_id": "999999"}); err.Code != abi.CodeInvalidRequest || err.Param != "after_event_id" {
		t.Errorf("error %+v", err)
	}
}

// The stream paths are sockets for whoever asks for an upgrade.
func TestSocketOnStreamPaths(t *testing.T) {
	n := newNode(t)
	session := n.session(t)
	task := n.finished(t, session)
	for path, first := range map[string]abi.EventKind{
		"/v1/events/stream":                                     abi.EventWorkspaceCreated,
		"/v1/sessions/" + session + "/events/stream":            abi.EventSessionCreated,
		"/v1/events/stream?workspace_id=ws_default":             abi.EventWorkspaceCreated,
		"/v1/events/stream?task_id=" + task:                     "",
		"/v1/sessions/" + session + "/connect?after_event_id=0": "",
	} {
		s, hello := n.connect(t, path)
		f := s.want("event")
		if first != "" && f.Event.Event != first {
			t.Errorf("%s begins with %s, want %s (%+v)", path, f.Event.Event, first, hello)
		}
	}
	s, hello := n.connect(t, "/v1/tasks/"+task+"/stream")
	if hello.Task != task || hello.Session != session {
		t.Errorf("hello %+v", hello)
	}
	bye := s.want("bye")
	if bye.Code != 1000 {
		t.Errorf("bye %+v", bye)
	}
	s.wantClosed(websocket.CloseNormalClosure)
}

// A browser can set neither header.
func TestSocketOfABrowser(t *testing.T) {
	n := newNode(t)
	session := n.session(t)
	bare := func(protocols string) []func(*http.Request) {
		return []func(*http.Request){header("Authorization", ""), header(abi.VersionHeader, ""), header("Sec-WebSocket-Protocol", protocols)}
	}
	s, _ := n.connect(t, connectPath(session), bare("harn.v1, bearer."+enginetest.RootKey)...)
	if got := s.resp.Header.Get("Sec-WebSocket-Protocol"); got != "harn.v1" {
		t.Errorf("subprotocol %q", got)
	}
	s, _ = n.connect(t, connectPath(session), bare("bearer."+enginetest.RootKey+", "+abi.ProtocolVersion)...)
	if got := s.resp.Header.Get("Sec-WebSocket-Protocol"); got != abi.ProtocolVersion {
		t.Errorf("subprotocol %q", got)
	}
	for protocols, status := range map[string]int{
		"harn.v1": 401, "harn.v1, bearer.wrong-key-of-sixteen": 401, "bearer." + enginetest.RootKey: 426, "harn.v2, bearer." + enginetest.RootKey: 426, "harn.v1, bearer.": 401,
	} {
		if _, resp := n.knock(t, connectPath(session), bare(protocols)...); resp.StatusCode != status {
			t.Errorf("%q: %d, want %d", protocols, resp.StatusCode, status)
		}
	}
	// The query string, which ends in logs, opens nothing.
	if _, resp := n.knock(t, connectPath(session)+"?access_token="+enginetest.RootKey+"&key="+enginetest.RootKey, bare("harn.v1")...); resp.StatusCode != 401 {
		t.Errorf("a key in the query: %d", resp.StatusCode)
	}
	// Without an upgrade, subprotocols are no credentials.
	n.do(t, "GET", "/v1/events", nil, bare("harn.v1, bearer."+enginetest.RootKey)...).wantError(401, abi.CodeUnauthenticated)
}

func TestSocketOrigin(t *testing.T) {
	n := newNode(t, func(c *gateway.Config) { c.Origins = []string{"https://app.example", "null"} })
	session := n.session(t)
	for origin, allowed := range map[string]bool{
		"": true, "http://" + n.addr: true, "https://app.example": true, "HTTPS://APP.example": true, "null": true,
		"https://evil.example": false, "https://app.example.evil.example": false, "http://app.example": false,
		"https://app.example:8443": false, "ftp://" + n.addr: false, "file://": false, "http://" + n.addr + ".evil.example": false,
		"http://evil.example/" + n.addr: false, n.addr: false,
	} {
		s, resp := n.knock(t, connectPath(session), header("Origin", origin))
		if (s != nil) != allowed {
			t.Errorf("origin %q: %d, allowed %v", origin, resp.StatusCode, allowed)
		}
	}
}

// Every way in is closed to those who may not.
func TestSocketAccess(t *testing.T) {
	n := newNode(t)
	session := n.session(t)
	task := n.finished(t, session)
	stranger, nobody := n.newKey(t, "another tenant", "*"), n.newKey(t, "", "quotas:write")
	for _, path := range []string{connectPath(session), "/v1/sessions/" + session + "/events/stream", "/v1/tasks/" + task + "/stream"} {
		for status, option := range map[int]func(*http.Request){
			401: key("an-unknown-key-that-is-long"), 403: key(nobody), 404: key(stranger), 426: header(abi.VersionHeader, "agents-protocol-1999-01-01"),
		} {
			if _, resp := n.knock(t, path, option); resp.StatusCode != status {
				t.Errorf("%s: %d, want %d", path, resp.StatusCode, status)
			}
		}
	}
	// 426 is the answer to an unsupported version, and to nothing else.
	if a := n.do(t, "GET", connectPath(session), nil); a.wantError(400, abi.CodeInvalidRequest).Param != "Upgrade" || a.header.Get("Upgrade") != "websocket" {
		t.Errorf("%s, headers %v", a.body, a.header)
	}
	old := n.do(t, "GET", connectPath(session), nil, header("Connection", "Upgrade"), header("Upgrade", "websocket"), header("Sec-WebSocket-Version", "8"))
	if old.wantError(400, abi.CodeInvalidRequest).Param != "Sec-WebSocket-Version" || old.header.Get("Sec-WebSocket-Version") != "13" {
		t.Errorf("%s, headers %v", old.body, old.header)
	}
}

// Each command needs the scope of the request that does the same.
func TestSocketScopes(t *testing.T) {
	n := newNode(t)
	session := n.session(t)
	task := n.finished(t, session)
	reader := n.newKey(t, "", "events:read")
	s, _ := n.connect(t, connectPath(session), key(reader))
	m := object{"message": message("m")}
	for kind, more := range map[string]object{
		"message": m, "task.submit": {"input": message("m")}, "task.cancel": {"task_id": task}, "task.get": {"task_id": task},
		"session.get": nil, "session.truncate": {"keep_turns": 1}, "input": m, "authorization": m, "approval": {"decision": "approved"},
		"tools.register": {"tools": []object{}}, "tool.result": {"call_id": "x"},
	} {
		if err := s.refused(kind, more); err.Code != abi.CodePermissionDenied {
			t.Errorf("%s: %+v", kind, err)
		}
	}
	// What another tenant has is not there.
	foreign := n.newKey(t, "another tenant", "*")
	workspace := n.do(t, "POST", "/v1/workspaces", object{"name": "w", "root": "/"}, key(foreign)).want(201).id()
	own := n.do(t, "POST", "/v1/sessions", object{"workspace_id": workspace}, key(foreign)).want(201).id()
	s, _ = n.connect(t, connectPath(own), key(foreign))
	for kind, more := range map[string]object{
		"message": {"message": message("m"), "session_id": session}, "task.submit": {"input": message("m"), "session_id": session},
		"task.cancel": {"task_id": task}, "task.get": {"task_id": task}, "session.get": {"session_id": session},
		"session.truncate": {"keep_turns": 1, "session_id": session}, "input": {"message": message("m"), "task_id": task},
	} {
		if err := s.refused(kind, more); err.Code != abi.CodeResourceNotFound {
			t.Errorf("%s: %+v", kind, err)
		}
	}
}

// A key that is revoked opens nothing more, not even on a socket that is open.
func TestSocketOfARevokedKey(t *testing.T) {
	n := newNode(t, func(c *gateway.Config) { c.Heartbeat = 200 * time.Millisecond })
	session := n.session(t)
	made := n.do(t, "POST", "/wharf/v1/keys", object{"name": "k", "scopes": []string{"*"}}).want(201)
	active, _ := n.connect(t, connectPath(session), key(made.get("key").(string)))
	passive, _ := n.connect(t, connectPath(session), key(made.get("key").(string)))
	active.do("session.get", nil)
	n.do(t, "DELETE", "/wharf/v1/keys/"+made.id(), nil)
	text := `{"type":"message","message":{"role":"user","parts":[{"type":"text","text":"too late"}]}}`
	_ = active.conn.WriteMessage(websocket.TextMessage, []byte(text)) // the heartbeat may have come first
	active.wantClosed(gateway.CloseUnauthorized)
	passive.wantClosed(gateway.CloseUnauthorized)
	if ids := n.do(t, "GET", "/v1/sessions/"+session+"/messages", nil).ids(); len(ids) != 0 {
		t.Errorf("messages %v", ids)
	}
}

func TestSocketBadFrames(t *testing.T) {
	n := newNode(t)
	session := n.session(t)
	s, _ := n.connect(t, connectPath(session))
	for text, code := range map[string]abi.ErrorCode{
		`{`: abi.CodeInvalidRequest, `[]`: abi.CodeInvalidRequest, `"ping"`: abi.CodeInvalidRequest, ``: abi.CodeInvalidRequest, `{}`: abi.CodeInvalidRequest,
		`{"type":7}`: abi.CodeInvalidRequest, `{"type":"nonsense"}`: abi.CodeInvalidRequest, `{"type":"ping","type":"ping"}`: abi.CodeInvalidRequest,
		`{"type":"ping","more":1}`: abi.CodeInvalidRequest, `{"type":"ping","idempotency_key":"k"}`: abi.CodeInvalidRequest,
		`{"type":"message"}`: abi.CodeInvalidRequest, `{"type":"message","mesage":{}}`: abi.CodeInvalidRequest,
		`{"type":"ping"} {"type":"ping"}`: abi.CodeInvalidRequest, `{"type":"task.get"}`: abi.CodeInvalidRequest,
		`{"type":"ping","id":"` + strings.Repeat("x", 200) + `"}`: abi.CodeInvalidRequest,
		strings.Repeat(`[`, 5000):                                 abi.CodeInvalidRequest,
		`{"type":"task.get","task_id":"task_../../x"}`:            abi.CodeResourceNotFound,
	} {
		s.write(text)
		if f := s.want("error"); f.Error.Code != code {
			t.Errorf("%.80s: %+v", text, f.Error)
		}
		s.do("session.get", nil) // the socket is none the worse
	}
	for range 15 {
		s.write(`{`)
		s.want("error")
	}
	s.write(`{`)
	s.wantClosed(gateway.CloseBadFrames)
}

// A frame may nest as deep as a body, and a Task that comes in by one is told its input
// in the same spelling.
func TestSocketFramesNestAsBodiesDo(t *testing.T) {
	n := newNode(t)
	s, _ := n.connect(t, connectPath(n.session(t)))
	submit := func(levels int) {
		deep := strings.Repeat("[", levels-2) + strings.Repeat("]", levels-2)
		s.write(`{"type":"task.submit","id":"deep","persona_id":"persona_echo", "input" : { "a" : ` + deep + ` } }`)
	}
	for _, levels := range []int{abi.MaxDepth + 1, 9_990, 9_999, 10_000, 10_001} {
		submit(levels)
		if a := s.want("error"); a.Error == nil || a.Error.Code != abi.CodeInvalidRequest || !strings.Contains(a.Error.Message, "200 levels") {
			t.Errorf("%d levels: %+v", levels, a.Error)
		}
	}
	submit(abi.MaxDepth)
	if a := s.want("ack"); !a.OK || fmt.Sprint(a.Resource["input"]) != "map[a:"+strings.Repeat("[", abi.MaxDepth-2)+strings.Repeat("]", abi.MaxDepth-2)+"]" {
		t.Errorf("at the bound: %+v", a)
	}
}
