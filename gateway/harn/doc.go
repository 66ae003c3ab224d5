// Package harn is the Harn Agents Protocol v1 over HTTP: the REST routes of the
// conformance levels Core, Receipts and Replay, the event streams, discovery and
// the agent card, and Wharf's own routes to records and administration.
//
// The package is thin. A handler turns its request into one call on the engine
// and the engine's answer into the protocol's shape; it decides nothing about
// authorization beyond the scope that its row of the table names, nothing about
// idempotency, and writes nothing down.
//
// Resources of later conformance levels read as what they are on a node that has
// none of them, an empty list or a 404; writing them answers 501.
package harn
