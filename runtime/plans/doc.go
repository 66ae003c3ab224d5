// Package plans keeps what Tasks mean to do: a plan of each, with steps that have ids. The plugin
// sets it and reads it by host calls, and people change it while the Task has not ended.
//
// Its invariants:
//
//   - A plan is changed by one at a time, and each change is a version of its own, with its actor.
//     Who says which version is meant changes nothing when another was faster.
//   - People change no plan of a Task that has ended: their change and the Task's end are in one
//     order, which the log decides.
//   - A fork begins with the plan that its source had at the fork's event.
//
// It may import abi, storage, the desk, the ledger and what host calls are answered with.
package plans
