// Package replays serves replays and forks: a Task that runs another one's record again, and one
// that shares the beginning of a record and goes on live. A [Keeper] accepts them ([Keeper.ReplayTask],
// [Keeper.ReplaySession], [Keeper.ForkTask]) and reads what a record is put together from
// ([Keeper.TaskRecord]). How a record is run on a module is package replay's business, which needs
// no store.
//
// Its invariants:
//
//   - A replay is accepted with all that it names: an override whose key, kind, hash or content does
//     not fit the record is refused before there is a Task.
//   - What was asked for is kept whole until the replay runs, but for values of secrets, which no
//     replay needs and nothing may keep.
//   - The same replay has the same id ([replay.ID]), and with it the same receipt and the same ids of
//     what it makes, on any node.
//   - A record that is not all there is a refusal that names what is missing.
//
// It knows nothing of how a Task is accepted, started or ended: [Parts] has what it asks for.
package replays
