// Package acp is the adapter for the Agent Client Protocol: an editor, or another host, that speaks
// JSON-RPC to an agent. Its sessions are Sessions, a prompt is a Task, and what the client is told are
// the events of the log, put into the protocol's words by gateway/acp/updates.
//
// # A connection
//
// [Adapter.Serve] serves one connection over anything that carries messages, such as the WebSocket
// /acp. It reads while it answers: a prompt takes as long as its Task, and what cancels it, or answers
// what the node asks meanwhile, comes in between. All that a connection holds is in a [conn]; what
// must survive it is in the log, so that another connection, or another life of the node, goes on.
//
// # One follower a session
//
// Each session that is open on a connection has an [opened]: a goroutine that follows the Session's
// events and tells the client of them. Nothing else tells updates. It waits for a client that does not
// read, and holds no more than what it is writing. A prompt is answered once the follower has told all
// that its Task has led to, so that no update comes after the answer that it belongs before.
//
// What the client is asked (permissions, elicitations) is asked beside it, and called off when somebody
// else has settled it. An answer is given to the engine like any other: the engine decides.
//
// # How a feature is added
//
// Every method that clients may call is in one table, which [Adapter.features] puts together. A feature
// is a file with a function that returns a [feature]: its methods by name, each made by [takes] of a
// function of the connection, the caller and the decoded parameters. A method that is not the protocol's
// own is found by its name and by the name after "_harn/", and initialize names it among the
// extensionMethods. Parameters that the function does not know are ignored; those with a check method
// say what is missing. An error that is an *abi.Error is put into the protocol's codes, with the whole of
// it as the error's data; a *jsonrpc.Error goes out as it is.
package acp
