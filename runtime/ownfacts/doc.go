// Package ownfacts answers the host calls that ask the node for a fact of its own (the time,
// randomness, an id, where the Task belongs), and those that tell something and need nothing else.
// What is answered is recorded, so that a run that is repeated is told the same.
package ownfacts
