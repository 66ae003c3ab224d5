// Package node builds the real binary, runs it as a process of its own on
// loopback, and speaks to it as a client would.
package node
