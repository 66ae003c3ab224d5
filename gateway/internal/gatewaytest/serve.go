package gatewaytest

import (
	"context"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/wharf-dev/wharf/gateway"
)

// Node is the engine behind a front door; *enginetest.Node is one.
type Node interface {
	Drain(ctx context.Context) error
	Stop(t testing.TB)
}

// Serve has a server answer on an address of its own, and returns its URL. stop ends the server and the
// node, once; the end of the test does if nobody has. patience is how long that may take.
func Serve(t testing.TB, n Node, s *gateway.Server, patience time.Duration) (url string, stop func()) {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- s.Serve(ln) }()
	stop = sync.OnceFunc(func() {
		now, cancel := context.WithCancel(context.Background())
		cancel()
		if err := n.Drain(now); err != nil {
			t.Error(err)
		}
		http.DefaultClient.CloseIdleConnections()
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		if err := s.Shutdown(ctx); err != nil {
			t.Error("shutdown:", err)
		}
		if err := <-served; err != nil {
			t.Error("serve:", err)
		}
		n.Stop(t)
	})
	t.Cleanup(stop)
	return "http://" + ln.Addr().String(), stop
}

// KeyOf returns the key that the answer to making one shows.
func KeyOf(t testing.TB, made []byte) string {
	t.Helper()
	var k struct {
		Key string `json:"key"`
	}
	if err := json.Unmarshal(made, &k); err != nil || k.Key == "" {
		t.Fatal(err, string(made))
	}
	return k.Key
}

// Log is what was logged. It may be read meanwhile.
type Log struct {
	mu   sync.Mutex
	text strings.Builder
}

// Write implements io.Writer.
func (l *Log) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

// String returns all that was logged.
func (l *Log) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}
