package web

import (
	"encoding/binary"
	"fmt"
	"net/netip"
	"net/url"

	"github.com/wharf-dev/wharf/abi"
)

// addressError says that an address may not be connected to.
type addressError struct {
	kind string
}

// Error implements the error interface. It does not tell the address: where a
// name leads within the operator's network is not the plugin's business.
func (e *addressError) Error() string { return "the host has a " + e.kind + " address" }

// block is a run of addresses that are not the public internet.
type block struct {
	prefix netip.Prefix
	kind   string
	never  bool // refused also when the grant allows private addresses
}

func special(prefix, kind string) block { return block{netip.MustParsePrefix(prefix), kind, false} }
func never(prefix, kind string) block   { return block{netip.MustParsePrefix(prefix), kind, true} }

// blocks lists what the registries of special-purpose addresses hold (RFC 6890 and
// its successors). Loopback, private and link-local ones can be granted.
var blocks = []block{
	never("0.0.0.0/8", "unspecified"), special("10.0.0.0/8", "private"), special("100.64.0.0/10", "private"),
	special("127.0.0.0/8", "loopback"), special("169.254.0.0/16", "link-local"), special("172.16.0.0/12", "private"),
	never("192.0.0.0/24", "reserved"), never("192.0.2.0/24", "reserved"), never("192.88.99.0/24", "reserved"),
	special("192.168.0.0/16", "private"), special("198.18.0.0/15", "private"), never("198.51.100.0/24", "reserved"),
	never("203.0.113.0/24", "reserved"), never("224.0.0.0/4", "multicast"), never("240.0.0.0/4", "reserved"),

	never("::/128", "unspecified"), special("::1/128", "loopback"), never("100::/64", "reserved"),
	never("2001::/23", "reserved"), never("2001:db8::/32", "reserved"), never("3fff::/20", "reserved"),
	never("5f00::/16", "reserved"), never("64:ff9b:1::/48", "translated"),
	special("fc00::/7", "private"), special("fe80::/10", "link-local"), special("fec0::/10", "private"),
	never("ff00::/8", "multicast"),
}

// embeddings are the prefixes of IPv6 addresses that lead to the IPv4 address
// which they hold, and the byte where it begins.
var embeddings = []struct {
	prefix netip.Prefix
	at     int
}{
	{netip.MustParsePrefix("::/96"), 12},           // IPv4-compatible
	{netip.MustParsePrefix("::ffff:0:0:0/96"), 12}, // IPv4-translated
	{netip.MustParsePrefix("64:ff9b::/96"), 12},    // NAT64
	{netip.MustParsePrefix("2002::/16"), 2},        // 6to4
}

// CheckAddress returns an error for addresses that are not public, which tells of what
// kind they are. private says that loopback,
// private and link-local ones are granted.
func CheckAddress(a netip.Addr, private bool) error {
	a = a.Unmap().WithZone("")
	if !a.IsValid() {
		return fmt.Errorf("the host has no valid address")
	}
	for _, b := range blocks {
		if b.prefix.Contains(a) && (b.never || !private) {
			return &addressError{b.kind}
		}
	}
	if inner, ok := embedded(a); ok {
		return CheckAddress(inner, private)
	}
	return nil
}

// maxGivenURL is how many bytes a URL has that a caller gives the node to connect to.
const maxGivenURL = 2048

// CheckURL refuses what cannot be the URL of a server that the node connects to for a caller. Of
// a name it is not known before connecting where it leads; an address can be refused now.
// private is as in CheckAddress.
func CheckURL(text string, private bool) error {
	wrong := func(what string) error { return abi.InvalidParam("url", "url %s", what) }
	u, err := url.Parse(text)
	switch {
	case len(text) > maxGivenURL:
		return wrong("is too long")
	case err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Hostname() == "" || u.Opaque != "":
		return wrong("must be an absolute URL of https or http")
	case u.User != nil:
		return wrong("must have no user or password: send them in headers")
	case u.Fragment != "":
		return wrong("must have no fragment")
	}
	if a, err := netip.ParseAddr(u.Hostname()); err == nil {
		if err := CheckAddress(a, private); err != nil {
			return wrong("leads nowhere that the node connects to: " + err.Error())
		}
	}
	return nil
}

// embedded returns the IPv4 address that an IPv6 address leads to.
func embedded(a netip.Addr) (netip.Addr, bool) {
	if !a.Is6() || a == netip.IPv6Loopback() {
		return netip.Addr{}, false
	}
	bytes := a.As16()
	for _, e := range embeddings {
		if e.prefix.Contains(a) {
			return netip.AddrFrom4([4]byte(bytes[e.at : e.at+4])), true
		}
	}
	// ISATAP: an interface identifier that says so, under any prefix.
	if id := binary.BigEndian.Uint32(bytes[8:]); id&^(2<<24) == 0x5efe {
		return netip.AddrFrom4([4]byte(bytes[12:])), true
	}
	return netip.Addr{}, false
}
