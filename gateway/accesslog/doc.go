// Package accesslog writes a line of JSON for each request that a node has answered.
//
// Writing holds no request up: lines wait in a queue of bounded length for a goroutine
// that writes them, and what the queue or the disk has no room for is dropped and counted.
package accesslog
