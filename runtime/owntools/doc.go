// Package owntools describes the node's own servers of tools, host and skills, to the code that lists
// and grants tools: the configuration's are described the same way. What their tools do, the engine
// does itself.
//
// It may import abi, the host's tools, and what says how a Persona is a tool.
package owntools
