// Package clients tests the real binary with clients that other people wrote: curl,
// the linters spectral and redocly, and npm packages that read event streams
// (eventsource), speak over WebSockets (ws, wscat), sign webhooks (standardwebhooks,
// @octokit/webhooks-methods, stripe, @slack/bolt), ask for access tokens
// (openid-client), issue them (oidc-provider) and verify what is signed (jose).
// An editor's side of the Agent Client Protocol is spoken by @agentclientprotocol/sdk and by the Go
// module github.com/coder/acp-go-sdk.
// The suite of the MCP project (@modelcontextprotocol/conformance, which needs the newer Node
// that is installed with it) is for the tests of gateway.
// A server is right when these work with it, whatever its own tests say.
//
// The npm packages are installed with "npm ci" in this folder; without them, or
// without node or curl, the tests that need them are skipped and say so.
package clients
