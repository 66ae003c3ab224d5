// Package alarm calls a function once a moment has come by the wall clock, also when
// that clock is set meanwhile.
//
// A timer of the Go runtime counts time that passes, whatever the clock shows: one that
// is armed for the difference of two clock readings is late, or early, by every step of
// the clock from then on. An alarm looks at the clock again at least once in
// [LookEvery], and so is late by that much at most.
package alarm
