// Package conformance checks any server of the Harn Agents Protocol v1 from the
// outside, level by level. It knows the protocol's documents and nothing of
// Wharf: it imports no other package of this module, and needs only a base URL
// and an API key.
//
// A check is one statement of the documents, with the section it comes from and
// whether it is a MUST or a SHOULD. It passes, fails, or is skipped with the
// reason; what was seen is part of the result. Every check makes the resources it
// needs, so checks can run in any order and against a server that is in use.
//
// The program in cmd/harn-conformance prints the report.
package conformance
