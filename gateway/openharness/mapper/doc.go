// Package mapper turns the events of a Task into what the Open Harness API streams of an execution.
//
// It is pure: a [Mapper] is fed the events of one Task from the first on, each as the caller may see
// it, and says what each is told as. A client that resumes gets the same from a mapper that is fed
// from the beginning and whose first parts are thrown away; so what is told depends on nothing but
// the log.
//
// Text is told once and whole. Pieces are told as they come; the Message that they belong to tells
// what they have not: a Task that streams nothing tells all with its Messages, one that streams
// tells nothing twice, and pieces that were lost, or come again when a call is repeated after the
// node has died, change nothing.
package mapper
