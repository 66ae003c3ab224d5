// Package aside keeps what is stored and could not be read ([Shelf]): a node goes on without it,
// and says so. It examines what is stored for that, and knows what is left of a Task that cannot
// be read.
//
// Its invariants:
//
//   - What cannot be read costs itself and nothing else. Only a failure of the store itself is
//     an error of the shelf.
//   - It writes nothing.
//   - The shelf knows whether the end of a Task that is set aside is recorded: until then
//     somebody may end it.
//
// It brings no Task back and ends none: the engine does. It may import abi, storage, the desk
// and the ledger.
package aside
