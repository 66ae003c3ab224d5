package gateway

import (
	"net"
	"sync"
	"time"
)

// wire is the connection below a socket. While it is held, what is written is kept,
// so that many frames leave with one system call, and a client that takes them
// slowly holds nothing but them. It is safe for concurrent use.
type wire struct {
	net.Conn
	timeout time.Duration
	buffers *sync.Pool // of *[]byte
	unread  *unread

	mu   sync.Mutex
	kept *[]byte // what is held; nil when nothing is to be
}

// Write implements net.Conn.
func (w *wire) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.kept != nil {
		*w.kept = append(*w.kept, p...)
		return len(p), nil
	}
	return w.write(p)
}

// write gives the client the timeout to take p.
func (w *wire) write(p []byte) (int, error) {
	if err := w.Conn.SetWriteDeadline(time.Now().Add(w.timeout)); err != nil {
		return 0, err
	}
	err := w.unread.write(w.Conn, len(p), func() error {
		_, err := w.Conn.Write(p)
		return err
	})
	return len(p), err
}

// SetWriteDeadline does nothing: each write has a time of its own.
func (w *wire) SetWriteDeadline(time.Time) error { return nil }

// begin holds what is written from now on.
func (w *wire) begin() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.kept != nil {
		return
	}
	if w.kept, _ = w.buffers.Get().(*[]byte); w.kept == nil {
		w.kept = new([]byte)
	}
}

// flush writes what was held.
func (w *wire) flush() (err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	kept := w.kept
	w.kept = nil
	if kept == nil || len(*kept) == 0 {
		return nil
	}
	_, err = w.write(*kept)
	if cap(*kept) <= maxKeptFrame {
		*kept = (*kept)[:0]
		w.buffers.Put(kept)
	}
	return err
}
