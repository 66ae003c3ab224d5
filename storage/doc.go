// Package storage is what the runtime knows of the disk: one small interface for
// the log, the projections that follow from it, idempotency records and blobs.
// Engines live in sub-packages; docs/log-format.md specifies the bytes.
//
// # The log
//
// A writer hands over a [Batch]: one [Frame] of events with contiguous
// [Position]s. Events are the source of truth. Every resource is a projection:
// a pointer to the event that last stated it (its [Record.State]), so that a value
// is stored once. Projections are derived from the frames alone, by one set of
// rules, and can be rebuilt from them.
//
// # Durability
//
// [Store.Append] hands a batch over and returns at once; the order in which calls
// return is the order of the log. [Commit.Wait] returns when the batch is synced.
// Nothing that is not yet durable is ever returned by a read: reads wait for the
// durable watermark. A failed write or sync is final: the store refuses everything
// after it with an error that wraps [ErrFailed].
//
// # Conditions
//
// A batch may say what it expects ([Batch.Expect]): that a write is the first with its key, a
// delivery is new, a resource is as its writer has read it, a lease is still held. The engine
// checks this when the batch's turn comes, after everything before it and with nothing in
// between. So of several writers that exclude each other one wins, no matter which. The others
// get a [ConflictError] that says what stands there, and leave nothing.
//
// # What an engine must give
//
// Package storagetest tests engines for all of this that can be seen from outside. The runtime
// relies on nothing more:
//
//  1. Order. Positions are gapless, from 1, over all tenants, in the order in which calls
//     of Append return; what one goroutine hands over keeps its order.
//  2. Append waits for room, never for the disk, and reports nothing. When a batch is
//     durable, so is every batch before it.
//  3. A watermark that is cheap to read and never falls. No read and no subscription shows
//     what lies above it, nor misses what a durable batch has removed.
//  4. Conditions ([Batch.Expect]) that are looked at in the order of the log. A refused batch
//     takes no position, and its writer learns of nothing that is not durable.
//  5. Operations that see all that was handed over before them: copying and truncating a
//     transcript, forgetting the words of a Memory, and conditions.
//  6. Subscriptions that are woken for every event of their scope, no matter who wrote it, and
//     that cost the writer nothing when they are slow.
//  7. Ownership. The store owns a batch once it is handed over: it may write First and Time
//     into it, and show that very frame to readers, who change nothing.
//  8. Failure that is final ([ErrFailed]) when the engine can no longer tell which of the
//     batches that it was handed are durable. What it can repair by itself, such as a
//     connection that is lost and found, is not a failure: Wait waits.
//  9. Lists by id. Ids begin with their time, and sort as their bytes do; an engine may not
//     list by anything else.
//  10. Memory of keys: an idempotency record until it expires, the key of a delivery for the
//     longest window that is configured. How an engine finds them, and what that costs, are
//     its own options, which only the code that opens it knows.
//  11. An index of words by [WordRules]. An index made by other rules is made again before
//     the first search.
//  12. Blobs that every reader of the store can read once Put has returned, and that stay.
//
// Retention, copies, checks and walks are not part of this: see [Retainer], [Backuper],
// [Checker] and [Walker].
//
// What a caller must give: sequences of a resource never fall; a batch is handed over once;
// and, until docs/scale.md says otherwise, one process writes.
package storage
