// Package vault keeps the values of Vaults' secrets.
//
// A local Vault's values lie in files of the data folder, encrypted with age to the
// node's key. A file holds one version of one secret and a random salt; what the log
// says of it is a salted hash, so that a file that was exchanged for another is
// noticed, and nobody can guess a weak value from the log. The values of other Vaults
// are environment variables or files that the operator sets apart, by tenant.
//
// The key is one or more age identities (AGE-SECRET-KEY-1…), a line each: the first
// encrypts, and each of them decrypts. Rotating puts a new one first, encrypts
// everything to it, and drops the others last; it may be cut short anywhere and
// begun again.
package vault
