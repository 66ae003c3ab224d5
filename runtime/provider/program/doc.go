// Package program runs programs for a moment: those that the node's configuration names, of which what
// they are to know is on their standard input, and what they answer on their standard output
// ([Run]); and the commands of Tasks, where the operator lets them run any ([Exec]).
//
// Its invariants:
//
//   - No shell is involved that was not asked for. Nobody but the configuration names what Run runs.
//   - A program gets of the node's environment what every program may need, and no secrets.
//   - When its time is over it is killed with what it has started. How much it may answer is bounded.
package program
