// Package personas serves Personas, which are policy, and the Skills that they are offered as:
// to callers, and to what runs Tasks.
//
// Its invariants:
//
//   - A version names one policy: a change of policy is a new version, and none has the name
//     of another.
//   - A Persona is of one Workspace or of the whole tenant, for as long as it is there, and so are
//     the Skills that it is offered as. In any other Workspace it is as if it were not there:
//     whatever newly names one asks [Keeper.PersonaIn].
//   - A key that is bound to Workspaces changes those of its Workspaces, and none of the tenant,
//     which are policy for all of them.
//   - What comes with the node is brought up to date at each start, unless a client has
//     changed it.
//   - A [Persona] is shared and never changed: each change makes a new one.
//
// It may import abi, storage, the desk, the ledger, and what is pure.
package personas
