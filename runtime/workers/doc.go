// Package workers tells Tasks of their children: each step of a child's life is an event
// vendor.wharf.worker on the stream of the parent, which may have a Session of its own.
//
// The batch that takes a step of a child which the parent is to be told of makes the event that states the
// child pending ([Due], [Accepted]), in one of the lists of the child's tenant. A teller of that list
// ([Keeper.Noted]) reads what is pending, and writes what the parent is told in the batch that settles it.
//
// Its invariants:
//
//   - What a parent is told follows from the events that state the child, and from nothing else: a step is
//     told once, also when the node dies at any point, for telling and settling are one batch.
//   - The steps of one child are told in their order: they are in one list, which has one teller at a time. So nothing
//     follows a terminal one. Whether the parent waits, has ended or was canceled does not matter.
//   - A child is told of to its own parent alone. A fork, and a replay, is nobody's worker.
//   - How far a child says it is may be lost with the node. It is told at most once a second and child, and only
//     while the child has not ended.
//   - A Task without a parent costs nothing.
//
// It may import abi, storage, the desk, the ledger, locks, Personas and what withholds content.
package workers
