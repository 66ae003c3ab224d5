package harn

import (
	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/gateway"
)

// Mount implements gateway.Adapter: the protocol has every path that no other one has.
func (a *Adapter) Mount() gateway.Mount {
	return gateway.Mount{
		Name: "harn", Prefixes: []string{"/"},
		Routes: a.routes(), Schemas: a.Schemas(), Document: document(),
		Errors: gateway.Envelope, Version: versionRule(), Subprotocols: subprotocols(),
	}
}

func document() *gateway.Document {
	return &gateway.Document{
		Path: "/openapi.json", Title: "Wharf", Version: abi.ProtocolVersion, Summary: "The Harn Agents Protocol over HTTP",
		Description: "An edge gateway for agents with a durable event log. Every request outside the public operations carries an API key and the header " + abi.VersionHeader + ".",
		Tags:        tags(),
	}
}

// tags describes the groups of the document, in their order.
func tags() [][2]string {
	return [][2]string{
		{"Discovery", "What this node is and can do."},
		{"Tasks", "Units of agent work."},
		{"Sessions", "Conversations: they own transcripts."},
		{"Messages", "Turns of a transcript."},
		{"Events", "The append-only facts, as lists and as streams."},
		{"Artifacts", "Durable content that Messages and Outcomes refer to."},
		{"Outcomes", "What Tasks result in."},
		{"Branches", "Lineage of alternate paths."},
		{"Workspaces", "Isolation boundaries."},
		{"Personas", "Operational roles."},
		{"Receipts", "Proofs of what happened."},
		{"Memories", "Durable knowledge."},
		{"Vaults", "Protected credentials."},
		{"Connectors", "Sources of external activity."},
		{"Skills", "Callable capabilities."},
		{"Quotas", "Ceilings."},
		{"Permissions", "Requests for a human decision."},
		{"Runtime", "What runs the Tasks."},
		{"Records", "Wharf's own: what Tasks recorded, to look at, to fork and to take away."},
		{"Authorization", "Access tokens for those who have an API key."},
		{"Administration", "Wharf's own: keys and backups."},
	}
}
