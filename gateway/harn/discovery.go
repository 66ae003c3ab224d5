package harn

import (
	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/gateway"
	"github.com/wharf-dev/wharf/gateway/internal/agentcard"
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

// agentCard is GET /v1/agent-card. It is public, so it holds nothing of a tenant. Its
// signature is over everything else in it, that of the A2A card within included.
func (a *Adapter) agentCard(r *gateway.Request) error {
	base := r.BaseURL()
	card, err := a.card(base)
	if err != nil {
		return err
	}
	signed, err := agentcard.Sign(a.core, card, base)
	if err != nil {
		return err
	}
	if signed != nil {
		card.Signature = &cardSignature{Algorithm: signed.Algorithm, KeyID: signed.KeyID, Value: signed.Protected + ".." + signed.Signature}
	}
	return sendValue(r, statusOK, card)
}

func (a *Adapter) card(base string) (*agentCardDoc, error) {
	a2a, err := agentcard.New(a.core, agentcard.Node{Name: a.cfg.Node, Version: a.cfg.Version, Base: base, Skills: a.core.PublicSkills()})
	if err != nil {
		return nil, err
	}
	interfaces := []harnAgentInterface{
		{"rest", base + "/v1"},
		{"sse", base + "/v1/events/stream"},
		{"websocket", socketURL(base) + "/v1/events/stream"},
		{"a2a", base + agentcard.Path},
	}
	schemes := []string{"bearer"}
	if _, own := agentcard.TokenURL(a.core, base); own {
		schemes = append(schemes, "oauth2ClientCredentials")
	}
	return &agentCardDoc{
		Envelope: abi.NewEnvelope(abi.ObjectAgentCard, abi.IDPrefix(abi.ObjectAgentCard)+a.cfg.Node, a.core.Started(), nil),
		Name:     a.cfg.Node, Description: agentcard.Description, ProtocolVersion: abi.ProtocolVersion,
		A2ACard: a2a, Skills: a.core.PublicSkills(), HarnInterfaces: interfaces, Interfaces: interfaces,
		AuthSchemes: schemes, Capabilities: levels(), PublicURL: base,
	}, nil
}
