// Package tutorials does what the tutorials of docs/tutorials and the pages of examples say, as a new user would: with
// the binary, a node and the toolchain that the page names; a tutorial from an empty folder.
package tutorials
