package client

import (
	"context"
	"net/http"
	"net/url"

	"github.com/wharf-dev/wharf/abi"
)

// Vaults lists the Vaults that the key sees, newest first.
func (c *Client) Vaults(ctx context.Context) ([]Doc[abi.Vault], error) {
	return collect[abi.Vault](ctx, c, "/v1/vaults", url.Values{}, 0, nil)
}

// CreateVault makes a Vault.
func (c *Client) CreateVault(ctx context.Context, req abi.CreateVaultRequest) (doc Doc[abi.Vault], err error) {
	err = c.call(ctx, request{method: http.MethodPost, path: "/v1/vaults"}, req, &doc)
	return doc, err
}

func secretsPath(vault string) string {
	return "/wharf/v1/vaults/" + url.PathEscape(vault) + "/secrets"
}

// VaultSecrets lists the secrets of a Vault, without their values.
func (c *Client) VaultSecrets(ctx context.Context, vault string) ([]Doc[abi.VaultSecret], error) {
	return collect[abi.VaultSecret](ctx, c, secretsPath(vault), url.Values{}, 0, nil)
}

// StoreSecret keeps a new version of a secret.
func (c *Client) StoreSecret(ctx context.Context, vault, name string, req abi.StoreSecretRequest) (doc Doc[abi.VaultSecret], err error) {
	err = c.call(ctx, request{method: http.MethodPut, path: secretsPath(vault) + "/" + url.PathEscape(name)}, req, &doc)
	return doc, err
}

// RemoveSecret removes a secret.
func (c *Client) RemoveSecret(ctx context.Context, vault, name string) error {
	return c.call(ctx, request{method: http.MethodDelete, path: secretsPath(vault) + "/" + url.PathEscape(name)}, nil, nil)
}

// RotateVaultKey encrypts the values of all Vaults of the node to a new key.
func (c *Client) RotateVaultKey(ctx context.Context) (doc Doc[abi.VaultKeyRotation], err error) {
	err = c.call(ctx, request{method: http.MethodPost, path: "/wharf/v1/vault-key", patience: -1}, nil, &doc)
	return doc, err
}
