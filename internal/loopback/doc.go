// Package loopback finds addresses for tests whose servers end and come back: others that run meanwhile must not
// be given the same.
package loopback
