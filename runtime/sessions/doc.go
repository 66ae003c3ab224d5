// Package sessions serves Sessions, the Messages of their transcripts, and the Branches that
// forks of them make.
//
// Its invariants:
//
//   - A transcript is what the log has of it, in the order of the log. A write that changes a
//     Session's form (an update, a truncation, a fork, a merge) has the Session for itself
//     while it is handed over.
//   - A Session that a Task makes is written in the batch that accepts the Task; a hidden one is
//     closed in the batch that ends it.
//   - A Session names nothing that its caller may not read, or that its Workspace has no part
//     in.
//   - A Message has a role, parts that have what their types require, and a visibility for
//     each; what a client refers to is there, for that client.
//
// It may import abi, storage, the desk, the ledger, packages personas, memories and references, and what host
// calls are answered with.
package sessions
