// Package journal is the record of a Task: how its plugin was started, and the
// answer to each of its host calls, in order.
//
// An [Entry] is one call. It travels as the payload of an event of the log
// ([Entry.AppendPayload], [Decode]); a [Record] is a Task's entries with what
// the plugin was started with, complete enough to run it again anywhere. A
// [Cursor] walks a record and answers calls from it, or says where a run has
// left it: a [Divergence].
package journal
