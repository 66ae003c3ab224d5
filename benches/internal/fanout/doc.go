// Package fanout is the reading side of a fan-out: many connections that each
// read one event stream and count what arrives.
package fanout
