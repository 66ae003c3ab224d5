// Package prove holds the tests of what Wharf promises about records: that a run
// survives the death of the process, replays byte for byte on any node, is proved
// by a receipt, and tells nobody what is secret. They work from the outside, with
// the real program, its HTTP API and real disks.
package prove
