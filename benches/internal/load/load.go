package load

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/valyala/fasthttp"
)

// grace is how long after the measured window an answer may still come.
const grace = 20 * time.Second

// maxBody is the longest answer that is read.
const maxBody = 1 << 20

// Plan says what to send, and for how long.
type Plan struct {
	Addr  string
	Conns int
	// Requests returns the request of one connection, numbered from 0.
	Requests func(conn int) *Request
	// Counts decides whether an answer counts. An answer that does not is kept
	// in Result.Refused.
	Counts func(status int, body []byte) bool
	// Warmup is how long requests are sent before anything is counted.
	Warmup time.Duration
	// Measure is the window in which answers are counted.
	Measure time.Duration
	// MaxRequests ends the load early, 0 for no bound but time.
	MaxRequests int64
	// Window, if not nil, is called when the measured window opens (true) and when
	// it closes (false).
	Window func(open bool)
}

// Result is what a load brought about.
type Result struct {
	Counted int             // answers within the window that count
	Elapsed time.Duration   // length of the window
	Took    []time.Duration // of the counted requests, in no order
	// IDs are those of the resources in every answer that counts, those outside
	// the window too.
	IDs     []string
	Refused map[int]int // answers that do not count, by status
	Example string      // one of them
}

// Rate is the number of counted answers a second.
func (r *Result) Rate() float64 { return float64(r.Counted) / r.Elapsed.Seconds() }

// run is the state that the connections of one load share.
type run struct {
	plan       Plan
	open, shut time.Time
	sent       atomic.Int64
}

// Run sends the planned load and returns what came of it. It fails if a
// connection does; a refused request is no failure.
func Run(ctx context.Context, p Plan) (*Result, error) {
	start := time.Now()
	r := &run{plan: p, open: start.Add(p.Warmup), shut: start.Add(p.Warmup + p.Measure)}
	workers, err := r.dial(ctx)
	if err != nil {
		return nil, err
	}
	stop := r.watchWindow(ctx)
	defer stop()
	var wg sync.WaitGroup
	errs := make([]error, len(workers))
	for i, w := range workers {
		wg.Go(func() { errs[i] = w.loop(ctx) })
	}
	wg.Wait()
	return r.merge(workers), errors.Join(errs...)
}

// dial opens the connections.
func (r *run) dial(ctx context.Context) ([]*worker, error) {
	workers := make([]*worker, r.plan.Conns)
	for i := range workers {
		conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", r.plan.Addr)
		if err != nil {
			return nil, fmt.Errorf("connecting to %s: %w", r.plan.Addr, err)
		}
		if err := conn.SetDeadline(r.shut.Add(grace)); err != nil {
			return nil, fmt.Errorf("bounding a connection in time: %w", err)
		}
		workers[i] = &worker{run: r, conn: conn, in: bufio.NewReader(conn), request: r.plan.Requests(i), refused: map[int]int{}}
	}
	return workers, nil
}

// watchWindow calls Plan.Window at both ends of the window. The returned
// function waits until the second call is made.
func (r *run) watchWindow(ctx context.Context) (wait func()) {
	if r.plan.Window == nil {
		return func() {}
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for _, at := range []time.Time{r.open, r.shut} {
			select {
			case <-time.After(time.Until(at)):
				r.plan.Window(at == r.open)
			case <-ctx.Done():
				return
			}
		}
	}()
	return func() { <-done }
}

func (r *run) merge(workers []*worker) *Result {
	out := &Result{Elapsed: r.plan.Measure, Refused: map[int]int{}}
	for _, w := range workers {
		out.Took = append(out.Took, w.took...)
		out.IDs = append(out.IDs, w.ids...)
		for status, n := range w.refused {
			out.Refused[status] += n
		}
		if w.example != "" {
			out.Example = w.example
		}
	}
	out.Counted = len(out.Took)
	return out
}

// worker drives one connection.
type worker struct {
	run     *run
	conn    net.Conn
	in      *bufio.Reader
	request *Request
	answer  fasthttp.Response

	took    []time.Duration
	ids     []string
	refused map[int]int
	example string
}

// loop sends one request after the other until the window shuts, the bound is
// reached or ctx ends.
func (w *worker) loop(ctx context.Context) error {
	defer w.conn.Close()
	for ctx.Err() == nil {
		start := time.Now()
		if !start.Before(w.run.shut) || w.exhausted() {
			return nil
		}
		if err := w.exchange(); err != nil {
			return err
		}
		w.note(start, time.Now())
	}
	return ctx.Err()
}

func (w *worker) exhausted() bool {
	bound := w.run.plan.MaxRequests
	return bound > 0 && w.run.sent.Add(1) > bound
}

// exchange sends the request and reads its answer.
func (w *worker) exchange() error {
	w.request.Refresh()
	if _, err := w.conn.Write(w.request.Bytes()); err != nil {
		return fmt.Errorf("sending a request: %w", err)
	}
	if err := w.answer.ReadLimitBody(w.in, maxBody); err != nil {
		return fmt.Errorf("reading an answer: %w", err)
	}
	return nil
}

// note counts the answer that was just read.
func (w *worker) note(start, end time.Time) {
	status, body := w.answer.StatusCode(), w.answer.Body()
	if !w.run.plan.Counts(status, body) {
		w.refused[status]++
		w.example = fmt.Sprintf("%d %.300s", status, body)
		return
	}
	if id := firstID(body); id != "" {
		w.ids = append(w.ids, id)
	}
	if !end.Before(w.run.open) && end.Before(w.run.shut) {
		w.took = append(w.took, end.Sub(start))
	}
}

// firstID returns the first member of an answer that ends in id: a resource states its own
// before all else.
func firstID(body []byte) string {
	_, rest, ok := bytes.Cut(body, []byte(`id":"`))
	if !ok {
		return ""
	}
	id, _, _ := bytes.Cut(rest, []byte{'"'})
	return string(id)
}
