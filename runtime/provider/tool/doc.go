// Package tool lists and calls the tools of plugins, abi.CallToolList and
// abi.CallToolCall, and reads what else their servers have: abi.CallResourceList,
// abi.CallResourceRead and abi.CallPromptGet.
//
// A [Server] has tools, and a [Source] resources and prompts too. [MCP] is a server of the
// Model Context Protocol, started as a child process or reached over HTTP; the node's own
// tools are servers too. [Tools] answers the host calls from all of them, as far as a
// plugin's grants go.
//
// The life of an [MCP]: it connects when it is first needed, and again, after a
// pause that grows, when the connection has died; all plugins share the
// connection; Close ends it, and the process with it.
package tool
