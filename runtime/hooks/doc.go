// Package hooks has the hooks of Workspaces: who is asked before a tool is called, and who is told of
// what has happened. A hook is kept by the outbox, as a Webhook of its own kind; the engine asks this room at
// the gate of a call ([Keeper.AskBefore]), and has it add to a batch what hooks are told of it ([Keeper.WithHooks],
// [Keeper.HooksAtEnd]).
//
// Its invariants:
//
//   - What hooks have said before a call is one entry of the Task's record, before that of the call. It is
//     asked for again only where the node has died before that was written; a replay asks nobody.
//   - Hooks are asked one after the other, in the order in which they were made; each sees what those before
//     it have made of the arguments. The first that denies ends it.
//   - A plugin that a hook names reaches nothing outside, as one that normalizes deliveries; what it is told
//     besides the question follows from it.
//   - A hook that gives no answer in time, or none that makes sense, has said what its fail says.
//   - That a hook is to be told of something is in the batch that tells the thing itself. It is sent by the
//     outbox, from a queue of the hook's own, so that no Task waits for it.
//   - What a hook gets is all there is, as its maker may see it. What events tell of hooks hides of a tool
//     what its Persona hides.
//
// It may import abi, storage, the desk, the ledger, the outbox, journals, schemas, and what runs plugins apart from Tasks.
package hooks
