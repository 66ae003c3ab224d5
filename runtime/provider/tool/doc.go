// Package tool lists and calls the tools of plugins: abi.CallToolList and
// abi.CallToolCall.
//
// A [Server] has tools. [MCP] is a server of the Model Context Protocol, started as
// a child process or reached over HTTP; the node's own tools are servers too.
// [Tools] answers the host calls from all of them, as far as a plugin's grants go.
//
// The life of an [MCP]: it connects when it is first needed, and again, after a
// pause that grows, when the connection has died; all plugins share the
// connection; Close ends it, and the process with it.
package tool
