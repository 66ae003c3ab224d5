package load_test

import (
	"fmt"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/valyala/fasthttp"

	"github.com/wharf-dev/wharf/benches/internal/load"
)

// serve runs a handler on loopback for as long as the test.
func serve(t *testing.T, handle fasthttp.RequestHandler) (addr string) {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := &fasthttp.Server{Handler: handle}
	go server.Serve(ln)
	t.Cleanup(func() { server.Shutdown() })
	return ln.Addr().String()
}

func plan(addr string, keyed bool) load.Plan {
	return load.Plan{
		Addr: addr, Conns: 3, Measure: time.Minute, MaxRequests: 50,
		Counts: func(status int, _ []byte) bool { return status/100 == 2 },
		Requests: func(conn int) *load.Request {
			headers := []load.Header{{Name: "X-Conn", Value: fmt.Sprint(conn)}}
			return load.NewRequest("POST", addr, "/things", headers, keyed, []byte(`{"a":1}`))
		},
	}
}

func TestEveryRequestIsWholeAndHasItsOwnKey(t *testing.T) {
	var mu sync.Mutex
	all := sync.NewCond(&mu)
	keys := map[string]bool{}
	conns := map[string]bool{}
	addr := serve(t, func(ctx *fasthttp.RequestCtx) {
		mu.Lock()
		defer mu.Unlock()
		keys[string(ctx.Request.Header.Peek("Idempotency-Key"))] = true
		conns[string(ctx.Request.Header.Peek("X-Conn"))] = true
		all.Broadcast()
		for len(conns) < 3 { // a fast connection must not take all requests before the others begin
			all.Wait()
		}
		if string(ctx.Path()) != "/things" || string(ctx.PostBody()) != `{"a":1}` {
			ctx.SetStatusCode(fasthttp.StatusBadRequest)
		}
		fmt.Fprintf(ctx, `{"id":"thing_%d","inner":{"id":"other"}}`, len(keys))
	})
	got, err := load.Run(t.Context(), plan(addr, true))
	if err != nil {
		t.Fatal(err)
	}
	if got.Counted != 50 || len(got.Refused) != 0 {
		t.Errorf("counted %d, refused %v (%s)", got.Counted, got.Refused, got.Example)
	}
	if len(keys) != 50 || len(conns) != 3 {
		t.Errorf("%d keys over %d connections", len(keys), len(conns))
	}
	if len(got.IDs) != 50 || !strings.HasPrefix(got.IDs[0], "thing_") {
		t.Errorf("the ids are %v", got.IDs)
	}
}

func TestRefusalsAreNotCounted(t *testing.T) {
	addr := serve(t, func(ctx *fasthttp.RequestCtx) { ctx.Error("no", fasthttp.StatusTooManyRequests) })
	got, err := load.Run(t.Context(), plan(addr, false))
	if err != nil {
		t.Fatal(err)
	}
	if got.Counted != 0 || got.Refused[fasthttp.StatusTooManyRequests] != 50 || got.Example != "429 no" {
		t.Errorf("counted %d, refused %v, example %q", got.Counted, got.Refused, got.Example)
	}
}

// TestWarmupIsNotCounted lets the server answer only after the window has
// opened but keeps the first answers before it.
func TestWarmupIsNotCounted(t *testing.T) {
	opened := make(chan struct{})
	var early, late int
	addr := serve(t, func(ctx *fasthttp.RequestCtx) {
		select {
		case <-opened:
			late++
		default:
			early++
		}
	})
	p := plan(addr, false)
	p.Conns, p.MaxRequests = 1, 0
	p.Warmup, p.Measure = 400*time.Millisecond, 400*time.Millisecond
	p.Window = func(open bool) {
		if open {
			close(opened)
		}
	}
	got, err := load.Run(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	if early == 0 || got.Counted == 0 || got.Counted >= early+late {
		t.Errorf("counted %d of %d before and %d after the window opened", got.Counted, early, late)
	}
}

func TestALostConnectionIsAFailure(t *testing.T) {
	addr := serve(t, func(ctx *fasthttp.RequestCtx) { ctx.HijackSetNoResponse(true); ctx.Hijack(func(net.Conn) {}) })
	if _, err := load.Run(t.Context(), plan(addr, false)); err == nil {
		t.Error("a server that hung up went unnoticed")
	}
}
