package accesslog

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// waiting is how many lines wait to be written, and batch how many bytes are written at once.
	waiting = 8192
	batch   = 64 << 10
	// lookEvery is how often it is looked whether the file was moved away.
	lookEvery = time.Second
	// closeTime is how long what waits gets to be written when the log is closed.
	closeTime = 5 * time.Second
)

// Log is an access log. Its methods are safe for concurrent use; a nil Log logs nothing.
type Log struct {
	path string // "" for one that is never opened again
	log  *slog.Logger

	lines   chan *[]byte
	buffers sync.Pool // of *[]byte
	dropped atomic.Uint64
	full    atomic.Bool // the queue was, and that was said
	closing chan struct{}
	closed  chan struct{}
	once    sync.Once

	// The writer's own.
	to     io.Writer
	file   *os.File // nil for one that is never opened again
	every  time.Duration
	looked time.Time
	failed bool // the last write has
}

// Open begins a log in the file at path, which is made when there is none, and appended to when there
// is; a file that is moved away is made anew. Trouble is told to log, once until it is over.
func Open(path string, log *slog.Logger) (*Log, error) {
	f, err := open(path)
	if err != nil {
		return nil, err
	}
	l := newLog(f, log)
	l.path, l.file = path, f
	go l.write()
	return l, nil
}

// To begins a log on what is open already, such as standard output. It is not closed.
func To(w io.Writer, log *slog.Logger) *Log {
	l := newLog(w, log)
	go l.write()
	return l
}

func newLog(w io.Writer, log *slog.Logger) *Log {
	return &Log{log: log, lines: make(chan *[]byte, waiting), closing: make(chan struct{}), closed: make(chan struct{}), to: w, every: lookEvery}
}

func open(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o640)
	if err != nil {
		return nil, fmt.Errorf("opening the access log: %w", err)
	}
	return f, nil
}

// Dropped returns how many lines were not written.
func (l *Log) Dropped() uint64 {
	if l == nil {
		return 0
	}
	return l.dropped.Load()
}

// Tell logs a request. It never waits.
func (l *Log) Tell(line *Line) {
	if l == nil {
		return
	}
	b, _ := l.buffers.Get().(*[]byte)
	if b == nil {
		b = new([]byte)
	}
	*b = line.append((*b)[:0])
	select {
	case l.lines <- b:
	default:
		l.drop(1)
		l.buffers.Put(b)
		if l.full.CompareAndSwap(false, true) {
			l.log.Warn("the access log is written more slowly than requests come: lines are dropped, and counted in wharf_access_log_dropped_total")
		}
	}
}

func (l *Log) drop(n int) { l.dropped.Add(uint64(n)) }

// Close writes what waits, as far as that can be done soon.
func (l *Log) Close() error {
	if l == nil {
		return nil
	}
	l.once.Do(func() { close(l.closing) })
	select {
	case <-l.closed:
		return nil
	case <-time.After(closeTime):
		return errors.New("the access log could not be written to its end in time")
	}
}

// write writes lines until the log is closed.
func (l *Log) write() {
	defer close(l.closed)
	defer func() {
		if l.file != nil {
			_ = l.file.Close() // what was written is written
		}
	}()
	for {
		select {
		case first := <-l.lines:
			l.writeFrom(first)
		case <-l.closing:
			select {
			case first := <-l.lines:
				l.writeFrom(first)
			default:
				return
			}
		}
	}
}

// writeFrom writes a line, and those that wait behind it, as far as they make one write.
func (l *Log) writeFrom(first *[]byte) {
	text, lines := *first, 1
gather:
	for len(text) < batch {
		select {
		case next := <-l.lines:
			text = append(text, *next...)
			l.buffers.Put(next)
			lines++
		default:
			l.full.Store(false)
			break gather
		}
	}
	l.put(text, lines)
	if *first = text; cap(text) <= batch {
		l.buffers.Put(first)
	}
}

// put writes lines to the file, or drops them.
func (l *Log) put(text []byte, lines int) {
	err := l.reopen()
	if err == nil {
		var n int
		if n, err = l.to.Write(text); err != nil {
			l.untear(n)
		}
	}
	if err != nil {
		l.drop(lines)
	}
	if err != nil && !l.failed {
		l.log.Error("the access log cannot be written: lines are dropped, and counted in wharf_access_log_dropped_total", "error", err)
	}
	if err == nil && l.failed {
		l.log.Info("the access log is written again", "dropped", l.dropped.Load())
	}
	l.failed = err != nil
}

// untear takes back what a write that failed has left of a line.
func (l *Log) untear(written int) {
	if l.file == nil || written == 0 {
		return
	}
	if about, err := l.file.Stat(); err == nil && about.Mode().IsRegular() {
		_ = l.file.Truncate(about.Size() - int64(written)) // where that fails, too, a reader skips the line
	}
}

// reopen makes the file anew that was moved away, as programs do that keep logs short.
func (l *Log) reopen() error {
	if l.file == nil || time.Since(l.looked) < l.every {
		return nil
	}
	l.looked = time.Now()
	now, err := os.Stat(l.path)
	was, wasErr := l.file.Stat()
	if err == nil && wasErr == nil && os.SameFile(now, was) {
		return nil
	}
	f, err := open(l.path)
	if err != nil {
		l.looked = time.Time{}
		return err
	}
	_ = l.file.Close()
	l.file, l.to = f, f
	return nil
}
