package gateway

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/valyala/fasthttp"
	"pgregory.net/rapid"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/desk"
	"github.com/wharf-dev/wharf/runtime/engine"
	"github.com/wharf-dev/wharf/runtime/intake"
	"github.com/wharf-dev/wharf/runtime/outbox"
)

func TestBearer(t *testing.T) {
	for header, want := range map[string]string{
		"Bearer abc": "abc", "bearer abc": "abc", "BEARER  a b": " a b", "Bearer": "", "Bearer ": "", "Basic abc": "", "": "", "Bearer\tabc": "",
	} {
		got, ok := bearer([]byte(header))
		if got != want || ok != (want != "") {
			t.Errorf("%q: %q %v, want %q", header, got, ok, want)
		}
	}
}

// Whoever takes all that one tenant may have leaves room for the others.
func TestSharedBudget(t *testing.T) {
	s := &shared{budget: budget{limit: 100}, each: 75}
	var greedy int64
	for s.takeFor("greedy", 5) {
		greedy += 5
	}
	if greedy != 75 || !s.takeFor("modest", 25) || s.takeFor("third", 1) {
		t.Errorf("one tenant got %d of 100, and left %d in use", greedy, s.used.Load())
	}
	s.giveFor("greedy", greedy)
	if s.giveFor("modest", 25); s.used.Load() != 0 || !s.takeFor("greedy", 75) {
		t.Errorf("what was given back is not there again: %d in use", s.used.Load())
	}
}

// The budget is never exceeded, and what is given back can be taken again.
func TestBudget(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := budget{limit: rapid.Int64Range(0, 1000).Draw(t, "limit")}
		var held []int64
		var sum int64
		t.Repeat(map[string]func(*rapid.T){
			"take": func(t *rapid.T) {
				n := rapid.Int64Range(0, 500).Draw(t, "n")
				if got, want := b.take(n), sum+n <= b.limit; got != want {
					t.Fatalf("take %d of %d with %d in use: %v", n, b.limit, sum, got)
				} else if got {
					held, sum = append(held, n), sum+n
				}
			},
			"give": func(t *rapid.T) {
				if len(held) == 0 {
					t.Skip("nothing is held")
				}
				b.give(held[0])
				sum -= held[0]
				held = held[1:]
			},
			"": func(t *rapid.T) {
				if b.used.Load() != sum {
					t.Fatalf("%d in use, want %d", b.used.Load(), sum)
				}
			},
		})
	})
}

// keyless lets everybody in as nobody in particular.
type keyless struct {
	failed error
	aside  map[abi.Object]int
}

func (keyless) Authenticate(context.Context, string) (*desk.Caller, error) {
	return &desk.Caller{Scopes: []string{abi.ScopeAll}}, nil
}

func (k keyless) Stats() engine.Stats { return engine.Stats{Failed: k.failed, SetAside: k.aside} }

func (keyless) DeliveryStats() intake.Deliveries { return intake.Deliveries{} }
func (keyless) WebhookStats() outbox.Stats       { return outbox.Stats{} }

// oneRoute is an adapter with one route.
type oneRoute struct{ handle Handler }

func (o oneRoute) Mount() Mount {
	return Mount{Name: "one", Prefixes: []string{"/"}, Routes: []Route{
		{Method: "POST", Path: "/x", Operation: "x", Tag: "System", Public: true, Status: 200, Handle: o.handle}}}
}

// start serves one route and returns its URL.
func start(t *testing.T, log io.Writer, core Core, h Handler) (s *Server, url string) {
	t.Helper()
	return listen(t, New(Config{}, core, slog.New(slog.NewTextHandler(log, nil)), oneRoute{h}))
}

// startWith serves one route, as it is configured.
func startWith(t *testing.T, cfg Config, h Handler) (s *Server, url string) {
	t.Helper()
	return listen(t, New(cfg, keyless{}, slog.New(slog.DiscardHandler), oneRoute{h}))
}

// listen serves until the end of the test.
func listen(t *testing.T, s *Server) (*Server, string) {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- s.Serve(ln) }()
	t.Cleanup(func() {
		http.DefaultClient.CloseIdleConnections()
		ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
		defer cancel()
		if err := errors.Join(s.Shutdown(ctx), <-served); err != nil {
			t.Error(err)
		}
	})
	return s, "http://" + ln.Addr().String()
}

func fetch(t *testing.T, method, url string) (status int, header http.Header, body string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, resp.Header, string(text)
}

// What goes wrong inside is told to the log and to nobody else.
func TestInternalErrorsAreNotShown(t *testing.T) {
	for name, h := range map[string]Handler{
		"error": func(*Request) error { return errors.New("disk 7 said something secret") },
		"panic": func(*Request) error { panic("disk 7 said something secret") },
	} {
		t.Run(name, func(t *testing.T) {
			var log bytes.Buffer
			_, url := start(t, &log, keyless{}, h)
			status, header, body := fetch(t, "POST", url+"/x")
			if status != 500 || !strings.Contains(body, `"internal_error"`) || strings.Contains(body, "secret") {
				t.Errorf("%d %s", status, body)
			}
			if id := header.Get("X-Request-Id"); !strings.Contains(log.String(), id) || !strings.Contains(log.String(), "secret") {
				t.Errorf("request %s, log %s", id, log.String())
			}
			if status, _, _ := fetch(t, "GET", url+"/healthz"); status != 200 {
				t.Errorf("afterwards: %d", status)
			}
		})
	}
}

func TestReadinessFollowsTheStore(t *testing.T) {
	_, url := start(t, io.Discard, keyless{failed: errors.New("sync failed")}, nil)
	if status, _, body := fetch(t, "GET", url+"/readyz"); status != 503 || !strings.Contains(body, `"failed"`) {
		t.Errorf("%d %s", status, body)
	}
	if status, _, _ := fetch(t, "GET", url+"/healthz"); status != 200 {
		t.Errorf("%d", status)
	}
}

// What a node goes on without is counted where operators look, and does not make it
// unready.
func TestSetAsideIsCounted(t *testing.T) {
	for name, test := range map[string]struct {
		aside   map[abi.Object]int
		ready   string
		metrics []string
	}{
		"nothing": {nil, `{"status":"ok"}`, nil},
		"some": {map[abi.Object]int{abi.ObjectTask: 2, abi.ObjectQuota: 1}, `{"status":"ok","set_aside":3}`,
			[]string{`wharf_set_aside{object="task"} 2`, `wharf_set_aside{object="quota"} 1`}},
	} {
		t.Run(name, func(t *testing.T) {
			_, url := start(t, io.Discard, keyless{aside: test.aside}, nil)
			if status, _, body := fetch(t, "GET", url+"/readyz"); status != 200 || body != test.ready {
				t.Errorf("%d %s", status, body)
			}
			_, _, metrics := fetch(t, "GET", url+"/metrics")
			for _, want := range test.metrics {
				if !strings.Contains(metrics, want+"\n") {
					t.Errorf("no %s", want)
				}
			}
			if strings.Count(metrics, "\nwharf_set_aside{") != len(test.metrics) {
				t.Errorf("other figures than %v", test.metrics)
			}
		})
	}
}

// Requests in flight are finished by a shutdown, and new connections refused.
func TestShutdownFinishesRequests(t *testing.T) {
	entered, leave := make(chan struct{}), make(chan struct{})
	s, url := start(t, io.Discard, keyless{}, func(r *Request) error {
		close(entered)
		<-leave
		r.Send(fasthttp.StatusOK, []byte(`{}`))
		return nil
	})
	answered := make(chan int, 1)
	go func() {
		resp, err := http.Post(url+"/x", "", nil)
		if err != nil {
			answered <- 0
			return
		}
		resp.Body.Close()
		answered <- resp.StatusCode
	}()
	<-entered
	down := make(chan error, 1)
	go func() { down <- s.Shutdown(context.Background()) }()
	<-s.live.Done()
	close(leave)
	if status := <-answered; status != 200 {
		t.Errorf("the request in flight was answered %d", status)
	}
	if err := <-down; err != nil {
		t.Error(err)
	}
	if resp, err := http.Get(url + "/healthz"); err == nil {
		resp.Body.Close()
		t.Error("a new connection is accepted after the shutdown")
	}
}

// A shutdown that comes before Serve, or at the same time, ends it too.
func TestShutdownBeforeServe(t *testing.T) {
	for range 100 {
		s := New(Config{}, keyless{}, slog.New(slog.DiscardHandler))
		ln, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		served := make(chan error, 1)
		go func() { served <- s.Serve(ln) }()
		if err := s.Shutdown(t.Context()); err != nil {
			t.Error(err)
		}
		if err := <-served; err != nil {
			t.Error(err)
		}
		if _, err := ln.Accept(); !errors.Is(err, net.ErrClosed) {
			t.Errorf("the listener is left open: %v", err)
		}
	}
}

// Gone sees a peer that closed or reset the connection, and takes nothing from
// one that sends.
func TestGone(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	client, err := net.Dial("tcp", ln.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	accepted, err := ln.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer accepted.Close()
	server := &conn{Conn: accepted, listener: &listener{}}
	if gone(server) {
		t.Error("an idle peer is taken for gone")
	}
	if _, err := client.Write([]byte("x")); err != nil {
		t.Fatal(err)
	}
	if gone(server) {
		t.Error("a peer that sent something is taken for gone")
	}
	var one [1]byte
	if _, err := io.ReadFull(server, one[:]); err != nil || one[0] != 'x' {
		t.Errorf("%q %v", one, err)
	}
	client.Close()
	for end := time.Now().Add(30 * time.Second); !gone(server); {
		if time.Now().After(end) {
			t.Fatal("a closed peer is not noticed")
		}
	}
}

func TestStreamWritesChunks(t *testing.T) {
	client, server := net.Pipe()
	got := make(chan string)
	go func() {
		all, _ := io.ReadAll(client)
		got <- string(all)
	}()
	st := NewStream(server, time.Minute, true)
	for _, piece := range []string{"hello", "", strings.Repeat("x", 300)} {
		if n, err := st.Write([]byte(piece)); n != len(piece) || err != nil {
			t.Errorf("%d %v", n, err)
		}
	}
	st.end()
	server.Close()
	if all, want := <-got, "5\r\nhello\r\n12c\r\n"+strings.Repeat("x", 300)+"\r\n0\r\n\r\n"; all != want {
		t.Errorf("%q", all)
	}
}

func TestSameRouteTwicePanics(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("no panic")
		}
	}()
	New(Config{}, keyless{}, slog.New(slog.DiscardHandler), oneRoute{}, oneRoute{})
}
