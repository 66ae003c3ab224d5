package openharness

import (
	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/gateway"
	"github.com/wharf-dev/wharf/gateway/api"
)

// Version is the version of the protocol that is spoken.
const Version = "0.2.0"

// The paths below which the protocol lies. Clients that the protocol's authors publish leave the
// version out.
const (
	prefix = "/v1/harnesses"
	bare   = "/harnesses"
)

// Subprotocol is that of the protocol's WebSockets.
const Subprotocol = "openharness.v1"

// Adapter serves the protocol. It is safe for concurrent use.
type Adapter struct {
	cfg    gateway.Config
	core   *api.API
	has    Node
	runs   runs
	events eventCache
}

// Node is what the adapter is told of the node besides its engine.
type Node struct {
	// Plugins are the names of the plugins that a harness can run by.
	Plugins func() []string
	// Models are the names of the models that can be asked, and DefaultModel is the one of those
	// who name none; "" for none.
	Models       []string
	DefaultModel string
	// ModelNames are other names for the same, as the operator has them mean.
	ModelNames map[string]string
	// Tools are those of the node that the plugin may use which calls one tool for a client.
	Tools api.GrantedTools
	// Suite checks harnesses; without one none can be.
	Suite Suite
}

var _ gateway.Adapter = (*Adapter)(nil)

// New returns the adapter over what the engine shows. cfg is the gateway's own configuration.
func New(cfg gateway.Config, core *api.API, has Node) *Adapter {
	return &Adapter{cfg: cfg.WithDefaults(), core: core, has: has}
}

// Mount implements gateway.Adapter.
func (a *Adapter) Mount() gateway.Mount {
	return gateway.Mount{
		Name: "openharness", Prefixes: []string{prefix}, Aliases: map[string]string{bare: prefix},
		Routes: a.routes(), Errors: envelope, Subprotocols: []string{Subprotocol},
	}
}

// handler answers a request about a harness that the caller may see.
type handler func(r *gateway.Request, h *abi.Harness) error

// at finds the harness that the path names, and refuses what it cannot do.
func (a *Adapter) at(does handler) gateway.Handler {
	return func(r *gateway.Request) error {
		if err := checkAccept(r); err != nil {
			return err
		}
		h, err := a.core.Harness(r.Context(), r.Caller, r.PathValue("harnessId"))
		if err != nil {
			return err
		}
		if err := a.capable(r, h); err != nil {
			return err
		}
		return does(r, h)
	}
}
