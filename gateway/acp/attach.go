package acp

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/gateway/api"
)

// Clients that do not know of live sessions are attached by the node: a stock client when it opens a
// session, and any other that has not attached itself when it first does what only a controller may.
// They control the Session when nobody does, and observe it otherwise. Nothing is taken from whoever
// controls it; once that client has left, the next that prompts or answers is the controller.

// notController is the reason why what only a controller may do is refused to another client.
const notController = "not_controller"

// acts returns a method, as takes does, of what only the controller of a Session may do.
func acts[P any](scope string, do func(ctx context.Context, q *request, p *P) (any, error)) method {
	return takes(scope, func(ctx context.Context, q *request, p *P) (_ any, err error) {
		if of, ok := any(p).(inSession); ok {
			if q.caller, err = q.conn.controlling(ctx, q.caller, of.session()); err != nil {
				return nil, err
			}
		}
		return do(ctx, q, p)
	})
}

// enters attaches a stock client to a Session that it opens. One that cannot be attached now is when it
// prompts: to look on takes no more than to read.
func (c *conn) enters(ctx context.Context, caller *api.Caller, session string) {
	if at, ok := c.attachedTo(session); c.client().harn || ok && !at.auto {
		return
	}
	if _, err := c.attachSelf(ctx, caller, session); err != nil {
		c.adapter.log.Debug("a client that has opened a session could not be attached to it", "session", session, "error", err)
	}
}

// attachSelf attaches the connection under an id of its own: as the controller when there is none and
// the caller may be it, or else as an observer.
func (c *conn) attachSelf(ctx context.Context, caller *api.Caller, session string) (*abi.LiveClients, error) {
	caller = caller.As("")
	req := abi.AttachClientRequest{ClientID: c.ownID(), Mode: abi.LiveController, Metadata: c.surface(), Held: true}
	if !caller.Can("sessions:write") {
		req.Mode = abi.LiveObserver
	}
	all, err := c.adapter.core.AttachClient(ctx, caller, session, req)
	if is, ok := errors.AsType[*abi.Error](err); ok && is.Code == abi.CodeConflict && req.Mode == abi.LiveController {
		req.Mode = abi.LiveObserver
		all, err = c.adapter.core.AttachClient(ctx, caller, session, req)
	}
	if err != nil {
		return nil, err
	}
	c.attachedAs(session, attached{caller: caller, client: req.ClientID, auto: true}, all)
	return all, nil
}

// controlling returns the caller as whom the connection does what only the controller of a Session may.
// Where nobody controls it, the connection does from now on, unless the client has attached itself. The
// error says who does.
func (c *conn) controlling(ctx context.Context, caller *api.Caller, session string) (*api.Caller, error) {
	core := c.adapter.core
	at, ok := c.attachedTo(session)
	if ok {
		as := caller.As(at.client)
		if err := core.Controls(as, session); err == nil || !at.auto {
			return as, err
		}
	}
	all, err := core.LiveClients(ctx, caller.As(""), session)
	if err != nil {
		return nil, err
	}
	if !ok || all.ActiveControllerID == nil {
		if all, err = c.attachSelf(ctx, caller, session); err != nil {
			return nil, err
		}
	}
	if all.ActiveControllerID == nil { // for this caller may control nothing: as over REST, its scopes decide
		return caller.As(""), nil
	}
	caller = caller.As(c.ownID())
	return caller, core.Controls(caller, session)
}

// watches finds out who controls a Session that was opened: what the log says of that may be of another
// life of the node.
func (o *opened) watches(ctx context.Context, caller *api.Caller) {
	all, err := o.conn.adapter.core.LiveClients(ctx, caller.As(""), o.id)
	if err != nil {
		all = &abi.LiveClients{}
	}
	o.route(all.ActiveControllerID)
}

// ownID is what the node calls the connection as a client, or the pipe that outlives it: by its name,
// for people, and by what tells it from others.
func (c *conn) ownID() string {
	sum := sha256.Sum256([]byte(c.from()))
	name := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			return r
		}
		return -1
	}, strings.ToLower(c.client().name))
	if name == "" {
		name = "acp"
	}
	return name + "-" + hex.EncodeToString(sum[:8])
}

// surface is what is told of the connection as a client.
func (c *conn) surface() jsontext.Value {
	said := c.client()
	text, err := json.Marshal(struct {
		Surface string `json:"surface"`
		Name    string `json:"name,omitzero"`
		Version string `json:"version,omitzero"`
	}{"acp", said.name, said.version}, json.Deterministic(true))
	if err != nil {
		return nil // what was said is no text
	}
	return text
}
