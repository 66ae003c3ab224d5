package mcp

import (
	"net/http"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/gateway"
	"github.com/wharf-dev/wharf/gateway/internal/namedhost"
)

// metadataPath is where RFC 9728 has what a protected resource says of itself. That of a resource
// with a path is below.
const metadataPath = "/.well-known/oauth-protected-resource"

// guard refuses what a page of a stranger can have a browser send. What the metadata say is public, and
// meant for pages too.
func (a *Adapter) guard(r *gateway.Request) error {
	if strings.HasPrefix(string(r.HTTP.Path()), metadataPath) {
		return nil
	}
	of := namedhost.Guard{PublicURL: a.cfg.PublicURL, Hosts: a.has.Hosts, Origins: a.has.Origins, HostsSetting: "mcp.hosts", OriginsSetting: "mcp.origins"}
	return of.Check(r)
}

// challenge names the document that says who gives tokens.
func challenge(r *gateway.Request) string {
	return `resource_metadata="` + r.BaseURL() + metadataPath + prefix + `"`
}

// resourceDoc is the document of RFC 9728.
type resourceDoc struct {
	Resource string   `json:"resource"`
	Name     string   `json:"resource_name"`
	Servers  []string `json:"authorization_servers,omitempty"`
	Scopes   []string `json:"scopes_supported"`
	Methods  []string `json:"bearer_methods_supported"`
}

// metadata says who gives tokens for the server.
func (a *Adapter) metadata(r *gateway.Request) error {
	base := r.BaseURL()
	doc := resourceDoc{Resource: base + prefix, Name: "Wharf", Scopes: abi.Scopes(), Methods: []string{"header"}}
	doc.Servers = slices.Clone(a.has.Issuers)
	if own, err := a.core.TokenIssuer(base); err == nil {
		doc.Servers = append(doc.Servers, own.Issuer)
	}
	body, err := json.Marshal(&doc, json.Deterministic(true))
	if err != nil {
		return err
	}
	r.SetHeader("Access-Control-Allow-Origin", "*")
	r.Send(http.StatusOK, body)
	return nil
}
