package harn

import (
	"github.com/go-json-experiment/json"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/gateway"
)

// discovery is GET /v1 (digest section 4). It says what this build does, not
// what it will do.
func (a *Adapter) discovery(r *gateway.Request) error {
	body, err := json.Marshal(object{
		"object":             "protocol_discovery",
		"protocol_family":    abi.ProtocolFamily,
		"current_version":    abi.ProtocolVersion,
		"supported_versions": abi.SupportedVersions(),
		"capabilities": object{
			"rest": true, "sse": true, "websocket": true, "receipts": true, "replay": true,
		},
	}, json.Deterministic(true))
	if err != nil {
		return err
	}
	r.Send(statusOK, body)
	return nil
}

// object is a JSON object that is written with sorted names.
type object = map[string]any

const (
	cardDescription = "A Wharf node: it runs agent Tasks in sandboxed plugins and keeps every step in a durable log."
	// protocolURI identifies the protocol as a transport binding of an A2A card:
	// the node offers none of A2A's own.
	protocolURI = "https://harnlang.com/spec/agents-protocol/v1"
)

// agentCard is GET /v1/agent-card. It is public, so it holds nothing of a tenant.
func (a *Adapter) agentCard(r *gateway.Request) error {
	base := r.BaseURL()
	interfaces := []object{
		{"transport": "rest", "url": base + "/v1"},
		{"transport": "sse", "url": base + "/v1/events/stream"},
		{"transport": "websocket", "url": socketURL(base) + "/v1/events/stream"},
	}
	started := a.core.Stats().Started
	body, err := json.Marshal(object{
		"id":               abi.IDPrefix(abi.ObjectAgentCard) + a.cfg.Node,
		"object":           abi.ObjectAgentCard,
		"created_at":       abi.At(started),
		"updated_at":       abi.At(started),
		"metadata":         object{},
		"name":             a.cfg.Node,
		"description":      cardDescription,
		"protocol_version": abi.ProtocolVersion,
		"a2a_card":         a.a2aCard(base),
		"skills":           []object{},
		"harn_interfaces":  interfaces,
		"interfaces":       interfaces,
		"auth_schemes":     []string{"bearer"},
		"capabilities":     []string{"core", "receipts", "replay"}, // conformance levels
		"public_url":       base,
	}, json.Deterministic(true))
	if err != nil {
		return err
	}
	r.Send(statusOK, body)
	return nil
}

// a2aCard is a card that schemas of A2A 0.3 and of A2A 1.0 accept alike (digest
// section 8, row 1).
func (a *Adapter) a2aCard(base string) object {
	modes := []string{"text/plain", "application/json"}
	return object{
		"name": a.cfg.Node, "description": cardDescription, "version": a.cfg.Version,
		"capabilities":      object{"streaming": true, "pushNotifications": false},
		"defaultInputModes": modes, "defaultOutputModes": modes, "skills": []object{},
		"security": []object{{"bearer": []string{}}},
		"securitySchemes": object{"bearer": object{
			"type": "http", "scheme": "bearer", // 0.3
			"httpAuthSecurityScheme": object{"scheme": "bearer"}, // 1.0
		}},
		// 0.3
		"url": base + "/v1", "protocolVersion": "0.3.0", "preferredTransport": protocolURI,
		"additionalInterfaces": []object{{"url": base + "/v1", "transport": protocolURI}},
		// 1.0
		"supportedInterfaces": []object{{"url": base + "/v1", "protocolBinding": protocolURI, "protocolVersion": abi.ProtocolVersion}},
	}
}
