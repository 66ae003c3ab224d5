package gateway

import (
	"context"
	"errors"
	"net"
	"strings"
	"testing"

	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
)

// probes serves the listener of a server that is being served.
func probes(t *testing.T, s *Server) (url string) {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- s.ServeProbes(ln) }()
	t.Cleanup(func() {
		if err := errors.Join(s.endProbes(context.Background()), <-served); err != nil {
			t.Error(err)
		}
	})
	return "http://" + ln.Addr().String()
}

// The listener of its own has three paths and no more, needs no key, and goes on while the node drains.
func TestProbes(t *testing.T) {
	s, _ := startWith(t, Config{}, func(*Request) error { return nil })
	url := probes(t, s)
	for path, want := range map[string]int{"/healthz": 200, "/readyz": 200, "/metrics": 200, "/x": 404, "/": 404, "/version": 404, "/metrics/x": 404, "/v1/tasks": 404, "/health": 404} {
		if status, _, body := fetch(t, "GET", url+path); status != want || status == 200 && body == "" {
			t.Errorf("%s: %d %s, want %d", path, status, body, want)
		}
	}
	if status, header, _ := fetch(t, "POST", url+"/metrics"); status != 405 || header.Get("Allow") == "" {
		t.Errorf("a write was answered with %d", status)
	}
	_, _, text := fetch(t, "GET", url+"/metrics")
	parser := expfmt.NewTextParser(model.UTF8Validation)
	if families, err := parser.TextToMetricFamilies(strings.NewReader(text)); err != nil || families["wharf_http_connections"] == nil {
		t.Errorf("%v: %s", err, text)
	}
	s.Drain()
	if status, _, body := fetch(t, "GET", url+"/readyz"); status != 503 || !strings.Contains(body, "draining") {
		t.Errorf("a node that drains: %d %s", status, body)
	}
}

// What was never asked for has no series.
func TestOnlyWhatIsUsedHasSeries(t *testing.T) {
	s, url := startWith(t, Config{}, func(r *Request) error { r.Send(200, []byte(`{}`)); return nil })
	probe := probes(t, s)
	if _, _, text := fetch(t, "GET", probe+"/metrics"); strings.Contains(text, "operation=") {
		t.Errorf("a node that was asked nothing has series: %s", text)
	}
	fetch(t, "POST", url+"/x")
	fetch(t, "POST", url+"/x")
	_, _, text := fetch(t, "GET", probe+"/metrics")
	if !strings.Contains(text, `wharf_http_requests_total{operation="x",status="2xx"} 2`) || strings.Count(text, "wharf_http_requests_total{") != 1 {
		t.Errorf("%s", text)
	}
}
