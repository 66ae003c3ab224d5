// Package client speaks to a Wharf node over HTTP, as the client commands need
// it. Every error it returns is one of [*Refused] (the node answered and said
// no), [*Unreachable] (there was no answer), [*Stray] (the answer is not a
// node's), or the context's.
package client
