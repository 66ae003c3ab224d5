package main

import (
	"cmp"
	"crypto/tls"
	"crypto/x509"
	"os"
	"strings"

	"github.com/spf13/pflag"

	"github.com/wharf-dev/wharf/cmd/wharf/internal/client"
)

// trust says which nodes a command believes over TLS, and how it shows who it is itself.
type trust struct{ ca, cert, key string }

func (t *trust) flags(f *pflag.FlagSet) {
	f.StringVar(&t.ca, "ca", "", "file of the certificates, in PEM, that sign the node's own (or WHARF_CA; default those of the system)")
	f.StringVar(&t.cert, "client-cert", "", "file of a certificate, in PEM, to show to the node (or WHARF_CLIENT_CERT)")
	f.StringVar(&t.key, "client-key", "", "file of the key of that certificate (or WHARF_CLIENT_KEY)")
}

// dial returns a client for a node.
func (a *app) dial(server, key string) (*client.Client, error) {
	config, err := a.trusts(server)
	if err != nil {
		return nil, err
	}
	c, err := client.NewOver(server, key, config)
	if err != nil {
		return nil, &usageError{err}
	}
	return c, nil
}

// trusts returns what TLS with a node is done by; nil for what the system says.
func (a *app) trusts(server string) (*tls.Config, error) {
	if strings.HasPrefix(server, "http://") {
		if a.trust != (trust{}) {
			return nil, usagef("--ca, --client-cert and --client-key are about TLS, and %s is reached without: its URL would begin with https://", server)
		}
		return nil, nil
	}
	ca, cert, key := cmp.Or(a.trust.ca, a.env("WHARF_CA")), cmp.Or(a.trust.cert, a.env("WHARF_CLIENT_CERT")), cmp.Or(a.trust.key, a.env("WHARF_CLIENT_KEY"))
	if ca+cert+key == "" {
		return nil, nil
	}
	config := &tls.Config{MinVersion: tls.VersionTLS12}
	if ca != "" {
		roots, err := rootsOf(ca)
		if err != nil {
			return nil, err
		}
		config.RootCAs = roots
	}
	if (cert == "") != (key == "") {
		return nil, usagef("a client's certificate and its key are given together: --client-cert and --client-key")
	}
	if cert != "" {
		pair, err := tls.LoadX509KeyPair(cert, key)
		if err != nil {
			return nil, usagef("the client's certificate %s and its key %s cannot be used: %w", cert, key, err)
		}
		config.Certificates = []tls.Certificate{pair}
	}
	return config, nil
}

// rootsOf reads certificates that sign others.
func rootsOf(file string) (*x509.CertPool, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, usagef("--ca: %w", err)
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(text) {
		return nil, usagef("--ca: %s holds no certificate in PEM", file)
	}
	return roots, nil
}
