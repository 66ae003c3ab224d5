// Package proofs issues the receipts of Tasks that end, and gives each its place in its
// Workspace's chain; it shows them to callers, verifies them against what the node knows
// otherwise, and exports a Task with all that a stranger needs to do the same. Package receipt
// decides what a receipt says, and how it is hashed and signed.
//
// Its invariants:
//
//   - A receipt is in the batch that ends its Task: neither is durable without the other.
//   - Receipts of a Workspace are handed over in the order of its chain, under the chain's
//     lock. What the chain was when the node died is read back from the log.
//   - A chain has no gap: when a receipt that a batch is to be sealed over is missing, no
//     receipt is issued any more.
//   - The receipt of a replay is in no chain: it follows that of its source, and the same
//     replay has the same receipt, however often it is done and wherever.
//   - A receipt that cannot be made never holds up the end of its Task.
//
// It does not know how a Task runs: the part that ends a Task says what the receipt is made
// from ([Facts]). It may import abi, storage, the desk, the ledger,
// the records of Tasks, and what is pure.
package proofs
