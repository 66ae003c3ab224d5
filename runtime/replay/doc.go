// Package replay runs a recorded Task again: the plugin's module against the
// answers of its record, with nothing asked of the world.
//
// [Run] is all of it. It needs a module and a [journal.Record], and no store: the
// engine replays Tasks with it, and so does the verifier of a bundle on another
// machine. It stops at the first call that differs, and says how.
package replay
