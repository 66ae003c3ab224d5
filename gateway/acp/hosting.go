package acp

import (
	"context"

	"github.com/wharf-dev/wharf/gateway/api"
)

// hosting hears of what clients have for the Tasks of their sessions.
func (a *Adapter) hosting() feature {
	return feature{
		"skills/update":      takes("", a.skillsUpdate).notified().meant("Say that the client's skills have changed: they are listed anew."),
		"host/tools/changed": takes("", a.toolsChanged).notified().meant("Say that the client's tools have changed: they are listed anew."),
	}
}

// offer connects what the client has to a session, where it has something and the node takes it.
func (c *conn) offer(o *opened) {
	said := c.client()
	if c.adapter.has.Clients == nil || !said.fs.ReadsFiles && !said.fs.WritesFiles && !said.fs.Terminals && len(said.hostMethods) == 0 {
		return
	}
	declared := said.fs
	declared.Methods = said.hostMethods
	h := c.adapter.has.Clients.Connect(api.HostClient{Tenant: o.caller.TenantID, Session: o.id, SessionID: o.id, Actor: o.caller.Actor,
		Declared: declared, Caller: c.asked(o)})
	o.mu.Lock()
	defer o.mu.Unlock()
	o.host = h
	o.offerFirst()
}

// offerFirst has the client asked for what it has before all others if it controls the Session. The session's lock
// is held.
func (o *opened) offerFirst() {
	if o.host != nil {
		o.host.Controls(o.controls())
	}
}

// asked is the client as it is asked for what it has. One behind a pipe may have other tools for each session: it is
// told which is meant, and the pipe takes that out again.
func (c *conn) asked(o *opened) api.HostCaller {
	if c.client().pipe == "" {
		return c.peer
	}
	return &piped{c.peer, o.id}
}

// piped is a client behind a pipe, asked for one session.
type piped struct {
	api.HostCaller
	session string
}

// Call implements [api.HostCaller].
func (p *piped) Call(ctx context.Context, method string, params, result any) error {
	if method == api.HostListTools {
		var about listsFor
		about.Meta.Harn.SessionID = p.session
		params = about
	}
	return p.HostCaller.Call(ctx, method, params, result)
}

// listsFor says for which session tools are listed.
type listsFor struct {
	Meta struct {
		Harn struct {
			SessionID string `json:"sessionId"`
		} `json:"harn"`
	} `json:"_meta"`
}

func (a *Adapter) skillsUpdate(_ context.Context, q *request, _ *struct{}) (any, error) {
	for _, h := range q.conn.hosts() {
		h.SkillsChanged()
	}
	return nil, nil
}

func (a *Adapter) toolsChanged(_ context.Context, q *request, _ *struct{}) (any, error) {
	for _, h := range q.conn.hosts() {
		h.ToolsChanged()
	}
	return nil, nil
}

// hosts are what the client has for each of its sessions.
func (c *conn) hosts() (all []*api.Host) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, o := range c.sessions {
		if o.host != nil {
			all = append(all, o.host)
		}
	}
	return all
}
