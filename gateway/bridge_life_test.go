package gateway

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/fasthttp/websocket"

	"github.com/wharf-dev/wharf/runtime/desk"
)

// tenants lets everybody in, as the caller that the credential names.
type tenants struct{ keyless }

func (tenants) Authenticate(_ context.Context, credential string) (*desk.Caller, error) {
	return &desk.Caller{TenantID: credential}, nil
}

// noBridges fails unless every goroutine of a bridge ends.
func noBridges(t *testing.T) {
	t.Helper()
	stacks := make([]byte, 8<<20)
	for end := time.Now().Add(20 * time.Second); ; runtime.Gosched() {
		all := string(stacks[:runtime.Stack(stacks, true)])
		if !strings.Contains(all, "gateway.(*bridge)") {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("goroutines are left:\n%s", all)
		}
	}
}

// leaving is what clients do when they have had enough.
func leaving(c *net.TCPConn, how int) {
	switch how % 3 {
	case 0:
		_ = c.SetLinger(0) // a reset
		_ = c.Close()
	case 1:
		_ = c.Close()
	case 2:
		_ = c.CloseWrite()
	}
}

// Handlers of streams whose clients have left see, under the load of other callers, only
// values of their own request, learn that the client is gone, and leave nothing behind.
func TestBridgedStreamsLeftHalfWay(t *testing.T) {
	streams, atOnce := 500, 50
	if os.Getenv("WHARF_LONG") != "" {
		streams = 10_000
	}
	var others atomic.Int64    // requests of other callers that were answered
	var running sync.WaitGroup // handlers of streams
	stream := func(w http.ResponseWriter, r *http.Request) {
		defer running.Done()
		who := strings.Clone(r.PathValue("rest"))
		check := func(when string) {
			caller := CallerOf(r.Context())
			for _, value := range []string{caller.TenantID, r.Header.Get("X-Who"), r.URL.Query().Get("who"), r.Host, strings.TrimPrefix(r.RequestURI, "/l/")} {
				if value, _, _ = strings.Cut(value, "?"); value != who {
					t.Errorf("%s: the handler of %s reads %q", when, who, value)
				}
			}
		}
		check("at first")
		for i := range 3 {
			fmt.Fprintf(w, "data: %s %d\n\n", who, i)
			_ = http.NewResponseController(w).Flush()
		}
		<-r.Context().Done()
		if cause := context.Cause(r.Context()); !errors.Is(cause, ErrClientGone) {
			t.Errorf("the context has ended for %v", cause)
		}
		for until := others.Load() + 5; others.Load() < until; runtime.Gosched() {
		}
		check("after others have come")
		if _, err := io.WriteString(w, "more"); err == nil {
			_ = http.NewResponseController(w).Flush()
		}
	}
	s := New(Config{Streams: streams, Connections: 2 * streams}, tenants{}, slog.New(slog.DiscardHandler), library{http.HandlerFunc(
		func(w http.ResponseWriter, r *http.Request) {
			if r.Method == "GET" {
				stream(w, r)
				return
			}
			body, _ := io.ReadAll(r.Body)
			fmt.Fprintf(w, "%s %s", r.Header.Get("X-Who"), body)
		}), false})
	addr := serve(t, s)

	stop := make(chan struct{})
	var load sync.WaitGroup
	for i := range 4 {
		load.Go(func() { otherCallers(t, addr, i, &others, stop) })
	}
	var clients sync.WaitGroup
	places := make(chan struct{}, atOnce)
	for i := range streams {
		places <- struct{}{}
		running.Add(1)
		clients.Go(func() {
			defer func() { <-places }()
			who := fmt.Sprintf("client-%06d", i)
			c, err := net.Dial("tcp", addr)
			if err != nil {
				t.Error(err)
				return
			}
			defer c.Close()
			fmt.Fprintf(c, "GET /l/%[1]s?who=%[1]s HTTP/1.1\r\nHost: %[1]s\r\nX-Who: %[1]s\r\nAuthorization: Bearer %[1]s\r\n\r\n", who)
			r := bufio.NewReader(c)
			for line := ""; !strings.HasPrefix(line, "data: "+who+" 0"); {
				if line, err = r.ReadString('\n'); err != nil {
					t.Error(err)
					return
				}
			}
			leaving(c.(*net.TCPConn), i)
			if i%3 == 2 { // has closed its side alone, and reads on
				_, _ = io.Copy(io.Discard, r)
			}
		})
	}
	clients.Wait()
	running.Wait()
	close(stop)
	load.Wait()
	if err := s.streams.wait(t.Context()); err != nil {
		t.Error(err)
	}
	noBridges(t)
}

// otherCallers sends requests over one connection until it is stopped.
func otherCallers(t *testing.T, addr string, n int, answered *atomic.Int64, stop chan struct{}) {
	c, err := net.Dial("tcp", addr)
	if err != nil {
		t.Error(err)
		return
	}
	defer c.Close()
	r := bufio.NewReader(c)
	for i := 0; ; i++ {
		select {
		case <-stop:
			return
		default:
		}
		who := fmt.Sprintf("other--%d-%05d", n, i)
		fmt.Fprintf(c, "POST /l/%[1]s?who=%[1]s HTTP/1.1\r\nHost: %[1]s\r\nX-Who: %[1]s\r\nAuthorization: Bearer %[1]s\r\nContent-Length: %[2]d\r\n\r\n%[1]s", who, len(who))
		resp, err := http.ReadResponse(r, nil)
		if err != nil {
			t.Error(err)
			return
		}
		body, err := io.ReadAll(resp.Body)
		if want := who + " " + who; string(body) != want || err != nil {
			t.Errorf("%s was answered %q (%v)", who, body, err)
		}
		answered.Add(1)
	}
}

// What waits for a client hears that it has left, whatever it was doing.
func TestBridgedClientsThatLeave(t *testing.T) {
	head := "GET /l/x HTTP/1.1\r\nHost: a\r\n\r\n"
	for name, test := range map[string]struct {
		request string
		handle  func(w http.ResponseWriter, r *http.Request) error
	}{
		"before the answer": {head, func(_ http.ResponseWriter, r *http.Request) error {
			<-r.Context().Done()
			return context.Cause(r.Context())
		}},
		"with a small body unread": {"POST /l/x HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\nhi", func(_ http.ResponseWriter, r *http.Request) error {
			<-r.Context().Done()
			return context.Cause(r.Context())
		}},
		"after its body": {"POST /l/x HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\n\r\n", func(_ http.ResponseWriter, r *http.Request) error {
			if _, err := io.ReadAll(r.Body); err != nil {
				return err
			}
			<-r.Context().Done()
			return context.Cause(r.Context())
		}},
		"between pieces": {head, func(w http.ResponseWriter, r *http.Request) error {
			_ = http.NewResponseController(w).Flush()
			<-r.Context().Done()
			return context.Cause(r.Context())
		}},
		"with another request sent": {head + head, func(w http.ResponseWriter, r *http.Request) error {
			_ = http.NewResponseController(w).Flush()
			<-r.Context().Done()
			return context.Cause(r.Context())
		}},
		"while it is written to": {head, func(w http.ResponseWriter, r *http.Request) error {
			for {
				if _, err := w.Write(make([]byte, 1<<16)); err != nil {
					return err
				}
			}
		}},
		"within its body": {"POST /l/x HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nx", func(_ http.ResponseWriter, r *http.Request) error {
			if _, err := io.ReadAll(r.Body); err == nil {
				return errors.New("a body without an end is read to its end")
			}
			return ErrClientGone
		}},
	} {
		for _, secure := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/%v", name, secure), func(t *testing.T) {
				t.Parallel()
				started, ended := make(chan struct{}), make(chan error, 1)
				h := func(w http.ResponseWriter, r *http.Request) {
					if (r.TLS != nil) != secure {
						t.Errorf("the request came with TLS: %v", r.TLS != nil)
					}
					close(started)
					ended <- test.handle(w, r)
				}
				c := dialBridged(t, secure, h)
				if _, err := io.WriteString(c, test.request); err != nil {
					t.Fatal(err)
				}
				<-started
				_ = c.Close()
				select {
				case err := <-ended:
					if !errors.Is(err, ErrClientGone) {
						t.Errorf("the handler was told %v", err)
					}
				case <-time.After(20 * time.Second):
					t.Error("the handler was told nothing")
				}
			})
		}
	}
}

// dialBridged starts a server for a handler and connects to it.
func dialBridged(t *testing.T, secure bool, h http.HandlerFunc) net.Conn {
	t.Helper()
	if !secure {
		_, addr, _ := bridgedServer(t, Config{}, h)
		return dial(t, addr)
	}
	a, dir := newAuthority(t), t.TempDir()
	cert, key := a.issue(t)
	keys, err := NewTLS(TLSConfig{Cert: put(t, dir, "tls.crt", cert), Key: put(t, dir, "tls.key", key)}, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = keys.Close() })
	_, addr, _ := bridgedServer(t, Config{TLS: keys}, h)
	c := tls.Client(dial(t, addr), &tls.Config{RootCAs: a.pool(), ServerName: "wharf.test"})
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// A client that takes nothing ends its stream, also if the handler would wait for ever.
func TestBridgedClientsThatStall(t *testing.T) {
	ended := make(chan error, 1)
	_, addr, _ := bridgedServer(t, Config{WriteTimeout: 50 * time.Millisecond}, func(w http.ResponseWriter, r *http.Request) {
		if err := http.NewResponseController(w).SetWriteDeadline(time.Time{}); err != nil {
			t.Error(err)
		}
		for {
			if _, err := w.Write(make([]byte, 10_000)); err != nil {
				ended <- errors.Join(err, context.Cause(r.Context()))
				return
			}
		}
	})
	fmt.Fprint(dial(t, addr), "GET /l/x HTTP/1.1\r\nHost: a\r\n\r\n")
	if err := <-ended; !errors.Is(err, os.ErrDeadlineExceeded) || !errors.Is(err, ErrClientGone) {
		t.Errorf("the handler was told %v", err)
	}
}

// What clients leave unread is bounded for all streams together: who has waited longest goes.
func TestBridgedClientsThatStallHoldSoMuch(t *testing.T) {
	ended := make(chan string, 1)
	s, addr, _ := bridgedServer(t, Config{InFlightBytes: 128 << 20}, func(w http.ResponseWriter, r *http.Request) {
		if _, err := w.Write(make([]byte, 8<<20)); err != nil {
			ended <- r.URL.Path
		}
	})
	first := dial(t, addr)
	fmt.Fprint(first, "GET /l/first HTTP/1.1\r\nHost: a\r\n\r\n")
	for held := int64(0); held == 0; runtime.Gosched() {
		s.unread.mu.Lock()
		held = s.unread.held
		s.unread.mu.Unlock()
	}
	second := dial(t, addr)
	fmt.Fprint(second, "GET /l/second HTTP/1.1\r\nHost: a\r\n\r\n")
	if who := <-ended; who != "/l/first" {
		t.Errorf("%s has gone", who)
	}
	if got := read(t, bufio.NewReader(second), "GET"); len(got.Body) != 8<<20 || got.Broken {
		t.Errorf("the second got %d bytes", len(got.Body))
	}
}

// A client that sends its body late is waited for, as long as any.
func TestBridgedClientsThatSendLate(t *testing.T) {
	reading := make(chan struct{}, 1)
	_, addr, _ := bridgedServer(t, Config{ReadTimeout: 300 * time.Millisecond}, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/l/mine" {
			_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(-time.Second))
		} else {
			_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(time.Hour))
		}
		reading <- struct{}{}
		body, err := io.ReadAll(r.Body)
		if err != nil {
			http.Error(w, "my words", 400)
			return
		}
		_, _ = w.Write(body)
	})
	head := "POST /l/%s HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n"
	late := dial(t, addr)
	fmt.Fprintf(late, head, "x")
	<-reading
	fmt.Fprint(late, "6\r\n there\r\n0\r\n\r\n")
	if got := read(t, bufio.NewReader(late), "POST"); got.Status != 200 || got.Body != "hi there" {
		t.Errorf("late: %+v", got)
	}
	for _, path := range []string{"never", "mine"} {
		if got := askRaw(t, addr, fmt.Sprintf(head, path)); got.Status != 408 || !strings.Contains(got.Body, "deadline_exceeded") {
			t.Errorf("%s: %+v", path, got)
		}
		<-reading
	}
}

// Whoever expects it is told to go on before it sends its body.
func TestBridgedExpectations(t *testing.T) {
	_, addr, _ := bridgedServer(t, Config{}, func(w http.ResponseWriter, r *http.Request) { _, _ = io.Copy(w, r.Body) })
	c := dial(t, addr)
	r := bufio.NewReader(c)
	fmt.Fprint(c, "POST /l/x HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\n")
	if line, err := r.ReadString('\n'); err != nil || !strings.HasPrefix(line, "HTTP/1.1 100 ") {
		t.Fatalf("%q %v", line, err)
	}
	_, _ = r.ReadString('\n')
	fmt.Fprint(c, "hello")
	if got := read(t, r, "POST"); got.Body != "hello" {
		t.Errorf("%+v", got)
	}
}

// A library takes a connection over with what its client has sent already.
func TestBridgedUpgrades(t *testing.T) {
	h := func(w http.ResponseWriter, r *http.Request) {
		c, rw, err := w.(http.Hijacker).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		defer c.Close()
		if _, err := w.Write([]byte("x")); err != http.ErrHijacked {
			t.Errorf("a write after all: %v", err)
		}
		if _, _, err := w.(http.Hijacker).Hijack(); err != http.ErrHijacked {
			t.Errorf("hijacked again: %v", err)
		}
		ahead := rw.Reader.Buffered()
		fmt.Fprintf(rw, "HTTP/1.1 101 Switching Protocols\r\nUpgrade: echo\r\nConnection: Upgrade\r\n\r\n%d ", ahead)
		_ = rw.Flush()
		_, _ = io.Copy(c, rw)
	}
	_, ours, _ := bridgedServer(t, Config{}, h)
	theirs := plainServer(t, h)
	for name, early := range map[string]string{"nothing": "", "something": "early ", "much": strings.Repeat("early ", 300)} {
		var got [2]string
		for i, addr := range []string{ours, theirs} {
			c := dial(t, addr)
			fmt.Fprintf(c, "GET /l/x HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n%s", early)
			r := bufio.NewReader(c)
			var text []byte
			for !strings.HasSuffix(string(text), " "+early) || early == "" && len(text) == 0 {
				b, err := r.ReadByte()
				if err != nil {
					t.Fatal(err, string(text))
				}
				text = append(text, b)
			}
			fmt.Fprint(c, "late")
			_ = c.(*net.TCPConn).CloseWrite()
			rest, _ := io.ReadAll(r)
			got[i] = string(text) + string(rest)
		}
		if got[0] != got[1] || !strings.HasSuffix(got[0], "late") {
			t.Errorf("with %s ahead the client reads\n%q\nand of net/http\n%q", name, got[0], got[1])
		}
	}
}

// A WebSocket library stands behind the bridge, and behind the gateway's checks.
func TestBridgedWebSockets(t *testing.T) {
	upgrader := websocket.Upgrader{CheckOrigin: func(*http.Request) bool { return true }}
	handled := make(chan struct{}, 10)
	s, addr, _ := bridgedServer(t, Config{}, func(w http.ResponseWriter, r *http.Request) {
		handled <- struct{}{}
		c, err := upgrader.Upgrade(w, r, nil)
		if err != nil {
			t.Error(err)
			return
		}
		defer c.Close()
		for {
			kind, text, err := c.ReadMessage()
			if err != nil {
				return
			}
			if err := c.WriteMessage(kind, text); err != nil {
				return
			}
		}
	})
	c, _, err := websocket.DefaultDialer.Dial("ws://"+addr+"/l/x", nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"", "hello", strings.Repeat("x", 1<<20)} {
		if err := c.WriteMessage(websocket.TextMessage, []byte(text)); err != nil {
			t.Fatal(err)
		}
		if _, got, err := c.ReadMessage(); err != nil || string(got) != text {
			t.Fatalf("%d bytes came back as %d (%v)", len(text), len(got), err)
		}
	}
	if open := s.streams.open.Load(); open != 1 {
		t.Errorf("%d streams are counted", open)
	}
	c.Close()
	<-handled
	if err := s.streams.wait(t.Context()); err != nil {
		t.Error(err)
	}
	_, resp, err := websocket.DefaultDialer.Dial("ws://"+addr+"/l/x", http.Header{"Origin": {"http://elsewhere.test"}})
	if err == nil || resp == nil || resp.StatusCode != 403 || len(handled) > 0 {
		t.Errorf("a page of elsewhere: %v %+v", err, resp)
	}
}

// A drain ends what streams, leaves what is about to answer, and takes no new stream.
func TestBridgedDrain(t *testing.T) {
	started, drained, goOn := make(chan string, 10), make(chan error, 2), make(chan struct{})
	s, addr, _ := bridgedServer(t, Config{}, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/l/stream":
			_ = http.NewResponseController(w).Flush()
			started <- r.URL.Path
			<-r.Context().Done()
			drained <- context.Cause(r.Context())
			fmt.Fprint(w, "good bye")
		case "/l/upgrade":
			c, _, err := w.(http.Hijacker).Hijack()
			if err != nil {
				t.Error(err)
			}
			started <- r.URL.Path
			<-r.Context().Done()
			drained <- context.Cause(r.Context())
			fmt.Fprint(c, "good bye") // and does not close it
		case "/l/abandoned":
			if _, _, err := w.(http.Hijacker).Hijack(); err != nil {
				t.Error(err)
			}
			started <- r.URL.Path
		default:
			started <- r.URL.Path
			<-goOn
			if r.Context().Err() != nil {
				t.Error("a request that has not streamed is cut off")
			}
			if r.URL.Path == "/l/large" {
				_, _ = w.Write(make([]byte, 200_000))
				if r.Context().Err() != nil {
					t.Error("a large answer is cut off")
				}
			}
			if r.URL.Path == "/l/late" {
				_ = http.NewResponseController(w).Flush()
				return
			}
			fmt.Fprint(w, "answered")
		}
	})
	conns := map[string]net.Conn{}
	for _, path := range []string{"/l/stream", "/l/upgrade", "/l/abandoned", "/l/late", "/l/large", "/l/plain"} {
		conns[path] = dial(t, addr)
		fmt.Fprintf(conns[path], "GET %s HTTP/1.1\r\nHost: a\r\n\r\n", path)
		<-started
	}
	s.Drain()
	for range 2 {
		if cause := <-drained; !errors.Is(cause, ErrDraining) {
			t.Errorf("the handler was told %v", cause)
		}
	}
	close(goOn)
	for path, want := range map[string]answered{
		"/l/stream": {Status: 200, Body: "good bye"}, "/l/late": {Status: 503}, "/l/plain": {Status: 200, Body: "answered"},
		"/l/large": {Status: 200, Body: strings.Repeat("\x00", 200_000) + "answered"},
	} {
		got := read(t, bufio.NewReader(conns[path]), "GET")
		if got.Status != want.Status || want.Body != "" && got.Body != want.Body || got.Broken {
			t.Errorf("%s: %.400s", path, fmt.Sprint(got))
		}
	}
	for path, want := range map[string]string{"/l/upgrade": "good bye", "/l/abandoned": ""} {
		if got, err := io.ReadAll(conns[path]); string(got) != want || err != nil {
			t.Errorf("%s: %q %v", path, got, err)
		}
	}
	if err := s.Shutdown(t.Context()); err != nil {
		t.Error(err)
	}
	noBridges(t)
}

// Whoever does not hear of the drain loses its connection when the node gives up.
func TestBridgedHandlersThatDoNotListen(t *testing.T) {
	started, wrote := make(chan struct{}), make(chan error)
	s, addr, _ := bridgedServer(t, Config{}, func(w http.ResponseWriter, r *http.Request) {
		_ = http.NewResponseController(w).Flush()
		close(started)
		for {
			if _, err := w.Write(make([]byte, 1<<20)); err != nil {
				wrote <- err
				return
			}
		}
	})
	fmt.Fprint(dial(t, addr), "GET /l/x HTTP/1.1\r\nHost: a\r\n\r\n")
	<-started
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := s.Shutdown(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("the shutdown ended with %v", err)
	}
	if err := <-wrote; err == nil {
		t.Error("the write went on")
	}
	if err := s.streams.wait(t.Context()); err != nil {
		t.Error(err)
	}
}

// A handler whose connection was closed before it could be handed over hears of it.
func TestBridgedConnectionsThatAreLost(t *testing.T) {
	for name, takeOver := range map[string]func(w http.ResponseWriter) error{
		"flush": func(w http.ResponseWriter) error { return http.NewResponseController(w).Flush() },
		"large": func(w http.ResponseWriter) error { _, err := w.Write(make([]byte, 200_000)); return err },
		"hijack": func(w http.ResponseWriter) error {
			_, _, err := w.(http.Hijacker).Hijack()
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			ended := make(chan error, 1)
			s := New(Config{}, keyless{}, slog.New(slog.DiscardHandler), oneRoute{func(r *Request) error {
				return r.Bridge(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
					_ = r.HTTP.Conn().Close()
					ended <- takeOver(w)
				}))
			}})
			addr := serve(t, s)
			fmt.Fprint(dial(t, addr), "POST /x HTTP/1.1\r\nHost: a\r\n\r\n")
			if err := <-ended; !errors.Is(err, ErrClientGone) {
				t.Errorf("the handler was told %v", err)
			}
			if err := s.streams.wait(t.Context()); err != nil {
				t.Error(err)
			}
			noBridges(t)
		})
	}
}

// A connection that a handler has taken over and left in a panic is closed.
func TestBridgedHandlersThatPanicWithAConnection(t *testing.T) {
	_, addr, log := bridgedServer(t, Config{}, func(w http.ResponseWriter, _ *http.Request) {
		c, _, err := w.(http.Hijacker).Hijack()
		if err != nil {
			t.Error(err)
		}
		fmt.Fprint(c, "half")
		panic("something")
	})
	c := dial(t, addr)
	fmt.Fprint(c, "GET /l/x HTTP/1.1\r\nHost: a\r\n\r\n")
	if got, err := io.ReadAll(c); string(got) != "half" || err != nil {
		t.Errorf("%q %v", got, err)
	}
	if n := strings.Count(log.String(), "request panicked"); n != 1 {
		t.Errorf("the panic is %d times in the log: %s", n, log)
	}
}

// What a handler leaves running when it returns reads nothing and writes nothing any more, and
// does not hurt the next request on the connection.
func TestBridgedHandlersThatGoOn(t *testing.T) {
	late := make(chan func() error, 10)
	_, addr, _ := bridgedServer(t, Config{}, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/l/reads" {
			reading := make(chan struct{})
			go func() { // still waits for the client when the handler returns
				one := make([]byte, 1)
				_, _ = r.Body.Read(one)
				close(reading)
				_, err := r.Body.Read(one)
				late <- func() error { return err }
			}()
			<-reading
			w.WriteHeader(401)
			return
		}
		fmt.Fprint(w, r.URL.Path)
		rc := http.NewResponseController(w)
		if r.URL.Path == "/l/stream" {
			_ = rc.Flush()
		}
		for _, f := range []func() error{
			func() error { _, err := r.Body.Read(make([]byte, 1)); return err },
			func() error { _, err := w.Write([]byte("late")); return err },
			rc.Flush,
			func() error { _, _, err := rc.Hijack(); return err },
			func() error { w.WriteHeader(500); w.Header().Set("X", "y"); return r.Context().Err() },
			func() error { return errors.Join(rc.SetReadDeadline(time.Unix(1, 0)), io.EOF) },
		} {
			late <- f
		}
	})
	c := dial(t, addr)
	r := bufio.NewReader(c)
	for _, path := range []string{"/l/1", "/l/2", "/l/stream"} {
		fmt.Fprintf(c, "POST %s HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nxyz", path)
		if got := read(t, r, "POST"); got.Body != path || got.Status != 200 {
			t.Fatalf("%+v", got)
		}
		for i := range 6 {
			if err := (<-late)(); err == nil {
				t.Errorf("%s: %d succeeds when the handler has returned", path, i)
			}
		}
	}
	if got := askRaw(t, addr, "POST /l/reads HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n"); got.Status != 401 || !got.Closing {
		t.Errorf("%+v", got)
	}
	if err := (<-late)(); err == nil {
		t.Error("a read goes on when the handler has returned")
	}
}

// A body is read until the handler flushes, and what is left of it does not cost the client
// its answer.
func TestBridgedBodiesAfterFlushing(t *testing.T) {
	_, addr, _ := bridgedServer(t, Config{}, func(w http.ResponseWriter, r *http.Request) {
		one := make([]byte, 1)
		if _, err := io.ReadFull(r.Body, one); err != nil {
			t.Error(err)
		}
		_ = http.NewResponseController(w).Flush()
		if _, err := r.Body.Read(one); err != http.ErrBodyReadAfterClose {
			t.Errorf("after flushing: %v", err)
		}
		_, _ = w.Write(make([]byte, 300_000))
	})
	c := dial(t, addr)
	var sending sync.WaitGroup
	sending.Go(func() {
		fmt.Fprintf(c, "POST /l/x HTTP/1.1\r\nHost: a\r\nContent-Length: %d\r\n\r\n", 4<<20)
		_, _ = c.Write(make([]byte, 4<<20))
	})
	if got := read(t, bufio.NewReader(c), "POST"); got.Status != 200 || len(got.Body) != 300_000 || got.Broken {
		t.Errorf("%d with %d bytes, broken: %v", got.Status, len(got.Body), got.Broken)
	}
	sending.Wait()
}
