package harn

import (
	"cmp"
	"strings"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/gateway"
	"github.com/wharf-dev/wharf/gateway/api"
)

// Node is what a node has besides its engine. Nothing in it is secret.
type Node struct {
	// Tools are the tools that plugins can be granted; nil: none.
	Tools Toolbox
	// Reach says what those host calls reach that the configuration decides on. Other calls are
	// there for every plugin.
	Reach map[string]Reach
	// Sandbox is what runs plugins, and its version.
	Sandbox string
}

// Reach is what the configuration lets a host call reach.
type Reach struct {
	Available bool     // for any plugin
	Plugins   []string // that are granted some of it; empty where plugins need no grant
	Models    []string // by their names in the configuration
	Servers   []string // of tools
}

// capabilityDoc is a host call as it is shown. Its id is what the capabilities of
// Personas are patterns of.
type capabilityDoc struct {
	abi.Envelope
	Name        string     `json:"name" doc:"The same as the id."`
	Family      string     `json:"family" doc:"The part of the name before the first dot."`
	Description string     `json:"description"`
	Effect      abi.Effect `json:"effect" doc:"What is recorded of a call, and when: docs/host-calls.md says what each means."`
	Available   bool       `json:"available" doc:"The node is configured for it: otherwise every such call is refused."`
	Plugins     []string   `json:"plugins,omitzero" doc:"The plugins that are granted it, where it needs a grant."`
	Models      []string   `json:"models,omitzero" doc:"The models that are configured, of a call that asks one."`
	Servers     []string   `json:"servers,omitzero" doc:"The servers of tools that are configured, of a call that calls one."`
}

func (d *capabilityDoc) identity() string { return d.ID }

// levels are those of the conformance that the node claims.
func levels() []string { return []string{"core", "extended", "receipts", "replay"} }

// features are the parts of the protocol, and whether they are there.
type features struct {
	REST      bool `json:"rest"`
	SSE       bool `json:"sse"`
	WebSocket bool `json:"websocket"`
	Receipts  bool `json:"receipts"`
	Replay    bool `json:"replay"`
}

func allFeatures() features {
	return features{REST: true, SSE: true, WebSocket: true, Receipts: true, Replay: true}
}

// runtimeDoc is the answer of GET /v1/runtime.
type runtimeDoc struct {
	abi.Envelope
	Name              string        `json:"name" doc:"The name of the node."`
	Version           string        `json:"version" doc:"Of the build."`
	Status            string        `json:"status" enum:"ready,draining,failed" doc:"failed: the node's store refuses work."`
	Draining          bool          `json:"draining" doc:"The node is about to stop and takes no more Tasks."`
	ProtocolFamily    string        `json:"protocol_family"`
	ProtocolVersion   string        `json:"protocol_version" doc:"The version that the node prefers."`
	SupportedVersions []string      `json:"supported_versions" doc:"The versions that a client may name in a request's header."`
	Levels            []string      `json:"levels" doc:"The levels of conformance."`
	Capabilities      features      `json:"capabilities" doc:"Which parts of the protocol there are."`
	Engine            runtimeEngine `json:"engine" doc:"What runs plugins."`
	Limits            runtimeLimits `json:"limits" doc:"What a client can run into."`
}

type runtimeEngine struct {
	Name    string `json:"name"`
	Version string `json:"version,omitzero"`
	ABI     string `json:"abi" doc:"Names the host calls and their bytes."`
}

type runtimeLimits struct {
	BodyBytes          int64 `json:"body_bytes" doc:"Of a request's JSON."`
	UploadBytes        int64 `json:"upload_bytes" doc:"Of the content of an Artifact or of a file."`
	DeliveryBytes      int64 `json:"delivery_bytes" doc:"Of a delivery to a Connector."`
	HeaderBytes        int64 `json:"header_bytes" doc:"Of a request's line and headers together."`
	SocketMessageBytes int64 `json:"socket_message_bytes" doc:"Of a message on a WebSocket."`
	JSONDepth          int64 `json:"json_depth" doc:"How deep objects and lists may be in each other."`
	JSONValues         int64 `json:"json_values" doc:"How many values a JSON text may hold, at every level."`
	ListMembers        int64 `json:"list_members" doc:"How many members a list or map of a request may have whose schema says nothing else."`
	Page               int64 `json:"page" doc:"How many resources a page of a list has at most."`
	WaitSeconds        int64 `json:"wait_seconds" doc:"How long \"Prefer: wait\" is waited for at most."`
}

func (a *Adapter) runtimeRoutes() []gateway.Route {
	const tag = "Discovery"
	models := read("/wharf/v1/models", "listModels", tag, "skills:read", "ModelCatalog", "List the models that the node has", a.listModels).
		doc("By which names plugins ask for them, and what of each is known. Of credentials it holds the names of environment variables alone. Whether a Task may ask one is decided when it runs: by the " +
			"grants of its plugin, and by the `model_policy` of its Persona.")
	models.Unversioned = true
	return routes(
		read("/v1/runtime", "getRuntime", tag, "", "Runtime", "Get what the node is, and its limits", a.runtime),
		read("/v1/capabilities", "listCapabilities", tag, "skills:read", "Capability", "List what plugins can be allowed to do", a.listCapabilities).list().
			doc("These are the host calls, by id, and what the configuration lets them reach. Whether a Task may make one is decided when it runs: by the "+
				"grants of its plugin, and by the `capabilities` of its Persona, which are patterns of these ids."),
		models,
	)
}

func modelPlaces() schema { return enum(abi.ModelLocal, abi.ModelCloud, abi.ModelClient) }

// listModels is GET /wharf/v1/models.
func (a *Adapter) listModels(r *gateway.Request) error {
	all, err := a.core.Models(r.Context(), r.Caller)
	if err != nil {
		return err
	}
	return sendValue(r, statusOK, all)
}

func runtimeSchemas() map[string]schema {
	return map[string]schema{
		"Runtime":       resourceOf[runtimeDoc](objectRuntime, "What the node is."),
		"Features":      of[features]("Which parts of the protocol there are."),
		"RuntimeEngine": of[runtimeEngine]("What runs plugins."),
		"RuntimeLimits": of[runtimeLimits]("What a client can run into."),
		"ModelCatalog":  of[abi.ModelCatalog]("The models of the node."),
		"ModelProvider": of[abi.ModelProvider]("What models of one kind and place have in common.", but(schema{"place": modelPlaces()})),
		"NodeModel":     of[abi.NodeModel]("A model that plugins ask by its name.", but(schema{"place": modelPlaces()})),
		"ModelPrice":    of[abi.ModelPrice]("What a model costs, per million tokens."),
		"ModelAuth":     of[abi.ModelAuth]("What asking a model takes."),
		"Capability":    resourceOf[capabilityDoc](objectCapability, "A host call: what a plugin can do beyond computing."),
	}
}

// runtime is GET /v1/runtime. Every caller may know it, so it holds nothing of a tenant.
func (a *Adapter) runtime(r *gateway.Request) error {
	stats := a.core.Stats()
	status := "ready"
	switch {
	case stats.Failed != nil:
		status = "failed"
	case stats.Draining:
		status = "draining"
	}
	name, version, _ := strings.Cut(cmp.Or(a.node.Sandbox, "wazero"), "-")
	return sendValue(r, statusOK, runtimeDoc{
		Envelope: abi.NewEnvelope(objectRuntime, a.cfg.Node, stats.Started, nil),
		Name:     a.cfg.Node, Version: a.cfg.Version, Status: status, Draining: stats.Draining,
		ProtocolFamily: abi.ProtocolFamily, ProtocolVersion: abi.ProtocolVersion, SupportedVersions: abi.SupportedVersions(),
		Levels: levels(), Capabilities: allFeatures(), Engine: runtimeEngine{Name: name, Version: version, ABI: abi.ABIVersion}, Limits: a.limits(),
	})
}

// limits are those that a client can run into.
func (a *Adapter) limits() runtimeLimits {
	return runtimeLimits{
		BodyBytes: int64(a.cfg.BodyLimit), UploadBytes: int64(a.cfg.UploadLimit), DeliveryBytes: int64(a.cfg.DeliveryLimit),
		HeaderBytes: int64(a.cfg.HeaderLimit), SocketMessageBytes: int64(a.cfg.MessageLimit),
		JSONDepth: abi.MaxDepth, JSONValues: abi.MaxValues, ListMembers: abi.MaxMembers,
		Page: maxLimit, WaitSeconds: int64(a.cfg.WaitLimit.Seconds()),
	}
}

func (a *Adapter) listCapabilities(r *gateway.Request) error {
	return a.sendPage(r, func(p api.Page) (api.List, error) { return pageByID(p, abi.HostCalls(), a.capabilityOf) })
}

func (a *Adapter) capabilityOf(c *abi.HostCall) identified {
	reach, decided := a.node.Reach[c.Name]
	family, _, _ := strings.Cut(c.Name, ".")
	return &capabilityDoc{
		Envelope: abi.NewEnvelope(objectCapability, c.Name, a.core.Started(), nil),
		Name:     c.Name, Family: family, Description: c.Doc, Effect: c.Effect, Available: reach.Available || !decided,
		Plugins: reach.Plugins, Models: reach.Models, Servers: reach.Servers,
	}
}
