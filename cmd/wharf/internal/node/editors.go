package node

import (
	"maps"
	"slices"

	"github.com/wharf-dev/wharf/gateway/acp"
)

// editors is what clients of the Agent Client Protocol are told of the node.
func (n *Node) editors() acp.Node {
	c := &n.options.Config
	return acp.Node{Clients: n.hosts, Hosts: c.MCP.HostList(), DefaultPersona: c.Tasks.Persona, Version: n.options.Version, Log: n.log,
		Models: slices.Sorted(maps.Keys(c.Models)), DefaultModel: c.Model.Default}
}
