package config

import (
	"fmt"
	"net/netip"
	"strings"

	"github.com/wharf-dev/wharf/runtime/spelling"
)

// TLS says what certificate the node shows, and whether it asks for one.
type TLS struct {
	Cert, Key  string // paths; both or none
	ClientCA   string // the path of certificates that those of clients are signed by
	ClientAuth string // "off", "optional" or "required"
}

// ACME says how the node gets its certificate by itself.
type ACME struct {
	Domains     string // separated by commas; "" for not at all
	Email       string
	Directory   string
	AcceptTerms string // "yes" or "no"
	HTTP        string // the address for http-01; "" for none
	Roots       string // the path of certificates that the directory's is signed by; "" for those of the system
}

// Names returns the domains.
func (a *ACME) Names() (names []string) {
	for name := range strings.SplitSeq(a.Domains, ",") {
		if name = strings.ToLower(strings.TrimSpace(name)); name != "" {
			names = append(names, name)
		}
	}
	return names
}

// TLSEnabled reports whether the node speaks TLS.
func (c *Config) TLSEnabled() bool { return c.TLS.Cert != "" || c.ACME.Domains != "" }

func tlsSettings() []Setting {
	return []Setting{
		set("tls.cert", "", text(nil), func(c *Config) *string { return &c.TLS.Cert },
			"The file of the certificate and those between it and the root, in PEM. With it the node speaks HTTPS only. It is read again when it changes."),
		set("tls.key", "", text(nil), func(c *Config) *string { return &c.TLS.Key },
			"The file of the certificate's private key, in PEM."),
		set("tls.client_ca", "", text(nil), func(c *Config) *string { return &c.TLS.ClientCA },
			"The file of the certificates that must have signed those of clients, in PEM. It is read again when it changes."),
		set("tls.client_auth", "off", choice("off", "optional", "required"), func(c *Config) *string { return &c.TLS.ClientAuth },
			"Whether clients show a certificate. optional verifies a certificate that is shown; required refuses connections without one. Requests need an API key or a token all the same."),
	}
}

func acmeSettings() []Setting {
	return []Setting{
		set("acme.domains", "", text(domains), func(c *Config) *string { return &c.ACME.Domains },
			"The names that the node gets certificates for, separated by commas. With them the node speaks HTTPS only."),
		set("acme.email", "", text(nil), func(c *Config) *string { return &c.ACME.Email },
			"Where the authority writes to when something is wrong."),
		set("acme.directory", "https://acme-v02.api.letsencrypt.org/directory", text(httpURL), func(c *Config) *string { return &c.ACME.Directory },
			"The directory of the certificate authority."),
		set("acme.accept_terms", "no", choice("no", "yes"), func(c *Config) *string { return &c.ACME.AcceptTerms },
			"Whether you accept the authority's terms of service. Nothing happens without it."),
		set("acme.http", "", text(optionalHostPort), func(c *Config) *string { return &c.ACME.HTTP },
			"A second address that answers the authority's challenge http-01, and sends everybody else to https. It must be reachable at port 80. Empty: only the challenge tls-alpn-01, for which listen must be reachable at port 443."),
		set("acme.roots", "", text(nil), func(c *Config) *string { return &c.ACME.Roots },
			"The file of the certificates that signed the directory's own, in PEM, for an authority of your own. Empty: those of the system."),
	}
}

func domains(list string) error {
	for _, name := range (&ACME{Domains: list}).Names() {
		if _, err := netip.ParseAddr(name); err == nil || strings.ContainsAny(name, "*/: ") || !strings.Contains(name, ".") {
			return fmt.Errorf("%q is no name that a certificate can be made for, such as wharf.example.com", name)
		}
	}
	return nil
}

func optionalHostPort(s string) error {
	if s == "" {
		return nil
	}
	return spelling.CheckHostPort(s)
}

// tls holds the rules that tie the settings of TLS to each other.
func (c *checker) tls() {
	t, a := &c.effective.Config.TLS, &c.effective.Config.ACME
	switch {
	case (t.Cert == "") != (t.Key == ""):
		c.report("tls", "needs both cert and key")
	case t.Cert != "" && a.Domains != "":
		c.report("acme.domains", "is set, and tls.cert too: the node shows one or the other")
	case a.Domains != "" && a.AcceptTerms != "yes":
		c.report("acme.accept_terms", "has to be yes for acme.domains to have certificates")
	case t.ClientAuth != "off" && t.ClientCA == "":
		c.report("tls.client_auth", "is %s, and tls.client_ca does not say whom to believe", t.ClientAuth)
	case t.ClientAuth != "off" && !c.effective.Config.TLSEnabled():
		c.report("tls.client_auth", "is %s, and the node has no certificate itself", t.ClientAuth)
	case a.HTTP != "" && a.Domains == "":
		c.report("acme.http", "is set, and acme.domains is not")
	}
}
