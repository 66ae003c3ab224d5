// Package disk measures what a durable write of a small record costs in a
// folder, so that latencies can be told in syncs of the disk they ran on.
package disk
