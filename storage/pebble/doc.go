// Package pebble is the embedded engine behind [storage.Store]: one data folder,
// one process, no server.
//
// # Writing
//
// [Store.Append] turns a batch into keys and values on the caller's goroutine, all
// but the position, and puts it into a queue that is bounded by bytes. One
// committer goroutine takes what is waiting, fills the positions in, merges it into
// one Pebble batch and applies it. A second goroutine waits for the syncs in order,
// raises the durable watermark, wakes the writers and feeds the subscriptions, so
// that the next batch is prepared while the last one is on its way to the disk.
//
// # Reading
//
// Pebble shows a commit before it is synced. Every read that meets something above
// the durable watermark waits until the watermark has reached it.
//
// # Failing
//
// The first write or sync that fails is the last one tried: from then on the store
// refuses work with an error that wraps [storage.ErrFailed]. The process lives on.
//
// docs/log-format.md specifies every byte that this package writes.
package pebble
