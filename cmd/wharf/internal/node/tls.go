package node

import (
	"context"
	"fmt"
	"net"
	"path/filepath"

	"github.com/wharf-dev/wharf/cmd/wharf/internal/config"
	"github.com/wharf-dev/wharf/gateway"
)

// acmeCache is the folder, within the data folder, of the certificates that an
// authority has issued. They are no part of a backup: they can be had again.
const acmeCache = "acme"

// startTLS returns how the node speaks TLS, or nil when it does not.
func startTLS(ctx context.Context, o *Options) (*gateway.TLS, error) {
	c := &o.Config
	if !c.TLSEnabled() {
		return nil, nil
	}
	t := gateway.TLSConfig{Cert: c.TLS.Cert, Key: c.TLS.Key}
	if c.TLS.ClientAuth != "off" {
		t.ClientCA, t.ClientAuth = c.TLS.ClientCA, gateway.ClientAuthRequired
		if c.TLS.ClientAuth == "optional" {
			t.ClientAuth = gateway.ClientAuthOptional
		}
	}
	if c.ACME.Domains != "" {
		acme, err := acmeConfig(ctx, c)
		if err != nil {
			return nil, err
		}
		t.ACME = acme
	}
	started, err := gateway.NewTLS(t, o.Log)
	if err != nil {
		return nil, fmt.Errorf("starting TLS: %w", err)
	}
	return started, nil
}

func acmeConfig(ctx context.Context, c *config.Config) (*gateway.ACMEConfig, error) {
	var challenges net.Listener
	if c.ACME.HTTP != "" {
		var err error
		if challenges, err = listen(ctx, c.ACME.HTTP); err != nil {
			return nil, err
		}
	}
	return &gateway.ACMEConfig{
		Domains: c.ACME.Names(), Email: c.ACME.Email, Directory: c.ACME.Directory, Roots: c.ACME.Roots,
		Cache: filepath.Join(c.Data, acmeCache), HTTP: challenges,
	}, nil
}
