// Package abi holds every type that crosses a boundary of Wharf: the resources
// of the Harn Agents Protocol, its events, its errors, its task states, and the
// host calls that a plugin may make.
//
// The package imports nothing else of Wharf. JSON names are exactly those of
// the protocol (docs/protocol.md). Types here are plain data: they are safe to copy and
// carry no locks.
package abi
