// Package wharftest runs a plugin's handler natively, against a host that a test
// can look into. See [Host].
package wharftest
