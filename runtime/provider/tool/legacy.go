package tool

import (
	"io"
	"sync"
)

// legacy is the stream of a connection over the transport of 2024-11-05, on which all answers
// come, whichever request they are for. It is safe for concurrent use.
type legacy struct {
	mu     sync.Mutex
	opened bool                  // it has said where messages go
	asked  map[string]*answering // by the ids of requests that have no answer yet; nil is nobody's
}

// ask remembers whose answer will come, until it has, or the call ends.
func (l *legacy) ask(id string, a *answering) {
	l.mu.Lock()
	if l.asked == nil {
		l.asked = map[string]*answering{}
	}
	l.asked[id] = a
	l.mu.Unlock()
	if a != nil {
		a.atEnd(func() { l.answered(id) })
	}
}

// answered returns whose answer has come, and whether anybody waits for it.
func (l *legacy) answered(id string) (a *answering, waits bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	a, waits = l.asked[id]
	delete(l.asked, id)
	return a, waits
}

// opens reports whether an event is the first, which says where messages go.
func (l *legacy) opens() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	first := !l.opened
	l.opened = true
	return first
}

// hear decides on the data of an event. That of a stream on which all answers come is held against
// the budget of the call that it answers; an answer that nobody waits for is not passed on.
func (b *body) hear(text []byte) ([]byte, error) {
	l := b.link.heard
	if l == nil {
		return b.look(text)
	}
	if l.opens() {
		return text, nil
	}
	m, ok := envelope(text)
	switch {
	case !ok || m.method:
		return b.look(text)
	case m.id == nil:
		return nil, b.link.flood.one()
	}
	a, waits := l.answered(string(m.id))
	if !waits {
		return nil, b.link.flood.one()
	}
	if !a.take(int64(len(text))) {
		return errorText(m.id, errBusy), nil
	}
	if refused := screen(text, wholeAnswer, a); refused != nil {
		return errorText(m.id, refused), nil
	}
	return text, nil
}

// unread is the body of a response in which nothing counts.
type unread struct {
	io.ReadCloser
	release func()
}

// Read implements io.Reader: there is nothing.
func (u *unread) Read([]byte) (int, error) { return 0, io.EOF }

// Close implements io.Closer.
func (u *unread) Close() error {
	defer u.release()
	return u.ReadCloser.Close()
}
