// Package roomtest sets up what a room of runtime works with, for the room's own tests: a ledger
// and a desk over a store that the test gives, a Workspace, callers of every kind, and a crash.
//
// It knows no room, so that each can use it, and no store: a test gives package memory's.
package roomtest
