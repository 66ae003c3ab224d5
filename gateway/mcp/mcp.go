package mcp

import (
	"cmp"
	"log/slog"
	"net/http"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/wharf-dev/wharf/gateway"
	"github.com/wharf-dev/wharf/gateway/api"
)

// prefix is the path of the server.
const prefix = "/mcp"

// Node is what the adapter is told of the node besides its engine.
type Node struct {
	// Hosts are names that clients may reach the server by, besides those that it knows of: see
	// [Adapter.guard]. Origins are origins whose pages may ask; "*" is any.
	Hosts, Origins []string
	// Idle is how long a session is kept that nobody uses, 0 for the default. It is found again when it is
	// needed, as long as its Session is open.
	Idle time.Duration
	// Issuers are those whose access tokens the node takes, besides itself.
	Issuers []string
	// Now tells the time by which request states expire; nil for the clock.
	Now func() time.Time
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
	// library shows resources.
	library *library
	// watches are the sessions that are told of changes, and say is how the SDK sends.
	watches watches
	say     sdk.MethodHandler
	// stateful serves revisions with sessions, stateless those where a request stands for itself.
	stateful, stateless http.Handler
	calls               calls
	decoded             decodedSkills
}

var _ gateway.Adapter = (*Adapter)(nil)

// New returns the adapter over what the engine shows. cfg is the gateway's own configuration.
func New(cfg gateway.Config, core *api.API, has Node) *Adapter {
	a := &Adapter{cfg: cfg.WithDefaults(), core: core, has: has, log: cmp.Or(has.Log, slog.New(slog.DiscardHandler)), table: map[string]method{}}
	if a.has.Now == nil {
		a.has.Now = time.Now
	}
	a.library = newLibrary(core, a.offeredResources)
	features := a.features()
	for _, f := range features {
		for name, m := range f.methods {
			a.table[name] = m
		}
	}
	a.stateful = a.front(a.withSessions(features), false)
	a.stateless = a.front(sdk.NewStreamableHTTPHandler(a.server(features, true), &sdk.StreamableHTTPOptions{
		DisableLocalhostProtection: true, Stateless: true, PropagateRequestCancellation: true, MaxRequestBodyBytes: -1, Logger: a.log,
	}), true)
	return a
}

// Mount implements gateway.Adapter.
func (a *Adapter) Mount() gateway.Mount {
	return gateway.Mount{
		Name: "mcp", Prefixes: []string{prefix, metadataPath}, Routes: a.routes(), Errors: inJSONRPC,
		Guard: a.guard, Challenge: challenge,
	}
}

func (a *Adapter) routes() []gateway.Route {
	const tag = "mcp"
	at := func(method, operation, summary string) gateway.Route {
		return gateway.Route{Method: method, Path: prefix, Operation: operation, Tag: tag, Summary: summary, Unversioned: true,
			Status: http.StatusOK, Body: gateway.BodyRaw, Handle: a.serve}
	}
	described := func(path, operation string) gateway.Route {
		return gateway.Route{Method: http.MethodGet, Path: path, Operation: operation, Tag: tag, Summary: "Say who gives tokens for this server (RFC 9728)",
			Public: true, Status: http.StatusOK, Handle: a.metadata}
	}
	return []gateway.Route{
		at(http.MethodPost, "message", "Send a message"), at(http.MethodGet, "listen", "Listen to messages, or resume a stream"),
		at(http.MethodDelete, "end", "End a session"),
		described(metadataPath, "metadata"), described(metadataPath+prefix, "metadataOfServer"),
	}
}

// serve has the handler of the request's revision answer it.
func (a *Adapter) serve(r *gateway.Request) error {
	if standsForItself(r) {
		return r.Bridge(a.stateless)
	}
	return r.Bridge(a.stateful)
}

// firstStateless is the first revision without sessions. Revisions are dates, and compare as text.
const firstStateless = "2026-07-28"

// standsForItself reports whether a request is one of a revision without sessions. A request that
// names a session is none, whatever else it says: the handler with sessions refuses it.
func standsForItself(r *gateway.Request) bool {
	if r.Header("Mcp-Session-Id") != "" {
		return false
	}
	if revision := r.Header("Mcp-Protocol-Version"); revision != "" {
		return revision >= firstStateless
	}
	return r.Header("Mcp-Method") != ""
}
