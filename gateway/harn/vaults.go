package harn

import (
	"github.com/go-json-experiment/json"
	"github.com/valyala/fasthttp"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/gateway"
	"github.com/wharf-dev/wharf/gateway/api"
)

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
		read("/v1/vaults", "listVaults", tag, reads, "Vault", "List Vaults, newest first", a.list(abi.ObjectVault)).paged(descending, "workspace_id"),
		post("/v1/vaults", "createVault", tag, writes, "CreateVaultRequest", "Vault", "Create a Vault", statusCreated,
			create(a, statusCreated, a.core.CreateVault)),
		read("/v1/vaults/{vault_id}", "getVault", tag, reads, "Vault", "Get a Vault", a.get(abi.ObjectVault, "vault_id")),
	), routes(own...)...)
}

func (a *Adapter) listSecrets(r *gateway.Request) error {
	return a.sendPage(r, func(p api.Page) (api.List, error) {
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
	const capabilities = "read: put into the calls of Tasks; write: store values; sign: check signatures of Connectors. Others are kept, and allow nothing."
	const hosts = "Where the value may be sent; none for wherever the plugin may send requests."
	return map[string]schema{
		"Vault": resourceOf[abi.Vault](abi.ObjectVault, "Protected credentials, which Tasks and Connectors use and nobody reads.",
			says(map[string]string{"workspace_id": "Null: the whole tenant's."})),
		"VaultAccess": of[abi.VaultAccess]("Who may use the secrets: ids, in which * stands for any characters. Who is not named may not."),
		"CreateVaultRequest": requestOf[abi.CreateVaultRequest]("A Vault.", null("workspace_id"), says(map[string]string{
			"provider": "local, env or file. Another is kept, and refused when it is used.", "capabilities": capabilities})),
		"UpdateVaultRequest": requestOf[abi.UpdateVaultRequest]("What to change.", says(map[string]string{"capabilities": capabilities})),
		"VaultSecret": resourceOf[abi.VaultSecret](abi.ObjectVaultSecret, "A secret in a Vault, without its value.",
			but(schema{"version": schema{"type": "integer", "minimum": 1}, "sealed": prefixedHash()}),
			says(map[string]string{"hosts": hosts,
				"sealed": "A salted hash of the value, which tells when a file was exchanged and nothing else."})),
		"StoreSecretRequest": requestOf[abi.StoreSecretRequest]("A value to keep.",
			but(schema{"value": schema{"type": "string", "minLength": 1, "maxLength": 65536, "writeOnly": true}}), says(map[string]string{"hosts": hosts})),
		"VaultKeyRotation": of[abi.VaultKeyRotation]("What was encrypted to which key."),
	}
}
