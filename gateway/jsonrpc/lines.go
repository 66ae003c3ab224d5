package jsonrpc

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"sync"
)

// lines carries one message a line.
type lines struct {
	in    *bufio.Reader
	limit int

	mu  sync.Mutex
	out io.Writer
}

// Lines carries messages over a pipe, such as standard input and output: each on a line of its
// own, of at most limit bytes. A longer one is refused, and not kept.
func Lines(in io.Reader, out io.Writer, limit int) Transport {
	return &lines{in: bufio.NewReader(in), out: out, limit: limit}
}

// Read implements [Transport]. Empty lines are none.
func (l *lines) Read() ([]byte, func(), error) {
	for {
		line, err := l.line()
		if err != nil {
			return nil, nil, err
		}
		if line = bytes.TrimSpace(line); len(line) > 0 {
			return line, nil, nil
		}
	}
}

func (l *lines) line() (line []byte, err error) {
	long := false
	for {
		piece, err := l.in.ReadSlice('\n')
		if long = long || len(line)+len(piece) > l.limit+1; !long {
			line = append(line, piece...)
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case errors.Is(err, io.EOF) && (len(line) > 0 || long), err == nil:
		default:
			return nil, err
		}
		if long {
			return nil, Errorf(CodeInvalidRequest, "a message has at most %d bytes", l.limit)
		}
		return line, nil
	}
}

// Write implements [Transport].
func (l *lines) Write(messages ...[]byte) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if _, err := l.out.Write(append(bytes.Join(messages, []byte("\n")), '\n')); err != nil {
		return fmt.Errorf("writing a line: %w", err)
	}
	return nil
}
