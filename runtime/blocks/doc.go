// Package blocks keeps what Personas have in mind: blocks of text with labels, which are few and
// small enough to be read as a whole; and it searches them together with their archive, which is
// the Memories of the Persona.
//
// Its invariants:
//
//   - All blocks of a Persona are one resource, changed by one at a time. Each change is a version
//     of its own with its actor, and the log keeps those before it.
//   - A block that is read-only is changed and deleted by nobody, but goes with its Persona.
//   - Who sees a Persona sees its blocks, unless it is deleted; who is bound to Workspaces changes
//     none of a Persona of the tenant.
//   - A Task sees and changes the blocks of its own Persona alone, if that is an agent of a Workspace:
//     those are what people see, change, take away and delete with it.
//   - An import of a snapshot is one batch: all of it is there, or nothing.
//   - A search looks at all blocks, and at no more of the archive than package memories says.
//
// It may import abi, storage, the desk, the ledger, memories, rankings, what bundles hold
// and what host calls are answered with.
package blocks
