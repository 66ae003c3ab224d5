// Package waiting has what Tasks wait for: somebody's permission, input or authorization, the
// end of a child, a time. It says what a call waits for ([For]), what it asks somebody
// ([Keeper.NewPermissionRequest]), and what becomes of that ([Step], [Answer.Take]). It keeps what is left in
// memory of waiting Tasks ([Parked], [Pending]) and who waits for Tasks ([Ends]). It serves
// requests for permission to callers ([Keeper]). The engine parks Tasks and wakes them.
//
// Only [Step] decides on a request. It is a pure function from a request and an input to the
// next request and the effects that the engine writes in one batch. It reads no clock, keeps
// nothing and does no I/O.
//
// Its invariants:
//
//   - Who may decide on a request, and how many must, is fixed when it is made.
//   - A request is settled once, in the batch that ends its Task's wait, whatever ends it.
//   - It is settled as approved only when its quorum of different actors has approved the
//     same arguments. Nobody approves arguments that they may not have seen.
//   - Pending requests can be listed without looking at answered ones.
//   - A caller that waits for the end of a Task learns of it once it is durable, or learns why
//     it never can be.
//
// It may import abi, storage, the desk, the ledger, the Sessions' Messages, and what is pure.
// The locks of its tables are those of tables: no other but the last is taken under them.
package waiting
