// Package agentcard describes the node to clients of A2A: where it is reached and how, in a card that
// clients of 0.3 and of 1.0 read alike. Adapters of more than one protocol show it.
package agentcard

import (
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/gateway/api"
)

// Path is where A2A is spoken, by JSON-RPC and REST. Clients of REST of 0.3 append /v1 themselves.
const Path = "/a2a"

// Keys is where the keys are published that cards are signed with.
const Keys = "/.well-known/wharf-keys.json"

// Extension is the extension of Harn: what of a Task A2A has no words for.
const Extension = "https://harnlang.com/spec/harn-extensions/v1"

// Description says what the node is.
const Description = "A Wharf node: it runs agent Tasks in sandboxed plugins and keeps every step in a durable log."

// What a card holds. Its names are those of A2A, of 0.3 and of 1.0.
type (
	// Card is an agent card.
	Card struct {
		Name                 string                    `json:"name"`
		Description          string                    `json:"description"`
		Version              string                    `json:"version" doc:"Of the build."`
		Capabilities         Capabilities              `json:"capabilities"`
		DefaultInputModes    []string                  `json:"defaultInputModes" doc:"Media types."`
		DefaultOutputModes   []string                  `json:"defaultOutputModes" doc:"Media types."`
		Skills               []Skill                   `json:"skills"`
		URL                  string                    `json:"url" format:"uri" doc:"Of A2A 0.3, as the four that follow."`
		ProtocolVersion      string                    `json:"protocolVersion" doc:"The version of A2A that the card is one of."`
		PreferredTransport   string                    `json:"preferredTransport" doc:"What is spoken at url."`
		AdditionalInterfaces []Endpoint                `json:"additionalInterfaces"`
		Extended             bool                      `json:"supportsAuthenticatedExtendedCard" doc:"Those who are authenticated get one with the Skills of their tenant."`
		SupportedInterfaces  []Interface               `json:"supportedInterfaces" minItems:"1" doc:"Of A2A 1.0."`
		Security             []map[string][]string     `json:"security" doc:"Each is one way to show who calls: the name of a scheme, and the scopes that it takes."`
		SecuritySchemes      map[string]SecurityScheme `json:"securitySchemes"`
		Signatures           []Signature               `json:"signatures,omitzero" doc:"Over the canonical form (RFC 8785) of the card without its signatures. Absent on a node without a key."`
	}
	// Capabilities are what of A2A the node can do.
	Capabilities struct {
		Streaming         bool           `json:"streaming"`
		PushNotifications bool           `json:"pushNotifications"`
		ExtendedAgentCard bool           `json:"extendedAgentCard" doc:"Of A2A 1.0, as supportsAuthenticatedExtendedCard is of 0.3."`
		Extensions        []ExtensionUse `json:"extensions"`
		Meta              jsontext.Value `json:"_meta" doc:"harn.externalAgent says what of paid work can be given to the node."`
	}
	// ExtensionUse is an extension of the protocol that the node knows.
	ExtensionUse struct {
		URI         string `json:"uri" format:"uri"`
		Description string `json:"description"`
		Required    bool   `json:"required"`
	}
	// Endpoint is a transport of A2A 0.3.
	Endpoint struct {
		URL       string `json:"url" format:"uri"`
		Transport string `json:"transport"`
	}
	// Interface is a transport of a version of A2A.
	Interface struct {
		URL             string `json:"url" format:"uri"`
		ProtocolBinding string `json:"protocolBinding"`
		ProtocolVersion string `json:"protocolVersion" doc:"Of what is spoken there."`
	}
	// Skill is a Skill, as A2A has it.
	Skill struct {
		ID          string         `json:"id"`
		Name        string         `json:"name"`
		Description string         `json:"description"`
		Tags        []string       `json:"tags"`
		InputSchema jsontext.Value `json:"inputSchema"`
	}
	// SecurityScheme has the members of 0.3 and of 1.0 beside each other.
	SecurityScheme struct {
		Type   string        `json:"type" enum:"http,oauth2"`
		Scheme string        `json:"scheme,omitzero" doc:"Of http."`
		Flows  *Flows        `json:"flows,omitzero" doc:"Of oauth2."`
		HTTP   *HTTPScheme   `json:"httpAuthSecurityScheme,omitzero" doc:"Of http, as A2A 1.0 has it."`
		OAuth2 *OAuth2Scheme `json:"oauth2SecurityScheme,omitzero" doc:"Of oauth2, as A2A 1.0 has it."`
	}
	// HTTPScheme is a scheme of HTTP.
	HTTPScheme struct {
		Scheme string `json:"scheme"`
	}
	// OAuth2Scheme is OAuth 2.
	OAuth2Scheme struct {
		Flows *Flows `json:"flows"`
	}
	// Flows are the flows of OAuth 2 that there are.
	Flows struct {
		ClientCredentials struct {
			TokenURL string            `json:"tokenUrl" format:"uri"`
			Scopes   map[string]string `json:"scopes" doc:"What each scope is for, by its name. None is listed: a key has its own."`
		} `json:"clientCredentials"`
	}
	// Signature is a JWS over the canonical form of a card without its signatures.
	Signature struct {
		Protected string `json:"protected" doc:"The JWS header, in base64url."`
		Signature string `json:"signature" doc:"In base64url."`
	}
)

// Node is what a card says of a node.
type Node struct {
	Name, Version string
	Base          string // the URL that the node's paths are appended to
	Skills        []abi.Skill
}

// external is what of external agents (harn.external_agent.v1) the node offers to others.
const external = `{"harn":{"externalAgent":{"schema":"harn.external_agent.v1","pre_dispatch_checkpoint":true,"budget_cap":true,` +
	`"idempotency":true,"reviewable_handoff":true,"dispatch":true,"operations":["_harn/externalAgent.plan","_harn/externalAgent.dispatch"]}}}`

// New returns the card of a node, signed where the node has a key.
func New(core *api.API, n Node) (*Card, error) {
	modes, url := []string{"text/plain", "application/json"}, n.Base+Path
	card := &Card{
		Name: n.Name, Description: Description, Version: n.Version, DefaultInputModes: modes, DefaultOutputModes: modes, Skills: skills(n.Skills),
		Capabilities: Capabilities{Streaming: true, PushNotifications: true, ExtendedAgentCard: true, Meta: jsontext.Value(external),
			Extensions: []ExtensionUse{{URI: Extension, Description: "Plans, and other agents that work for a task, in its stream."}}},
		URL: url, ProtocolVersion: "0.3.0", PreferredTransport: jsonRPC, Extended: true,
		AdditionalInterfaces: []Endpoint{{url, jsonRPC}, {url, rest}},
		SupportedInterfaces:  []Interface{{url, jsonRPC, "1.0"}, {url, rest, "1.0"}, {url, jsonRPC, "0.3"}, {url, rest, "0.3"}},
	}
	card.Security, card.SecuritySchemes = security(core, n.Base)
	signed, err := Sign(core, card, n.Base)
	if err == nil && signed != nil {
		card.Signatures = []Signature{{signed.Protected, signed.Signature}}
	}
	return card, err
}

// The transports of A2A that the node speaks.
const (
	jsonRPC = "JSONRPC"
	rest    = "HTTP+JSON"
)

// Sign signs a document, whose signature is not in it yet. It returns nil when the node has no key.
func Sign(core *api.API, doc any, base string) (*api.Signature, error) {
	body, err := json.Marshal(doc)
	if err != nil {
		return nil, err
	}
	return core.SignDocument(body, base+Keys)
}

// TokenURL returns where the node itself issues access tokens, if it does.
func TokenURL(core *api.API, base string) (string, bool) {
	issuer, err := core.TokenIssuer(base)
	return issuer.TokenEndpoint, err == nil
}

// security says how callers show who they are.
func security(core *api.API, base string) ([]map[string][]string, map[string]SecurityScheme) {
	either := []map[string][]string{{"bearer": {}}}
	schemes := map[string]SecurityScheme{"bearer": {Type: "http", Scheme: "bearer", HTTP: &HTTPScheme{"bearer"}}}
	if url, own := TokenURL(core, base); own {
		flows := &Flows{}
		flows.ClientCredentials.TokenURL, flows.ClientCredentials.Scopes = url, map[string]string{}
		either = append(either, map[string][]string{"oauth2": {}})
		schemes["oauth2"] = SecurityScheme{Type: "oauth2", Flows: flows, OAuth2: &OAuth2Scheme{flows}}
	}
	return either, schemes
}

func skills(all []abi.Skill) []Skill {
	list := make([]Skill, len(all))
	for i, s := range all {
		list[i] = Skill{ID: s.ID, Name: s.Name, Description: s.Description, Tags: []string{"wharf"}, InputSchema: s.InputSchema}
	}
	return list
}
