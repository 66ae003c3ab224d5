package acp

import (
	"cmp"
	"context"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/gateway/api"
)

// live attaches clients to Sessions: many observe one, and one controls it.
func (a *Adapter) live() feature {
	return feature{
		"session/attach":    takes(scopeEvents, a.attach).meant("Attach this client to a session, as an observer or as its controller."),
		"session/takeover":  takes("sessions:write", a.takeover).meant("Take over the control of a session from whoever has it."),
		"session/detach":    takes(scopeEvents, a.detach).meant("Take this client out of a session."),
		"session/heartbeat": takes(scopeEvents, a.heartbeat).meant("Say that this client is there, and what it is by now."),
	}
}

// attached is a Session that a connection is attached to as a client.
type attached struct {
	caller     *api.Caller
	client     string
	attachment uint64
	auto       bool // the node has attached it, and not the client itself
}

// liveParams are those of all four methods.
type liveParams struct {
	named    `json:",inline"`
	ClientID string       `json:"clientId"`
	Mode     abi.LiveMode `json:"mode"`
	Takeover bool         `json:"takeover"`
	Reason   string       `json:"reason"`
	Meta     struct {
		Harn jsontext.Value `json:"harn"`
	} `json:"_meta"`
}

func (p *liveParams) check() error {
	if p.ClientID == "" {
		return cmp.Or(p.named.check(), missing("clientId"))
	}
	return p.named.check()
}

// as returns the caller as the client that the connection is attached to a Session as.
func (c *conn) as(caller *api.Caller, session string) *api.Caller {
	c.mu.Lock()
	defer c.mu.Unlock()
	if at, ok := c.attached[session]; ok {
		return caller.As(at.client)
	}
	return caller
}

// attach attaches the connection to a Session. What it prompts and answers there is from then on that
// client's.
func (a *Adapter) attach(ctx context.Context, q *request, p *liveParams) (any, error) {
	return a.attaches(q, p, func(c *api.Caller) (*abi.LiveClients, error) {
		return a.core.AttachClient(ctx, c, p.SessionID, abi.AttachClientRequest{ClientID: p.ClientID, Mode: p.Mode, Takeover: p.Takeover, Metadata: p.Meta.Harn, Held: true})
	})
}

func (a *Adapter) takeover(ctx context.Context, q *request, p *liveParams) (any, error) {
	return a.attaches(q, p, func(c *api.Caller) (*abi.LiveClients, error) {
		return a.core.TakeoverSession(ctx, c, p.SessionID, abi.TakeoverSessionRequest{ClientID: p.ClientID, Metadata: p.Meta.Harn, Held: true})
	})
}

func (a *Adapter) attaches(q *request, p *liveParams, do func(c *api.Caller) (*abi.LiveClients, error)) (any, error) {
	caller, c := q.caller.As(""), q.conn
	if at, ok := c.attachedTo(p.SessionID); ok && at.auto && at.client != p.ClientID {
		c.detachFrom(p.SessionID) // it is the same client, which now says what it is called
	}
	all, err := do(caller)
	if err != nil {
		return nil, err
	}
	c.attachedAs(p.SessionID, attached{caller: caller, client: p.ClientID}, all)
	return all, nil
}

// attachedTo returns as whom the connection is attached to a Session; false for nobody.
func (c *conn) attachedTo(session string) (attached, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	at, ok := c.attached[session]
	return at, ok
}

// attachedAs keeps as whom the connection is attached to a Session by now.
func (c *conn) attachedAs(session string, at attached, all *abi.LiveClients) {
	at.attachment = all.Attachment
	c.mu.Lock()
	if before, ok := c.attached[session]; !ok || before.attachment < at.attachment {
		c.attached[session] = at
	}
	o := c.sessions[session]
	c.mu.Unlock()
	if o != nil {
		o.route(all.ActiveControllerID)
	}
}

func (a *Adapter) detach(ctx context.Context, q *request, p *liveParams) (any, error) {
	all, err := a.core.DetachClient(ctx, q.caller.As(""), p.SessionID, abi.DetachClientRequest{ClientID: p.ClientID, Reason: p.Reason})
	if err != nil {
		return nil, err
	}
	c := q.conn
	c.mu.Lock()
	if c.attached[p.SessionID].client == p.ClientID {
		delete(c.attached, p.SessionID)
	}
	c.mu.Unlock()
	return all, nil
}

func (a *Adapter) heartbeat(ctx context.Context, q *request, p *liveParams) (any, error) {
	return a.core.HeartbeatClient(ctx, q.caller.As(""), p.SessionID, abi.HeartbeatClientRequest{ClientID: p.ClientID, Metadata: p.Meta.Harn})
}

// detachAll takes the connection, which is over, out of the Sessions that it is attached to.
func (c *conn) detachAll() {
	c.mu.Lock()
	all := c.attached
	c.attached = nil
	c.mu.Unlock()
	for session, at := range all {
		c.leaves(session, at)
	}
}

// detachFrom takes the connection out of one Session.
func (c *conn) detachFrom(session string) {
	c.mu.Lock()
	at, ok := c.attached[session]
	delete(c.attached, session)
	c.mu.Unlock()
	if ok {
		c.leaves(session, at)
	}
}

// leaves detaches what the connection was attached as, unless that has come back on another one.
func (c *conn) leaves(session string, at attached) {
	req := abi.DetachClientRequest{ClientID: at.client, Reason: abi.DetachedExit, Attachment: at.attachment}
	if _, err := c.adapter.core.DetachClient(context.WithoutCancel(c.live), at.caller, session, req); err != nil {
		c.adapter.log.Debug("a client that has left could not be detached", "session", session, "error", err)
	}
}

// route has questions go to the client that controls the Session; nil is nobody, and then everybody is
// asked.
func (o *opened) route(controller *string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.controller = ""
	if controller != nil {
		o.controller = *controller
	}
	o.offerFirst()
	for _, q := range o.questions {
		switch {
		case o.canAsk(q) && o.asking:
			o.ask(q)
		case q.callOff != nil:
			q.callOff()
			q.callOff = nil
		}
	}
	o.wake()
}

// observes reports whether another client controls the Session. The session's lock is held.
func (o *opened) observes() bool {
	return o.controller != "" && o.controller != o.attachedAs()
}

// controls reports whether the client controls the Session. The session's lock is held.
func (o *opened) controls() bool { return o.controller != "" && o.controller == o.attachedAs() }

// attachedAs returns the client that the connection is at the Session, "" for none.
func (o *opened) attachedAs() string {
	o.conn.mu.Lock()
	defer o.conn.mu.Unlock()
	return o.conn.attached[o.id].client
}
