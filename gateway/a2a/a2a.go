package a2a

import (
	"time"

	"github.com/valyala/fasthttp"

	"github.com/wharf-dev/wharf/gateway"
	"github.com/wharf-dev/wharf/gateway/api"
	"github.com/wharf-dev/wharf/gateway/internal/agentcard"
)

// prefix is the path that JSON-RPC is spoken at, of both versions, and that those of REST begin with.
const prefix = agentcard.Path

// Adapter serves the protocol. It is safe for concurrent use.
type Adapter struct {
	cfg   gateway.Config
	core  *api.API
	wait  time.Duration
	table map[string]method
	told  toldCache
}

// Node is what the adapter is told of the node besides its engine.
type Node struct {
	// Wait is how long a client waits at most for the end of a Task; 0 is as long as any request.
	Wait time.Duration
}

var _ gateway.Adapter = (*Adapter)(nil)

// New returns the adapter over what the engine shows. cfg is the gateway's own configuration.
func New(cfg gateway.Config, core *api.API, has Node) *Adapter {
	a := &Adapter{cfg: cfg.WithDefaults(), core: core, wait: has.Wait}
	if a.wait == 0 {
		a.wait = a.cfg.WaitLimit
	}
	a.table = a.methods()
	return a
}

// Mount implements gateway.Adapter.
func (a *Adapter) Mount() gateway.Mount {
	return gateway.Mount{Name: "a2a", Prefixes: []string{prefix, cardPath, oldCardPath}, Errors: shape, Routes: a.routes()}
}

func (a *Adapter) routes() []gateway.Route {
	return append(append(a.restRoutes(), a.cardRoutes()...), gateway.Route{Method: fasthttp.MethodPost, Path: prefix, Operation: operationRPC, Tag: "a2a", Summary: "Call a method by JSON-RPC",
		Unversioned: true, Body: gateway.BodyJSON, Tolerant: true, Media: gateway.MediaEventStream, Status: fasthttp.StatusOK, Handle: a.rpc})
}
