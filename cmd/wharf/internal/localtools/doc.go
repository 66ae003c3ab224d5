// Package localtools has the tools of MCP servers that a client names by commands. They run beside the pipe that the
// client has started, on its user's machine and as its user: a node starts no command for a client.
//
// Its invariants:
//
//   - A process belongs to one entry of one [Set], and is gone, with all that it has started, when the Set is closed.
//   - Of the pipe's environment a server gets what every program needs, and what its entry says. The pipe's own key is
//     none of that. What an entry says is told to nobody.
//   - A server that does not answer keeps nobody waiting for longer than [Options.Patience]: the others' tools are
//     listed meanwhile, and its own are said to have changed when it does.
//   - One that has died is started again when it is next needed, after a pause that doubles, up to half a minute, with
//     each time that it dies young.
//   - Of two tools of one name there is the first, in the order of entries; what others have comes before all of them.
package localtools
