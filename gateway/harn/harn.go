package harn

import (
	"context"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/gateway"
	"github.com/wharf-dev/wharf/runtime/desk"
	"github.com/wharf-dev/wharf/runtime/provider/tool"
	"github.com/wharf-dev/wharf/runtime/redact"
)

// Adapter serves the protocol. It is safe for concurrent use.
type Adapter struct {
	cfg    gateway.Config
	core   Core
	events *eventCache

	commands map[string]*command // of WebSockets, by type
	batches  frameBatches
	clients  *tool.Clients // nil: clients offer no tools
	node     Node
}

var _ gateway.Adapter = (*Adapter)(nil)

// New returns the adapter for an engine. cfg is the gateway's own configuration.
func New(cfg gateway.Config, core Core) *Adapter {
	a := &Adapter{cfg: cfg.WithDefaults(), core: core, events: newEventCache(cachedEvents)}
	a.commands = byName(a.socketCommands())
	return a
}

// WithClients returns an adapter by which clients on a WebSocket can offer tools.
func (a *Adapter) WithClients(c *tool.Clients) *Adapter {
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

// send answers with a resource; a retried write answers as it did at first.
func (a *Adapter) send(r *gateway.Request, status int, doc desk.Doc) error {
	if doc.Status != 0 {
		status = doc.Status
		r.SetHeader("Idempotent-Replayed", "true")
	}
	if !doc.Restricted {
		r.Send(status, doc.JSON)
		return nil
	}
	return r.Long(len(doc.JSON), func() error {
		body, err := visible(r.Caller, doc)
		if err == nil {
			r.Send(status, body)
		}
		return err
	})
}

// visible returns what of a resource the caller may see.
func visible(c *desk.Caller, doc desk.Doc) ([]byte, error) {
	if !doc.Restricted {
		return doc.JSON, nil
	}
	return redact.Document(doc.JSON, c.Can(abi.ScopeEventsInternal))
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

// create is a write whose target is in its body.
func create[T any](a *Adapter, status int,
	call func(context.Context, *desk.Caller, *desk.Retry, T) (desk.Doc, error)) gateway.Handler {
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
	call func(context.Context, *desk.Caller, *desk.Retry, string, T) (desk.Doc, error)) gateway.Handler {
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

func decode(r *gateway.Request, req any) (*desk.Retry, error) {
	body, err := r.Decode(req)
	if err != nil {
		return nil, err
	}
	return r.Retry(body)
}
