// Package deltas decides how text is told that a model, or a plugin, is still writing: which
// pieces of it become events, when, and which Message they will be.
//
// Its invariants:
//
//   - A Task tells at most [PerSecond] pieces in any second, however many come. The first piece of
//     a text is told at once, and what has come meanwhile together with the next one.
//   - The pieces of a text follow each other without a gap and without an overlap: each says how
//     many bytes come before it. A text may be told in part, never with a hole: the rest is in the
//     Message.
//   - What waits to be told is bounded by maxWaiting.
//   - The Message that a text becomes has the id that the pieces have named, also when the node
//     has died in between: the id follows from the Task and the place in its record.
//   - Nothing here looks at a clock or starts a goroutine: times are told to it.
//
// It may import abi.
package deltas
