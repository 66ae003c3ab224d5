package harn

import (
	"cmp"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/gateway"
	"github.com/wharf-dev/wharf/runtime/desk"
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
	Name        string     `json:"name"`
	Family      string     `json:"family"`
	Description string     `json:"description"`
	Effect      abi.Effect `json:"effect"`
	Available   bool       `json:"available"`
	Plugins     []string   `json:"plugins,omitzero"`
	Models      []string   `json:"models,omitzero"`
	Servers     []string   `json:"servers,omitzero"`
}

func (d *capabilityDoc) identity() string { return d.ID }

// levels are those of the conformance that the node claims.
func levels() []string { return []string{"core", "extended", "receipts", "replay"} }

// features are the parts of the protocol that there are.
func features() object {
	return object{"rest": true, "sse": true, "websocket": true, "receipts": true, "replay": true}
}

func (a *Adapter) runtimeRoutes() []gateway.Route {
	const tag = "Discovery"
	return routes(
		read("/v1/runtime", "getRuntime", tag, "", "Runtime", "Get what the node is, and its limits", a.runtime),
		read("/v1/capabilities", "listCapabilities", tag, "skills:read", "Capability", "List what plugins can be allowed to do", a.listCapabilities).list().
			doc("These are the host calls, by id, and what the configuration lets them reach. Whether a Task may make one is decided when it runs: by the "+
				"grants of its plugin, and by the `capabilities` of its Persona, which are patterns of these ids."),
	)
}

func runtimeSchemas() map[string]schema {
	return map[string]schema{
		"Runtime": resource(objectRuntime, "What the node is.", schema{
			"name": text(), "version": text(), "status": enum("ready", "draining", "failed"),
			"draining":        described(flag(), "The node is about to stop and takes no more Tasks."),
			"protocol_family": text(), "protocol_version": text(), "supported_versions": listOf(text()),
			"levels": described(listOf(text()), "The levels of conformance."), "capabilities": mapOf(flag()),
			"engine": shape("What runs plugins.", schema{"name": text(), "abi": described(text(), "Names the host calls and their bytes.")}, schema{"version": text()}),
			"limits": described(mapOf(whole()), "By what is limited: bytes of requests, how many a page of a list has, seconds."),
		}, nil),
		"Capability": resource(objectCapability, "A host call: what a plugin can do beyond computing.", schema{
			"name": text(), "family": described(text(), "The part of the name before the first dot."), "description": text(),
			"effect":    enum(abi.EffectLocal, abi.EffectRead, abi.EffectWrite, abi.EffectWait, abi.EffectHint, abi.EffectGiven),
			"available": described(flag(), "The node is configured for it: otherwise every such call is refused."),
		}, schema{
			"plugins": described(listOf(text()), "The plugins that are granted it, where it needs a grant."),
			"models":  described(listOf(text()), "The models that are configured."), "servers": described(listOf(text()), "The servers of tools."),
		}),
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
	sandbox := object{"abi": abi.ABIVersion}
	name, version, known := strings.Cut(cmp.Or(a.node.Sandbox, "wazero"), "-")
	if sandbox["name"] = name; known {
		sandbox["version"] = version
	}
	body, err := json.Marshal(object{
		"id": a.cfg.Node, "object": objectRuntime, "created_at": abi.At(stats.Started), "updated_at": abi.At(stats.Started), "metadata": object{},
		"name": a.cfg.Node, "version": a.cfg.Version, "status": status, "draining": stats.Draining,
		"protocol_family": abi.ProtocolFamily, "protocol_version": abi.ProtocolVersion, "supported_versions": abi.SupportedVersions(),
		"levels": levels(), "capabilities": features(), "engine": sandbox, "limits": a.limits(),
	}, json.Deterministic(true))
	if err != nil {
		return err
	}
	r.Send(statusOK, body)
	return nil
}

// limits are those that a client can run into.
func (a *Adapter) limits() object {
	return object{
		"body_bytes": a.cfg.BodyLimit, "upload_bytes": a.cfg.UploadLimit, "delivery_bytes": a.cfg.DeliveryLimit,
		"header_bytes": a.cfg.HeaderLimit, "socket_message_bytes": a.cfg.MessageLimit, "json_depth": abi.MaxDepth, "json_values": abi.MaxValues, "list_members": abi.MaxMembers,
		"page": maxLimit, "wait_seconds": int64(a.cfg.WaitLimit.Seconds()),
	}
}

func (a *Adapter) listCapabilities(r *gateway.Request) error {
	return a.sendPage(r, func(p desk.Page) (desk.DocList, error) { return pageByID(p, abi.HostCalls(), a.capabilityOf) })
}

func (a *Adapter) capabilityOf(c *abi.HostCall) identified {
	reach, decided := a.node.Reach[c.Name]
	family, _, _ := strings.Cut(c.Name, ".")
	return &capabilityDoc{
		Envelope: abi.NewEnvelope(objectCapability, c.Name, a.core.Stats().Started, nil),
		Name:     c.Name, Family: family, Description: c.Doc, Effect: c.Effect, Available: reach.Available || !decided,
		Plugins: reach.Plugins, Models: reach.Models, Servers: reach.Servers,
	}
}
