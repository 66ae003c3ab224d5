// Package eventstream answers requests with server-sent events of what is in the log: for adapters
// whose protocols each have words of their own for it.
package eventstream
