// Package sealed keeps the secret values that rooms hold for what they serve: what a Webhook
// signs with, and the headers that go to a receiver or to a server of tools. It says what the log
// tells of a value, and hands the value to those who keep it; the rooms write what it returns in
// the batch that makes use of the value.
//
// Its invariants:
//
//   - A value is on disk, encrypted, before the log says that there is one. A crash between the
//     two leaves a value that nothing names.
//   - What the log tells of a value is where it is, never what it is.
//   - The body of a write that holds a value is compared with a retry's by something that does not
//     let the value be guessed.
//
// It may import abi, storage, the desk and the ledger.
package sealed
