package harn

import (
	"github.com/go-json-experiment/json"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/gateway"
	"github.com/wharf-dev/wharf/gateway/api"
)

// discoveryDoc is the answer of GET /v1.
type discoveryDoc struct {
	Object            string   `json:"object"`
	ProtocolFamily    string   `json:"protocol_family"`
	CurrentVersion    string   `json:"current_version" doc:"The version that the node prefers."`
	SupportedVersions []string `json:"supported_versions" doc:"The versions that a client may name in a request's header."`
	Capabilities      features `json:"capabilities" doc:"What there is."`
}

// objectDiscovery is what GET /v1 answers with; it has no other member of a resource.
const objectDiscovery abi.Object = "protocol_discovery"

// discovery is GET /v1 (docs/protocol.md, 4). It says what this build does, not
// what it will do.
func (a *Adapter) discovery(r *gateway.Request) error {
	return sendValue(r, statusOK, discoveryDoc{
		Object: string(objectDiscovery), ProtocolFamily: abi.ProtocolFamily, CurrentVersion: abi.ProtocolVersion,
		SupportedVersions: abi.SupportedVersions(), Capabilities: allFeatures(),
	})
}

const (
	cardDescription = "A Wharf node: it runs agent Tasks in sandboxed plugins and keeps every step in a durable log."
	// protocolURI identifies the protocol as a transport binding of an A2A card:
	// the node offers none of A2A's own.
	protocolURI = "https://harnlang.com/spec/agents-protocol/v1"
)

// keysPath is where the keys are published that the card is signed with.
const keysPath = "/.well-known/wharf-keys.json"

// agentCard is GET /v1/agent-card. It is public, so it holds nothing of a tenant. Its
// signature is over everything else in it, that of the A2A card within included.
func (a *Adapter) agentCard(r *gateway.Request) error {
	base := r.BaseURL()
	card, err := a.card(base)
	if err != nil {
		return err
	}
	signed, err := a.signed(card, base)
	if err != nil {
		return err
	}
	if signed != nil {
		card.Signature = &cardSignature{Algorithm: signed.Algorithm, KeyID: signed.KeyID, Value: signed.Protected + ".." + signed.Signature}
	}
	return sendValue(r, statusOK, card)
}

// signed signs a document, whose signature is not in it yet. It returns nil when the node
// has no key.
func (a *Adapter) signed(doc any, base string) (*api.Signature, error) {
	body, err := json.Marshal(doc)
	if err != nil {
		return nil, err
	}
	return a.core.SignDocument(body, base+keysPath)
}

func (a *Adapter) card(base string) (*agentCardDoc, error) {
	a2a, err := a.a2aCard(base)
	if err != nil {
		return nil, err
	}
	interfaces := []harnAgentInterface{
		{"rest", base + "/v1"},
		{"sse", base + "/v1/events/stream"},
		{"websocket", socketURL(base) + "/v1/events/stream"},
	}
	schemes := []string{"bearer"}
	if _, own := a.tokenURL(base); own {
		schemes = append(schemes, "oauth2ClientCredentials")
	}
	return &agentCardDoc{
		Envelope: abi.NewEnvelope(abi.ObjectAgentCard, abi.IDPrefix(abi.ObjectAgentCard)+a.cfg.Node, a.core.Started(), nil),
		Name:     a.cfg.Node, Description: cardDescription, ProtocolVersion: abi.ProtocolVersion,
		A2ACard: a2a, Skills: a.core.PublicSkills(), HarnInterfaces: interfaces, Interfaces: interfaces,
		AuthSchemes: schemes, Capabilities: levels(), PublicURL: base,
	}, nil
}

// tokenURL returns where the node itself issues access tokens, if it does.
func (a *Adapter) tokenURL(base string) (string, bool) {
	issuer, err := a.core.TokenIssuer(base)
	return issuer.TokenEndpoint, err == nil
}

// a2aCard is a card that schemas of A2A 0.3 and of A2A 1.0 accept alike (docs/protocol.md,
// 8.1), with a signature as A2A 1.0 has it.
func (a *Adapter) a2aCard(base string) (*a2aAgentCard, error) {
	modes, url := []string{"text/plain", "application/json"}, base+"/v1"
	card := &a2aAgentCard{
		Name: a.cfg.Node, Description: cardDescription, Version: a.cfg.Version, Capabilities: a2aCapabilities{Streaming: true},
		DefaultInputModes: modes, DefaultOutputModes: modes, Skills: a2aSkills(a.core.PublicSkills()),
		URL: url, ProtocolVersion: "0.3.0", PreferredTransport: protocolURI,
		AdditionalInterfaces: []a2aEndpoint{{url, protocolURI}},
		SupportedInterfaces:  []a2aInterface{{url, protocolURI, abi.ProtocolVersion}},
	}
	card.Security, card.SecuritySchemes = a.security(base)
	signed, err := a.signed(card, base)
	if err == nil && signed != nil {
		card.Signatures = []a2aSignature{{signed.Protected, signed.Signature}}
	}
	return card, err
}

// security says how callers show who they are.
func (a *Adapter) security(base string) ([]map[string][]string, map[string]a2aSecurityScheme) {
	either := []map[string][]string{{"bearer": {}}}
	schemes := map[string]a2aSecurityScheme{"bearer": {Type: "http", Scheme: "bearer", HTTP: &a2aHTTPScheme{"bearer"}}}
	if url, own := a.tokenURL(base); own {
		flows := &a2aFlows{}
		flows.ClientCredentials.TokenURL = url
		either = append(either, map[string][]string{"oauth2": {}})
		schemes["oauth2"] = a2aSecurityScheme{Type: "oauth2", Flows: flows, OAuth2: &a2aOAuth2Scheme{flows}}
	}
	return either, schemes
}

func a2aSkills(skills []abi.Skill) []a2aSkill {
	list := make([]a2aSkill, len(skills))
	for i, s := range skills {
		list[i] = a2aSkill{ID: s.ID, Name: s.Name, Description: s.Description, Tags: []string{"wharf"}, InputSchema: s.InputSchema}
	}
	return list
}
