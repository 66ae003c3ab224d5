// Package live knows which clients are attached to Sessions: any number of observers, and at most
// one controller, from which alone prompts and answers are taken of requests that name a client.
//
// Its invariants:
//
//   - A Session has at most one controller, and one client of each id. Whoever attached a client is
//     the only one who acts as it; others take the Session over as clients of their own.
//   - Who controls a Session changes while nothing else is handed over for it, and after the event
//     of that is durable. So in the log what a client has submitted lies on the right side of a
//     takeover.
//   - What is known lies in memory and is bounded: by clients of a Session, of a tenant and of the
//     node, and by what one says of itself. With the node it is gone, as the connections are; the
//     events stay.
//
// It may import abi, storage, the desk and the ledger.
package live
