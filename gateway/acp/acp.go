package acp

import (
	"cmp"
	"log/slog"
	"net/http"

	"github.com/wharf-dev/wharf/gateway"
	"github.com/wharf-dev/wharf/gateway/api"
	"github.com/wharf-dev/wharf/gateway/internal/namedhost"
)

// path is where the protocol is spoken over a WebSocket.
const path = "/acp"

// Node is what the adapter is told of the node besides its engine.
type Node struct {
	// Hosts are names that clients may reach the server by, besides those that it knows of.
	Hosts []string
	// DefaultPersona is that of Tasks and Sessions that name none.
	DefaultPersona string
	// Models are the names of the models that Tasks may ask; DefaultModel is asked by those that name
	// none.
	Models       []string
	DefaultModel string
	// Version is that of the node.
	Version string
	// Clients takes what clients have for the Tasks of their sessions: tools, files, terminals, skills;
	// nil: nothing of it is asked for.
	Clients *api.Hosts
	// Log is where faults of the node's own go; nil for nowhere.
	Log *slog.Logger
}

// Adapter serves the protocol. It is safe for concurrent use.
type Adapter struct {
	cfg   gateway.Config
	core  *api.API
	has   Node
	log   *slog.Logger
	table map[string]method
	turns turns
}

var _ gateway.Adapter = (*Adapter)(nil)

// New returns the adapter over what the engine shows. cfg is the gateway's own configuration.
func New(cfg gateway.Config, core *api.API, has Node) *Adapter {
	a := &Adapter{cfg: cfg.WithDefaults(), core: core, has: has, log: cmp.Or(has.Log, slog.New(slog.DiscardHandler)), table: map[string]method{}}
	for _, f := range a.features() {
		for name, m := range f {
			a.table[name] = m
		}
	}
	return a
}

// Mount implements gateway.Adapter.
func (a *Adapter) Mount() gateway.Mount {
	guard := namedhost.Guard{PublicURL: a.cfg.PublicURL, Hosts: a.has.Hosts, Origins: a.cfg.Origins, HostsSetting: "mcp.hosts", OriginsSetting: "websocket.origins"}
	return gateway.Mount{Name: "acp", Prefixes: []string{path}, Guard: guard.Check, Errors: inJSONRPC, Routes: []gateway.Route{{
		Method: http.MethodGet, Path: path, Operation: "connect", Tag: "acp", Summary: "Connect an editor or another host",
		Unversioned: true, Status: http.StatusSwitchingProtocols, Socket: true, Handle: a.connect,
	}}}
}
