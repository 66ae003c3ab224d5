// Package pinned keeps what Tasks are pinned to: the module that a Task runs and its Persona,
// each as it was when the Task began, as blobs that are found by their hashes.
//
// Its invariants:
//
//   - What a Task is pinned to is in the blob store before the Task's first event names it.
//   - Nothing else decides what a hash stands for: another version of a plugin or a Persona
//     changes nothing for a Task that has begun.
//   - What it remembers only saves reads and writes, and is bounded: it may be forgotten.
//
// It writes blobs, and no events. It may import abi, storage, the journal, the ledger and
// personas.
package pinned
