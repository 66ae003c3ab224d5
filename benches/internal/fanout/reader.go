package fanout

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

// EveryEvent begins the data line of every event, and of nothing else in a stream
// whose data lines are single: comment frames have none.
const EveryEvent = "\ndata:"

// EventsOf is what stands in every event of a kind, and in nothing else of such a stream.
func EventsOf(kind string) string { return "event: " + kind + "\n" }

// bufferSize is what one reader reads at once.
const bufferSize = 64 << 10

// Readers are the open connections of one fan-out.
type Readers struct {
	readers []*reader
	wg      sync.WaitGroup
	errs    []error
}

// Open connects n readers to addr, sends each the given request and waits until
// every one of them has got the head of its answer. Each then reads until
// it has seen want events, as told by a mark such as [EveryEvent], or until deadline. Keep,
// if not nil, gets the stream of the first reader, without its framing.
func Open(ctx context.Context, addr string, n int, request []byte, mark string, want int, deadline time.Time, keep io.Writer) (*Readers, error) {
	r := &Readers{errs: make([]error, n)}
	for i := range n {
		one, err := open(ctx, addr, request, deadline)
		if err != nil {
			r.Close()
			return nil, fmt.Errorf("opening stream %d of %d: %w", i+1, n, err)
		}
		one.mark, one.want = mark, want
		if i == 0 {
			one.keep = keep
		}
		r.readers = append(r.readers, one)
	}
	for i, one := range r.readers {
		r.wg.Go(func() { r.errs[i] = one.read() })
	}
	return r, nil
}

// Seen returns the smallest number of events that any reader has seen.
func (r *Readers) Seen() int {
	least := r.readers[0].seen.Load()
	for _, one := range r.readers {
		least = min(least, one.seen.Load())
	}
	return int(least)
}

// Wait returns when every reader has seen all its events, with the time at which
// the last of them had.
func (r *Readers) Wait() (time.Time, error) {
	r.wg.Wait()
	var last time.Time
	for _, one := range r.readers {
		if one.done.After(last) {
			last = one.done
		}
	}
	return last, errors.Join(r.errs...)
}

// Close closes the connections.
func (r *Readers) Close() {
	for _, one := range r.readers {
		one.conn.Close()
	}
}

// reader reads one stream.
type reader struct {
	conn    net.Conn
	in      *bufio.Reader
	chunked bool
	mark    string
	want    int
	keep    io.Writer
	seen    atomic.Int64
	carry   []byte // the last bytes seen, in which a mark may have begun
	done    time.Time
}

func open(ctx context.Context, addr string, request []byte, deadline time.Time) (*reader, error) {
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", addr)
	if err != nil {
		return nil, err
	}
	r := &reader{conn: conn, in: bufio.NewReaderSize(conn, bufferSize)}
	if err := r.begin(request, deadline); err != nil {
		conn.Close()
		return nil, err
	}
	return r, nil
}

// begin sends the request and reads the head of its answer.
func (r *reader) begin(request []byte, deadline time.Time) error {
	if err := r.conn.SetDeadline(deadline); err != nil {
		return err
	}
	if _, err := r.conn.Write(request); err != nil {
		return err
	}
	status, chunked, err := head(r.in)
	if err != nil {
		return err
	}
	if status != http.StatusOK {
		return fmt.Errorf("answered with status %d", status)
	}
	r.chunked = chunked
	return nil
}

// head reads the head of an answer and leaves its body in in.
func head(in *bufio.Reader) (status int, chunked bool, err error) {
	line, err := in.ReadString('\n')
	if err != nil {
		return 0, false, err
	}
	if _, err := fmt.Sscanf(line, "HTTP/1.1 %d", &status); err != nil {
		return 0, false, fmt.Errorf("reading the status line %q: %w", line, err)
	}
	for {
		line, err := in.ReadString('\n')
		if err != nil {
			return 0, false, err
		}
		if line == "\r\n" {
			return status, chunked, nil
		}
		chunked = chunked || bytes.EqualFold([]byte(line), []byte("Transfer-Encoding: chunked\r\n"))
	}
}

// read counts events until there are enough.
func (r *reader) read() error {
	var frames dechunker
	buf := make([]byte, bufferSize)
	for r.seen.Load() < int64(r.want) {
		n, err := r.in.Read(buf)
		if err != nil {
			return fmt.Errorf("a reader ended after %d of %d events: %w", r.seen.Load(), r.want, err)
		}
		if !r.chunked {
			r.count(buf[:n])
		} else if err := frames.feed(buf[:n], r.count); err != nil {
			return err
		}
	}
	r.done = time.Now()
	return nil
}

// count looks for events in data, also for one whose mark began in the data
// before.
func (r *reader) count(data []byte) {
	if r.keep != nil {
		r.keep.Write(data)
	}
	most := len(r.mark) - 1 // bytes of a mark that has only begun
	border := append(r.carry, data[:min(len(data), most)]...)
	n := bytes.Count(border, []byte(r.mark)) + bytes.Count(data, []byte(r.mark))
	if len(data) >= most {
		r.carry = append(r.carry[:0], data[len(data)-most:]...)
	} else {
		r.carry = append(r.carry[:0], border[max(0, len(border)-most):]...)
	}
	if n > 0 {
		r.seen.Add(int64(n))
	}
}
