package mcp

import (
	"context"
	"errors"
	"sync"

	"github.com/wharf-dev/wharf/gateway"
)

// calls are the calls that are being answered, by their sessions: the end of a session calls them off,
// which the SDK would wait for. It is safe for concurrent use; the zero value is ready.
type calls struct {
	mu sync.Mutex
	of map[ownSession]*callsOf
}

// ownSession is a session as one caller names it: nobody ends the calls of somebody else's.
type ownSession struct{ owner, id string }

// callsOf are the calls of a session. There is one while it has calls, or is being ended.
type callsOf struct {
	cancels map[*context.CancelCauseFunc]struct{}
	ending  int // how many requests are ending it
}

// errSessionEnded says that the client has ended its session.
var errSessionEnded = errors.New("the client has ended its session")

// during returns the context of a call: it ends when the node drains, and when the session is ended.
func (a *Adapter) during(ctx context.Context, q *request) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	drained := context.AfterFunc(q.posted.live, func() { cancel(gateway.ErrDraining) })
	leave := func() {}
	if id := q.sessionID(); id != "" {
		leave = a.calls.enter(ownSession{ownerOf(q.caller), id}, &cancel)
	}
	return ctx, func() {
		leave()
		drained()
		cancel(nil)
	}
}

// enter adds a call. That of a session which is being ended is called off at once.
func (c *calls) enter(session ownSession, cancel *context.CancelCauseFunc) (leave func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	of := c.session(session)
	of.cancels[cancel] = struct{}{}
	if of.ending > 0 {
		(*cancel)(errSessionEnded)
	}
	return func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(of.cancels, cancel)
		c.forget(session, of)
	}
}

// end calls off the calls of a session: those that there are, and those that come until done is called.
func (c *calls) end(session ownSession) (done func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	of := c.session(session)
	of.ending++
	for cancel := range of.cancels {
		(*cancel)(errSessionEnded)
	}
	return func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		of.ending--
		c.forget(session, of)
	}
}

// session returns the calls of a session. mu is held.
func (c *calls) session(id ownSession) *callsOf {
	if c.of == nil {
		c.of = map[ownSession]*callsOf{}
	}
	if c.of[id] == nil {
		c.of[id] = &callsOf{cancels: map[*context.CancelCauseFunc]struct{}{}}
	}
	return c.of[id]
}

// forget drops what is empty. mu is held.
func (c *calls) forget(id ownSession, of *callsOf) {
	if len(of.cancels) == 0 && of.ending == 0 {
		delete(c.of, id)
	}
}
