//go:build race

package pebble

// underRace says that the race detector is on. Pebble then checks its own
// invariants as well, and panics where it would go on.
const underRace = true
