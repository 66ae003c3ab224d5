package harn

import (
	"github.com/go-json-experiment/json"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/gateway"
	"github.com/wharf-dev/wharf/runtime/proofs"
)

// discovery is GET /v1 (docs/protocol.md, 4). It says what this build does, not
// what it will do.
func (a *Adapter) discovery(r *gateway.Request) error {
	body, err := json.Marshal(object{
		"object":             "protocol_discovery",
		"protocol_family":    abi.ProtocolFamily,
		"current_version":    abi.ProtocolVersion,
		"supported_versions": abi.SupportedVersions(),
		"capabilities":       features(),
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

// keysPath is where the keys are published that the card is signed with.
const keysPath = "/.well-known/wharf-keys.json"

// cardCore is what the card asks of the engine.
type cardCore interface {
	SignDocument(document []byte, keySet string) (*proofs.Signature, error)
}

// agentCard is GET /v1/agent-card. It is public, so it holds nothing of a tenant. Its
// signature is over everything else in it, that of the A2A card within included.
func (a *Adapter) agentCard(r *gateway.Request) error {
	base := r.BaseURL()
	card, err := a.card(base)
	if err != nil {
		return err
	}
	body, err := json.Marshal(card, json.Deterministic(true))
	if err != nil {
		return err
	}
	signed, err := a.core.SignDocument(body, base+keysPath)
	if err != nil {
		return err
	}
	if signed != nil {
		card["signature"] = object{"algorithm": signed.Algorithm, "key_id": signed.KeyID, "value": signed.Protected + ".." + signed.Signature}
		if body, err = json.Marshal(card, json.Deterministic(true)); err != nil {
			return err
		}
	}
	r.Send(statusOK, body)
	return nil
}

func (a *Adapter) card(base string) (object, error) {
	a2a, err := a.a2aCard(base)
	if err != nil {
		return nil, err
	}
	interfaces := []object{
		{"transport": "rest", "url": base + "/v1"},
		{"transport": "sse", "url": base + "/v1/events/stream"},
		{"transport": "websocket", "url": socketURL(base) + "/v1/events/stream"},
	}
	started := a.core.Stats().Started
	schemes := []string{"bearer"}
	if _, own := a.tokenURL(base); own {
		schemes = append(schemes, "oauth2ClientCredentials")
	}
	return object{
		"id":               abi.IDPrefix(abi.ObjectAgentCard) + a.cfg.Node,
		"object":           abi.ObjectAgentCard,
		"created_at":       abi.At(started),
		"updated_at":       abi.At(started),
		"metadata":         object{},
		"name":             a.cfg.Node,
		"description":      cardDescription,
		"protocol_version": abi.ProtocolVersion,
		"a2a_card":         a2a,
		"skills":           a.core.PublicSkills(),
		"harn_interfaces":  interfaces,
		"interfaces":       interfaces,
		"auth_schemes":     schemes,
		"capabilities":     levels(),
		"public_url":       base,
	}, nil
}

// tokenURL returns where the node itself issues access tokens, if it does.
func (a *Adapter) tokenURL(base string) (string, bool) {
	issuer, err := a.core.TokenIssuer(base)
	return issuer.TokenEndpoint, err == nil
}

// a2aCard is a card that schemas of A2A 0.3 and of A2A 1.0 accept alike (docs/protocol.md,
// 8.1), with a signature as A2A 1.0 has it.
func (a *Adapter) a2aCard(base string) (object, error) {
	modes := []string{"text/plain", "application/json"}
	card := object{
		"name": a.cfg.Node, "description": cardDescription, "version": a.cfg.Version,
		"capabilities":      object{"streaming": true, "pushNotifications": false},
		"defaultInputModes": modes, "defaultOutputModes": modes, "skills": a2aSkills(a.core.PublicSkills()),
		// 0.3
		"url": base + "/v1", "protocolVersion": "0.3.0", "preferredTransport": protocolURI,
		"additionalInterfaces": []object{{"url": base + "/v1", "transport": protocolURI}},
		// 1.0
		"supportedInterfaces": []object{{"url": base + "/v1", "protocolBinding": protocolURI, "protocolVersion": abi.ProtocolVersion}},
	}
	card["security"], card["securitySchemes"] = a.security(base)
	body, err := json.Marshal(card, json.Deterministic(true))
	if err != nil {
		return nil, err
	}
	signed, err := a.core.SignDocument(body, base+keysPath)
	if err == nil && signed != nil {
		card["signatures"] = []object{{"protected": signed.Protected, "signature": signed.Signature}}
	}
	return card, err
}

// security says how callers show who they are.
func (a *Adapter) security(base string) ([]object, object) {
	either := []object{{"bearer": []string{}}}
	schemes := object{"bearer": object{
		"type": "http", "scheme": "bearer", // 0.3
		"httpAuthSecurityScheme": object{"scheme": "bearer"}, // 1.0
	}}
	if url, own := a.tokenURL(base); own {
		flows := object{"clientCredentials": object{"tokenUrl": url, "scopes": object{}}}
		either = append(either, object{"oauth2": []string{}})
		schemes["oauth2"] = object{"type": "oauth2", "flows": flows, "oauth2SecurityScheme": object{"flows": flows}}
	}
	return either, schemes
}

func a2aSkills(skills []abi.Skill) []object {
	list := make([]object, len(skills))
	for i, s := range skills {
		list[i] = object{"id": s.ID, "name": s.Name, "description": s.Description, "tags": []string{"wharf"}, "inputSchema": s.InputSchema}
	}
	return list
}
