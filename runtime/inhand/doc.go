// Package inhand bounds the memory that large documents take while something is done with
// them: a Task's input of 30 MB that is read for a run, a page that is written to a client.
// What is small takes nothing.
//
// A request takes bytes of bodies first (limits.in_flight), then a share here; a run takes
// a share here, then memory for its guest. Whoever holds a share never waits for more of
// it: what it needs besides is counted, and others wait for it. So no two wait for each other.
package inhand
