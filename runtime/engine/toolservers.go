package engine

import (
	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/customtools"
	"github.com/wharf-dev/wharf/runtime/desk"
	"github.com/wharf-dev/wharf/runtime/sealed"
	"github.com/wharf-dev/wharf/runtime/subagents"
	"github.com/wharf-dev/wharf/runtime/toolservers"
)

// newToolServers makes the rooms that serve the servers of tools which tenants add, and the tools
// that Workspaces have of their own. Agents have their subagents.
func (e *Engine) newToolServers(common desk.Parts, parts *Parts) (*toolservers.Keeper, *customtools.Keeper) {
	p := toolservers.Parts{Parts: common, Config: e.config.ToolServers, Added: parts.AddedTools, Values: parts.values(), TenantID: e.tenants.IDOf, Version: parts.Version}
	if p.Added != nil {
		p.Added.Serve(abi.ToolServerAgents, subagents.Server{Personas: e.personaResources, TenantOf: e.tenantOf})
	}
	return toolservers.NewKeeper(p), customtools.NewKeeper(customtools.Parts{Parts: common, Config: customtools.Config{Private: p.Config.Private, Commands: p.Config.Commands},
		Added: p.Added, Values: p.Values, TenantID: p.TenantID, Entropy: e.entropy, Agent: "wharf/" + parts.Version})
}

// values keeps secrets for rooms; nil when the node can keep none.
func (p *Parts) values() sealed.Values {
	if p.Vaults == nil { // a nil pointer would be a part that is there
		return nil
	}
	return p.Vaults
}
