// Package references finds Sessions by what things outside call them: an editor's folder, the
// context of another protocol. Rooms that make Sessions ask it for the records that go into
// their batches.
//
// Its invariants:
//
//   - In a Workspace no two Sessions have the same reference. A reference is a resource, whose
//     id follows from its Workspace, its kind and its text. The batch that makes a Session states
//     its references, and takes effect only if nobody has stated them meanwhile.
//   - A reference is found by its id, so the cost does not grow with the log; and it is there as
//     long as its Session is.
//   - Texts are compared byte by byte.
//   - Whoever has no part in a Workspace learns nothing of the references in it.
//
// It may import abi, storage, the desk and the ledger.
package references
