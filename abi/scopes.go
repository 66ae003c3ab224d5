package abi

import "slices"

// The scopes that are not <resource>:read or <resource>:write (docs/protocol.md, 8.11).
const (
	ScopeAll            = "*"
	ScopeAdmin          = "admin"           // manage keys of the own tenant
	ScopeNode           = "node:admin"      // manage tenants, backups and metrics of the node
	ScopeMetrics        = "metrics:read"    // read the metrics of the node, and nothing else of it
	ScopeEventsInternal = "events:internal" // see internal content
	ScopeReceiptsVerify = "receipts:verify"
	ScopeTasksReplay    = "tasks:replay"
	// ScopePersonasOwn lets a key that is bound to Workspaces make policy for them: with
	// personas:write, it makes and changes Personas of its own Workspaces.
	ScopePersonasOwn = "personas:own"
	// ScopeConnectorsWrite is of the resource's own scopes; a Connector's public path
	// is shown to those who have it.
	ScopeConnectorsWrite = "connectors:write"
	// ScopeWebhooksWrite is, too; where a Webhook's deliveries go is shown to those who have it.
	ScopeWebhooksWrite = "webhooks:write"
	// ScopeHoldsWrite lets a key place and release Holds. Like policy, it is given on purpose.
	ScopeHoldsWrite = "holds:write"
	// ScopeToolsWrite is, too; where a ToolServer is, is shown to those who have it.
	ScopeToolsWrite = "tools:write"
)

// scopedResources are the plural resource names that scopes are made of.
var scopedResources = []string{"personas", "workspaces", "sessions", "tasks", "branches", "messages",
	"artifacts", "events", "receipts", "memories", "vaults", "connectors", "skills", "outcomes", "quotas", "webhooks", "tools", "harnesses", "hooks", "holds"}

// Scopes lists every scope that a key can have, without [ScopeAll].
func Scopes() []string {
	all := []string{ScopeAdmin, ScopeNode, ScopeMetrics, ScopeEventsInternal, ScopeReceiptsVerify, ScopeTasksReplay, ScopePersonasOwn}
	for _, r := range scopedResources {
		all = append(all, r+":read", r+":write")
	}
	slices.Sort(all)
	return all
}

// DefaultScopes lists what a new key may do when nothing else is said: read and
// write every resource, verify and replay, but no administration, no
// internal content, no metrics of the node, no policy for the Workspaces that it is bound to, and no Holds.
func DefaultScopes() []string {
	return slices.DeleteFunc(Scopes(), func(s string) bool {
		return s == ScopeAdmin || s == ScopeNode || s == ScopeMetrics || s == ScopeEventsInternal || s == ScopePersonasOwn || s == ScopeHoldsWrite
	})
}
