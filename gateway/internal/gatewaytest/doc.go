// Package gatewaytest starts a front door before an engine, for the tests of protocols: over a real
// connection, and ended in the order in which a node ends.
package gatewaytest
