// Package copies has a node copy its data while it runs.
//
// Its invariants:
//
//   - Nobody has a copy made but who administers the node: it holds what every tenant has.
//   - No file of a Workspace comes or goes while it is copied, so that what the log says of it
//     holds in the copy.
//   - A copy that lacks something is an error, and not an answer.
//
// It may import abi and the desk.
package copies
