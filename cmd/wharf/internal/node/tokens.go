package node

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"

	"github.com/wharf-dev/wharf/cmd/wharf/internal/config"
	"github.com/wharf-dev/wharf/cmd/wharf/internal/datadir"
	"github.com/wharf-dev/wharf/runtime/identity"
)

// openTokens returns what verifies and issues access tokens.
func (n *Node) openTokens() (*identity.Tokens, error) {
	c := &n.options.Config
	config := identity.Config{Issuers: map[string]identity.Outside{}, Log: n.log}
	for name, i := range c.Issuers {
		config.Issuers[name] = i.Outside()
	}
	if c.OAuth.Tokens == "on" {
		own, err := identity.OpenOwn(identity.OwnConfig{
			Path: filepath.Join(c.Data, datadir.Keys, datadir.TokenKeys), Issuer: n.tokenIssuer(),
			Audience: c.OAuth.Audience, Lifetime: c.OAuth.Lifetime,
		})
		if err != nil {
			return nil, fmt.Errorf("opening the keys that sign access tokens: %w", err)
		}
		config.Own = own
	}
	return identity.New(config)
}

// issuers returns whose access tokens the node takes besides its own.
func issuers(c *config.Config) (all []string) {
	for _, name := range slices.Sorted(maps.Keys(c.Issuers)) {
		all = append(all, c.Issuers[name].Issuer)
	}
	return all
}

// tokenIssuer is what the node's own access tokens are issued by.
func (n *Node) tokenIssuer() string {
	for _, url := range []string{n.options.Config.OAuth.Issuer, n.options.Config.PublicURL} {
		if url != "" {
			return url
		}
	}
	return n.URL()
}
