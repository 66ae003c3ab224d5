// Package provider is what host calls reach beyond the log: models, tools, HTTP,
// secrets and configuration, a package each.
//
// A [Performer] answers the host calls of one kind. It is asked twice: Prepare
// says what a call would be, and may refuse it; then the engine records the
// intent if the call is a write; then the plan's Do performs it. Policy is thus
// decided before anything is recorded, and a refusal is an answer like any other.
package provider
