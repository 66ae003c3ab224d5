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
package storage
