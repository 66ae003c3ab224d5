package harn

import (
	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/gateway/internal/agentcard"
)

// agentCardDoc is the answer of GET /v1/agent-card.
type agentCardDoc struct {
	abi.Envelope
	Name            string               `json:"name" doc:"The name of the node."`
	Description     string               `json:"description"`
	ProtocolVersion string               `json:"protocol_version"`
	A2ACard         *agentcard.Card      `json:"a2a_card"`
	Skills          []abi.Skill          `json:"skills" doc:"The Skills that come with the node. Those of a tenant are listed for its callers alone."`
	HarnInterfaces  []harnAgentInterface `json:"harn_interfaces" doc:"Where the node is reached, and how."`
	Interfaces      []harnAgentInterface `json:"interfaces" doc:"The same as harn_interfaces."`
	AuthSchemes     []string             `json:"auth_schemes" doc:"How a caller shows who it is: names of the security schemes."`
	Capabilities    []string             `json:"capabilities" doc:"The levels of conformance."`
	PublicURL       string               `json:"public_url" format:"uri" doc:"What the node's paths are appended to."`
	Signature       *cardSignature       `json:"signature,omitzero" doc:"Absent on a node without a key."`
}

// harnAgentInterface is a way to reach the node.
type harnAgentInterface struct {
	Transport string `json:"transport" enum:"rest,sse,websocket,a2a,mcp,acp"`
	URL       string `json:"url" format:"uri-reference"`
}

// cardSignature is a JWS, detached, over a card.
type cardSignature struct {
	Algorithm string `json:"algorithm" doc:"The name of the algorithm in the JWS."`
	KeyID     string `json:"key_id" doc:"Which of the keys at /.well-known/wharf-keys.json has signed."`
	Value     string `json:"value" doc:"The JWS in its compact form, with nothing between the two dots."`
}

func discoverySchemas() map[string]schema {
	return map[string]schema{
		"Discovery": of[discoveryDoc]("Which protocol this is, in which versions.", but(schema{
			"object": constant(string(objectDiscovery)), "protocol_family": constant(abi.ProtocolFamily), "current_version": enum(abi.ProtocolVersion),
		})),
		"HarnAgentCard": resourceOf[agentCardDoc](abi.ObjectAgentCard, "Who this agent is.", null("public_url", "signature"),
			but(schema{ // of the protocol; this node sends none of them
				"persona_ids": listOf(text()), "receipt_policy": nullable(text()), "quotas": listOf(ref("Quota")), "provider": anyObject(),
			})),
		"HarnAgentInterface": of[harnAgentInterface]("A way to reach the node."),
		"CardSignature":      of[cardSignature]("A JWS, detached, over the canonical form (RFC 8785) of the card without this member."),
		"A2aAgentCard":       of[agentcard.Card]("A card that A2A 0.3 and A2A 1.0 clients read alike."),
		"A2aCapabilities":    of[agentcard.Capabilities]("What of A2A the node can do."),
		"A2aExtensionUse":    of[agentcard.ExtensionUse]("An extension of A2A that the node knows."),
		"A2aEndpoint":        of[agentcard.Endpoint]("A transport of A2A 0.3."),
		"A2aInterface":       of[agentcard.Interface]("A transport of A2A 1.0."),
		"A2aSkill":           of[agentcard.Skill]("A Skill, as A2A has it.", null("inputSchema")),
		"A2aSecurityScheme":  of[agentcard.SecurityScheme]("A way to show who calls, as A2A 0.3 and A2A 1.0 have it."),
		"A2aHTTPScheme":      of[agentcard.HTTPScheme]("A scheme of HTTP."),
		"A2aOAuth2Scheme":    of[agentcard.OAuth2Scheme]("OAuth 2."),
		"A2aFlows":           of[agentcard.Flows]("The flows of OAuth 2 that there are."),
		"A2aSignature":       of[agentcard.Signature]("A JWS over the canonical form (RFC 8785) of the card without its signatures."),
	}
}
