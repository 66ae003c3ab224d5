// Package hostcall is what stands between a plugin's run and the rooms that answer its host
// calls: a room offers a [Func] for each call that it serves, reads a [Call] and gives an
// [Answer].
//
// Its invariants:
//
//   - A room decides nothing about records, policy or replays: the engine has asked for all of
//     them before a room is asked, and records what it answers.
//   - What a call states is written in one batch with the call's own event, so neither is there
//     without the other.
//   - A plugin can pass on what it gets in a list: nothing in it nests deeper than a request
//     may ([MaxListed]).
//
// It may import abi, storage, the ledger and what providers share.
package hostcall
