// Package skillbundles serves the skills that are installed in Workspaces as files
// (docs/skills-bundles.md), and gives Tasks those that they have.
//
// Its invariants:
//
//   - Of what is refused nothing is kept: files are checked before any of them is stored.
//   - What is stored is an archive that was packed here, whatever came. It is on disk before the
//     log states its hash, and is never removed: Tasks that were given it may be replayed.
//   - A name is one bundle's within a Workspace, and a version of a bundle is one set of files.
//   - A version that is installed is above the one that is used then.
//   - A Task has its skills as they were when it started: its program has their hashes.
//
// It may import abi, storage, the desk, the ledger, what reads bundles, and what host calls are
// answered with.
package skillbundles
