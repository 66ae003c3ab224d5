// Package openharness speaks the Open Harness API 0.2.0 over HTTP.
//
// Its nouns are Wharf's: a harness is a [abi.Harness], what belongs to it is what belongs to its
// Workspace; an agent is a Persona, an execution a Task, a session a Session. docs/open-harness.md
// has the whole table, and what was decided where the published documents contradict each other.
//
// A domain of the protocol is a file: its routes (a table, joined in routes.go), its handlers, and
// the types that it answers with. A handler below a harness is a [handler]: [Adapter.at] has found
// the harness, whether the caller may see it and whether it can do what the domain is about. It
// checks the shape of what is asked, makes one call on gateway/api, and shows what comes back.
// Errors of the protocol's own are made in errors.go, lists are answered by page (pages.go).
package openharness
