// Package receipt makes, seals and checks receipts: what a Task did, in a form
// that a stranger can check without trusting the node (docs/receipt.md).
//
// A [Tally] collects, call by call, what the record of a Task says. [Build] makes
// a [Receipt] of it and of what the host knows besides. [Seal] gives the receipt
// its place in a chain, its hash and its signature; a [Chain] does so for the
// receipts of one Workspace, in order. [Verify] checks the bytes of any receipt,
// also those of others.
//
// Nothing here reads a clock, a disk (but for the [Keyring]) or the network: the
// same facts give the same bytes.
package receipt
