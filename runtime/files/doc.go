// Package files serves the files of Workspaces: content by its path, in a folder of the node
// for each Workspace.
//
// Its invariants:
//
//   - What lies outside a Workspace's folder is not reached, neither by a name nor by a link.
//   - A file is whole: it is written beside its place, synced, and put there.
//   - A change is told after it is on disk, and a removal before: the log never tells of a file
//     that is not there.
//   - What is counted of a Workspace is what is on the disk, with what each entry costs, and what
//     is being written.
//   - A call of a plugin changes a file once, however often it is made: its mark says so (marks.go).
//
// It may import abi, storage, the desk, the host's tools, the ledger, turns, and what providers share.
package files
