// Package sdk drives the clients in sdk/client, in each language, through the same tests against
// real nodes: from a Session to a verified receipt, over kills in the middle of streams, answers
// that get lost and overload, with receipts that were changed, and as packages as other people get them. Each language has a
// driver in testdata that takes the same commands.
//
// The client in TypeScript is driven within a page of Chromium, too.
//
// It also holds what the SDKs for plugins are outside of a node: packages with what belongs into them, and the same plugin
// with the same cases in the engine and, in each language's own test runner, natively.
//
// A language whose tools are missing is skipped, and says what it needs: Node and "npm ci" in
// sdk/client/ts for TypeScript, python3 for Python, chromium for the page.
package sdk
