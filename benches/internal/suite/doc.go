// Package suite holds the measurements: what each starts, in which order, and
// what it makes of the samples. Every measurement interleaves the node and its
// ceiling in several rounds, each on fresh processes and fresh folders, so that a
// slow moment of the machine hits both.
package suite
