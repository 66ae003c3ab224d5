// Package quotas counts what Tasks use against Quotas: it admits or refuses a Task
// ([Book.Check], [Book.Enroll]), sets aside what a call may use ([Book.SetAside]), and states
// what was used in the very batch that records it ([Book.Count]). [Resources] serves Quotas to
// callers. The arithmetic of one Quota is in package quota.
//
// Its invariants:
//
//   - The log has, at each point, exactly the usage of the calls that it has: a Quota is
//     stated in the batch of the calls that it counts, and no other batch that states it is
//     handed over in between.
//   - Work that is done at once cannot pass a hard limit: a call sets aside the most that it
//     can use before it is made, and counts what it used afterwards.
//   - A Quota that cannot be read counts as used up.
//   - A replay uses nothing.
//
// The book's lock comes after a Task's and after a Session's; its holder waits for nothing but
// the ledger's queue. It knows a Task by its [Account] alone: it may import abi, storage, the
// desk, the ledger, and what is pure.
package quotas
