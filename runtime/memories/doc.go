// Package memories serves Memories: what clients and plugins keep for those who may use it,
// found by its words.
//
// Its invariants:
//
//   - A Memory belongs to a Persona, a Session, a Workspace or the tenant, and is seen where its
//     owner is. One whose time is over is as one that is not there.
//   - What is redacted is gone from the index of words, and its content from every answer.
//   - A query costs a bounded number of searches, each of a bounded number of Memories.
//
// It may import abi, storage, the desk, the ledger and what host calls are answered with.
package memories
