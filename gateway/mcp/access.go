package mcp

import (
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/gateway"
)

// metadataPath is where RFC 9728 has what a protected resource says of itself. That of a resource
// with a path is below.
const metadataPath = "/.well-known/oauth-protected-resource"

// guard refuses what a page of a stranger can have a browser send: a request for another name than
// the server's, which such a page's own name has become (DNS rebinding), or from another origin. It is
// asked before anybody is authenticated.
func (a *Adapter) guard(r *gateway.Request) error {
	if strings.HasPrefix(string(r.HTTP.Path()), metadataPath) {
		return nil // public, and meant for pages too
	}
	if !a.knowsHost(r) {
		return abi.Errorf(abi.CodePermissionDenied, "this server is not reached by the name in the Host header: mcp.hosts does not have it")
	}
	if !r.FromOrigins(a.has.Origins) {
		return abi.Errorf(abi.CodePermissionDenied, "pages of this origin may not ask: mcp.origins does not have it")
	}
	return nil
}

// knowsHost reports whether a request is for a name of this node: that of its public URL, one that is
// configured, the address that the request came in on, or on a loopback address any name of loopback.
// A node that knows no name of its own, and is asked from elsewhere, takes any: a page that reaches it
// so still has no key.
func (a *Adapter) knowsHost(r *gateway.Request) bool {
	host := strings.ToLower(string(r.HTTP.Host()))
	name := hostname(host)
	if slices.ContainsFunc(a.has.Hosts, func(h string) bool { h = strings.ToLower(h); return h == host || h == name }) {
		return true
	}
	public, err := url.Parse(a.cfg.PublicURL)
	if err == nil && public.Host != "" && strings.EqualFold(public.Host, host) {
		return true
	}
	local, err := netip.ParseAddrPort(r.HTTP.LocalAddr().String())
	if err != nil {
		return false
	}
	at := local.Addr().Unmap()
	if asked, err := netip.ParseAddr(name); err == nil && asked.Unmap() == at {
		return true
	}
	if at.IsLoopback() {
		return isLoopback(name)
	}
	return a.cfg.PublicURL == "" && len(a.has.Hosts) == 0
}

// hostname returns a host without its port.
func hostname(host string) string {
	if name, _, err := net.SplitHostPort(host); err == nil {
		return name
	}
	return strings.Trim(host, "[]")
}

func isLoopback(name string) bool {
	if name == "localhost" {
		return true
	}
	at, err := netip.ParseAddr(name)
	return err == nil && at.IsLoopback()
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
