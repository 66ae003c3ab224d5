package engine

import (
	"github.com/wharf-dev/wharf/runtime/desk"
	"github.com/wharf-dev/wharf/runtime/toolservers"
)

// newToolServers makes the room that serves the servers of tools which tenants add.
func (e *Engine) newToolServers(common desk.Parts, parts *Parts) *toolservers.Keeper {
	p := toolservers.Parts{Parts: common, Config: e.config.ToolServers, Added: parts.AddedTools, TenantID: e.tenants.IDOf, Version: parts.Version}
	if parts.Vaults != nil { // a nil pointer would be a part that is there
		p.Values = parts.Vaults
	}
	return toolservers.NewKeeper(p)
}
