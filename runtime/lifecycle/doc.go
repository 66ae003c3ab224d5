// Package lifecycle says what can happen to a Task, and what follows from it.
//
// [Step] is the whole of it: a pure function from a state and an input to the next state
// and the effects that an engine has to perform, in one atomic append. It reads no clock,
// keeps nothing and does no I/O, so a test can drive it through every order of inputs, and
// no race can be inside it. Nothing else decides a Task's status.
//
// It knows the words of the protocol (package abi) and nothing else of Wharf.
package lifecycle
