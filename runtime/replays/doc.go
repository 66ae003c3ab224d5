// Package replays serves replays and forks: a Task that runs another one's record again, and one
// that shares the beginning of a record and goes on live. A [Keeper] accepts them ([Keeper.ReplayTask],
// [Keeper.ReplaySession], [Keeper.ForkTask]) and runs a replay that was accepted ([Keeper.RunReplay]).
// Package records has the record of what it replays, and package replay, which needs no store, runs
// a record on a module.
//
// Its invariants:
//
//   - A replay is accepted with all that it names: an override whose key, kind, hash or content does
//     not fit the record is refused before there is a Task.
//   - What was asked for is kept whole until the replay runs, except values of secrets, which
//     no replay needs and nothing may keep.
//   - The same replay has the same id ([replay.ID]), and with it the same receipt and the same ids of
//     what it makes, on any node. What the same replay has made before is not made again.
//   - Each call after the checkpoint is told once, in order, over however many starts.
//   - A replay asks nothing of the world and adds nothing to its Session's transcript.
//   - A record that is not all there is a failure that names what is missing: of the replay that has
//     begun, or of the request.
//
// It knows a Task under way by [Task] alone, and nothing of how one is accepted, started or ended:
// [Parts] has what it asks for.
package replays
