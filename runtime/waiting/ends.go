package waiting

import (
	"github.com/wharf-dev/wharf/runtime/desk"
	"github.com/wharf-dev/wharf/runtime/ledger"
	"github.com/wharf-dev/wharf/runtime/lockrank"
)

// Ends holds who waits for the end of Tasks, in memory or not. Its zero value is ready.
type Ends struct {
	mu   lockrank.Mutex[lockrank.Table]
	byID map[ledger.Key]*waiter
}

// waiter is closed when its Task's end is durable, or can never be.
type waiter struct {
	done chan struct{}
	refs int
	end  Ended // set before done is closed
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
		entry = &waiter{done: make(chan struct{})}
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
