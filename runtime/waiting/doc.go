// Package waiting has what Tasks wait for: somebody's permission, input or authorization, the
// end of a child, a time. It says what a call that waits waits for ([For]), what somebody is
// asked by it ([Keeper.Ask]), and what becomes of that ([Step], [Answer.Take]); it keeps what is left in memory
// of Tasks that wait ([Parked], [Pending]) and who waits for Tasks ([Ends]); and it serves
// requests for permission to callers ([Keeper]). Parking a Task and waking it is the engine's.
//
// [Step] is all that decides on a request: a pure function from a request and an input to
// the next request and the effects that the engine writes in one batch. It reads no clock,
// keeps nothing and does no I/O.
//
// Its invariants:
//
//   - Who may decide on a request, and how many must, is fixed when it is made.
//   - A request is settled once, in the batch that ends its Task's wait, whatever ends it.
//   - It is settled as approved only when its quorum of different actors has approved the
//     same arguments. Nobody approves arguments that they may not have seen.
//   - What is pending can be listed without a look at what was answered.
//   - Whoever waits for the end of a Task learns of it once it is durable, or of why it never
//     can be.
//
// It may import abi, storage, the desk, the ledger, the Sessions' Messages, and what is pure.
// The locks of its tables are those of tables: no other but the last is taken under them.
package waiting
