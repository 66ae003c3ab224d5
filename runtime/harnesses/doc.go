// Package harnesses serves Harnesses: named ways to run agents. A Harness has a Workspace of its
// own, which is made with it, and a Persona that does what names no agent; so whatever bounds a
// Workspace (keys, Quotas, scopes of events, chains of receipts) bounds the Harness.
//
// Every tenant has the Harness [abi.OwnHarness], which is stored nowhere: it is the node's own
// agent in the tenant's default Workspace.
//
// The Harnesses of all tenants are in memory. There are few.
package harnesses
