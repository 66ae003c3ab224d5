// Package jsonrpc is one side of a JSON-RPC 2.0 conversation: over a pipe, a socket, or
// whatever carries messages. No HTTP request is needed.
//
// A [Peer] reads while it answers. Each request has a goroutine of its own, so that a long one
// holds up neither a notification that cancels it nor the answer to a question of the node's
// own, which its handler may be waiting for. Notifications are handled one after another, in
// their order, by the goroutine that reads: their handlers must not wait for the other side.
//
// What is malformed is answered as the specification says and ends nothing: whoever reads on
// finds the next message. How many requests run at once is bounded; one more is refused, since
// waiting for a place would keep the peer from reading what the others wait for. Batches are
// refused: none of the protocols that stand on this has them any more.
package jsonrpc
