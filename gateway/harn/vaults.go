package harn

import (
	"context"

	"github.com/go-json-experiment/json"
	"github.com/valyala/fasthttp"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/gateway"
	"github.com/wharf-dev/wharf/runtime/engine"
)

// vaultCore is what the Vaults' routes ask of the engine. It returns no value of a
// secret.
type vaultCore interface {
	CreateVault(ctx context.Context, c *engine.Caller, r *engine.Retry, req abi.CreateVaultRequest) (engine.Doc, error)
	UpdateVault(ctx context.Context, c *engine.Caller, r *engine.Retry, id string, req abi.UpdateVaultRequest) (engine.Doc, error)
	ListSecrets(ctx context.Context, c *engine.Caller, vaultID string, p engine.Page) (engine.DocList, error)
	StoreSecret(ctx context.Context, c *engine.Caller, r *engine.Retry, vaultID, name string, req abi.StoreSecretRequest) (engine.Doc, error)
	RemoveSecret(ctx context.Context, c *engine.Caller, r *engine.Retry, vaultID, name string) error
	RotateVaultKey(ctx context.Context, c *engine.Caller) (abi.VaultKeyRotation, error)
}

func (a *Adapter) vaultRoutes() []gateway.Route {
	const tag, reads, writes = "Vaults", "vaults:read", "vaults:write"
	const secrets = "/wharf/v1/vaults/{vault_id}/secrets"
	rotate := post("/wharf/v1/vault-key", "rotateVaultKey", tag, abi.ScopeNode, "", "VaultKeyRotation",
		"Encrypt the secrets of all vaults to a new key", statusOK, a.rotateVaultKey).bodyless().
		doc("The node's own key is made anew. One that the configuration states is read again, and its first identity is the new one. " +
			"It may be asked for again when it was cut short.")
	rotate.Idempotent = false
	own := []row{
		patch("/wharf/v1/vaults/{vault_id}", "updateVault", tag, writes, "UpdateVaultRequest", "Vault", "Change what a Vault is for and who may use it",
			change(a, "vault_id", statusOK, a.core.UpdateVault)),
		read(secrets, "listVaultSecrets", tag, reads, "VaultSecret", "List a Vault's secrets, without their values", a.listSecrets).list(),
		write(fasthttp.MethodPut, secrets+"/{name}", "storeVaultSecret", tag, writes, "StoreSecretRequest", "VaultSecret",
			"Keep a new version of a secret", statusOK, a.storeSecret).doc("The value is never answered again, by no route."),
		write(fasthttp.MethodDelete, secrets+"/{name}", "removeVaultSecret", tag, writes, "", "",
			"Remove a secret and destroy its value", statusNoContent, a.removeSecret).bodyless(),
		rotate,
	}
	for i := range own {
		own[i].Unversioned = true
	}
	return append(routes(
		read("/v1/vaults", "listVaults", tag, reads, "Vault", "List Vaults, newest first", a.list(abi.ObjectVault)).list("workspace_id"),
		post("/v1/vaults", "createVault", tag, writes, "CreateVaultRequest", "Vault", "Create a Vault", statusCreated,
			create(a, statusCreated, a.core.CreateVault)),
		read("/v1/vaults/{vault_id}", "getVault", tag, reads, "Vault", "Get a Vault", a.get(abi.ObjectVault, "vault_id")),
	), routes(own...)...)
}

func (a *Adapter) listSecrets(r *gateway.Request) error {
	return a.sendPage(r, func(p engine.Page) (engine.DocList, error) {
		return a.core.ListSecrets(r.Context(), r.Caller, r.PathValue("vault_id"), p)
	})
}

func (a *Adapter) storeSecret(r *gateway.Request) error {
	var req abi.StoreSecretRequest
	retry, err := decode(r, &req)
	if err != nil {
		return err
	}
	doc, err := a.core.StoreSecret(r.Context(), r.Caller, retry, r.PathValue("vault_id"), r.PathValue("name"), req)
	if err != nil {
		return err
	}
	return a.send(r, statusOK, doc)
}

func (a *Adapter) removeSecret(r *gateway.Request) error {
	retry, err := r.Retry(nil)
	if err != nil {
		return err
	}
	if err := a.core.RemoveSecret(r.Context(), r.Caller, retry, r.PathValue("vault_id"), r.PathValue("name")); err != nil {
		return err
	}
	r.Send(statusNoContent, nil)
	return nil
}

func (a *Adapter) rotateVaultKey(r *gateway.Request) error {
	done, err := a.core.RotateVaultKey(r.Context(), r.Caller)
	if err != nil {
		return err
	}
	body, err := json.Marshal(done)
	if err != nil {
		return err
	}
	r.Send(statusOK, body)
	return nil
}

func vaultSchemas() map[string]schema {
	capabilities := func() schema {
		return described(listOf(text()), "read: put into the calls of Tasks; write: store values; sign: check signatures of Connectors. Others are kept, and allow nothing.")
	}
	hosts := func() schema {
		return described(listOf(text()), "Where the value may be sent; none for wherever the plugin may send requests.")
	}
	return map[string]schema{
		"Vault": resource(abi.ObjectVault, "Protected credentials, which Tasks and Connectors use and nobody reads.", schema{
			"workspace_id": described(nullable(text()), "Null: the whole tenant's."), "provider": text(), "capabilities": listOf(text())},
			schema{"access": ref("VaultAccess")}),
		"VaultAccess": shape("Who may use the secrets: ids, in which * stands for any characters. Who is not named may not.", nil, schema{
			"personas": listOf(text()), "connectors": listOf(text())}),
		"CreateVaultRequest": shape("A Vault.", schema{
			"provider": described(text(), "local, env or file. Another is kept, and refused when it is used."), "capabilities": capabilities()}, schema{
			"workspace_id": nullable(text()), "access": ref("VaultAccess"), "metadata": anyObject()}),
		"UpdateVaultRequest": shape("What to change.", nil, schema{
			"capabilities": capabilities(), "access": ref("VaultAccess"), "metadata": anyObject()}),
		"VaultSecret": resource(abi.ObjectVaultSecret, "A secret in a Vault, without its value.", schema{
			"vault_id": text(), "name": text(), "version": schema{"type": "integer", "minimum": 1}}, schema{
			"workspace_id": text(), "hosts": hosts(), "removed_at": moment(),
			"sealed": described(prefixedHash(), "A salted hash of the value, which tells when a file was exchanged and nothing else.")}),
		"StoreSecretRequest": shape("A value to keep.", schema{
			"value": schema{"type": "string", "minLength": 1, "maxLength": 65536, "writeOnly": true}}, schema{"hosts": hosts()}),
		"VaultKeyRotation": shape("What was encrypted to which key.", schema{"recipient": text(), "files": whole(), "own": flag()}, nil),
	}
}
