package gateway

import (
	"container/list"
	"net"
	"sync"
)

// unread bounds what all streams and sockets together hold for clients that do not read.
// Beyond the limit the connections that have waited longest are closed: their clients come
// back with the last event's id, and lose nothing. It is safe for concurrent use.
type unread struct {
	limit int64

	mu     sync.Mutex
	held   int64
	oldest list.List // of *waiting, by the time at which their writes began
}

// waiting is a write that a client has not taken yet.
type waiting struct {
	conn net.Conn
	size int64
}

const (
	// unreadPart of what bodies may take is what clients may leave unread.
	unreadPart = 4
	// smallWrite is what nobody counts: a socket's buffer takes it.
	smallWrite = 16 << 10
	// unreadCopies is how often a stream holds what it writes: as events, as they are
	// shown, and in the system's buffers.
	unreadCopies = 3
)

// write has f write so many bytes to a client. A nil unread has no limit.
func (u *unread) write(c net.Conn, n int, f func() error) error {
	if u == nil || n <= smallWrite {
		return f()
	}
	e := u.begin(&waiting{c, int64(n) * unreadCopies})
	defer u.end(e)
	return f()
}

func (u *unread) begin(w *waiting) *list.Element {
	e, slow := u.enter(w)
	for _, c := range slow {
		_ = c.Close() // ends its write
	}
	return e
}

// enter counts a write, and returns whose writes have to end for it.
func (u *unread) enter(w *waiting) (e *list.Element, slow []net.Conn) {
	u.mu.Lock()
	defer u.mu.Unlock()
	for u.held+w.size > u.limit && u.oldest.Len() > 0 {
		front := u.oldest.Front()
		slow = append(slow, front.Value.(*waiting).conn)
		u.remove(front)
	}
	u.held += w.size
	return u.oldest.PushBack(w), slow
}

func (u *unread) end(e *list.Element) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.remove(e)
}

// remove forgets a write; one that was closed is forgotten already.
func (u *unread) remove(e *list.Element) {
	w := e.Value.(*waiting)
	u.oldest.Remove(e)
	u.held -= w.size
	w.size = 0
}
