// Package restate runs Restate, the durable execution server that Wharf is compared
// with, as a process of its own on loopback, together with a service of the steps
// that the node's plugin makes.
package restate
