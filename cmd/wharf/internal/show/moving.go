package show

import (
	"io"
	"sync"
)

// movingFrom is how many bytes are worth telling of: fewer are sent before anybody looks.
const movingFrom = 1 << 20

// Moving reads what is sent, and shows how much of it was: in one line of a terminal, which is taken back in the end.
// Elsewhere, and of little, it shows nothing.
type Moving struct {
	r     io.Reader
	s     *Screen
	what  string
	total int64
	mu    sync.Mutex // a request may still be read when it has been answered
	done  int64
	shown int64 // percent; -1 before the first line
	over  bool
}

// Moving returns a reader of r, which has so many bytes.
func (s *Screen) Moving(r io.Reader, what string, total int64) *Moving {
	return &Moving{r: r, s: s, what: OneLine(what), total: total, shown: -1, over: !s.Terminal() || total < movingFrom}
}

// Read implements [io.Reader].
func (m *Moving) Read(p []byte) (int, error) {
	n, err := m.r.Read(p)
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.over {
		return n, err
	}
	m.done = min(m.done+int64(n), m.total)
	if percent := m.done * 100 / m.total; percent != m.shown {
		m.shown = percent
		m.show()
	}
	return n, err
}

func (m *Moving) show() {
	line := progress(float64(m.shown)/100) + "  " + Bytes(m.done) + " of " + Bytes(m.total) + "  " + m.what
	if m.done == m.total {
		line = "sent, and the node works on it  " + m.what
	}
	_, _ = io.WriteString(m.s.w, "\r"+Cut(line, m.s.width-1)+"\x1b[K") // who looks on misses it, and nothing else does
}

// Close takes the line back. Nothing is shown from then on.
func (m *Moving) Close() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.over && m.shown >= 0 {
		_, _ = io.WriteString(m.s.w, "\r\x1b[K")
	}
	m.over = true
	return nil
}
