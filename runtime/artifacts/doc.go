// Package artifacts serves Artifacts: files, patches and logs that Tasks and clients leave
// behind, with their content in the store or elsewhere.
//
// Its invariants:
//
//   - The content is on disk before the log states its hash.
//   - A stated SHA-256 is that of the content.
//   - An Artifact's content never changes.
//
// It may import abi, storage, the desk, the ledger and what host calls are answered with.
package artifacts
