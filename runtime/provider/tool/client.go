package tool

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/askclient"
	"github.com/wharf-dev/wharf/runtime/provider"
)

// ServerClient is the name of the server whose tools are those of a Session's
// clients. It is granted like any other: client:*.
const ServerClient = abi.ToolServerClient

// PerCall is a [Server] whose tools depend on for whom they are listed.
type PerCall interface {
	ListFor(ctx context.Context, c *provider.Call) ([]abi.Tool, error)
	// Find returns the tool of a name that a call would reach now. Its error is a
	// *provider.Refusal when there is none.
	Find(ctx context.Context, c *provider.Call, name string) (*Found, error)
}

// Found is a tool as it was decided on: its call goes to that very tool, or nowhere.
type Found struct {
	Tool abi.Tool
	By   string // who offers it, when that is no configured server
	Call func(ctx context.Context, arguments jsontext.Value) (*abi.CallToolCallAnswer, error)
	// Ask is set in the place of Call where whoever may answer questions does.
	Ask *abi.CallInputRequestRequest
	// Delegate is set in the place of Call where the call is a Task: it returns what is submitted.
	Delegate func(arguments jsontext.Value) (*abi.SubmitTaskRequest, error)
}

// Clients is the [Server] of the tools that clients offer to the Tasks of a Session
// for as long as they are connected. It is safe for concurrent use.
type Clients struct {
	limits Limits
	hints  Hints
	beside PerCall // nil for none

	mu       sync.Mutex
	sessions map[clientSession][]*Client // oldest first
}

var (
	_ Server  = (*Clients)(nil)
	_ PerCall = (*Clients)(nil)
	_ Limited = (*Clients)(nil)
)

// clientSession names a Session; ids are unique within a tenant.
type clientSession struct{ tenant, session string }

// NewClients returns a server without any clients. Zero limits are the default. The
// hints are the operator's: what clients say of their own tools changes no policy.
func NewClients(l Limits, h Hints) *Clients {
	return &Clients{limits: l, hints: h, sessions: map[clientSession][]*Client{}}
}

// Beside has the tools of asked listed and found beside those that clients have offered of themselves,
// which come before. It is called before the first call.
func (cs *Clients) Beside(asked PerCall) *Clients {
	cs.beside = asked
	return cs
}

// Limits implements [Limited].
func (cs *Clients) Limits() Limits { return cs.limits }

// Client is one client's offer. It is safe for concurrent use.
type Client struct {
	all   *Clients
	of    clientSession
	actor string
	tools []abi.Tool // as the client describes them
	host  ClientHost
	gone  chan struct{}

	mu      sync.Mutex
	closed  bool
	pending map[string]chan *abi.CallToolCallAnswer
}

// ClientHost reaches a client.
type ClientHost interface {
	// CallTool hands a call to the client and returns without waiting for its answer,
	// which goes to [Client.Answer]. After an error the client has not got the call.
	CallTool(ctx context.Context, call *ClientCall) error
	// CancelTool tells the client that nobody waits for an answer any more.
	CancelTool(id string)
}

// ClientCall is a call of a client's tool.
type ClientCall struct {
	// ID is the same when the very call is made again, after the node died.
	ID        string
	TaskID    string
	Name      string
	Arguments jsontext.Value
	Deadline  time.Time
}

// TakenError says that another actor offers a tool of a name already.
type TakenError struct{ Name string }

// Error implements the error interface.
func (e *TakenError) Error() string {
	return fmt.Sprintf("another client of this session offers the tool %q: the name is free again when it has left", e.Name)
}

// Connect offers the tools of a client of an actor to the Tasks of a Session until
// the Client is closed. A name belongs to the actor that offered it first; of several
// clients of that actor the newest offer counts. The caller does not change tools
// afterwards. The error is a *[TakenError].
func (cs *Clients) Connect(tenant, session, actor string, tools []abi.Tool, host ClientHost) (*Client, error) {
	c := &Client{
		all: cs, of: clientSession{tenant, session}, actor: actor, tools: tools, host: host, gone: make(chan struct{}),
		pending: map[string]chan *abi.CallToolCallAnswer{},
	}
	cs.mu.Lock()
	defer cs.mu.Unlock()
	for _, other := range cs.sessions[c.of] {
		if other.actor == actor {
			continue
		}
		for _, t := range tools {
			if other.tool(t.Name) != nil {
				return nil, &TakenError{t.Name}
			}
		}
	}
	cs.sessions[c.of] = append(cs.sessions[c.of], c)
	return c, nil
}

// tool returns the client's tool of a name; nil for none.
func (c *Client) tool(name string) *abi.Tool {
	i := slices.IndexFunc(c.tools, func(t abi.Tool) bool { return t.Name == name })
	if i < 0 {
		return nil
	}
	return &c.tools[i]
}

// Close takes the offer back. Calls that the client has not answered end.
func (c *Client) Close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return
	}
	c.closed = true
	close(c.gone)
	c.all.forget(c)
}

func (cs *Clients) forget(c *Client) {
	cs.mu.Lock()
	defer cs.mu.Unlock()
	left := slices.DeleteFunc(slices.Clone(cs.sessions[c.of]), func(other *Client) bool { return other == c })
	if len(left) == 0 {
		delete(cs.sessions, c.of)
		return
	}
	cs.sessions[c.of] = left
}

// clients returns those of a Session, newest first.
func (cs *Clients) clients(c *provider.Call) []*Client {
	cs.mu.Lock()
	defer cs.mu.Unlock()
	all := slices.Clone(cs.sessions[clientSession{c.Tenant, c.SessionID}])
	slices.Reverse(all)
	return all
}

// List implements [Server]: without a Session there are no tools.
func (*Clients) List(context.Context) ([]abi.Tool, error) { return nil, nil }

// ListFor implements [PerCall]. What a Task's client said that it can, no connection is needed for; a
// tool that somebody offers comes before.
func (cs *Clients) ListFor(ctx context.Context, c *provider.Call) (tools []abi.Tool, err error) {
	add := func(more []abi.Tool, as func(abi.Tool) abi.Tool) {
		for _, t := range more {
			if !slices.ContainsFunc(tools, func(other abi.Tool) bool { return other.Name == t.Name }) {
				tools = append(tools, as(t))
			}
		}
	}
	asIs := func(t abi.Tool) abi.Tool { return t }
	for _, client := range cs.clients(c) {
		add(client.tools, cs.believed)
	}
	if cs.beside != nil {
		asked, err := cs.beside.ListFor(ctx, c)
		if err != nil {
			return nil, err
		}
		add(asked, asIs)
	}
	add(askclient.Tools(c.Client), asIs)
	slices.SortFunc(tools, func(a, b abi.Tool) int { return strings.Compare(a.Name, b.Name) })
	return tools, nil
}

// believed is a client's tool as policy and plugins take it. Any client of a Session
// may say of a tool that it changes nothing, so that this counts for one thing alone:
// whether the call may be made again after the node has died.
func (cs *Clients) believed(t abi.Tool) abi.Tool {
	t.ReadOnly, t.Idempotent, t.Destructive, t.OpenWorld = false, t.Idempotent || t.ReadOnly, true, true
	cs.hints.Believe(&t)
	return t
}

// Find implements [PerCall].
func (cs *Clients) Find(ctx context.Context, c *provider.Call, name string) (*Found, error) {
	for _, client := range cs.clients(c) {
		if t := client.tool(name); t != nil {
			return &Found{Tool: cs.believed(*t), By: client.actor, Call: func(ctx context.Context, arguments jsontext.Value) (*abi.CallToolCallAnswer, error) {
				return client.ask(ctx, c, t, arguments)
			}}, nil
		}
	}
	if cs.beside != nil {
		found, err := cs.beside.Find(ctx, c, name)
		if refusal, ok := errors.AsType[*provider.Refusal](err); !ok || refusal.Status != abi.CallNotFound {
			return found, err
		}
	}
	for _, t := range askclient.Tools(c.Client) {
		if t.Name == name {
			return &Found{Tool: t, Ask: askclient.Roots()}, nil
		}
	}
	return nil, refuse(abi.CallNotFound, CodeUnknown, "%q has no tool %q", ServerClient, name)
}

// Call implements [Server]. It is [Clients.Find] and the call of what is found.
func (cs *Clients) Call(ctx context.Context, c *provider.Call, name string, arguments jsontext.Value) (*abi.CallToolCallAnswer, error) {
	found, err := cs.Find(ctx, c, name)
	if err != nil {
		return nil, err
	}
	if found.Ask != nil {
		return nil, refuse(abi.CallUnavailable, CodeUnavailable, "the tool %q waits, and is called by tasks alone", name)
	}
	return found.Call(ctx, arguments)
}

// ask makes a call of the client's own tool t.
func (c *Client) ask(ctx context.Context, of *provider.Call, t *abi.Tool, arguments jsontext.Value) (*abi.CallToolCallAnswer, error) {
	call := &ClientCall{ID: of.IdempotencyKey, TaskID: of.TaskID, Name: t.Name, Arguments: arguments}
	call.Deadline, _ = ctx.Deadline()
	answer, sent, err := c.call(ctx, call)
	if err != nil && !sent {
		return nil, refuse(abi.CallUnavailable, CodeUnavailable, "the client that offered the tool %q is gone; it has not got the call", t.Name)
	}
	return answer, brokenOff(err, t)
}

// brokenOff says what became of a call that a client got and did not answer.
func brokenOff(err error, t *abi.Tool) error {
	switch {
	case err == nil || err != errClientGone:
		return err
	case t.ReadOnly:
		return refuse(abi.CallUnavailable, CodeUnavailable, "the client left before it answered")
	}
	return refuse(abi.CallIndeterminate, CodeUnavailable, "the client left before it answered; whether it did what it was asked is not known")
}

// errClientGone says that the client is not connected any more.
var errClientGone = provider.Refuse(abi.CallUnavailable, CodeUnavailable, "the client has left")

// call returns whether the client may have got the call, besides its answer.
func (c *Client) call(ctx context.Context, call *ClientCall) (answer *abi.CallToolCallAnswer, sent bool, err error) {
	answered, err := c.expect(call.ID)
	if err != nil {
		return nil, false, err
	}
	defer c.forget(call.ID)
	if err := c.host.CallTool(ctx, call); err != nil {
		return nil, false, err
	}
	select {
	case answer = <-answered:
		return answer, true, nil
	case <-c.gone:
		return nil, true, errClientGone
	case <-ctx.Done():
		c.host.CancelTool(call.ID)
		return nil, true, context.Cause(ctx)
	}
}

func (c *Client) expect(id string) (<-chan *abi.CallToolCallAnswer, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed || c.pending[id] != nil {
		return nil, errClientGone
	}
	answered := make(chan *abi.CallToolCallAnswer, 1)
	c.pending[id] = answered
	return answered, nil
}

func (c *Client) forget(id string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.pending, id)
}

// Answer hands over what the client answers to a call, which it must not change
// afterwards. It reports whether somebody waits for that: the first answer counts.
func (c *Client) Answer(id string, answer *abi.CallToolCallAnswer) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	answered := c.pending[id]
	if answered == nil {
		return false
	}
	delete(c.pending, id)
	answered <- answer
	return true
}
