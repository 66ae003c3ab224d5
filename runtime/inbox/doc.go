// Package inbox keeps what waits for the Tasks of a Session: what users say while they work, and
// reminders. Clients queue it, change it and take it back; a plugin takes what is due by a host call.
//
// Its invariants:
//
//   - What was accepted is delivered once, or revoked: who comes first is decided by the Session's
//     inbox, a resource whose changes are in one order, and whose lock is held until a change is on
//     disk. Each change is in one batch with what it is about, and a delivery with the record of the
//     call that takes it and the Message that it becomes.
//   - What waits is taken in the order in which it came, but for reminders that interrupt. Nothing
//     is lost because no Task takes it: it waits for the next.
//   - A Task that waits for the inbox is woken by what is due to it, also when both come at once.
//   - Forks and replays take nothing, and a Task that a plugin has spawned leaves to the one that it
//     works for what is said in their Session.
//   - How much waits in a Session is bounded.
//
// It may import abi, storage, the desk, the ledger, the Sessions' Messages, what is waited for, and
// what host calls are answered with.
package inbox
