// Package program runs programs that the node's configuration names, for a moment: what they are to
// know is on their standard input, and what they answer on their standard output.
//
// Its invariants:
//
//   - No shell is involved, and nobody but the configuration names a program.
//   - A program gets of the node's environment what every program may need, and no secrets.
//   - When its time is over it is killed with what it has started. How much it may answer is bounded.
package program
