// Package a2a speaks A2A, the Agent2Agent protocol: 1.0 and 0.3, each by JSON-RPC and by REST.
//
// Its nouns are Wharf's: a task is a Task, a context a Session, an artifact an Artifact, a push
// notification config a Webhook of one Task. There is no second store: every answer is read from
// gateway/api when it is asked for, every stream is the log. docs/a2a.md has the whole table.
//
// One handler answers all four ways of asking. What it takes and gives is in the words of 1.0
// (wire.go); a [dialect] puts them into the bytes of one way (old.go has those of 0.3). rpc.go and
// rest.go read what is asked, and errors.go has what each error is in either.
//
// JSON-RPC methods are rows of a table, [Adapter.methods]: a group for each matter, with the file
// that has it. A group of another matter is a function that returns a map of methods, in a file of
// its own, and one line in that table. A method gets the [call] that it answers: who calls, in which
// dialect, and the params as they came.
//
// A stream tells what events of a Task are in the protocol. An event is put into words once for all
// readers of one dialect (told.go), so that many readers of one Task cost little more than their
// writes.
package a2a
