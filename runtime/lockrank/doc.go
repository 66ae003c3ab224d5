// Package lockrank gives locks a rank, so that the order in which they are taken is a
// rule that a program checks and not one that its readers prove.
//
// A goroutine takes only locks that rank behind all that it holds. Then no two of them
// ever wait for each other. Built with the tag lockcheck, a lock that is taken against
// the order panics, at once and whether or not anybody would have waited. Without the
// tag [Mutex] and [RWMutex] are those of package sync, and nothing is checked or paid for.
package lockrank

// Ranked is a type that stands for a place in the order. Its methods are called on the
// zero value.
type Ranked interface {
	// Rank returns the place in the order, from the first to the last lock that is
	// taken, and the name of the lock.
	Rank() (place int, name string)
}

// Several is implemented by a [Ranked] of which a goroutine may hold several at a time:
// whoever takes them has an order of their own.
type Several interface{ Several() }
