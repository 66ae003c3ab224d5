// Package arch holds the rules of the house as checks on the source tree: which
// package may import which, what every package owes its reader, and what must
// not be in a tracked file. Its tests run the checks over this repository.
package arch
