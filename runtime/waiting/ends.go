package waiting

import (
	"github.com/wharf-dev/wharf/runtime/desk"
	"github.com/wharf-dev/wharf/runtime/ledger"
	"github.com/wharf-dev/wharf/runtime/lockrank"
)

// Ends holds who waits for Tasks to end, or to wait for somebody themselves, in memory or not. Its zero
// value is ready.
type Ends struct {
	mu   lockrank.Mutex[lockrank.Table]
	byID map[ledger.Key]*waiter
}

// waiter is closed when its Task's end is durable, or can never be.
type waiter struct {
	done   chan struct{}
	parked chan struct{} // closed when the Task waits for somebody; another then takes its place
	refs   int
	end    Ended // set before done is closed
}

// Ended is a Task that has ended, as its waiters see it.
type Ended struct {
	Doc desk.Doc // with its input; empty when it must be read from the log
	Err error    // of writing the end
}

func (e *Ends) join(key ledger.Key) *waiter {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.byID == nil {
		e.byID = map[ledger.Key]*waiter{}
	}
	entry := e.byID[key]
	if entry == nil {
		entry = &waiter{done: make(chan struct{}), parked: make(chan struct{})}
		e.byID[key] = entry
	}
	entry.refs++
	return entry
}

func (e *Ends) leave(key ledger.Key, entry *waiter) {
	e.mu.Lock()
	defer e.mu.Unlock()
	entry.refs--
	if entry.refs == 0 && e.byID[key] == entry {
		delete(e.byID, key)
	}
}

// parked returns what is closed when the Task of a waiter waits for somebody the next time.
func (e *Ends) parked(entry *waiter) <-chan struct{} {
	e.mu.Lock()
	defer e.mu.Unlock()
	return entry.parked
}

// Parked notifies the waiters of a Task that it waits for somebody, which is durable.
func (e *Ends) Parked(key ledger.Key) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if entry := e.byID[key]; entry != nil {
		close(entry.parked)
		entry.parked = make(chan struct{})
	}
}

// Tell notifies the waiters of a Task that it has ended. how is called only if there are any,
// and under no lock of the table.
func (e *Ends) Tell(key ledger.Key, how func() Ended) {
	e.mu.Lock()
	entry := e.byID[key]
	delete(e.byID, key)
	e.mu.Unlock()
	if entry != nil {
		entry.end = how()
		close(entry.done)
	}
}
