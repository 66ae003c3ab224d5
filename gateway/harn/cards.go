package harn

import (
	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi"
)

// agentCardDoc is the answer of GET /v1/agent-card.
type agentCardDoc struct {
	abi.Envelope
	Name            string               `json:"name" doc:"The name of the node."`
	Description     string               `json:"description"`
	ProtocolVersion string               `json:"protocol_version"`
	A2ACard         *a2aAgentCard        `json:"a2a_card"`
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

// What an A2A card holds. Its names are those of A2A, of 0.3 and of 1.0.
type (
	a2aAgentCard struct {
		Name                 string                       `json:"name"`
		Description          string                       `json:"description"`
		Version              string                       `json:"version" doc:"Of the build."`
		Capabilities         a2aCapabilities              `json:"capabilities"`
		DefaultInputModes    []string                     `json:"defaultInputModes" doc:"Media types."`
		DefaultOutputModes   []string                     `json:"defaultOutputModes" doc:"Media types."`
		Skills               []a2aSkill                   `json:"skills"`
		URL                  string                       `json:"url" format:"uri" doc:"Of A2A 0.3, as the four that follow."`
		ProtocolVersion      string                       `json:"protocolVersion" doc:"The version of A2A that the card is one of."`
		PreferredTransport   string                       `json:"preferredTransport" doc:"A URI: the node speaks none of the transports of A2A itself."`
		AdditionalInterfaces []a2aEndpoint                `json:"additionalInterfaces"`
		SupportedInterfaces  []a2aInterface               `json:"supportedInterfaces" minItems:"1" doc:"Of A2A 1.0."`
		Security             []map[string][]string        `json:"security" doc:"Each is one way to show who calls: the name of a scheme, and the scopes that it takes."`
		SecuritySchemes      map[string]a2aSecurityScheme `json:"securitySchemes"`
		Signatures           []a2aSignature               `json:"signatures,omitzero" doc:"Over the canonical form (RFC 8785) of the card without its signatures. Absent on a node without a key."`
	}
	a2aCapabilities struct {
		Streaming         bool `json:"streaming"`
		PushNotifications bool `json:"pushNotifications"`
	}
	a2aEndpoint struct {
		URL       string `json:"url" format:"uri"`
		Transport string `json:"transport"`
	}
	a2aInterface struct {
		URL             string `json:"url" format:"uri"`
		ProtocolBinding string `json:"protocolBinding" doc:"A URI: the node speaks none of the bindings of A2A itself."`
		ProtocolVersion string `json:"protocolVersion" doc:"Of what is spoken there."`
	}
	a2aSkill struct {
		ID          string         `json:"id"`
		Name        string         `json:"name"`
		Description string         `json:"description"`
		Tags        []string       `json:"tags"`
		InputSchema jsontext.Value `json:"inputSchema"`
	}
	// a2aSecurityScheme has the members of 0.3 and of 1.0 beside each other.
	a2aSecurityScheme struct {
		Type   string           `json:"type" enum:"http,oauth2"`
		Scheme string           `json:"scheme,omitzero" doc:"Of http."`
		Flows  *a2aFlows        `json:"flows,omitzero" doc:"Of oauth2."`
		HTTP   *a2aHTTPScheme   `json:"httpAuthSecurityScheme,omitzero" doc:"Of http, as A2A 1.0 has it."`
		OAuth2 *a2aOAuth2Scheme `json:"oauth2SecurityScheme,omitzero" doc:"Of oauth2, as A2A 1.0 has it."`
	}
	a2aHTTPScheme struct {
		Scheme string `json:"scheme"`
	}
	a2aOAuth2Scheme struct {
		Flows *a2aFlows `json:"flows"`
	}
	a2aFlows struct {
		ClientCredentials struct {
			TokenURL string            `json:"tokenUrl" format:"uri"`
			Scopes   map[string]string `json:"scopes" doc:"What each scope is for, by its name. None is listed: a key has its own."`
		} `json:"clientCredentials"`
	}
	a2aSignature struct {
		Protected string `json:"protected" doc:"The JWS header, in base64url."`
		Signature string `json:"signature" doc:"In base64url."`
	}
)

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
		"A2aAgentCard":       of[a2aAgentCard]("A card that A2A 0.3 and A2A 1.0 clients read alike."),
		"A2aCapabilities":    of[a2aCapabilities]("What of A2A the node can do."),
		"A2aEndpoint":        of[a2aEndpoint]("A transport of A2A 0.3."),
		"A2aInterface":       of[a2aInterface]("A transport of A2A 1.0."),
		"A2aSkill":           of[a2aSkill]("A Skill, as A2A has it.", null("inputSchema")),
		"A2aSecurityScheme":  of[a2aSecurityScheme]("A way to show who calls, as A2A 0.3 and A2A 1.0 have it."),
		"A2aHTTPScheme":      of[a2aHTTPScheme]("A scheme of HTTP."),
		"A2aOAuth2Scheme":    of[a2aOAuth2Scheme]("OAuth 2."),
		"A2aFlows":           of[a2aFlows]("The flows of OAuth 2 that there are."),
		"A2aSignature":       of[a2aSignature]("A JWS over the canonical form (RFC 8785) of the card without its signatures."),
	}
}
