// Package crashtest gives tests of other packages a disk in memory whose power
// can be cut: a store opened on it loses what it did not sync.
package crashtest
