// Package node puts the parts of a Wharf node together and takes them apart
// again: data folder, sandbox, engine and front door.
//
// The life of a [Node]: [Start] opens everything and listens; [Node.Serve]
// answers until its context ends, then drains and closes everything.
package node
