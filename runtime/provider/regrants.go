package provider

import "sync/atomic"

// Regrants are what plugins may use since a node was told anew, in the place of what it was made with.
// The zero value is nothing. Whoever asks has all of what was granted at one time. It is safe for
// concurrent use.
type Regrants[T any] struct {
	now atomic.Pointer[map[string][]T]
}

// Or returns what plugins may use, by plugin, where made is what the node was made with.
func (r *Regrants[T]) Or(made map[string][]T) map[string][]T {
	if now := r.now.Load(); now != nil {
		return *now
	}
	return made
}

// Replace says what plugins may use from now on; all is not changed any more.
func (r *Regrants[T]) Replace(all map[string][]T) { r.now.Store(&all) }
