// Package hosts reaches what the clients of a Session have beside people: tools that a client lists
// when it is asked, its files and terminals, its shells, and skills of its own.
//
// A [Host] is one client's connection, for one Session. [Hosts] are all of the node: they are part of
// the server of tools `client`, answer for the server `process` as far as a client does ([Process]),
// and answer the host call skill.match ([Skills]).
//
// Its invariants:
//
//   - A client is asked for nothing that it has not declared.
//   - Everything is asked while a Task makes a host call, which the engine records: a replay asks no
//     client.
//   - What clients answer is bounded: in time, in bytes, in number.
//   - No word of a client's makes its tool a read. What this package itself describes, such as fs_read,
//     is what it says.
//   - Of several clients of a Session the controller is asked first, then the one that came last. A name
//     that two offer is the first's in this order; where one of them fails to list, the other is asked.
//   - A Task that goes on when the node is started again waits a while for the clients whose tools it calls.
//   - A terminal that was created is released, whatever becomes of its call.
package hosts
