package gateway

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"reflect"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/wharf-dev/wharf/abi"
)

// library is an adapter that answers everything with a handler of net/http.
type library struct {
	handler http.Handler
	public  bool
}

func (l library) Mount() Mount {
	m := Mount{Name: "library", Prefixes: []string{"/"}}
	for _, method := range []string{"GET", "POST", "PUT", "DELETE"} {
		m.Routes = append(m.Routes, Route{Method: method, Path: "/l/{rest:*}", Operation: "l" + method, Tag: "L", Public: l.public,
			Handle: func(r *Request) error { return r.Bridge(l.handler) }})
	}
	return m
}

// syncLog is a log that may be read while the server runs.
type syncLog struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *syncLog) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *syncLog) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// bridgedServer starts a server for a handler, and returns it and its address.
func bridgedServer(t *testing.T, cfg Config, h http.HandlerFunc) (s *Server, addr string, log *syncLog) {
	t.Helper()
	log = new(syncLog)
	s = New(cfg, keyless{}, slog.New(slog.NewTextHandler(log, nil)), library{h, true})
	return s, serve(t, s), log
}

// serve runs a server until the test ends, and sees that it leaves nothing behind.
func serve(t *testing.T, s *Server) (addr string) {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- s.Serve(ln) }()
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
		defer cancel()
		if err := errors.Join(s.Shutdown(ctx), <-served); err != nil {
			t.Error(err)
		}
		if open, held := s.streams.open.Load(), s.inFlight.used.Load(); open != 0 || held != 0 {
			t.Errorf("at the end there are %d streams, and %d bytes are held", open, held)
		}
	})
	return ln.Addr().String()
}

// plainServer starts net/http's own server.
func plainServer(t *testing.T, h http.HandlerFunc) (addr string) {
	t.Helper()
	s := httptest.NewUnstartedServer(h)
	s.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, 0)
	s.Start()
	t.Cleanup(s.Close)
	return s.Listener.Addr().String()
}

func dial(t *testing.T, addr string) net.Conn {
	t.Helper()
	c, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	_ = c.SetDeadline(time.Now().Add(30 * time.Second))
	return c
}

// answered is an answer as a client reads it.
type answered struct {
	Status  int
	Header  http.Header
	Body    string
	Broken  bool // it has no end
	Closing bool
}

// askRaw sends a request as it is written and reads the answer.
func askRaw(t *testing.T, addr, request string) answered {
	t.Helper()
	c := dial(t, addr)
	if _, err := io.WriteString(c, request); err != nil {
		t.Fatal(err)
	}
	method, _, _ := strings.Cut(request, " ")
	return read(t, bufio.NewReader(c), method)
}

func read(t *testing.T, r *bufio.Reader, method string) answered {
	t.Helper()
	resp, err := http.ReadResponse(r, &http.Request{Method: method})
	if err != nil {
		return answered{Broken: true}
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	return answered{resp.StatusCode, resp.Header, string(body), err != nil, resp.Close}
}

// asked is a request as a handler sees it.
type asked struct {
	Method, RequestURI, Host, Proto, Body string
	URL                                   url.URL
	Header                                http.Header
	Length                                int64
	Coding                                []string
	Close, Local, TLS, Deadline           bool
	From                                  string
	Trouble                               string
}

func seen(r *http.Request) asked {
	body, err := io.ReadAll(r.Body)
	local, _ := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
	host, _, _ := net.SplitHostPort(r.RemoteAddr)
	_, deadline := r.Context().Deadline()
	a := asked{r.Method, r.RequestURI, r.Host, r.Proto, string(body), *r.URL, r.Header.Clone(), r.ContentLength, r.TransferEncoding,
		r.Close, local != nil, r.TLS != nil, deadline, host, ""}
	if err != nil {
		a.Trouble = err.Error()
	}
	return a
}

// A handler sees each request as it sees it behind net/http's own server.
func TestBridgedRequests(t *testing.T) {
	got := make(chan asked, 1)
	h := func(w http.ResponseWriter, r *http.Request) { got <- seen(r) }
	_, ours, _ := bridgedServer(t, Config{HeaderLimit: 64 << 10}, h)
	theirs := plainServer(t, h)
	for name, request := range map[string]string{
		"plain":               "GET /l/x HTTP/1.1\r\nHost: a\r\n\r\n",
		"query":               "GET /l/x?a=1&a=2&b=%20+;c#d HTTP/1.1\r\nHost: a\r\n\r\n",
		"empty query":         "GET /l/x? HTTP/1.1\r\nHost: a\r\n\r\n",
		"two question marks":  "GET /l/x??a=? HTTP/1.1\r\nHost: a\r\n\r\n",
		"escaped slash":       "GET /l/a%2Fb%2fc HTTP/1.1\r\nHost: a\r\n\r\n",
		"escaped otherwise":   "GET /l/%61%7E~%C3%A4%ff%00%3F%23 HTTP/1.1\r\nHost: a\r\n\r\n",
		"slashes and dots":    "GET /l//a/./b/../c///%2e%2e/ HTTP/1.1\r\nHost: a\r\n\r\n",
		"odd characters":      "GET /l/a|b\"<>[]{}^`\\!$&'()*+,;=:@ HTTP/1.1\r\nHost: a\r\n\r\n",
		"a host with a port":  "GET /l/x HTTP/1.1\r\nHost: EXAMPLE.com:8080\r\n\r\n",
		"absolute form":       "GET http://other:99/l/x?q HTTP/1.1\r\nHost: a\r\n\r\n",
		"repeated headers":    "GET /l/x HTTP/1.1\r\nHost: a\r\nX-A: 1\r\nx-a: 2\r\nX-A:3\r\nCookie: a=1\r\nCookie: b=2\r\n\r\n",
		"empty header":        "GET /l/x HTTP/1.1\r\nHost: a\r\nX-A:\r\nX-B:   \r\n\r\n",
		"odd header names":    "GET /l/x HTTP/1.1\r\nHost: a\r\nmcp-protocol-version: 1\r\nX_A: 1\r\nx.y!z: 2\r\n\r\n",
		"bytes in a header":   "GET /l/x HTTP/1.1\r\nHost: a\r\nX-A: \xc3\xa4 \xff\tb\r\n\r\n",
		"pragma":              "GET /l/x HTTP/1.1\r\nHost: a\r\nPragma: no-cache\r\n\r\n",
		"close":               "GET /l/x HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n",
		"1.0":                 "GET /l/x HTTP/1.0\r\n\r\n",
		"1.0 with a host":     "GET /l/x HTTP/1.0\r\nHost: a\r\nConnection: keep-alive\r\n\r\n",
		"a body":              "POST /l/x HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello",
		"an empty body":       "POST /l/x HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n",
		"no body":             "POST /l/x HTTP/1.1\r\nHost: a\r\n\r\n",
		"a body with GET":     "GET /l/x HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello",
		"chunks":              "POST /l/x HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nhel\r\n2;x=y\r\nlo\r\n0\r\n\r\n",
		"no chunks":           "PUT /l/x HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
		"a large body":        "POST /l/x HTTP/1.1\r\nHost: a\r\nContent-Length: 300000\r\n\r\n" + strings.Repeat("0123456789", 30000),
		"a large chunk":       "POST /l/x HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n493e0\r\n" + strings.Repeat("0123456789", 30000) + "\r\n0\r\n\r\n",
		"huge headers":        "GET /l/x HTTP/1.1\r\nHost: a\r\nX-A: " + strings.Repeat("a", 30000) + "\r\nX-B: " + strings.Repeat("b", 20000) + "\r\n\r\n",
		"many headers":        "GET /l/x HTTP/1.1\r\nHost: a\r\n" + strings.Repeat("X-Many: 1\r\n", 1000) + "\r\n",
		"credentials":         "GET /l/x HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer k\r\n\r\n",
		"a chunk that breaks": "POST /l/x HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nhel\r\nzz\r\n",
	} {
		t.Run(name, func(t *testing.T) {
			askRaw(t, theirs, request)
			want := <-got
			askRaw(t, ours, request)
			have := <-got
			if want.Trouble != "" && have.Trouble != "" { // each has words of its own
				want.Trouble, have.Trouble = "", ""
			}
			if !reflect.DeepEqual(have, want) {
				t.Errorf("the handler has seen\n%+v\nand behind net/http\n%+v", have, want)
			}
		})
	}
}

// What net/http refuses to read is refused.
func TestBridgedRequestsThatAreNone(t *testing.T) {
	_, addr, _ := bridgedServer(t, Config{}, func(http.ResponseWriter, *http.Request) { t.Error("was handled") })
	for _, request := range []string{
		"GET /l/%zz HTTP/1.1\r\nHost: a\r\n\r\n",
		"GET /l/x HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
		"GET /l/x\x7f HTTP/1.1\r\nHost: a\r\n\r\n",
	} {
		if got := askRaw(t, addr, request); got.Status != 400 || !strings.Contains(got.Body, `"request_id"`) {
			t.Errorf("%q: %+v", request, got)
		}
	}
}

// Clients read each answer as they read it from net/http's own server.
func TestBridgedAnswers(t *testing.T) {
	long := strings.Repeat("<p>0123456789", 20000)
	hijack := func(w http.ResponseWriter, text string) {
		c, rw, err := w.(http.Hijacker).Hijack()
		if err != nil {
			panic(err)
		}
		defer c.Close()
		_, _ = rw.WriteString(text)
		_ = rw.Flush()
	}
	type handler = func(w http.ResponseWriter, r *http.Request)
	handlers := map[string]handler{
		"nothing": func(http.ResponseWriter, *http.Request) {},
		"text":    func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, "hello") },
		"html":    func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, "<html>hello") },
		"typed": func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "application/x-y")
			io.WriteString(w, "<html>hello")
		},
		"without a type": func(w http.ResponseWriter, r *http.Request) {
			w.Header()["Content-Type"] = nil
			io.WriteString(w, "<html>hello")
		},
		"encoded": func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Encoding", "x-none")
			io.WriteString(w, "<html>hello")
		},
		"status": func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(418); io.WriteString(w, "tea") },
		"status alone": func(w http.ResponseWriter, r *http.Request) {
			w.WriteHeader(599)
		},
		"two statuses": func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(201); w.WriteHeader(500) },
		"headers": func(w http.ResponseWriter, r *http.Request) {
			w.Header().Add("X-A", "1")
			w.Header().Add("X-A", "2")
			w.Header().Add("Set-Cookie", "a=1; Path=/x")
			w.Header().Add("Set-Cookie", "a=2; Path=/y")
			w.Header()["x-lower"] = []string{"a"}
			w.Header().Set("X-Break", "a\r\nX-Injected: b")
			w.Header()["X-Bad: name\r\nX-Injected"] = []string{"c"}
			w.Header().Set("X-Empty", "")
			w.WriteHeader(200)
			w.Header().Set("X-Late", "1")
		},
		"huge headers": func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("X-A", strings.Repeat("a", 100000))
		},
		"204":           func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(204) },
		"204 with text": func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(204); fmt.Fprint(w, "text") },
		"304": func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("ETag", `"x"`)
			w.Header().Set("Content-Type", "text/x")
			w.Header().Set("Content-Length", "5")
			w.WriteHeader(304)
		},
		"redirect": func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "/l/other?x=1", http.StatusTemporaryRedirect)
		},
		"error":     func(w http.ResponseWriter, r *http.Request) { http.Error(w, "no", http.StatusForbidden) },
		"not found": http.NotFound,
		"hints": func(w http.ResponseWriter, r *http.Request) {
			w.WriteHeader(200)
			w.WriteHeader(103)
			io.WriteString(w, "x")
		},
		"close": func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Connection", "close")
			io.WriteString(w, "x")
		},
		"length": func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Length", "5")
			io.WriteString(w, "hello")
		},
		"length and flush": func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Length", "5")
			io.WriteString(w, "he")
			w.(http.Flusher).Flush()
			io.WriteString(w, "llo")
		},
		"too little": func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Length", "10")
			io.WriteString(w, "hello")
		},
		"too much": func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Length", "5")
			io.WriteString(w, "hello")
			if n, err := io.WriteString(w, " world"); n != 0 || err != http.ErrContentLength {
				t.Error(n, err)
			}
		},
		"flushed": func(w http.ResponseWriter, r *http.Request) {
			for range 3 {
				io.WriteString(w, "<p>piece")
				_ = http.NewResponseController(w).Flush()
			}
		},
		"flushed before": func(w http.ResponseWriter, r *http.Request) {
			w.(http.Flusher).Flush()
			io.WriteString(w, "<p>piece")
		},
		"flushed 204":    func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(204); w.(http.Flusher).Flush() },
		"long":           func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, long) },
		"long in pieces": func(w http.ResponseWriter, r *http.Request) { io.Copy(w, onlyReader{strings.NewReader(long)}) },
		"long with length": func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Length", fmt.Sprint(len(long)))
			_, _ = w.Write([]byte(long))
		},
		"file": func(w http.ResponseWriter, r *http.Request) {
			http.ServeContent(w, r, "x.txt", time.Unix(1e9, 0), strings.NewReader(long))
		},
		"abort":                func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) },
		"abort after text":     func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, "x"); panic(http.ErrAbortHandler) },
		"abort after flushing": func(w http.ResponseWriter, r *http.Request) { w.(http.Flusher).Flush(); panic(http.ErrAbortHandler) },
		"exit":                 func(http.ResponseWriter, *http.Request) { runtime.Goexit() },
		"panic after flushing": func(w http.ResponseWriter, r *http.Request) {
			io.WriteString(w, "<p>piece")
			w.(http.Flusher).Flush()
			panic("something")
		},
		"hijack": func(w http.ResponseWriter, r *http.Request) {
			hijack(w, "HTTP/1.1 202 Mine\r\nX-Mine: 1\r\nContent-Length: 2\r\n\r\nhi")
		},
		"hijack after the status": func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Connection", "Upgrade")
			w.Header().Set("Upgrade", "mine")
			w.WriteHeader(101)
			hijack(w, "mine")
		},
		"body ignored": func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(401) },
		"mux": http.StripPrefix("/l", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			io.WriteString(w, r.URL.Path)
		})).ServeHTTP,
	}
	var mu sync.Mutex
	h := func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		handle := handlers[r.Header.Get("X-Case")]
		mu.Unlock()
		handle(w, r)
	}
	_, ours, _ := bridgedServer(t, Config{}, h)
	theirs := plainServer(t, h)
	for name := range handlers {
		for _, line := range []string{"GET /l/x HTTP/1.1", "HEAD /l/x HTTP/1.1", "POST /l/x HTTP/1.1", "GET /l/x HTTP/1.0"} {
			t.Run(name+" "+line, func(t *testing.T) {
				request := line + "\r\nHost: a\r\nX-Case: " + name + "\r\n"
				if strings.HasPrefix(line, "POST") {
					request += "Content-Length: 4\r\n\r\nbody"
				} else {
					request += "\r\n"
				}
				want, have := settled(askRaw(t, theirs, request)), settled(askRaw(t, ours, request))
				if !reflect.DeepEqual(have, want) {
					t.Errorf("the client reads\n%.400s\nand of net/http\n%.400s", fmt.Sprint(have), fmt.Sprint(want))
				}
			})
		}
	}
}

// onlyReader hides what else a reader can do, so that it is read in pieces.
type onlyReader struct{ io.Reader }

// settled leaves out of an answer what a server may decide by itself.
func settled(a answered) answered {
	a.Header = maps.Clone(a.Header)
	for _, name := range []string{"Date", "Server", "X-Request-Id", "Content-Length", "Connection"} {
		a.Header.Del(name)
	}
	a.Closing = false
	return a
}

// An answer that was not flushed leaves the connection to the next request, and one that was
// ends it.
func TestBridgedConnectionsAreKept(t *testing.T) {
	_, addr, _ := bridgedServer(t, Config{}, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		fmt.Fprintf(w, "%s %s", r.URL.Path, body)
		if r.URL.Path == "/l/flush" {
			w.(http.Flusher).Flush()
		}
	})
	c := dial(t, addr)
	var requests string
	for i := range 5 { // in one piece: a client that pipelines
		requests += fmt.Sprintf("POST /l/%d HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n\r\nb%03d", i, i)
	}
	requests += "POST /l/flush HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n\r\nlast" + requests
	if _, err := io.WriteString(c, requests); err != nil {
		t.Fatal(err)
	}
	r := bufio.NewReader(c)
	for i := range 5 {
		if got, want := read(t, r, "POST"), fmt.Sprintf("/l/%d b%03d", i, i); got.Body != want || got.Closing {
			t.Fatalf("%+v, want %s", got, want)
		}
	}
	if got := read(t, r, "POST"); got.Body != "/l/flush last" || !got.Closing || got.Broken {
		t.Errorf("%+v", got)
	}
	if rest, err := io.ReadAll(r); err != nil || len(rest) > 0 {
		t.Errorf("after the stream: %q %v", rest, err)
	}
}

// The gateway's own words reach clients of a bridged route, whatever its handler makes of what
// went wrong.
func TestBridgedRefusals(t *testing.T) {
	release := make(chan struct{})
	s, addr, log := bridgedServer(t, Config{BodyLimit: 100_000, Streams: 1}, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/l/stream":
			if http.NewResponseController(w).Flush() == nil {
				<-release
				return
			}
			if cause := context.Cause(r.Context()); cause == nil {
				t.Error("a stream that was refused leaves the context as it is")
			}
			if _, err := io.WriteString(w, "more"); err == nil {
				t.Error("writes to what was refused succeed")
			}
		case "/l/large":
			_, _ = w.Write(bytes.Repeat([]byte("x"), 100_000))
		case "/l/panic":
			fmt.Fprint(w, "half of an answer")
			panic("something secret")
		default:
			if _, err := io.ReadAll(r.Body); err != nil {
				http.Error(w, "cannot read: "+err.Error(), 400)
			}
		}
	})
	first := dial(t, addr)
	fmt.Fprint(first, "GET /l/stream HTTP/1.1\r\nHost: a\r\n\r\n")
	if line, err := bufio.NewReader(first).ReadString('\n'); err != nil || !strings.Contains(line, "200") {
		t.Fatal(line, err)
	}
	for name, test := range map[string]struct {
		request string
		status  int
		code    string
	}{
		"a body too large":                  {"POST /l/x HTTP/1.1\r\nHost: a\r\nContent-Length: 100001\r\n\r\n" + strings.Repeat("x", 9000), 413, "payload_too_large"},
		"a body that gets too large":        {"POST /l/x HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n186a1\r\n" + strings.Repeat("x", 100001) + "\r\n0\r\n\r\n", 413, "payload_too_large"},
		"a body for which there is no room": {"POST /l/x HTTP/1.1\r\nHost: a\r\nContent-Length: 90000\r\n\r\n" + strings.Repeat("x", 90000), 503, "service_unavailable"},
		"a body framed wrongly":             {"POST /l/x HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", 400, "invalid_request"},
		"a stream too many":                 {"GET /l/stream HTTP/1.1\r\nHost: a\r\n\r\n", 429, "rate_limited"},
		"a large answer":                    {"GET /l/large HTTP/1.1\r\nHost: a\r\n\r\n", 200, strings.Repeat("x", 100_000)},
		"a panic":                           {"GET /l/panic HTTP/1.1\r\nHost: a\r\n\r\n", 500, "internal_error"},
	} {
		crowd := int64(0)
		if test.status == 503 {
			crowd = s.inFlight.most("") - 300_000
			s.inFlight.takeFor("", crowd)
		}
		got := askRaw(t, addr, test.request)
		s.inFlight.giveFor("", crowd)
		if got.Status != test.status || !strings.Contains(got.Body, test.code) || got.Header.Get("X-Request-Id") == "" {
			t.Errorf("%s: %+v", name, got)
		}
	}
	close(release)
	if n := strings.Count(log.String(), "something secret"); n != 1 {
		t.Errorf("the panic is %d times in the log: %s", n, log)
	}
}

// A handler knows who calls, and who may not call does not reach it.
func TestBridgedCallers(t *testing.T) {
	var log syncLog
	s := New(Config{}, keyless{}, slog.New(slog.NewTextHandler(&log, nil)), library{http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctx, cancel := context.WithCancel(r.Context())
		defer cancel()
		fmt.Fprintf(w, "%v %s %s", CallerOf(ctx).Scopes, RequestIDOf(ctx), r.PathValue("rest"))
	}), false})
	addr := serve(t, s)
	if got := askRaw(t, addr, "GET /l/x HTTP/1.1\r\nHost: a\r\n\r\n"); got.Status != 401 {
		t.Errorf("%+v", got)
	}
	got := askRaw(t, addr, "GET /l/a/b%20c HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer key\r\n\r\n")
	if want := fmt.Sprintf("[%s] %s a/b c", abi.ScopeAll, got.Header.Get("X-Request-Id")); got.Body != want {
		t.Errorf("%+v, want %s", got, want)
	}
	if CallerOf(t.Context()) != nil || RequestIDOf(t.Context()) != "" {
		t.Error("a context of no request has a caller")
	}
}
