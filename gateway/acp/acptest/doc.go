// Package acptest holds what is said over the Agent Client Protocol against the protocol's schema, for
// tests. A [Checker] is told every line of one connection, whichever side it comes from.
//
// It is strict: a member that the schema does not have, outside of _meta, is an error, though the
// schema itself would let it pass. Of a client that has declared itself Harn-aware in initialize, the
// additions of the Harn documents are known too, member for member.
//
// schema-v0.12.2.json beside it is the JSON Schema of release v0.12.2 of
// https://github.com/agentclientprotocol/agent-client-protocol, unchanged, under the Apache License 2.0.
package acptest
