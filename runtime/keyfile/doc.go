// Package keyfile keeps what only the node may read in files: private keys of all
// kinds. A file is replaced as a whole, so that after a crash either the old or the
// new content is there, and one that others can read is refused.
package keyfile
