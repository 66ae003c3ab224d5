package web

import (
	"net"
	"net/netip"
	"net/url"
	"slices"
	"strings"
)

// Grant allows requests to some hosts.
type Grant struct {
	// Hosts are exact names or addresses, or *.example.com for every name below it;
	// with :PORT, or else for the port of the scheme.
	Hosts []string
	// Methods are in capitals; nil for GET and HEAD.
	Methods []string
	// Private also allows loopback, private and link-local addresses, and secrets
	// over plain HTTP.
	Private bool
}

// allows reports whether the grant covers a request.
func (g *Grant) allows(method string, u *url.URL) bool {
	methods := g.Methods
	if methods == nil {
		methods = []string{"GET", "HEAD"}
	}
	return slices.Contains(methods, method) && matchesAny(g.Hosts, u)
}

// matchesAny reports whether the host of u is among patterns.
func matchesAny(patterns []string, u *url.URL) bool {
	return slices.ContainsFunc(patterns, func(p string) bool { return matches(p, u) })
}

func matches(pattern string, u *url.URL) bool {
	host, port := splitPattern(pattern)
	if port == "" {
		port = schemePort(u.Scheme)
	}
	if port != portOf(u) {
		return false
	}
	name := hostName(u.Hostname())
	if suffix, wild := strings.CutPrefix(host, "*"); wild {
		return strings.HasSuffix(name, hostName(suffix)) && len(name) > len(suffix)
	}
	return hostName(host) == name
}

// splitPattern takes a port off; the brackets of an IPv6 address go too.
func splitPattern(pattern string) (host, port string) {
	if host, port, err := net.SplitHostPort(pattern); err == nil {
		return host, port
	}
	return strings.Trim(pattern, "[]"), ""
}

// hostName writes a host in the one form in which hosts are compared.
func hostName(host string) string {
	if a, err := netip.ParseAddr(host); err == nil {
		return a.Unmap().String()
	}
	return strings.TrimSuffix(strings.ToLower(host), ".")
}

func schemePort(scheme string) string {
	if scheme == "https" {
		return "443"
	}
	return "80"
}

func portOf(u *url.URL) string {
	if port := u.Port(); port != "" {
		return port
	}
	return schemePort(u.Scheme)
}

// origin is what has to stay the same for secrets to stay in a request.
func origin(u *url.URL) string {
	return u.Scheme + "://" + net.JoinHostPort(hostName(u.Hostname()), portOf(u))
}
