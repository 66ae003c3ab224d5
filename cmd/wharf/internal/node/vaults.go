package node

import (
	"context"
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/cmd/wharf/internal/config"
	"github.com/wharf-dev/wharf/cmd/wharf/internal/datadir"
	"github.com/wharf-dev/wharf/runtime/policy"
	"github.com/wharf-dev/wharf/runtime/provider"
	"github.com/wharf-dev/wharf/runtime/provider/secret"
	"github.com/wharf-dev/wharf/runtime/provider/vault"
)

// newVaults returns what keeps the values of Vaults. It reads nothing yet.
func newVaults(c *config.Config, log *slog.Logger) *vault.Store {
	all := vault.Config{
		Dir:     filepath.Join(c.Data, datadir.Vaults),
		KeyFile: filepath.Join(c.Data, datadir.Keys, datadir.VaultKey), EnvPrefix: c.Vaults.Env, Files: c.Vaults.Files, Log: log,
	}
	if name := c.Vaults.Key; name != "" {
		secrets := newSecrets(c, log)
		all.Key = func(ctx context.Context) (string, error) {
			v, err := secrets.Lookup(ctx, name)
			return v.Reveal(), err
		}
	}
	return vault.New(all)
}

// nodeSecret reads the secrets of the configuration for the Connectors that it names.
func nodeSecret(c *config.Config, log *slog.Logger) func(context.Context, *abi.Connector, string) ([]byte, error) {
	secrets := newSecrets(c, log)
	return func(ctx context.Context, conn *abi.Connector, name string) ([]byte, error) {
		allowed := func(pattern string) bool {
			return policy.Match(pattern, conn.ID) || policy.Match(pattern, conn.Provider)
		}
		if !slices.ContainsFunc(c.Secrets[name].Connectors, allowed) {
			// Which secrets the node has is not the tenants' business.
			return nil, provider.Refuse(abi.CallDenied, secret.CodeDenied,
				fmt.Sprintf("the node has no secret %q for this connector: secrets.%s.connectors of its configuration has to name it, as %s or %s", name, name, conn.ID, conn.Provider))
		}
		v, err := secrets.Lookup(ctx, name)
		return []byte(v.Reveal()), err
	}
}
