package tool

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// What a server may send of itself. The SDK keeps what it has not handled yet, however
// much that is, and handles nothing while the server does not read an answer.
const (
	maxUnasked      = 1000     // requests, notifications and streams in each minute
	maxUnanswered   = 100      // requests that have no answer yet
	maxUnaskedBytes = 64 << 10 // of a request
)

var (
	errFlood = errors.New("it sends more requests and notifications than the node takes: 1000 a minute, 100 that it reads no answers to, 64 KiB each")
	errLarge = errors.New("it sends a larger message than the node takes")
)

// The notifications that mean anything to a node.
const (
	toolsChanged     = "notifications/tools/list_changed"
	resourcesChanged = "notifications/resources/list_changed"
	promptsChanged   = "notifications/prompts/list_changed"
)

// flood counts what a server sends of itself over one connection, whatever it is made
// of. It is safe for concurrent use.
type flood struct {
	mu       sync.Mutex
	since    time.Time
	count    int
	open     int             // requests that have no answer yet
	changing map[string]bool // the notifications of changes that wait to be handled
}

// one counts anything.
func (f *flood) one() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.next()
}

func (f *flood) next() error {
	if now := time.Now(); now.Sub(f.since) > time.Minute {
		f.since, f.count = now, 0
	}
	if f.count++; f.count > maxUnasked {
		return errFlood
	}
	return nil
}

// request counts a request, to be answered.
func (f *flood) request(size int) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.open++; f.open > maxUnanswered || size > maxUnaskedBytes {
		return errFlood
	}
	return f.next()
}

// notification counts a notification, and reports whether it is worth handling: one
// change of a list that waits stands for those after it.
func (f *flood) notification(method string, size int) (bool, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	err := f.next()
	if err != nil || !meansChange(method) || f.changing[method] || size > maxUnaskedBytes {
		return false, err
	}
	if f.changing == nil {
		f.changing = map[string]bool{}
	}
	f.changing[method] = true
	return true, nil
}

func meansChange(method string) bool {
	return method == toolsChanged || method == resourcesChanged || method == promptsChanged
}

// answered is called when a request has got its answer.
func (f *flood) answered() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.open--
}

// changed is called when the notification of a change is handled.
func (f *flood) changed(method string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.changing, method)
}

// guarded is a transport that ends when the server floods it, and gives on no answer
// that has too much in it.
type guarded struct {
	mcp.Transport
	link *link
}

// Connect implements mcp.Transport.
func (g *guarded) Connect(ctx context.Context) (mcp.Connection, error) {
	c, err := g.Transport.Connect(ctx)
	if err != nil {
		return nil, err
	}
	return &guardedConnection{Connection: c, link: g.link, asked: map[jsonrpc.ID]*answering{}}, nil
}

// guardedConnection is read by one goroutine.
type guardedConnection struct {
	mcp.Connection
	link *link

	mu    sync.Mutex
	asked map[jsonrpc.ID]*answering // calls that are under way
}

// Read implements mcp.Connection.
func (g *guardedConnection) Read(ctx context.Context) (jsonrpc.Message, error) {
	for {
		m, err := g.Connection.Read(ctx)
		if err != nil {
			return m, err
		}
		switch m := m.(type) {
		case *jsonrpc.Response:
			g.screen(m)
			return m, nil
		case *jsonrpc.Request:
			if !m.IsCall() && m.Method == progressed && g.link.progress.take(time.Now(), jsontext.Value(m.Params)) {
				continue
			}
			pass, err := g.link.flood.take(m)
			if err != nil {
				g.link.lost(err)
				return nil, err
			}
			if pass {
				return m, nil
			}
		}
	}
}

// screen replaces an answer that is not to be decoded.
func (g *guardedConnection) screen(m *jsonrpc.Response) {
	a := g.answering(m.ID)
	var refused *jsonrpc.Error
	if a.take(int64(len(m.Result))) {
		refused = screen(m.Result, ofAnswer, a)
	} else {
		refused = errBusy
	}
	if refused != nil {
		m.Result, m.Error = nil, refused
	}
}

// take counts a message, and reports whether it is to be handled.
func (f *flood) take(m *jsonrpc.Request) (bool, error) {
	size := len(m.Method) + len(m.Params)
	if !m.IsCall() {
		return f.notification(m.Method, size)
	}
	if id, ok := m.ID.Raw().(string); ok {
		size += len(id)
	}
	return true, f.request(size)
}

// Write implements mcp.Connection.
func (g *guardedConnection) Write(ctx context.Context, m jsonrpc.Message) error {
	if call, ok := m.(*jsonrpc.Request); ok && call.IsCall() {
		if a := answeringOf(ctx); a != nil {
			g.ask(call.ID, a)
		}
	}
	if _, ok := m.(*jsonrpc.Response); ok {
		defer g.link.flood.answered()
	}
	return g.Connection.Write(ctx, m)
}

// ask remembers whose answer will come, until the call ends.
func (g *guardedConnection) ask(id jsonrpc.ID, a *answering) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.asked[id] = a
	a.atEnd(func() {
		g.mu.Lock()
		defer g.mu.Unlock()
		delete(g.asked, id)
	})
}

func (g *guardedConnection) answering(id jsonrpc.ID) *answering {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.asked[id]
}
