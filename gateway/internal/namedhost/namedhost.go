package namedhost

import (
	"net"
	"net/netip"
	"net/url"
	"slices"
	"strings"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/gateway"
)

// Guard refuses a request for another name than the server's, which the name of a stranger's page has
// become (DNS rebinding), or from another origin. It is asked before anybody is authenticated.
type Guard struct {
	PublicURL string
	// Hosts are names that clients may reach the server by, besides those that it knows of. Origins are
	// origins whose pages may ask; "*" is any.
	Hosts, Origins []string
	// HostsSetting and OriginsSetting are the settings that they come from.
	HostsSetting, OriginsSetting string
}

// Check returns why a request may not be asked; nil if it may.
func (g *Guard) Check(r *gateway.Request) error {
	if !g.knowsHost(r) {
		return abi.Errorf(abi.CodePermissionDenied, "this server is not reached by the name in the Host header: %s does not have it", g.HostsSetting)
	}
	if !r.FromOrigins(g.Origins) {
		return abi.Errorf(abi.CodePermissionDenied, "pages of this origin may not ask: %s does not have it", g.OriginsSetting)
	}
	return nil
}

// knowsHost reports whether a request is for a name of this node: that of its public URL, one that is
// configured, the address that the request came in on, or on a loopback address any name of loopback.
// A node that knows no name of its own, and is asked from elsewhere, takes any: a page that reaches it
// so still has no key.
func (g *Guard) knowsHost(r *gateway.Request) bool {
	host := strings.ToLower(string(r.HTTP.Host()))
	name := hostname(host)
	if slices.ContainsFunc(g.Hosts, func(h string) bool { h = strings.ToLower(h); return h == host || h == name }) {
		return true
	}
	public, err := url.Parse(g.PublicURL)
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
	return g.PublicURL == "" && len(g.Hosts) == 0
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
