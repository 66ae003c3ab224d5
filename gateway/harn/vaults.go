package harn

import (
	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/gateway"
)

// vaultCore is what the Vaults' routes ask of the engine.
type vaultCore interface{}

func (a *Adapter) vaultRoutes() []gateway.Route {
	return routes(
		a.none("/v1/vaults", "listVaults", "Vaults", "vaults:read", "Vault", "List Vaults", "workspace_id"),
		post("/v1/vaults", "createVault", "Vaults", "vaults:write", "CreateVaultRequest", "Vault", "Create a Vault", statusCreated, nil).later(),
		read("/v1/vaults/{vault_id}", "getVault", "Vaults", "vaults:read", "Vault", "Get a Vault", absent(abi.ObjectVault, string(abi.ObjectVault)+"_id")),
	)
}

func vaultSchemas() map[string]schema {
	return map[string]schema{
		"Vault": resource(abi.ObjectVault, "Protected credentials.", schema{
			"workspace_id": nullable(text()), "provider": text(), "capabilities": listOf(text())}, nil),
		"CreateVaultRequest": shape("A Vault.", schema{"provider": text(), "capabilities": listOf(text())}, schema{
			"workspace_id": nullable(text()), "metadata": anyObject()}),
	}
}
