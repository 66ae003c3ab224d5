package client

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/fasthttp/websocket"
	"github.com/go-json-experiment/json/jsontext"
	"pgregory.net/rapid"
)

// acpNode is a node as the pipe sees it: Sessions with a log, turns that go on while nobody listens, and
// connections that break where a test says so.
type acpNode struct {
	mu       sync.Mutex
	breaks   []connBreak // of the connections to come
	conn     *nodeConn
	sessions map[string]*nodeSession
	made     map[string]string    // Sessions by the request that has made them
	turns    map[string]*nodeTurn // by the request that has begun them
	order    []*nodeTurn
	wrong    []string
	keys     []string // that were shown
}

// connBreak breaks a connection at its n-th message, before it or after it.
type connBreak struct {
	at    int
	after bool
}

type nodeSession struct {
	log  []string // texts
	turn *nodeTurn
}

type nodeTurn struct {
	session, id string
	steps, done int
	askAt       int // -1 for never
	decided     int // how often the question was answered
	ended       string
}

// nodeConn is one connection.
type nodeConn struct {
	ws      *websocket.Conn
	left    *connBreak // nil: it does not break
	gone    bool
	pipe    string
	begun   bool
	sees    map[string]bool // the Sessions whose updates it is told
	follows map[*nodeTurn]jsontext.Value
	asked   map[string]*nodeTurn
	nextID  int
}

func newACPNode(breaks ...connBreak) *acpNode {
	return &acpNode{breaks: breaks, sessions: map[string]*nodeSession{}, made: map[string]string{}, turns: map[string]*nodeTurn{}}
}

func (n *acpNode) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	ws, err := (&websocket.Upgrader{}).Upgrade(w, r, nil)
	if err != nil {
		return
	}
	defer ws.Close()
	c := &nodeConn{ws: ws, sees: map[string]bool{}, follows: map[*nodeTurn]jsontext.Value{}, asked: map[string]*nodeTurn{}}
	n.mu.Lock()
	n.keys = append(n.keys, r.Header.Get("Authorization"))
	if len(n.breaks) > 0 {
		c.left, n.breaks = &n.breaks[0], n.breaks[1:]
	}
	n.conn = c
	n.mu.Unlock()
	for {
		_, text, err := ws.ReadMessage()
		if err != nil {
			n.mu.Lock()
			c.gone = true
			n.mu.Unlock()
			return
		}
		n.mu.Lock()
		lost, last := c.step()
		if !lost && !c.gone {
			n.handle(c, readMessage(text))
		}
		if lost || last {
			c.leave()
		}
		n.mu.Unlock()
	}
}

// step counts a message: lost is one that does not pass, last one after which nothing does.
func (c *nodeConn) step() (lost, last bool) {
	if c.left == nil {
		return false, false
	}
	if c.left.at--; c.left.at >= 0 {
		return false, false
	}
	return !c.left.after, true
}

func (c *nodeConn) leave() {
	c.gone = true
	_ = c.ws.Close()
}

func (c *nodeConn) say(format string, args ...any) {
	if c == nil || c.gone {
		return
	}
	lost, last := c.step()
	if !lost {
		_ = c.ws.WriteMessage(websocket.TextMessage, fmt.Appendf(nil, format, args...))
	}
	if last {
		c.leave()
	}
}

func (n *acpNode) fault(format string, args ...any) {
	n.wrong = append(n.wrong, fmt.Sprintf(format, args...))
}

func (n *acpNode) handle(c *nodeConn, m *acpMessage) {
	key := c.pipe + " " + string(m.ID)
	if m.method != "initialize" && !c.begun {
		n.fault("%s before initialize", m.method)
	}
	switch m.method {
	case "initialize":
		c.begun, c.pipe = true, textOf(at(m.params.Meta, "harn", "pipe", "id"))
		if c.pipe == "" {
			n.fault("the pipe has no id: %s", m.text)
		}
		c.say(`{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":1}}`, m.ID)
	case "session/new":
		id := n.made[key]
		if id == "" {
			id = fmt.Sprintf("s%d", len(n.sessions))
			n.made[key], n.sessions[id] = id, &nodeSession{}
		}
		c.sees[id] = true
		c.say(`{"jsonrpc":"2.0","id":%s,"result":{"sessionId":%q}}`, m.ID, id)
	case "session/load", "session/resume":
		n.open(c, m)
	case "session/prompt":
		n.prompt(c, m, key)
	case "session/cancel":
		if s := n.sessions[m.session()]; s.turn != nil && s.turn.ended == "" {
			s.turn.ended = "cancelled"
			n.advance(c, s.turn)
		}
	case "":
		turn := c.asked[string(m.ID)]
		if turn == nil {
			n.fault("an answer to nothing: %s", m.text)
			return
		}
		if turn.ended != "" {
			return
		}
		delete(c.asked, string(m.ID))
		turn.decided++
		n.advance(c, turn)
	default:
		n.fault("unknown: %s", m.text)
	}
}

// open tells what came after a cursor, or all of a Session, and asks again what is open.
func (n *acpNode) open(c *nodeConn, m *acpMessage) {
	id := m.session()
	s, from := n.sessions[id], 0
	after := at(m.params.Meta, "harn", "after")
	switch {
	case s == nil:
		c.say(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32002,"message":"no such Session"}}`, m.ID)
		return
	case m.method == "session/resume" && after == nil:
		from = len(s.log)
	case textOf(after) != "":
		_, _ = fmt.Sscanf(textOf(after), "e%d.0", &from)
		from++
	}
	for i := from; i < len(s.log); i++ {
		n.tell(c, id, i)
	}
	c.sees[id] = true
	c.say(`{"jsonrpc":"2.0","id":%s,"result":{}}`, m.ID)
	if s.turn != nil {
		n.ask(c, s.turn)
	}
}

func (n *acpNode) tell(c *nodeConn, id string, i int) {
	c.say(`{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":%q,"update":{"text":%q},"_meta":{"harn":{"eventId":"e%d.0"}}}}`, id, n.sessions[id].log[i], i)
}

// prompt begins a turn of as many steps as the text says, or goes on with one.
func (n *acpNode) prompt(c *nodeConn, m *acpMessage, key string) {
	turn := n.turns[key]
	if turn == nil {
		turn = &nodeTurn{session: m.session(), id: string(m.ID)}
		_, _ = fmt.Sscanf(textOf(at(m.Params, "prompt")), "%d %d", &turn.steps, &turn.askAt)
		n.turns[key] = turn
		n.order = append(n.order, turn)
		n.sessions[turn.session].turn = turn
	} else if string(at(m.params.Meta, "harn", "again")) != "true" {
		n.fault("a prompt is sent twice: %s", m.text)
	}
	c.follows[turn] = m.ID
	n.advance(c, turn)
}

// advance does what a turn can do by now.
func (n *acpNode) advance(c *nodeConn, turn *nodeTurn) {
	s := n.sessions[turn.session]
	for turn.ended == "" {
		if turn.done == turn.askAt && turn.decided == 0 {
			n.ask(c, turn)
			return
		}
		if turn.done == turn.steps {
			turn.ended = "end_turn"
			break
		}
		s.log = append(s.log, fmt.Sprintf("%s/%d", turn.id, turn.done))
		turn.done++
		if c.sees[turn.session] {
			n.tell(c, turn.session, len(s.log)-1)
		}
	}
	if id := c.follows[turn]; id != nil {
		c.say(`{"jsonrpc":"2.0","id":%s,"result":{"stopReason":%q}}`, id, turn.ended)
		delete(c.follows, turn)
	}
}

// ask asks the client, once on each connection.
func (n *acpNode) ask(c *nodeConn, turn *nodeTurn) {
	if turn.ended != "" || turn.done != turn.askAt || turn.decided > 0 {
		return
	}
	for _, other := range c.asked {
		if other == turn {
			return
		}
	}
	c.nextID++
	c.asked[fmt.Sprint(c.nextID)] = turn
	c.say(`{"jsonrpc":"2.0","id":%d,"method":"session/request_permission","params":{"sessionId":%q,"toolCall":{"toolCallId":%q}}}`, c.nextID, turn.session, turn.id)
}

// editor is a client of the pipe.
type editor struct {
	t       fataler
	in      io.WriteCloser
	lines   *bufio.Scanner
	err     chan error
	updates map[string][]string
	asked   map[string]int
	answers map[string]int
	refuse  bool // cancels instead of answering a question
	warned  []string
}

type fataler interface {
	Helper()
	Fatalf(string, ...any)
	Errorf(string, ...any)
	Cleanup(func())
}

// edit starts a pipe to a node, whose pauses are none.
func edit(t fataler, url string, o ACPOptions) *editor {
	c, err := New(url, "some key")
	if err != nil {
		t.Fatalf("%v", err)
	}
	c.pause = func(ctx context.Context, _ int) error { return ctx.Err() }
	ctx, cancel := context.WithCancel(context.Background())
	inRead, in := io.Pipe()
	outRead, out := io.Pipe()
	t.Cleanup(cancel)
	e := &editor{t: t, in: in, lines: bufio.NewScanner(outRead), err: make(chan error, 1), updates: map[string][]string{}, asked: map[string]int{}, answers: map[string]int{}}
	p := c.NewACP(out, o)
	p.Broken = func(err error) { e.warned = append(e.warned, err.Error()) }
	go func() {
		e.err <- p.Run(ctx, inRead)
		_ = out.Close()
		_ = inRead.Close()
	}()
	return e
}

func (e *editor) say(format string, args ...any) {
	_, _ = fmt.Fprintf(e.in, format+"\n", args...)
}

// until reads up to the answer to a request.
func (e *editor) until(id string) *acpMessage {
	e.t.Helper()
	for e.lines.Scan() {
		m := readMessage(bytes.Clone(e.lines.Bytes()))
		switch {
		case m.answer():
			e.answers[string(m.ID)]++
			if string(m.ID) == id {
				return m
			}
		case m.method == "session/update":
			if m.params.Meta != nil {
				e.t.Errorf("a client that knows no eventId is told %s", m.text)
			}
			e.updates[m.session()] = append(e.updates[m.session()], textOf(at(m.Params, "update", "text")))
		case m.method == "session/request_permission":
			e.asked[textOf(at(m.params.ToolCall, "toolCallId"))]++
			if e.refuse {
				e.say(`{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":%q}}`, m.session())
				continue
			}
			e.say(`{"jsonrpc":"2.0","id":%s,"result":{"outcome":{"outcome":"selected","optionId":"allow_once"}}}`, m.ID)
		}
	}
	e.t.Fatalf("the pipe has ended before the answer to %s", id)
	return nil
}

func (e *editor) begin() {
	e.say(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1}}`)
	e.until("0")
}

func (e *editor) open(id string) string {
	e.say(`{"jsonrpc":"2.0","id":%s,"method":"session/new","params":{"cwd":"/here","mcpServers":[]}}`, id)
	return textOf(at(e.until(id).Result, "sessionId"))
}

func (e *editor) prompt(id, session string, steps, askAt int) {
	e.say(`{"jsonrpc":"2.0","id":%s,"method":"session/prompt","params":{"sessionId":%q,"prompt":"%d %d"}}`, id, session, steps, askAt)
}

// end closes the client's side, and wants the pipe to end well.
func (e *editor) end() {
	_ = e.in.Close()
	for e.lines.Scan() {
		e.t.Errorf("told after all was answered: %s", e.lines.Text())
	}
	if err := <-e.err; err != nil {
		e.t.Errorf("the pipe has ended with %v", err)
	}
}

// Wherever connections break, a client is told each update once and in order, has each request answered once,
// after its updates, and is asked each question once.
func TestACPOverBreaks(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		breaks := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) connBreak {
			return connBreak{rapid.IntRange(0, 14).Draw(t, "at"), rapid.Bool().Draw(t, "after")}
		}), 0, 8).Draw(t, "breaks")
		n := newACPNode(breaks...)
		server := httptest.NewServer(n)
		defer server.Close()
		e := edit(t, server.URL, ACPOptions{})
		e.begin()
		sessions := []string{e.open("1"), e.open("2")}
		want := map[string][]string{}
		for i := range rapid.IntRange(1, 5).Draw(t, "turns") {
			id, session := fmt.Sprint(10+i), rapid.SampledFrom(sessions).Draw(t, "session")
			steps := rapid.IntRange(0, 6).Draw(t, "steps")
			askAt := rapid.IntRange(-1, steps).Draw(t, "askAt")
			e.refuse = rapid.Bool().Draw(t, "refuse")
			e.prompt(id, session, steps, askAt)
			reason, told := "end_turn", steps
			if askAt >= 0 && e.refuse {
				reason, told = "cancelled", askAt
			}
			if got := textOf(at(e.until(id).Result, "stopReason")); got != reason {
				t.Fatalf("the turn has ended with %q, want %q", got, reason)
			}
			for k := range told {
				want[session] = append(want[session], fmt.Sprintf("%s/%d", id, k))
			}
			if got := e.updates[session]; !slices.Equal(got, want[session]) {
				t.Fatalf("told %v, want %v", got, want[session])
			}
			if got := e.asked[id]; askAt >= 0 && got != 1 || askAt < 0 && got != 0 {
				t.Fatalf("asked %d times", got)
			}
		}
		e.end()
		for id, times := range e.answers {
			if times != 1 {
				t.Errorf("%s was answered %d times", id, times)
			}
		}
		n.mu.Lock()
		defer n.mu.Unlock()
		if len(n.wrong) > 0 {
			t.Errorf("the node: %v", n.wrong)
		}
		if len(n.sessions) != 2 {
			t.Errorf("there are %d Sessions", len(n.sessions))
		}
		for _, turn := range n.order {
			if turn.decided > 1 {
				t.Errorf("a question was answered %d times", turn.decided)
			}
		}
	})
}

// A conversation that was loading when the connection broke is told once.
func TestACPLoadsOverBreaks(t *testing.T) {
	for at := range 16 {
		for _, after := range []bool{false, true} {
			n := newACPNode(connBreak{at, after})
			n.sessions["old"] = &nodeSession{log: []string{"a", "b", "c", "d", "e"}}
			server := httptest.NewServer(n)
			e := edit(t, server.URL, ACPOptions{})
			e.begin()
			e.say(`{"jsonrpc":"2.0","id":"load","method":"session/load","params":{"sessionId":"old","cwd":"/here","mcpServers":[]}}`)
			e.until(`"load"`)
			e.prompt("7", "old", 2, -1)
			e.until("7")
			if got, want := strings.Join(e.updates["old"], " "), "a b c d e 7/0 7/1"; got != want {
				t.Errorf("broken at %d (%v): told %s, want %s", at, after, got, want)
			}
			e.end()
			server.Close()
		}
	}
}

// What the client cannot say itself is said for it, and what the node must not do is left out.
func TestACPCompletes(t *testing.T) {
	k := newTalk("me", ACPOptions{Harn: true, Persona: "persona_x", Workspace: "ws_y"}, &fakeTools{})
	k.opened()
	take := func(text string) string {
		toNode, toClient := k.take([]byte(text))
		return string(bytes.Join(append(toNode, toClient), nil))
	}
	for _, test := range []struct{ in, want string }{
		{`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":1,"_meta":{"mine":1}}}`,
			`{"id":1,"jsonrpc":"2.0","method":"initialize","params":{"_meta":{"harn":{"pipe":{"hostMethods":["host/tools/list"],"id":"me"}},"mine":1},"clientCapabilities":{"_meta":{"harn":{"extensions":"v1"}}},"protocolVersion":1}}`},
		{`{"jsonrpc":"2.0","id":2,"method":"session/new","params":{"cwd":"/x","mcpServers":[{"name":"a","command":"rm","args":[],"env":[{"name":"TOKEN","value":"secret"}]},{"type":"http","name":"b","url":"https://b.example","headers":[]}]}}`,
			`{"id":2,"jsonrpc":"2.0","method":"session/new","params":{"_meta":{"harn":{"personaId":"persona_x","workspaceId":"ws_y"}},"cwd":"/x","mcpServers":[{"headers":[],"name":"b","type":"http","url":"https://b.example"}]}}`},
		{`{"jsonrpc":"2.0","id":3,"method":"session/new","params":{"cwd":"/x","mcpServers":[],"_meta":{"harn":{"personaId":"mine"}}}}`,
			`{"id":3,"jsonrpc":"2.0","method":"session/new","params":{"_meta":{"harn":{"personaId":"mine","workspaceId":"ws_y"}},"cwd":"/x","mcpServers":[]}}`},
		{`{"jsonrpc":"2.0","id":18446744073709551615,"method":"session/new","params":7}`, `{"jsonrpc":"2.0","id":18446744073709551615,"method":"session/new","params":7}`},
		{`[{"jsonrpc":"2.0"}]`, `[{"jsonrpc":"2.0"}]`},
		{`{"a":1,"a":2,"method":"initialize","id":5}`, `{"a":1,"a":2,"method":"initialize","id":5}`},
	} {
		got := jsontext.Value(take(test.in))
		if canonical := got.Clone(); canonical.Canonicalize() == nil && test.in[1] != 'a' && !strings.Contains(test.in, "1844") {
			got = canonical
		}
		if string(got) != test.want {
			t.Errorf("%s\nbecomes %s\nwant    %s", test.in, got, test.want)
		}
	}
}

// A client is told what is wrong with its lines, and the rest goes on; a line that ends with the input counts.
func TestACPLines(t *testing.T) {
	long := `"` + strings.Repeat("x", 100) + `"`
	in := "\n  \r\n" + `{"a":1}` + "\r\n" + `{"a":` + "\n" + long + "\n\xff\n" + `"` + "\xff" + `"` + "\n{}\n" + `{"b":2}`
	var got []string
	for line := range acpLines(strings.NewReader(in), 50) {
		if line.err != nil {
			got = append(got, fmt.Sprint(line.code))
			continue
		}
		got = append(got, string(line.text))
	}
	if want := []string{`{"a":1}`, "-32700", "-32600", "-32700", "-32700", "{}", `{"b":2}`}; !slices.Equal(got, want) {
		t.Errorf("read %q, want %q", got, want)
	}
}

func FuzzACPLines(f *testing.F) {
	f.Add([]byte("{}\n[]\n\n"), 10)
	f.Add([]byte(`{"a":"`+strings.Repeat("x", 20<<10)+"\"}\nx"), 20<<10)
	f.Add([]byte("1\r\n2\n3"), 1)
	f.Add([]byte("  \n"), 1)
	f.Fuzz(func(t *testing.T, in []byte, most int) {
		most = max(most, 1)
		var want []string
		for part := range bytes.SplitSeq(in, []byte("\n")) {
			line := bytes.TrimSpace(part)
			switch {
			case len(part) > most:
				want = append(want, "-32600")
			case len(line) == 0:
			case !jsontext.Value(line).IsValid(lenientNames):
				want = append(want, "-32700")
			default:
				want = append(want, string(line))
			}
		}
		i := 0
		for line := range acpLines(bytes.NewReader(in), most) {
			got := string(line.text)
			if line.err != nil {
				got = fmt.Sprint(line.code)
			}
			if i < len(want) && want[i] != got && len(got) > 0 && line.code != codeInvalid {
				t.Fatalf("line %d is read as %q, want %q", i, got, want[i])
			}
			if i++; bytes.ContainsAny(line.text, "\n") || len(line.text) > most {
				t.Fatalf("this is no line: %q", line.text)
			}
		}
		if i != len(want) {
			t.Fatalf("%d lines, want %d", i, len(want))
		}
	})
}

// Messages of every shape pass the pipe without harm, in either direction.
func FuzzACPTalk(f *testing.F) {
	f.Add([]byte(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"_meta":null}}`), []byte(`{"jsonrpc":"2.0","id":1,"result":{}}`))
	f.Add([]byte(`{"id":null,"method":"session/load","params":{"sessionId":"a","cwd":1}}`), []byte(`{"method":"session/update","params":{"sessionId":"a","_meta":{"harn":{"eventId":"e"}}}}`))
	f.Add([]byte(`{"id":"1:1","result":{}}`), []byte(`{"id":1,"method":"session/request_permission","params":{"toolCall":{"toolCallId":"t"}}}`))
	f.Add([]byte(`[]`), []byte(`[{}]`))
	f.Add([]byte(`null`), []byte(`null`))
	f.Fuzz(func(t *testing.T, client, node []byte) {
		k := newTalk("me", ACPOptions{Harn: true, Persona: "p"}, &fakeTools{})
		check := func(all [][]byte) {
			for _, text := range all {
				if !jsontext.Value(text).IsValid(lenientNames) || bytes.ContainsAny(text, "\n") {
					t.Fatalf("said: %q", text)
				}
			}
		}
		take := func() {
			toNode, toClient := k.take(client)
			check(toNode)
			if toClient != nil {
				check([][]byte{toClient})
			}
		}
		if checkACP(client, false, 1).err != nil || bytes.ContainsAny(client, "\n") {
			return
		}
		for range 2 {
			check(k.opened())
			take()
			told, asked, _ := k.told(node)
			check(told)
			check(asked)
			take()
			k.lost()
			take()
		}
		check(k.giveUp(io.EOF))
	})
}

// The pipe ends where the node refuses the key, at first and later, and says so to the client, too.
func TestACPRefusedKey(t *testing.T) {
	refuse := func(w http.ResponseWriter) {
		w.WriteHeader(http.StatusUnauthorized)
		_, _ = io.WriteString(w, `{"error":{"code":"unauthenticated","message":"no such key"}}`)
	}
	later := newACPNode(connBreak{1, true})
	for name, node := range map[string]http.HandlerFunc{
		"at first": func(w http.ResponseWriter, _ *http.Request) { refuse(w) },
		"later": func(w http.ResponseWriter, r *http.Request) {
			later.mu.Lock()
			seen := len(later.keys)
			later.mu.Unlock()
			if seen > 0 {
				refuse(w)
				return
			}
			later.ServeHTTP(w, r)
		},
		"by a close": func(w http.ResponseWriter, r *http.Request) {
			ws, err := (&websocket.Upgrader{}).Upgrade(w, r, nil)
			if err != nil {
				return
			}
			_, _, _ = ws.ReadMessage()
			_ = ws.WriteMessage(websocket.CloseMessage, websocket.FormatCloseMessage(4401, "revoked"))
			_ = ws.Close()
		},
	} {
		t.Run(name, func(t *testing.T) {
			server := httptest.NewServer(node)
			defer server.Close()
			e := edit(t, server.URL, ACPOptions{})
			e.say(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{}}`)
			if name == "later" {
				e.until("0")
				e.say(`{"jsonrpc":"2.0","id":0,"method":"session/new","params":{}}`)
			}
			if m := e.until("0"); string(at(m.Error, "code")) != "-32000" {
				t.Errorf("the client is told %s", m.text)
			}
			refused, ok := errors.AsType[*Refused](<-e.err)
			if !ok || refused.Status != http.StatusUnauthorized {
				t.Errorf("the pipe ends with %v", refused)
			}
		})
	}
}

// A node that does not answer at first ends the pipe, which tells the client why.
func TestACPWithoutANode(t *testing.T) {
	e := edit(t, "http://127.0.0.1:9", ACPOptions{})
	e.say(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{}}`)
	if m := e.until("0"); !strings.Contains(string(m.Error), "no node answers") {
		t.Errorf("the client is told %s", m.text)
	}
	if _, ok := errors.AsType[*Unreachable](<-e.err); !ok {
		t.Error("the pipe ends otherwise")
	}
}
