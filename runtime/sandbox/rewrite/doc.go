// Package rewrite reads a core WebAssembly module, changes it, and writes it, so
// that it can be stopped, metered, snapshotted, and gives the same bits on every
// processor.
//
// [Rewrite] applies any set of [Transforms]. Each is a pass of its own over the
// decoded instructions of a function: a pass inserts code before or after an
// instruction, and reorders nothing. What the author wrote stays, save for code that
// cannot be reached, and for instructions that a compiler of the engine gets wrong,
// in whose place come others that do the same: remainders of integers ([Remainders]),
// selects of floats and vectors, and lanes of floats (with [NaN]). What a pass adds
// is named with [Prefix], which modules may not use themselves.
//
// A module has to be valid before it is rewritten: dropping code that is never
// reached can make an invalid module valid, and an index that is off by one could
// reach what was added. [Rewrite] checks what it relies on and leaves the rest to
// the engine's validator, which the caller runs first.
package rewrite
