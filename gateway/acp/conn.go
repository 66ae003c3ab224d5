package acp

import (
	"context"
	"crypto/rand"
	"errors"
	"io"
	"sync"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi/jsonw"
	"github.com/wharf-dev/wharf/gateway/api"
	"github.com/wharf-dev/wharf/gateway/jsonrpc"
)

// Link is what a connection is made of.
type Link struct {
	Transport jsonrpc.Transport
	// Authenticate returns whom the connection acts for by now. It is asked for every request.
	Authenticate func() (*api.Caller, error)
}

// Serve serves one connection until the client is done, which is no error, or the transport fails. The
// Tasks of a connection that ends go on.
func (a *Adapter) Serve(ctx context.Context, l Link) error {
	c := &conn{adapter: a, link: l, id: rand.Text(), sessions: map[string]*opened{}, prompts: map[*prompted]struct{}{}, attached: map[string]attached{}}
	c.live, c.stop = context.WithCancelCause(ctx)
	c.peer = jsonrpc.New(l.Transport, jsonrpc.Config{Handle: c.handle, Arrives: c.arrives, Shape: a.shape, Log: a.log})
	err := c.peer.Serve(c.live)
	c.end()
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

// conn is a connection of a client.
type conn struct {
	adapter *Adapter
	link    Link
	peer    *jsonrpc.Peer
	id      string          // nobody can guess it
	live    context.Context // ends with the connection
	stop    context.CancelCauseFunc
	beside  sync.WaitGroup // what the connection has begun besides its requests

	mu       sync.Mutex
	said     *client            // nil until the connection is initialized
	begun    chan struct{}      // closed when the last initialize is answered; nil before one has come
	sessions map[string]*opened // by id
	prompts  map[*prompted]struct{}
	attached map[string]attached // as whom the connection is attached, by Session
}

// client is what a client has said of itself.
type client struct {
	name, version string
	harn          bool            // it knows Harn's extensions
	takes         map[string]bool // the updates that it takes of those; nil: all
	fs            api.HostDeclared
	hostMethods   []string // what it may be asked besides the protocol's own
	form, url     bool     // it can be asked by elicitation
	pipe          string   // the id of the pipe that it comes by, "" for none
}

// marks says whether the client is told which event an update comes from.
func (c *client) marks() bool { return c.harn || c.pipe != "" }

// client returns what the client has said of itself, nil before it has.
func (c *conn) client() *client {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.said
}

// from names the connection, or the pipe that outlives it, in what is kept of a prompt.
func (c *conn) from() string {
	if said := c.client(); said != nil && said.pipe != "" {
		return said.pipe
	}
	return c.id
}

// session returns a session that is open on the connection; nil for none.
func (c *conn) session(id string) *opened {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.sessions[id]
}

// enter puts a session in the place of the one that was open before, which it ends.
func (c *conn) enter(o *opened) {
	c.mu.Lock()
	before := c.sessions[o.id]
	c.sessions[o.id] = o
	c.mu.Unlock()
	if before != nil {
		before.end()
	}
}

// leave ends a session on the connection.
func (c *conn) leave(id string) {
	c.mu.Lock()
	o := c.sessions[id]
	delete(c.sessions, id)
	c.mu.Unlock()
	if o != nil {
		o.end()
	}
}

// end ends what the connection has begun.
func (c *conn) end() {
	c.stop(jsonrpc.ErrClosed)
	c.mu.Lock()
	all := c.sessions
	c.sessions = map[string]*opened{}
	c.mu.Unlock()
	for _, o := range all {
		o.end()
	}
	c.beside.Wait()
	c.detachAll()
}

// updateMethod is the notification of an update.
const updateMethod = "session/update"

// update tells the client of one update of a session, which comes from no event.
func (c *conn) update(session string, update jsontext.Value) error {
	return c.peer.NotifyAll(updateMethod, c.updateOf(session, update, ""))
}

// updateOf returns the params of session/update, for an update that is on one line. at names it; "" for
// what comes from no event.
func (c *conn) updateOf(session string, update jsontext.Value, at string) jsontext.Value {
	o := jsonw.Begin(make([]byte, 0, len(session)+len(update)+len(at)+64))
	o.Text("sessionId", session)
	o.JSON("update", update)
	if said := c.client(); at != "" && said != nil && said.marks() {
		o.B = appendMark(o.B, at)
	}
	return o.End()
}

// appendMark appends the member of params that says which event they come from.
func appendMark(members []byte, at string) []byte {
	return append(append(append(members, `"_meta":{"harn":{"eventId":"`...), at...), `"}},`...)
}

// agentEventMethod is the notification of what an agent does that is no update.
const agentEventMethod = "_harn/agentEvent"

// agentEventOf returns the params of _harn/agentEvent.
func agentEventOf(event jsontext.Value, at string) jsontext.Value {
	members := append(make([]byte, 0, len(event)+len(at)+64), event[:len(event)-1]...)
	marked := appendMark(append(members, ','), at)
	marked[len(marked)-1] = '}'
	return marked
}

// say tells the client a text as the agent's.
func (c *conn) say(session, text string) error {
	update, err := json.Marshal(chunk{Kind: "agent_message_chunk", Content: textBlock{"text", text}}, json.Deterministic(true))
	if err != nil {
		return err
	}
	return c.update(session, update)
}

type chunk struct {
	Kind    string    `json:"sessionUpdate"`
	Content textBlock `json:"content"`
}

type textBlock struct {
	Type string `json:"type"`
	Text string `json:"text"`
}
