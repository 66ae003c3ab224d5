package pebble

import (
	"sync"

	"github.com/wharf-dev/wharf/storage"
)

// queue holds what writers have handed over, in log order, and counts the bytes
// of everything that is not durable yet.
type queue struct {
	mu       sync.Mutex
	ready    sync.Cond // signalled when items arrive or the queue closes
	room     sync.Cond // signalled when bytes are released or the queue closes
	items    []*commit
	spare    []*commit     // the slice that take returned before last, to be filled again
	last     chan struct{} // done of the commit that was put in last; nil before the first
	bytes    int
	maxBytes int
	closed   bool // no more items; the committer takes what is left
	dead     bool // no more items, and the committer takes none
}

func (q *queue) init(maxBytes int) {
	q.maxBytes = maxBytes
	q.ready.L, q.room.L = &q.mu, &q.mu
}

// put appends c, waiting for room. One commit is let in however large it is. It
// fails when the queue has closed; after a failure the caller knows a better error.
func (q *queue) put(c *commit) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	for q.bytes > 0 && q.bytes+c.size > q.maxBytes && !q.closed && !q.dead {
		q.room.Wait()
	}
	if q.closed || q.dead {
		return storage.ErrClosed
	}
	q.bytes += c.size
	q.items, q.last = append(q.items, c), c.done
	if len(q.items) == 1 {
		q.ready.Signal()
	}
	return nil
}

// take waits for items and returns all of them; none when there will be no more.
// They are valid until the next call.
func (q *queue) take() []*commit {
	q.mu.Lock()
	defer q.mu.Unlock()
	for len(q.items) == 0 && !q.closed && !q.dead {
		q.ready.Wait()
	}
	if q.dead {
		return nil
	}
	items := q.items
	clear(q.spare)
	q.items, q.spare = q.spare[:0], items
	return items
}

// release gives back the bytes of commits that are durable.
func (q *queue) release(bytes int) {
	q.mu.Lock()
	q.bytes -= bytes
	q.mu.Unlock()
	q.room.Broadcast()
}

// newest returns what is closed when the commit that was put in last is durable; nil
// when there was none.
func (q *queue) newest() chan struct{} {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.last
}

// held returns the bytes that are not durable yet.
func (q *queue) held() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.bytes
}

// close lets no more items in. It reports whether this is the first call.
func (q *queue) close() (first bool) {
	q.mu.Lock()
	first = !q.closed
	q.closed = true
	q.mu.Unlock()
	q.wakeAll()
	return first
}

// abandon drops everything.
func (q *queue) abandon() {
	q.mu.Lock()
	q.dead = true
	q.items = nil
	q.mu.Unlock()
	q.wakeAll()
}

func (q *queue) wakeAll() {
	q.ready.Broadcast()
	q.room.Broadcast()
}
