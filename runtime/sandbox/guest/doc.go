// Package guest is the state of one Run of a guest, whatever engine's instance it runs in:
// what bounds it, what it is told, and how its end is explained.
//
// A [Run] counts gas in slices, time, host calls, bytes and memory, and ends the guest when
// one is used up. It asks the [Host] what the guest asks, and tells the guest the Host's
// clock and randomness and nothing of the machine. It turns what the guest prints into host
// calls. What unwound a guest it turns into an *abi.Failure that says why.
//
// Held here:
//   - What the guest can observe follows from the Host's answers alone. What is reproducible
//     (gas, depth, calls, bytes) is looked at before what is not (time, a cancel).
//   - The guest's time stands still while the Host answers, and while the process does.
//   - A guest that wants memory that others have waits, and is never refused; the Run that
//     came first never waits.
//
// It makes no instance and knows no module: package sandbox runs native plugins on it,
// package extism those made with an Extism PDK, and package wasi answers both.
package guest
