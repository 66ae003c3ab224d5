// Package tutorials does what the tutorials of docs/tutorials say, as a new user would: from an empty folder, with
// the binary, a node and the toolchain that the page names.
package tutorials
