// Package desk is where callers are served: it knows who calls ([Caller]), makes a write at
// most once ([Desk.Once]), and shows resources, lists and events to callers that may see them.
//
// Its invariants:
//
//   - Nobody is shown what they may not see: [Desk.Get], [Desk.List], [Desk.Events] and [Find]
//     treat what a caller has no part in as if it were not there.
//   - A stored resource holds what cannot be known otherwise. What follows from elsewhere (a
//     Task's input, a Session's last event, an Artifact's receipt) is put in when it is shown.
//   - What cannot be read is named and left out; it never makes the rest of a list fail.
//   - A document that holds parts that are not public says so ([Doc.Restricted]); package
//     redact withholds them.
//
// It knows nothing of how a Task runs. It may import abi, storage, the ledger and packages
// of runtime that know neither the store nor the engine.
package desk
