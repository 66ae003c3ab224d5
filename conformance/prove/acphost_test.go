package prove_test

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/fasthttp/websocket"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/conformance/internal/nodetest"
	"github.com/wharf-dev/wharf/gateway/acp/acptest"
)

// acpLink carries messages to a node and back, over the node's WebSocket or through "wharf acp".
type acpLink struct {
	say   func([]byte) error
	hear  func() ([]byte, error)
	close func()
	check *acptest.Checker
	ended bool // nothing comes any more
}

// socketLink connects to the node's WebSocket.
func socketLink(t *testing.T, n *nodetest.Node) *acpLink {
	t.Helper()
	ws, resp, err := websocket.DefaultDialer.Dial("ws"+strings.TrimPrefix(n.URL, "http")+"/acp", http.Header{"Authorization": {"Bearer " + nodetest.Key}})
	if err != nil {
		t.Fatal(err, resp)
	}
	return &acpLink{
		say: func(text []byte) error { return ws.WriteMessage(websocket.TextMessage, text) },
		hear: func() ([]byte, error) {
			_, text, err := ws.ReadMessage()
			return text, err
		},
		close: func() { _ = ws.Close() },
	}
}

// pipeLink starts a "wharf acp", which stays when the node dies.
func pipeLink(t *testing.T, n *nodetest.Node) *acpLink {
	t.Helper()
	cmd := exec.Command(builder.Binary(t), "acp", "--server", n.URL)
	cmd.Env = append(os.Environ(), "WHARF_API_KEY="+nodetest.Key)
	in, out := nodetest.Talk(t, cmd)
	lines := bufio.NewScanner(out)
	lines.Buffer(nil, 16<<20)
	return &acpLink{
		say: func(text []byte) error {
			_, err := in.Write(append(text, '\n'))
			return err
		},
		hear: func() ([]byte, error) {
			if !lines.Scan() {
				return nil, io.EOF
			}
			return slices.Clone(lines.Bytes()), nil
		},
		close: func() {
			_ = in.Close()
			_ = cmd.Process.Kill()
			_ = cmd.Wait()
		},
	}
}

type acpLine struct {
	Version string         `json:"jsonrpc"`
	ID      jsontext.Value `json:"id,omitzero"`
	Method  string         `json:"method,omitzero"`
	Params  jsontext.Value `json:"params,omitzero"`
	Result  jsontext.Value `json:"result,omitzero"`
	Error   jsontext.Value `json:"error,omitzero"`
}

// acpHost is a client of the Agent Client Protocol that has tools, files and terminals, and grants what it is
// asked. It holds each line of the node's against the schema.
type acpHost struct {
	t     *testing.T
	*gate // where it stops reading
	// injects is what it says while the turn runs, before it first grants something; "" for nothing.
	injects string

	mu      sync.Mutex
	link    *acpLink
	over    chan struct{} // closed when the link has ended
	session string
	last    string // the eventId of the last update
	asked   int    // requests of its own
	waiting map[string]chan *acpLine
	changed chan struct{} // closed with each line
	steps   []string      // what it has heard, in order
	text    strings.Builder
	words   []string // of the user, as it was told them
	events  map[string]int
	tools   map[string][]string // the statuses of each tool call
	did     map[string]int      // what was done, by what it was
	unsure  bool                // whether what it has said was accepted
}

func newACPHost(t *testing.T, g *gate) *acpHost {
	return &acpHost{t: t, gate: g, waiting: map[string]chan *acpLine{}, changed: make(chan struct{}), events: map[string]int{}, tools: map[string][]string{},
		did: map[string]int{}}
}

// connect begins on a link that is new.
func (h *acpHost) connect(link *acpLink, capabilities string) {
	h.t.Helper()
	var err error
	if link.check, err = acptest.New(); err != nil {
		h.t.Fatal(err)
	}
	over := make(chan struct{})
	h.mu.Lock()
	h.link, h.over = link, over
	h.mu.Unlock()
	go func() {
		defer close(over)
		var serving sync.WaitGroup
		h.read(link, &serving)
		h.lost(link)
		serving.Wait()
	}()
	h.ok("initialize", `{"protocolVersion":1,"clientCapabilities":`+capabilities+`,"clientInfo":{"name":"prove","version":"1"}}`)
}

// leaveNow ends the link, and waits until nothing is read from it any more.
func (h *acpHost) leaveNow() {
	h.link.close()
	<-h.over
}

// hostTools is what a client declares that has tools, files and terminals.
const hostTools = `{"fs":{"readTextFile":true,"writeTextFile":true},"terminal":true,"_meta":{"harn":{"extensions":"v1","hostMethods":["host/tools/list","builtin_call"]}}}`

func (h *acpHost) read(link *acpLink, serving *sync.WaitGroup) {
	for {
		text, err := link.hear()
		if err != nil {
			return
		}
		if err := link.check.Agent(text); err != nil {
			h.t.Error(err)
		}
		line := &acpLine{}
		if err := json.Unmarshal(text, line); err != nil {
			h.t.Errorf("%v: %s", err, text)
			return
		}
		h.reach(h.t.Context(), h.note(line))
		h.take(link, line, serving)
	}
}

// lost has nobody wait for answers that do not come.
func (h *acpHost) lost(link *acpLink) {
	link.close()
	h.mu.Lock()
	defer h.mu.Unlock()
	link.ended = true
	for id, to := range h.waiting {
		close(to)
		delete(h.waiting, id)
	}
	h.wake()
}

// wake is called with the lock.
func (h *acpHost) wake() {
	close(h.changed)
	h.changed = make(chan struct{})
}

// note keeps what a line says, and returns its name.
func (h *acpHost) note(line *acpLine) (step string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case line.Method == "session/update":
		step = h.noteUpdate(line)
	case line.Method != "":
		step = line.Method
		if line.Method == "session/request_permission" {
			step += " " + pick(line.Params, "toolCall", "title")
		}
	default:
		method, _, _ := strings.Cut(strings.Trim(string(line.ID), `"`), "#")
		step = "answer to " + method
	}
	h.steps = append(h.steps, step)
	return step
}

// pick returns a text, or else the JSON, that lies at a path; "" for nothing.
func pick(v jsontext.Value, path ...string) string {
	for _, name := range path {
		var members map[string]jsontext.Value
		if json.Unmarshal(v, &members) != nil {
			return ""
		}
		v = members[name]
	}
	var s string
	if v.Kind() == '"' && json.Unmarshal(v, &s) == nil {
		return s
	}
	return string(v)
}

func (h *acpHost) noteUpdate(line *acpLine) string {
	var of struct{ Update, Meta jsontext.Value }
	_ = json.Unmarshal(line.Params, &of, json.MatchCaseInsensitiveNames(true))
	u := of.Update
	if event := pick(line.Params, "_meta", "harn", "eventId"); event != "" {
		h.last = event
		h.events[event]++
	}
	kind := pick(u, "sessionUpdate")
	switch kind {
	case "agent_message_chunk":
		h.text.WriteString(pick(u, "content", "text"))
	case "user_message_chunk":
		h.words = append(h.words, pick(u, "content", "text"))
	case "user_message":
		h.words = append(h.words, pick(u, "content"))
	case "tool_call", "tool_call_update":
		id := pick(u, "toolCallId")
		h.tools[id] = append(h.tools[id], kind+" "+pick(u, "status"))
	}
	return kind
}

func (h *acpHost) take(link *acpLink, line *acpLine, serving *sync.WaitGroup) {
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case line.Method != "" && line.ID != nil:
		serving.Go(func() { h.serve(link, line) })
	case line.Method == "":
		if to := h.waiting[string(line.ID)]; to != nil {
			delete(h.waiting, string(line.ID))
			to <- line
		}
	}
	h.wake()
}

// serve does what the node asks, and answers it.
func (h *acpHost) serve(link *acpLink, line *acpLine) {
	result := `{}`
	switch line.Method {
	case "session/request_permission":
		h.inject(link)
		result = `{"outcome":{"outcome":"selected","optionId":"allow_once"}}`
	case "host/tools/list":
		result = `{"tools":[{"name":"view","description":"Looks out.","schema":{"type":"object"}}]}`
	case "builtin_call":
		h.done("view " + pick(line.Params, "_meta", "harn", "callId"))
		result = `"calm"`
	case "fs/read_text_file":
		h.done("read")
		result = `{"content":"High at six."}`
	case "fs/write_text_file":
		h.done("write " + pick(line.Params, "content"))
	case "terminal/create":
		h.done("terminal")
		result = `{"terminalId":"t"}`
	case "terminal/wait_for_exit":
		result = `{"exitCode":0}`
	case "terminal/output":
		result = `{"output":"made","truncated":false,"exitStatus":{"exitCode":0}}`
	}
	_ = h.say(link, &acpLine{Version: "2.0", ID: line.ID, Result: jsontext.Value(result)}) // a node that has died asks again, or does not
}

func (h *acpHost) done(what string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.did[what]++
}

// inject says something while the turn runs, once, and waits until that is accepted or the link has ended: then it
// looks whether it was, and says it again if not.
func (h *acpHost) inject(link *acpLink) {
	h.mu.Lock()
	words, lost := h.injects, h.unsure
	h.injects = ""
	h.mu.Unlock()
	if words == "" {
		return
	}
	if lost {
		line := <-h.askOn(link, "session/pending_injections", fmt.Sprintf(`{"sessionId":%q}`, h.session))
		if line != nil && strings.Contains(string(line.Result), words) {
			return
		}
	}
	if line := <-h.askOn(link, "session/inject", fmt.Sprintf(`{"sessionId":%q,"mode":"steer","content":%q}`, h.session, words)); line == nil {
		h.mu.Lock()
		defer h.mu.Unlock()
		h.injects, h.unsure = words, true
	}
}

func (h *acpHost) say(link *acpLink, line *acpLine) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.sayLocked(link, line)
}

func (h *acpHost) sayLocked(link *acpLink, line *acpLine) error {
	text, err := json.Marshal(line)
	if err != nil {
		return err
	}
	if err := link.check.Client(text); err != nil {
		h.t.Errorf("the test says %v", err)
	}
	return link.say(text)
}

// ask sends a request. The channel has the answer, or is closed without one.
func (h *acpHost) ask(method, params string) <-chan *acpLine { return h.askOn(h.link, method, params) }

func (h *acpHost) askOn(link *acpLink, method, params string) <-chan *acpLine {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.asked++
	id := fmt.Sprintf("%q", fmt.Sprint(method, "#", h.asked))
	to := make(chan *acpLine, 1)
	if link.ended || h.sayLocked(link, &acpLine{Version: "2.0", ID: jsontext.Value(id), Method: method, Params: jsontext.Value(params)}) != nil {
		close(to)
		return to
	}
	h.waiting[id] = to
	return to
}

// ok calls a method that is to succeed.
func (h *acpHost) ok(method, params string) jsontext.Value {
	h.t.Helper()
	line := <-h.ask(method, params)
	if line == nil || line.Error != nil {
		h.t.Fatalf("%s %s: %+v", method, params, line)
	}
	return line.Result
}

// open makes a session.
func (h *acpHost) open() {
	h.t.Helper()
	id := pick(h.ok("session/new", `{"cwd":"/home/ann/project","mcpServers":[],"_meta":{"harn":{"personaId":"persona_agent"}}}`), "sessionId")
	h.mu.Lock()
	defer h.mu.Unlock()
	h.session = id
}

func (h *acpHost) prompt(words string) <-chan *acpLine {
	return h.ask("session/prompt", fmt.Sprintf(`{"sessionId":%q,"prompt":[{"type":"text","text":%q}]}`, h.session, words))
}

// told returns the text of the agent's.
func (h *acpHost) told() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.text.String()
}

// until waits until what it has heard is as wanted.
func (h *acpHost) until(what string, wanted func() bool) {
	h.t.Helper()
	late := time.After(time.Minute)
	for {
		h.mu.Lock()
		changed, over := h.changed, h.over
		h.mu.Unlock()
		if wanted() {
			return
		}
		select {
		case <-changed:
		case <-over:
			h.t.Fatalf("the connection has ended before %s; it has heard %q, the text %q", what, h.steps, h.text.String())
		case <-late:
			h.t.Fatalf("%s has not come; it has heard %q, the text %q", what, h.steps, h.text.String())
		}
	}
}
