// Package connector says what is known of the providers that deliver to Wharf: which
// plugin normalizes what they send, how they sign it, what tells one delivery from
// another, and how they are answered when they ask who is there. What is decided here
// is decided by the host, before any plugin sees a byte.
//
// Signatures are checked by package signature, times are computed by package schedule.
// A [Breaker] says when what fails is tried again.
package connector
