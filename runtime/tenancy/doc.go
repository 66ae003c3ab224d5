// Package tenancy knows the tenants of a node, their Workspaces, and who may call: it makes
// tenants and API keys, and finds the caller that a key or an access token stands for
// ([Directory.Authenticate]).
//
// Its invariants:
//
//   - A number belongs to one tenant for ever: what is stored under it is the tenant's. While
//     a tenant is stored that cannot be read, no other is made.
//   - Nobody gives away more than they have: a key's scopes and Workspaces are those of its
//     maker or fewer.
//   - A key is shown once, when it is made; the log has its hash.
//   - No request that begins after a key's revocation has returned is let in.
//   - One key at most is that of the start of the node ([Directory.Bootstrap]); a start with
//     another ends it.
//
// It may import abi, storage, the desk, the ledger and package identity.
package tenancy
