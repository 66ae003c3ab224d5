// Package openharness checks any server of the Open Harness API 0.2.0 from the outside. It knows
// the protocol's documents and nothing of Wharf: it imports no other package of this module, and
// needs a base URL, an API key and the id of a harness.
//
// A check is one statement of the documents. It passes, fails, or is skipped with the reason. Every
// check makes what it needs, under names of its own, and removes it afterwards. Whatever a server
// answers is held against the schema of the operation, whichever check has asked. Where two
// documents of the protocol say different things, both pass.
//
// What a harness says that it does not support is skipped, as long as the server answers there as
// the protocol wants it to: with 501. The golden rule is that a domain which a harness says it
// supports has no check that fails.
package openharness
