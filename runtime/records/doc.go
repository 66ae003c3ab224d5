// Package records reads back from the log how Tasks ran. A [Reader] gives a Task as it is stored
// ([Reader.Task]), the calls that its runs made ([Reader.History]), what its plugin was given
// ([Reader.Given]), and all of it as one record that can be run again anywhere ([Reader.Of]).
// [Started] is what a Task's first start tells of what it runs, for History to read.
//
// Its invariants:
//
//   - Whatever repeats a run reads the same here: the run of a later life of the node, a replay, a
//     fork, a receipt and a bundle.
//   - A fork has the calls that it shares with its source, what its source runs, and what its
//     source was given. Forks that come from one another in a circle are reported.
//   - What a plugin is given lacks what is for receipts only; the hashes of that are beside it.
//   - What is damaged or gone is an error that names it: nothing is left out in silence.
//
// It writes nothing: whoever has something to tell writes events and blobs.
package records
