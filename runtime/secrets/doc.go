// Package secrets serves Vaults to callers, and their secrets to Tasks and Connectors: it
// decides who may use one, records each use, and only then gives the value. Package vault keeps
// the values.
//
// Its invariants:
//
//   - No value leaves before the log says that it was used, by whom and where to; a refusal is
//     recorded too.
//   - A Vault that the user's Workspace has no part in looks like one that is not there.
//   - What callers get of a secret never holds its value, nor anything that it can be guessed
//     from.
//   - A value is kept before the log states its version, and destroyed before the log says
//     that it is removed.
//   - What was found for a Connector is used again for a while, and looked up anew at once
//     when a Vault changes.
//
// It may import abi, storage, the desk, the ledger, policy and what providers share.
package secrets
