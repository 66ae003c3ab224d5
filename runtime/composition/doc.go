// Package composition knows the composition that a Task has open: the run of a snippet whose effects are the
// Task's own recorded calls.
//
// Its invariants:
//
//   - A Task has one composition open, or none. Which one follows from its record alone, so a life of the Task
//     after a crash, a replay, and whoever ends a Task without a running plugin know the same.
//   - While one is open, every call of the Task is held to its ceiling: a plugin cannot leave it but by ending it.
//     What is not known is at the highest level.
//   - Of a composition there is a composition_start, and one terminal event after which nothing is told of it. Each is
//     in one batch with what makes it so: the call that begins or ends it, or the end of the Task.
//   - A child is a tool call that is recorded. It is told in the batch of its intent, or with its end when it has none,
//     and so once; its result is told in the batch of its answer, or of the end of the Task.
//
// It is pure. It may import abi, the ledger's records, the journal, policy, what providers share, and what is known of
// tool calls.
package composition
