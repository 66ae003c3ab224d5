// Package nodetest starts, stops and kills real Wharf processes for tests that
// look at them from the outside. It is the only part below conformance/ that
// knows how Wharf is started.
package nodetest
