// Package clients tests the real binary with clients that other people wrote:
// curl, the eventsource npm package, and the OpenAPI linters spectral and redocly.
// A server is right when these work with it, whatever its own tests say.
//
// The npm packages are installed with "npm ci" in this folder; without them, or
// without node or curl, the tests that need them are skipped and say so.
package clients
