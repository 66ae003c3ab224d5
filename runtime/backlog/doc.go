// Package backlog says where the pending deliveries of a Connector are, and who works on
// them.
//
// A delivery is pending from when it is on disk until what it means is. Those that come in
// are remembered, in the order of the log, in the Connector's inbox: a worker takes them
// from there. Not all fit. One that was not remembered is read from the log later, and so
// is every one that comes after it, until the log has no more: then the inbox is used
// again. A delivery that became pending anew, or beside the inbox, is older or younger than
// what the worker has read: then all are read again, from the first that is pending.
//
// [Step] is the whole of it: a pure function from a state and an input to the next state
// and the one thing that is to be done. It reads no clock, keeps nothing and does no I/O.
// Whoever keeps a [State] applies inputs one after the other, under the lock that orders
// the Connector's batches.
//
// It knows nothing of ours.
package backlog
