// Package ledger is where a node writes: every batch of events goes through it to the
// store, and what orders batches among each other is here.
//
// Its invariants:
//
//   - A batch is handed over with [Ledger.Append] and in no other way. The log has batches in
//     the order of these calls; batches that may not change places are handed over under a
//     lock.
//   - Nobody hears of a batch, and no lock that stands for it is given back, before
//     [storage.Commit.Wait] has returned. It is waited for with a context that does not end:
//     what was handed over may become durable, so nobody may act as if it had not been.
//   - A write with an idempotency key is looked up and handed over under the key's claim
//     ([Once]), so that of several with one key the first is written and the others get its
//     answer. The claim saves the others the work, and waits for the first one's answer. The
//     store itself makes sure that no key is written twice ([storage.ExpectNoAnswer]), even
//     when another writer does not share the claims.
//   - A writer that reads a resource and then changes it does so with [Change], which holds the
//     resource's lock until the change is durable, and states the sequence after the one that
//     it has read. What is handed over with [Ledger.HandOver] takes effect only if that is the
//     next ([Expected]), so that no change is lost, even when another writer does not share the
//     locks: then the resource is read again, and the change made anew. A writer that does
//     something else besides holds [Ledger.Lock], and fails instead ([OvertakenError]).
//   - A resource that many write events of at once takes its sequences from
//     [Ledger.AppendNext], which waits for nobody else's disk. A writer that changes such a
//     resource says which event it has read ([Record.Read]): the sequence does not tell.
//   - The batches of a Session that leave it as it is are handed over with [Session.While];
//     those that change it with [Session.Change], and nothing else is handed over meanwhile.
//
// The locks have one order, which stands in package lockrank. The order of a Workspace's
// receipts and that of Quotas are kept by the packages that know them, under locks that come
// after all of these.
//
// The package also says what could not be written ([Ledger.Failed]) or read ([UnreadableError],
// [LostContent]), in words for clients. It knows no Task, no plugin and no protocol: it may
// import abi, storage, and packages of runtime that know neither the store nor the engine.
package ledger
