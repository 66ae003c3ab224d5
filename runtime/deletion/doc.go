// Package deletion removes what nobody is to keep: Tasks, Sessions and Artifacts that somebody deletes, and those that
// are older or take more room than is configured.
//
// Its invariants:
//
//   - What is deleted is shown to nobody from then on, and is erased as soon as nothing else needs it: a Task once its
//     forks and replays are gone, a Session once those are that were forked from it, an Artifact that a Task's record tells
//     of with that Task.
//   - Nothing is erased that has not ended, or that a Hold is on, be it on itself or on what it is in.
//   - Receipts stay, with their chain.
//   - What was deleted and is not erased yet is known after a crash, and erased then.
//   - Who works beside it waits for one small batch at most, and the work leaves the node more time than it takes.
//
// It may import abi, storage, the ledger and the desk.
package deletion
