// Package mcp is the adapter for the Model Context Protocol: Skills are tools, and each tools/call
// is a Task. The node is one MCP server at /mcp, over Streamable HTTP, in the revisions 2025-11-25
// (and those before it) and 2026-07-28.
//
// # Two revisions at one URL
//
// The SDK speaks the protocol. One of its handlers cannot serve both revisions, so there are two,
// and each request goes to one of them: that of 2026-07-28, where a request stands for itself, or
// that with sessions. [Adapter.serve] chooses by the headers.
//
// # One table of methods
//
// Both handlers have the same receiving middleware, which answers every method by one table over
// gateway/api. Nothing is registered with the SDK: what a caller may see is asked anew with each
// request, and there is no second truth to keep. A method that is in no table is not found, but for
// what belongs to the connection itself (initialize, ping, server/discover and the like), which the
// SDK answers.
//
// A [feature] is part of the table: its methods, what the node says of it when a client connects,
// and the names of methods that the SDK does not know. Each has a file of its own; [Adapter.features]
// lists them. A method is a function of a [request], which has the caller and the decoded parameters,
// and returns a result by [request.reply] or an error: an *abi.Error is put into the protocol's
// codes, a *jsonrpc.Error goes out as it is, anything else is logged and is an internal error.
package mcp
