// Package installs has plugins come, change and go while a node runs: it keeps their modules and
// says which of them a name stands for.
//
// Its invariants:
//
//   - A name of a plugin is the node's: its limits and grants are in the configuration, by name. So
//     who administers the node installs, for all tenants, and nobody gives a name another meaning
//     that the node has of its own.
//   - A module is a blob, and has been compiled, before an event names it. That event alone switches
//     new Tasks to it: after a crash at any moment the log has the version of before or the new one.
//   - A module that cannot be loaded leaves nothing in the log.
//   - What a Task runs was fixed when it started, by its module's digest. No switch, disabling or
//     removal changes it; the blobs stay, so that it goes on, and is replayed, by the same bytes.
//   - What new Tasks run is what is durable: [Keeper.Installed] changes after the disk has it.
//   - What a manifest makes in tenants follows from the plugin's state: it is made after the event, and
//     again at each start, by the last state.
//   - What a manifest says of a Connector or a hook makes neither: it is what one is made with that names the plugin.
//     It is read off the plugin's state, so no step of its own can be left out.
//   - A version is a name of one module and one manifest, for as long as it is listed.
//   - With a policy of trusted keys new Tasks run what came in a package that one of them has signed, and nothing
//     else: not a version that came before the policy either.
//
// It may import abi, storage, the desk, the ledger, manifests, packages and the hashes of the journal. It knows nothing of
// what compiles modules.
package installs
