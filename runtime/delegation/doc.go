// Package delegation has agents outside do paid work for Tasks: it answers the host call
// agent.delegate. The order in which that goes is the node's, and no plugin's:
//
//	a bound on what the work may cost, and a key that names it
//	→ the agent's card proves that it keeps to both → the agent's plan
//	→ somebody has approved the plan → Quotas have room → the intent is on disk
//	→ the work is dispatched by that key → what was handed over is kept, and its cost is counted
//
// [Keeper.Prepare] does the first line and the second; policy, Quotas and the record are the engine's,
// as for any write; the rest is the Plan's Do.
//
// Its invariants:
//
//   - The plan that is dispatched is the one that was approved, to the agent whose card was looked at.
//   - Of one key at most one piece of work is dispatched, however often the node dies: a dispatch
//     that is repeated has the same key, by which the agent tells that it is the same.
//   - What was handed over is an Artifact whose id follows from the key, written in one batch with
//     the answer of the call. So who comes back with a key of work that was done is answered from
//     there, at any time, and nobody outside is asked.
//   - A key is that of a plugin in a Workspace: no other learns what it stands for, here or at the
//     agent, which is told a hash.
//
// It may import abi, storage, the desk, the ledger, the journal's hashes, and the client of agents.
package delegation
