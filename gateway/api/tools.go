package api

import (
	"github.com/wharf-dev/wharf/runtime/engine"
	"github.com/wharf-dev/wharf/runtime/provider/hosts"
	"github.com/wharf-dev/wharf/runtime/provider/tool"
)

// Tools that clients offer to Tasks, by their names here.
type (
	// Tools are those of all servers.
	Tools = tool.Tools
	// GrantedTools are those of the node that one plugin may use.
	GrantedTools = tool.Granted
	// ToolViewer is who looks at the tools that a tenant has added.
	ToolViewer = tool.Viewer
	// ToolClients are the clients that offer tools, of the whole node.
	ToolClients = tool.Clients
	// ToolClient is what one client offers.
	ToolClient = tool.Client
	// ToolClientHost is the connection of a client that offers tools.
	ToolClientHost = tool.ClientHost
	// ToolClientCall is a call that a client has to answer.
	ToolClientCall = tool.ClientCall
)

// Clients that are asked what they have, by their names here.
type (
	// Hosts are the clients that are connected, of the whole node.
	Hosts = hosts.Hosts
	// Host is one that is connected, for one Session.
	Host = hosts.Host
	// HostClient is what is known of it.
	HostClient = hosts.Client
	// HostDeclared is what it says that it serves.
	HostDeclared = hosts.Declared
	// HostCaller asks it; a peer of JSON-RPC is one.
	HostCaller = hosts.Caller
)

// HostListTools is the method by which a client is asked for its tools.
const HostListTools = hosts.MethodTools

// The servers of tools that are no servers.
const (
	// ServerHost has the tools of the node itself.
	ServerHost = engine.ServerHost
	// ServerSkills has the Skills.
	ServerSkills = engine.ServerSkills
)

// CheckToolName returns an error for what is no name of a tool.
func CheckToolName(name string) error { return tool.CheckName(name) }
