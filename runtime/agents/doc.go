// Package agents takes agents in and gives them out as bundles of the Open Agent Format. An agent
// is a Persona with a member agent: what is kept of a bundle besides is blobs.
//
// It stands beside runtime/personas, which decides what a Persona may be and writes it, since that
// is policy and needs no bundle: this room knows files.
//
// Its invariants:
//
//   - What is refused leaves nothing. All agents of a bundle are written in one batch, or none.
//   - In a Workspace no two agents have the same name or the same key.
//   - A bundle that was given out is taken in as the same agent, and given out again as the same
//     bytes.
//   - What a bundle says never makes the node call anything, and an agent has no more tools than
//     its bundle says.
//
// It may import abi, storage, the desk, the ledger, personas, and what reads bundles.
package agents
