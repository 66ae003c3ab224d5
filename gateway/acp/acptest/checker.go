package acptest

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"sync"

	json "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

// Checker holds the lines of one connection against the schema. It is safe for concurrent use; lines of
// both sides are told in an order in which an answer comes after its request.
type Checker struct {
	mu    sync.Mutex
	s     *schemas
	aware bool
	asked map[side]map[string]string // the methods that a side is to answer, by the ids of the requests
}

// New returns a checker of a connection that has said nothing yet.
func New() (*Checker, error) {
	s, err := load()
	return &Checker{s: s, asked: map[side]map[string]string{agent: {}, client: {}}}, err
}

// Aware tells that the client is Harn-aware, of a connection whose initialize the checker is not told.
func (c *Checker) Aware() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.aware = true
}

// Agent says what is wrong with a line that the agent sends.
func (c *Checker) Agent(line []byte) error { return c.line(agent, line) }

// Client says what is wrong with a line that the client sends.
func (c *Checker) Client(line []byte) error { return c.line(client, line) }

// Update says what is wrong with a value of params.update.
func (c *Checker) Update(update []byte) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	value, err := read(update)
	if err != nil {
		return err
	}
	return c.update(value)
}

// Params says what is wrong with the params of a request or notification of the agent.
func (c *Checker) Params(method string, params []byte) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	value, err := read(params)
	if err != nil {
		return err
	}
	return c.params(client, method, value)
}

// read reads a text, without duplicate members and in valid UTF-8.
func read(text []byte) (any, error) {
	if !jsontext.Value(text).IsValid() {
		return nil, fmt.Errorf("no JSON: %.200q", text)
	}
	return jsonschema.UnmarshalJSON(bytes.NewReader(text))
}

// message is a line.
type message struct {
	Version string         `json:"jsonrpc"`
	ID      jsontext.Value `json:"id"`
	Method  *string        `json:"method"`
	Params  jsontext.Value `json:"params"`
	Result  jsontext.Value `json:"result"`
	Error   jsontext.Value `json:"error"`
}

func (c *Checker) line(from side, line []byte) error {
	var m message
	if bytes.ContainsAny(bytes.TrimSuffix(line, []byte("\n")), "\r\n") {
		return fmt.Errorf("it is more than one line: %.200q", line)
	}
	if err := json.Unmarshal(line, &m, json.RejectUnknownMembers(true)); err != nil {
		return fmt.Errorf("no message: %w: %.200q", err, line)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.message(from, &m); err != nil {
		return fmt.Errorf("from the %s: %w: %.2000s", from, err, line)
	}
	return nil
}

func (c *Checker) message(from side, m *message) error {
	answers := len(m.Result) > 0 || len(m.Error) > 0
	switch {
	case m.Version != "2.0":
		return fmt.Errorf("jsonrpc is %q", m.Version)
	case m.Method != nil && answers:
		return fmt.Errorf("it asks and answers")
	case m.Method == nil && !answers, len(m.Result) > 0 && len(m.Error) > 0, answers && (len(m.ID) == 0 || len(m.Params) > 0):
		return fmt.Errorf("it is no request, no notification and no answer")
	case answers:
		return c.answer(from, m)
	}
	if err := c.id(m.ID); err != nil {
		return err
	}
	return c.request(from, m)
}

// id checks the id of a request; a notification has none.
func (c *Checker) id(id jsontext.Value) error {
	if len(id) == 0 {
		return nil
	}
	value, err := read(id)
	if err != nil {
		return err
	}
	return c.s.check("RequestId", value)
}

func (c *Checker) request(from side, m *message) error {
	to := from.other()
	if len(m.ID) > 0 {
		if _, twice := c.asked[to][string(m.ID)]; twice {
			return fmt.Errorf("the id %s is taken", m.ID)
		}
		c.asked[to][string(m.ID)] = *m.Method
	}
	var params any
	if len(m.Params) > 0 {
		var err error
		if params, err = read(m.Params); err != nil {
			return err
		}
	}
	if from == client && *m.Method == "initialize" {
		c.aware = c.aware || declares(params)
	}
	return c.params(to, *m.Method, params)
}

// declares reports whether a client says of itself that it is Harn-aware.
func declares(params any) bool {
	at := params
	for _, name := range []string{"clientCapabilities", "_meta", "harn"} {
		object, _ := at.(map[string]any)
		at = object[name]
	}
	_, ok := at.(map[string]any)
	return ok
}

// params checks what a method is called with that a side handles.
func (c *Checker) params(to side, method string, params any) error {
	of, ok := c.s.names[to][method]
	if !ok {
		return c.other(to, method)
	}
	object, _ := params.(map[string]any)
	switch {
	case method == "session/update":
		return c.notification(object)
	case method == "session/request_permission" && c.aware:
		params = bare(object)
	}
	return c.s.check(of.params, params)
}

// other checks the name of a method that the protocol does not have: stock clients are sent none.
func (c *Checker) other(to side, method string) error {
	switch {
	case to == agent && strings.HasPrefix(method, "_"), slices.Contains(harnMethods[to], method) && (to == agent || c.aware):
		return nil
	case to == client && c.aware && strings.HasPrefix(method, "_harn/"):
		return nil
	}
	return fmt.Errorf("the %s knows no method %q", to, method)
}

func (c *Checker) notification(params map[string]any) error {
	update := params["update"]
	if err := c.update(update); err != nil {
		return err
	}
	rest := map[string]any{"update": map[string]any{"sessionUpdate": "plan", "entries": []any{}}} // another that fits
	for name, v := range params {
		if name != "update" {
			rest[name] = v
		}
	}
	return c.s.check("SessionNotification", rest)
}

func (c *Checker) update(update any) error {
	object, _ := update.(map[string]any)
	if c.aware {
		if known, err := c.s.harnUpdate(object); known {
			return err
		}
	}
	if err := c.s.check("SessionUpdate", update); err != nil {
		return err
	}
	return harnTool(object)
}

func (c *Checker) answer(from side, m *message) error {
	if len(m.Error) > 0 {
		value, err := read(m.Error)
		if err != nil {
			return err
		}
		if err := c.s.check("Error", value); err != nil {
			return err
		}
	}
	if m.ID.Kind() == 'n' && len(m.Error) > 0 {
		return nil // to something that could not be read
	}
	method, ok := c.asked[from][string(m.ID)]
	if !ok {
		return fmt.Errorf("nobody has asked %s", m.ID)
	}
	delete(c.asked[from], string(m.ID))
	of, ok := c.s.names[from][method]
	if !ok || len(m.Error) > 0 || of.result == "" {
		return nil
	}
	value, err := read(m.Result)
	if err != nil {
		return err
	}
	return c.s.check(of.result, value)
}
