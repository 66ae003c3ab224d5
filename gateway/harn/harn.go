package harn

import (
	"context"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/gateway"
	"github.com/wharf-dev/wharf/gateway/api"
)

// Adapter serves the protocol. It is safe for concurrent use.
type Adapter struct {
	cfg  gateway.Config
	core *api.API

	commands map[string]*command // of WebSockets, by type
	batches  frameBatches
	clients  *api.ToolClients // nil: clients offer no tools
	node     Node
}

var _ gateway.Adapter = (*Adapter)(nil)

// New returns the adapter over what the engine shows. cfg is the gateway's own configuration.
func New(cfg gateway.Config, core *api.API) *Adapter {
	a := &Adapter{cfg: cfg.WithDefaults(), core: core.With(Links())}
	a.commands = byName(a.socketCommands())
	return a
}

// Links are the paths at which clients find what the log names.
func Links() api.Links {
	return api.Links{Transcript: api.Path{Before: "/v1/sessions/", After: "/messages"}, Content: api.Path{Before: "/v1/artifacts/", After: "/content"}}
}

// WithClients returns an adapter by which clients on a WebSocket can offer tools.
func (a *Adapter) WithClients(c *api.ToolClients) *Adapter {
	with := New(a.cfg, a.core)
	with.clients, with.node = c, a.node
	return with
}

// WithNode returns an adapter that says what else the node has.
func (a *Adapter) WithNode(n Node) *Adapter {
	with := New(a.cfg, a.core)
	with.clients, with.node = a.clients, n
	return with
}

// send answers with a resource, and says so when a write had been made before.
func (a *Adapter) send(r *gateway.Request, status int, doc api.View) error {
	if doc.Replayed {
		r.SetHeader("Idempotent-Replayed", "true")
	}
	r.Send(status, doc.JSON)
	return nil
}

// get reads one resource by the id in the path.
func (a *Adapter) get(o abi.Object, param string) gateway.Handler {
	return func(r *gateway.Request) error {
		doc, err := a.core.Get(r.Context(), r.Caller, o, r.PathValue(param))
		if err != nil {
			return err
		}
		return a.send(r, statusOK, doc)
	}
}

func (a *Adapter) getWorkspace(r *gateway.Request) error {
	doc, err := a.core.GetWorkspace(r.Context(), r.Caller, r.PathValue("workspace_id"))
	if err != nil {
		return err
	}
	return a.send(r, statusOK, doc)
}

// create is a write whose target is in its body.
func create[T any](a *Adapter, status int,
	call func(context.Context, *api.Caller, *api.Write, T) (api.View, error)) gateway.Handler {
	return func(r *gateway.Request) error {
		var req T
		retry, err := decode(r, &req)
		if err != nil {
			return err
		}
		doc, err := call(r.Context(), r.Caller, retry, req)
		if err != nil {
			return err
		}
		return a.send(r, status, doc)
	}
}

// change is a write on the resource that the path names.
func change[T any](a *Adapter, param string, status int,
	call func(context.Context, *api.Caller, *api.Write, string, T) (api.View, error)) gateway.Handler {
	return func(r *gateway.Request) error {
		var req T
		retry, err := decode(r, &req)
		if err != nil {
			return err
		}
		doc, err := call(r.Context(), r.Caller, retry, r.PathValue(param), req)
		if err != nil {
			return err
		}
		return a.send(r, status, doc)
	}
}

func decode(r *gateway.Request, req any) (*api.Write, error) {
	body, err := r.Decode(req)
	if err != nil {
		return nil, err
	}
	return r.Retry(body)
}
