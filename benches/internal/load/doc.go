// Package load is the load generator: a bounded number of keep-alive
// connections, each sending one prebuilt request after the answer to the last
// one (no pipelining). The server under test and its ceiling get the same load
// from the same code.
package load
