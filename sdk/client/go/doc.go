// Package wharf is a client of Wharf nodes. It needs the standard library alone.
//
// [New] makes a client. Its resources ([Client.Tasks], [Client.Sessions], …) have a method
// for each request; [Client.Call] sends those that no resource has. What is more than one
// request is here, too: streams that go on where they were cut ([Client.Stream] and the
// resources' Stream), waiting for the end of a Task ([TasksResource.Wait]), WebSockets
// ([SessionsResource.Connect]) and the verification of receipts ([VerifyReceipt]).
//
// Every write carries an idempotency key, so that it can be sent again without being done
// twice; the client does so when the node does not answer, or asks it to come back later. An
// error of the node is an [*Error].
//
// The types, and the methods of one request, are generated from the node's OpenAPI document.
package wharf
