package client

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/abi/plainly"
	"github.com/wharf-dev/wharf/cmd/wharf/internal/localtools"
)

// talk is what a pipe knows of the conversation between a client and a node, over all connections. It reads and
// writes nothing: its methods return what is to be said, in order.
type talk struct {
	pipe    string // what the node knows this pipe by
	options ACPOptions
	aware   bool // the client takes the Harn extensions
	lists   bool // the client has tools of its own, and lists them
	begun   []byte
	phase   phase
	conn    int // which connection this is
	own     map[string]func(*acpMessage) error
	asked   int // how many requests of its own it has made

	waiting   []*said // in the order in which it came
	sessions  map[string]*opened
	order     []string          // of sessions
	heard     map[string]string // the eventId of the last update that was told, by Session
	questions map[string]*question
	beside    beside
	jobs      map[string]*job // by their ids on this connection
	stale     bool            // the node is to be told that there are other tools
}

// phase is how far a connection has come.
type phase int

const (
	down      phase = iota // there is none
	beginning              // initialize is sent again
	resuming               // and so are the Sessions
	live
)

// said is what the client has said that the node may not have done: a request that is not answered, what is about
// such a request, or what came while there was no connection.
type said struct {
	*acpMessage
	id    string // of a request, as text; "" for a notification or an answer
	about string // the id of the request that it is about, or "" for none
	sent  bool
	last  string // the eventId of the last update that was told of a Session that this opens
	skip  string // updates up to this one were told before

	commands []localtools.Command // that the client names, of the Session that this opens
}

// opened is a Session that the client has opened.
type opened struct {
	cwd    jsontext.Value
	whole  bool           // all of it was told, from its first event
	attach jsontext.Value // the params by which the client has attached, nil for none
}

// question is a request of the node's to the client.
type question struct {
	key     string
	session string
	node    jsontext.Value // its id on the connection it was asked on
	conn    int
	answer  *acpMessage // of the client
	tools   bool        // the answer is told with the tools that run beside the pipe
}

func newTalk(pipe string, o ACPOptions, b beside) *talk {
	return &talk{pipe: pipe, options: o, beside: b, jobs: map[string]*job{}, own: map[string]func(*acpMessage) error{}, sessions: map[string]*opened{}, heard: map[string]string{}, questions: map[string]*question{}}
}

// full reports whether so much waits for a node that is away that the client is heard later.
func (t *talk) full() bool { return t.phase != live && len(t.waiting) >= mostWaiting }

// idle reports whether nothing waits.
func (t *talk) idle() bool { return len(t.waiting) == 0 }

// asks reports whether the node waits for the client.
func (t *talk) asks() bool {
	for _, q := range t.questions {
		if q.answer == nil && q.conn == t.conn && t.phase != down {
			return true
		}
	}
	return false
}

// take notes what the client says, and returns what the node is to be told by now, or what the client is answered at
// once.
func (t *talk) take(text []byte) (node [][]byte, client []byte) {
	m := readMessage(text)
	if m.answer() {
		return t.answered(m), nil
	}
	s := &said{acpMessage: m}
	if err := t.complete(s); err != nil {
		return nil, failed(m.ID, codeParams, plainly.Say(err))
	}
	switch {
	case m.request():
		s.id = string(m.ID)
	case m.method == "session/cancel":
		s.about = t.turnOf(m.session())
	case m.method == "$/cancel_request":
		s.about = t.waitingFor(string(m.params.RequestID))
	}
	if s.id != "" || s.about != "" || t.phase != live {
		t.waiting = append(t.waiting, s)
	}
	if t.phase != live {
		return nil, nil
	}
	s.sent = true
	return [][]byte{s.text}, nil
}

// turnOf is the id of the prompt to a Session that is not answered.
func (t *talk) turnOf(session string) string {
	for _, s := range slices.Backward(t.waiting) {
		if s.method == "session/prompt" && s.session() == session {
			return s.id
		}
	}
	return ""
}

func (t *talk) waitingFor(id string) string {
	if slices.ContainsFunc(t.waiting, func(s *said) bool { return s.id == id }) {
		return id
	}
	return ""
}

// complete adds to a request what the client cannot say itself, and takes out what the pipe does in the node's place.
func (t *talk) complete(s *said) error {
	switch s.method {
	case "initialize":
		if t.options.Harn && at(s.Params, "clientCapabilities", "_meta", "harn") == nil {
			s.set(jsontext.Value(`{"extensions":"v1"}`), "clientCapabilities", "_meta", "harn")
		}
		s.set(jsontext.Value(`{"id":`+string(quoted(t.pipe))+`,"hostMethods":["`+askTools+`"]}`), "_meta", "harn", "pipe")
	case "session/new":
		if t.options.Persona != "" && at(s.Params, "_meta", "harn", "personaId") == nil {
			s.set(quoted(t.options.Persona), "_meta", "harn", "personaId")
		}
		if t.options.Workspace != "" && at(s.Params, "_meta", "harn", "workspaceId") == nil {
			s.set(quoted(t.options.Workspace), "_meta", "harn", "workspaceId")
		}
		return s.takeCommands()
	case "session/load", "session/resume", "session/fork", "_harn/session/fork":
		return s.takeCommands()
	}
	return nil
}

// takeCommands takes out the tool servers that are commands: the node starts none for a client, the pipe does.
func (s *said) takeCommands() error {
	var servers []jsontext.Value
	if !s.request() || json.Unmarshal(s.params.MCPServers, &servers, lenientNames) != nil {
		return nil // for the node to refuse
	}
	commands, rest, err := localtools.Parse(servers)
	if err != nil || len(commands) == 0 {
		return err
	}
	list, err := json.Marshal(append([]jsontext.Value{}, rest...), lenientNames)
	if err != nil {
		return fmt.Errorf("mcpServers: %w", err)
	}
	s.commands = commands
	s.set(list, "mcpServers")
	return nil
}

// set gives a member of the params a value.
func (m *acpMessage) set(value jsontext.Value, path ...string) {
	m.text = putOr(m.text, value, append([]string{"params"}, path...)...)
	m.Params = at(m.text, "params")
	m.params = paramsOf(m.Params)
}

// again returns the text of a message with a member of its params set, and leaves the message as it is.
func (m *acpMessage) again(value jsontext.Value, path ...string) []byte {
	return putOr(m.text, value, append([]string{"params"}, path...)...)
}

// answered passes on what the client answers, to the connection on which the node has asked last.
func (t *talk) answered(m *acpMessage) [][]byte {
	id := textOf(m.ID)
	q := t.questions[id]
	if q == nil || q.answer != nil {
		return nil // nobody has asked, or it was answered
	}
	q.answer = m
	if q.conn != t.conn || t.phase == down {
		return nil // until it is asked again
	}
	return t.pass(id, q)
}

// pass passes the client's answer to a question on.
func (t *talk) pass(id string, q *question) [][]byte {
	if !q.lasting() {
		delete(t.questions, id)
	}
	if q.tools {
		t.merge(q, q.answer)
		return nil
	}
	return [][]byte{putOr(q.answer.text, q.node, "id")}
}

// lasting reports whether an answer holds if the same is asked on another connection, for the first may have been
// lost with the one it was given on. A tool call is permitted once; what is in a file may be another by then.
func (q *question) lasting() bool { return strings.HasPrefix(q.key, askPermission) }

const askPermission = "session/request_permission "

// opened begins a connection.
func (t *talk) opened() [][]byte {
	t.conn++
	if t.begun == nil {
		return t.goLive()
	}
	t.phase = beginning
	return [][]byte{t.request("initialize", at(t.begun, "params"), func(m *acpMessage) error {
		if m.Error != nil {
			return fmt.Errorf("%w: %s", errNotBegun, m.Error)
		}
		return nil
	})}
}

// errNotBegun says that a connection is of no use.
var errNotBegun = errors.New("the node does not go on")

// request makes a request of the pipe's own.
func (t *talk) request(method string, params jsontext.Value, done func(*acpMessage) error) []byte {
	t.asked++
	id := fmt.Sprintf("%s/%d", t.pipe, t.asked)
	t.own[string(quoted(id))] = done
	return ask(id, method, params)
}

// next goes on with a connection when all that was asked on it is answered.
func (t *talk) next() [][]byte {
	if len(t.own) > 0 || t.phase == live {
		return nil
	}
	if t.phase == beginning {
		t.phase = resuming
		if all := t.resume(); len(all) > 0 {
			return all
		}
	}
	return t.goLive()
}

// resume opens the Sessions again, but for those that a request opens that waits.
func (t *talk) resume() (all [][]byte) {
	for _, id := range t.order {
		o := t.sessions[id]
		if t.opening(id) != nil {
			continue
		}
		params := jsontext.Value(fmt.Sprintf(`{"sessionId":%s,"cwd":%s,"mcpServers":[]}`, quoted(id), o.cwd))
		if last := t.heard[id]; last != "" || o.whole {
			params = putOr(params, quoted(last), "_meta", "harn", "after")
		}
		done := func(m *acpMessage) error {
			if m.Error != nil {
				return fmt.Errorf("the node does not go on with %s: %s", id, m.Error)
			}
			return nil
		}
		all = append(all, t.request("session/resume", params, done))
		if o.attach != nil {
			all = append(all, t.request("session/attach", o.attach, done))
		}
	}
	return all
}

// goLive sends what waits.
func (t *talk) goLive() (all [][]byte) {
	t.phase = live
	t.waiting = slices.DeleteFunc(t.waiting, func(s *said) bool {
		all = append(all, t.repeat(s))
		s.sent = true
		return s.id == "" && s.about == ""
	})
	if t.stale {
		all = append(all, t.changed()...)
	}
	return all
}

// repeat is how a message is said on another connection than the one it was said on.
func (t *talk) repeat(s *said) []byte {
	if !s.sent {
		return s.text
	}
	switch s.method {
	case "session/prompt", "session/new", "session/fork", "_harn/session/fork":
		return s.again(jsontext.Value("true"), "_meta", "harn", "again")
	case "session/resume":
		if s.last != "" {
			return s.again(quoted(s.last), "_meta", "harn", "after")
		}
	case "session/load": // which tells all of it
		s.skip = s.last
	}
	return s.text
}

// lost ends a connection.
func (t *talk) lost() {
	if t.phase == live { // what is open was asked again, unless it was on its way
		maps.DeleteFunc(t.questions, func(_ string, q *question) bool { return q.conn < t.conn && !q.lasting() })
	}
	t.phase = down
	clear(t.own)
	t.callOff(func(*job) bool { return true })
}

// told notes what the node says, and returns what the client is to be told, and what the node.
func (t *talk) told(text []byte) (client, node [][]byte, err error) {
	line := jsontext.Value(text)
	if !line.IsValid(lenientNames) {
		return nil, nil, errors.New("what the node has sent is not JSON")
	}
	if bytes.ContainsAny(line, "\r\n") {
		line = line.Clone()
		if err := line.Compact(lenientNames); err != nil {
			return nil, nil, fmt.Errorf("what the node has sent: %w", err)
		}
	}
	m := readMessage(line)
	switch {
	case m.answer():
		return t.answers(m)
	case m.request():
		client, node = t.question(m)
		return client, node, nil
	case m.method == "session/update", m.method == "_harn/agentEvent":
		return t.update(m), nil, nil
	case m.method == "$/cancel_request":
		return t.withdrawn(m), nil, nil
	}
	return [][]byte{m.text}, nil, nil
}

// answers passes on what answers the client, and goes on where it answers the pipe.
func (t *talk) answers(m *acpMessage) (client, node [][]byte, err error) {
	id := string(m.ID)
	if done := t.own[id]; done != nil {
		delete(t.own, id)
		if err = done(m); errors.Is(err, errNotBegun) {
			return nil, nil, err
		}
		return nil, t.next(), err
	}
	for i, s := range slices.Backward(t.waiting) {
		if s.id != id || !s.sent {
			continue
		}
		t.waiting = slices.Delete(t.waiting, i, i+1)
		t.settle(s, m)
		if t.waitingFor(id) == "" {
			t.waiting = slices.DeleteFunc(t.waiting, func(other *said) bool { return other.about == id })
		}
		break
	}
	return [][]byte{m.text}, nil, nil
}

// settle notes what a request has done.
func (t *talk) settle(s *said, answer *acpMessage) {
	if s.method == "session/prompt" { // whose tool calls are over
		maps.DeleteFunc(t.questions, func(_ string, q *question) bool { return q.session == s.session() })
	}
	if answer.Error != nil {
		return
	}
	switch strings.TrimPrefix(s.method, "_harn/") {
	case "initialize":
		if t.begun == nil {
			t.begun = s.text
			harn := at(s.Params, "clientCapabilities", "_meta", "harn")
			t.aware, t.lists = harn != nil, listsTools(harn)
		}
	case "session/new", "session/fork": // of which nothing is told that was before
		if id := textOf(at(answer.Result, "sessionId")); id != "" {
			t.session(id, s.params.CWD).whole = s.method == "session/new"
			t.beside.open(id, textOf(s.params.CWD), s.commands)
		}
	case "session/load":
		t.session(s.session(), s.params.CWD).whole = true
		t.beside.open(s.session(), textOf(s.params.CWD), s.commands)
	case "session/resume":
		t.session(s.session(), s.params.CWD)
		t.beside.open(s.session(), textOf(s.params.CWD), s.commands)
	case "session/close", "session/delete":
		t.beside.close(s.session())
		delete(t.sessions, s.session())
		delete(t.heard, s.session())
		t.order = slices.DeleteFunc(t.order, func(id string) bool { return id == s.session() })
	case "session/attach", "session/takeover":
		if o := t.sessions[s.session()]; o != nil {
			o.attach = s.Params
		}
	case "session/detach":
		if o := t.sessions[s.session()]; o != nil {
			o.attach = nil
		}
	}
}

// listsTools reports whether a client says that it has tools of its own.
func listsTools(harn jsontext.Value) bool {
	var methods []string
	return json.Unmarshal(at(harn, "hostMethods"), &methods) == nil && slices.Contains(methods, askTools)
}

// session is what is known of a Session that the client opens.
func (t *talk) session(id string, cwd jsontext.Value) *opened {
	o := t.sessions[id]
	if o == nil {
		o = &opened{cwd: jsontext.Value(`"/"`)}
		t.sessions[id] = o
		t.order = append(t.order, id)
	}
	if cwd.Kind() == '"' {
		o.cwd = cwd
	}
	return o
}

// opening is the request that waits and opens a Session which is there.
func (t *talk) opening(session string) *said {
	for _, s := range t.waiting {
		if (s.method == "session/load" || s.method == "session/resume") && s.session() == session {
			return s
		}
	}
	return nil
}

// update passes on an update, once.
func (t *talk) update(m *acpMessage) [][]byte {
	event := textOf(at(m.params.Meta, "harn", "eventId"))
	if event == "" {
		return [][]byte{m.text}
	}
	s := t.opening(m.session())
	if s != nil && s.skip != "" {
		if s.skip == event {
			s.skip = ""
		}
		return nil
	}
	t.heard[m.session()] = event
	if s != nil {
		s.last = event
	}
	if t.aware {
		return [][]byte{m.text}
	}
	return [][]byte{putOr(m.text, nil, "params", "_meta", "harn", "eventId")}
}

// question passes on a request of the node's, under an id that no other has. One that the client was asked on the
// last connection is not asked twice: the answer to the first is for both.
func (t *talk) question(m *acpMessage) (client, node [][]byte) {
	if client, node, mine := t.ofTools(m); mine {
		return client, node
	}
	return t.put(&question{key: keyOf(m), session: m.session()}, m)
}

// put puts a question to the client, unless the client has it already.
func (t *talk) put(asked *question, m *acpMessage) (client, node [][]byte) {
	for id, q := range t.questions {
		if q.key != asked.key || q.conn >= t.conn {
			continue
		}
		q.conn, q.node, q.tools = t.conn, m.ID, asked.tools
		if q.answer == nil {
			return nil, nil
		}
		return nil, t.pass(id, q)
	}
	id := fmt.Sprintf("%d:%s", t.conn, m.ID)
	asked.node, asked.conn = m.ID, t.conn
	t.questions[id] = asked
	return [][]byte{putOr(m.text, quoted(id), "id")}, nil
}

// keyOf is what two requests have in common that ask the same: of a permission its tool call, of others all.
func keyOf(m *acpMessage) string {
	what := at(m.params.ToolCall, "toolCallId")
	if what == nil {
		what = putOr(m.Params, nil, "_meta").Clone()
		_ = what.Canonicalize(lenientNames)
	}
	return m.method + " " + m.session() + " " + string(what)
}

// withdrawn passes on that the node does not wait for an answer any more.
func (t *talk) withdrawn(m *acpMessage) [][]byte {
	t.callOff(func(j *job) bool { return bytes.Equal(j.node, m.params.RequestID) })
	for id, q := range t.questions {
		if q.conn == t.conn && q.answer == nil && bytes.Equal(q.node, m.params.RequestID) {
			return [][]byte{m.again(quoted(id), "requestId")}
		}
	}
	return nil
}

// tooLarge answers the largest request that waits: the node has closed the connection for its size.
func (t *talk) tooLarge() []byte {
	var largest *said
	for _, s := range t.waiting {
		if s.sent && (largest == nil || len(s.text) > len(largest.text)) {
			largest = s
		}
	}
	if largest == nil {
		return nil
	}
	t.waiting = slices.DeleteFunc(t.waiting, func(s *said) bool { return s == largest })
	if largest.id == "" {
		return nil
	}
	return failed(largest.ID, codeInvalid, "the node takes no message of this size")
}

// giveUp answers all that waits.
func (t *talk) giveUp(err error) (all [][]byte) {
	code := codeInternal
	if refused, ok := errors.AsType[*Refused](err); ok && (refused.Status == http.StatusUnauthorized || refused.Status == http.StatusForbidden) {
		code = codeAuthRequired
	}
	for _, s := range t.waiting {
		if s.id != "" {
			all = append(all, failed(s.ID, code, plainly.Say(err)))
		}
	}
	return all
}

// keyRefused is the error of a connection that the node has ended because of the key.
func keyRefused(status int, why string) error {
	code := abi.CodeUnauthenticated
	if status == http.StatusForbidden {
		code = abi.CodePermissionDenied
	}
	return &Refused{Status: status, Answer: abi.Errorf(code, "the node refuses the key: %s", why)}
}
