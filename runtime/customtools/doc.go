// Package customtools serves CustomTools: tools that a Workspace has of its own, answered by a
// receiver of requests or by a program of the node. A [Keeper] is the server of tools
// abi.ToolServerCustom, beside those that tenants add.
//
// Its invariants:
//
//   - A tool is listed to the Tasks of its Workspace, and called by them, alone.
//   - A name is one tool's within its Workspace.
//   - A request goes to no address that the guard of package web refuses, at the moment of
//     connecting, and is signed by a secret that no event or log has. A program is one that the
//     operator has named.
//   - Calls use a tool as the log has it: what is made or deleted is durable before it is used.
//
// It may import abi, storage, the desk, the ledger, what checks schemas, and what providers of
// tools share.
package customtools
