// Package toolservers serves ToolServers: servers of the Model Context Protocol that tenants add
// while the node runs, beside those of its configuration. A [Keeper] keeps what the log says of
// them and what calls use (tool.Added) the same.
//
// Its invariants:
//
//   - A server is reached over HTTP at no address that the guard of package web refuses, or is a
//     program that the operator has named: a tenant names no other.
//   - The values of headers are kept as secrets are, and no answer, event or log has them. What a
//     server gives back of them is taken out of its answers.
//   - A name is one server's within a tenant, and the configuration's names are taken.
//   - Calls use a server as the log has it: a change is durable before it is used.
//   - Calls that have gone to a server that is changed or deleted fail; the next goes to the new
//     one, or nowhere.
//
// It may import abi, storage, the desk, the ledger, and what providers of tools share.
package toolservers
