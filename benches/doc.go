// Benches measures a node, each figure as a ratio to its ceiling measured in the
// same run. See README.md.
package main
