package mcp

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/wharf-dev/wharf/abi"
)

// A client comes back, with Last-Event-ID, to the stream of a call that another life of the node has begun.
// The SDK replays what is over, and can ask nothing on such a stream: it is the node's own. What the Task asks,
// the client is asked on it, again where the other life has asked before, and its answer comes as a message.

// resume answers a client that has come back to a call of another life. It reports false for any other
// request, which the SDK answers.
func (h *sessions) resume(w http.ResponseWriter, r *http.Request, p *posted, session string) bool {
	last := r.Header.Get("Last-Event-ID")
	at := strings.LastIndexByte(last, '_')
	if r.Method != http.MethodGet || at <= 0 || !strings.Contains(r.Header.Get("Accept"), "text/event-stream") {
		return false
	}
	index, err := strconv.Atoi(last[at+1:])
	if err != nil || index < 0 || h.streams.has(r.Context(), session, last[:at], index) {
		return false
	}
	s, of, err := h.find(r.Context(), p, session)
	if err != nil || s.State == abi.SessionClosed {
		return false
	}
	task, by, err := h.streams.callOf(r.Context(), p, session, last[:at])
	if err != nil || by == nil {
		return false
	}
	line := &resumed{w: w, of: &h.asked, owner: ownerOf(p.caller), stream: last[:at], index: index}
	if err := line.begin(); err != nil {
		return true // the client has left again
	}
	text, err := h.streams.answerOf(r.Context(), p, task, by, line, of.capabilities())
	if err == nil {
		err = line.say(text)
	}
	if err != nil && r.Context().Err() == nil {
		_ = h.adapter.shown(&request{method: "tools/call"}, err) // which logs it: the client comes back once more
	}
	return true
}

// capabilities are those that the client has declared when it has begun the session.
func (k *kept) capabilities() *sdk.ClientCapabilities {
	var said struct {
		Capabilities map[string]any `json:"capabilities"`
	}
	if json.Unmarshal(k.MCP.Initialize, &said) != nil || said.Capabilities == nil {
		return nil
	}
	// The SDK decodes them where a request says them.
	is := &sdk.ServerRequest[*sdk.CallToolParamsRaw]{Params: &sdk.CallToolParamsRaw{Meta: sdk.Meta{sdk.MetaKeyClientCapabilities: said.Capabilities}}}
	return is.ClientCapabilities()
}

// resumed is a stream that a client has come back to, on which it is asked.
type resumed struct {
	mu     sync.Mutex
	w      http.ResponseWriter
	of     *askedOf
	owner  string
	stream string
	index  int // of the last event
}

func (l *resumed) begin() error {
	l.w.Header().Set("Content-Type", "text/event-stream")
	l.w.Header().Set("Cache-Control", "no-cache, no-transform")
	if _, err := l.w.Write([]byte(": resumed\n\n")); err != nil {
		return err
	}
	return http.NewResponseController(l.w).Flush()
}

// say sends a message.
func (l *resumed) say(message []byte) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.index++
	if _, err := fmt.Fprintf(l.w, "event: message\nid: %s_%d\ndata: %s\n\n", l.stream, l.index, message); err != nil {
		return err
	}
	return http.NewResponseController(l.w).Flush()
}

// ask puts a question to the client, and returns its answer.
func (l *resumed) ask(ctx context.Context, question sdk.InputRequest) (sdk.InputResponse, error) {
	text, err := sdk.InputRequestMap{"q": question}.MarshalJSON()
	if err != nil {
		return nil, fmt.Errorf("writing a question: %w", err)
	}
	var of map[string]struct {
		Method string         `json:"method"`
		Params jsontext.Value `json:"params,omitzero"`
	}
	if err := json.Unmarshal(text, &of); err != nil {
		return nil, fmt.Errorf("writing a question: %w", err)
	}
	id := "wharf-ask-" + rand.Text()
	answered, done := l.of.expect(id, l.owner)
	defer done()
	err = l.say(encoded(struct {
		Version string         `json:"jsonrpc"`
		ID      string         `json:"id"`
		Method  string         `json:"method"`
		Params  jsontext.Value `json:"params,omitzero"`
	}{"2.0", id, of["q"].Method, of["q"].Params}))
	if err != nil {
		return nil, err
	}
	select {
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	case body := <-answered:
		return answerOfClient(body)
	}
}

func answerOfClient(body []byte) (sdk.InputResponse, error) {
	var of struct {
		Result jsontext.Value `json:"result"`
	}
	if err := json.Unmarshal(body, &of); err != nil || of.Result.Kind() != '{' {
		return nil, errors.New("the client refuses to be asked")
	}
	var all sdk.InputResponseMap
	if err := all.UnmarshalJSON([]byte(`{"q":` + string(of.Result) + `}`)); err != nil {
		return nil, fmt.Errorf("reading what a client has answered: %w", err)
	}
	return all["q"], nil
}

// askedOf are the questions that were put to clients on streams that they have come back to, by their ids.
type askedOf struct {
	mu  sync.Mutex
	all map[string]expected
}

type expected struct {
	owner  string
	answer chan []byte // of one answer
}

func (e *askedOf) expect(id, owner string) (answered <-chan []byte, done func()) {
	is := expected{owner, make(chan []byte, 1)}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.all == nil {
		e.all = map[string]expected{}
	}
	e.all[id] = is
	return is.answer, func() {
		e.mu.Lock()
		defer e.mu.Unlock()
		delete(e.all, id)
	}
}

// give hands on what a client has answered, and reports whether it was asked that here.
func (e *askedOf) give(p *posted) bool {
	var id string
	if p.method != "" || p.id.Kind() != '"' || json.Unmarshal(p.id, &id) != nil {
		return false
	}
	e.mu.Lock()
	is, asked := e.all[id]
	if asked = asked && is.owner == ownerOf(p.caller); asked {
		delete(e.all, id)
	}
	e.mu.Unlock()
	if asked {
		is.answer <- p.body
	}
	return asked
}
