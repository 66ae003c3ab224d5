package socket

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/fasthttp/websocket"

	"github.com/wharf-dev/wharf/benches/internal/load"
)

// patience is how long one answer may take.
const patience = 20 * time.Second

// Open opens a socket.
func Open(addr, path string, headers []load.Header) (*websocket.Conn, error) {
	d := websocket.Dialer{HandshakeTimeout: patience, ReadBufferSize: 4096, WriteBufferSize: 4096}
	h := http.Header{}
	for _, one := range headers {
		h.Set(one.Name, one.Value)
	}
	conn, resp, err := d.Dial("ws://"+addr+path, h)
	if err != nil && resp != nil {
		err = fmt.Errorf("%w: status %d", err, resp.StatusCode)
	}
	return conn, err
}

// OpenAll opens many sockets; path is that of each, by its number.
func OpenAll(addr string, count int, path func(int) string, headers []load.Header) ([]*websocket.Conn, error) {
	all := make([]*websocket.Conn, 0, count)
	for i := range count {
		c, err := Open(addr, path(i), headers)
		if err != nil {
			CloseAll(all)
			return nil, fmt.Errorf("socket %d of %d: %w", i+1, count, err)
		}
		all = append(all, c)
	}
	return all, nil
}

// CloseAll closes sockets.
func CloseAll(all []*websocket.Conn) {
	for _, c := range all {
		c.Close()
	}
}

// Plan is a load of one frame over and over.
type Plan struct {
	Frame           []byte
	Answer          []byte // what the answer begins with; other frames are passed over
	Warmup, Measure time.Duration
	Window          func(open bool) // called when the measuring begins and ends
}

// Run has every socket ask and wait, and returns how many answers came within the
// window, and how long that was.
func Run(ctx context.Context, conns []*websocket.Conn, p Plan) (int64, time.Duration, error) {
	var counted atomic.Int64
	var counting, stop atomic.Bool
	var all sync.WaitGroup
	errs := make([]error, len(conns))
	for i, c := range conns {
		all.Go(func() {
			for !stop.Load() {
				if errs[i] = ask(c, &p); errs[i] != nil {
					return
				}
				if counting.Load() {
					counted.Add(1)
				}
			}
		})
	}
	wait(ctx, p.Warmup)
	p.Window(true)
	start := time.Now()
	counting.Store(true)
	wait(ctx, p.Measure)
	counting.Store(false)
	took := time.Since(start)
	p.Window(false)
	stop.Store(true)
	all.Wait()
	return counted.Load(), took, errors.Join(errors.Join(errs...), ctx.Err())
}

func wait(ctx context.Context, d time.Duration) {
	select {
	case <-time.After(d):
	case <-ctx.Done():
	}
}

func ask(c *websocket.Conn, p *Plan) error {
	if err := c.WriteMessage(websocket.TextMessage, p.Frame); err != nil {
		return err
	}
	if err := c.SetReadDeadline(time.Now().Add(patience)); err != nil {
		return err
	}
	for {
		_, text, err := c.ReadMessage()
		switch {
		case err != nil:
			return err
		case bytes.HasPrefix(text, p.Answer):
			return nil
		case bytes.HasPrefix(text, []byte(`{"type":"error"`)):
			return fmt.Errorf("refused: %.300s", text)
		}
	}
}
