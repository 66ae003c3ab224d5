// Package alone runs one plugin without a node: an author's host calls are answered from a file,
// from the record of a Task, or by what the author lets it reach.
//
// Its invariants:
//
//   - A run is told nothing that was not asked for: without a grant the time, the randomness and
//     the ids are made from a seed, so that a run does the same every time.
//   - A call that nothing answers ends the run with a [*Missing], which says what to add to the
//     file. What a plugin hands out is taken without an entry, and gets an id from the seed.
//   - A request is held against the form of the call's definition before anything answers it, in
//     the words of a node. A node's rooms check more than the form, and may refuse what passes here.
//   - Files are read within bounds of size, depth and count, without anchors and tags.
package alone
