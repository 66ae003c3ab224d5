package gateway

import (
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"testing"
)

// A request without TLS is told so, and what is neither is not answered.
func TestRequestsWithoutTLSAreTold(t *testing.T) {
	a, dir := newAuthority(t), t.TempDir()
	cert, key := a.issue(t)
	secure, err := NewTLS(TLSConfig{Cert: put(t, dir, "c", cert), Key: put(t, dir, "k", key)}, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	defer secure.Close()
	ln := secure.Listener(loopback(t))
	defer ln.Close()
	go func() {
		for {
			c, err := ln.Accept()
			if err != nil {
				return
			}
			_, _ = c.Read(make([]byte, 1))
			c.Close()
		}
	}()
	for _, method := range []string{http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete, http.MethodOptions} {
		request, err := http.NewRequestWithContext(t.Context(), method, "http://"+ln.Addr().String()+"/v1/tasks", nil)
		if err != nil {
			t.Fatal(err)
		}
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Errorf("%s: %v", method, err)
			continue
		}
		body, _ := io.ReadAll(response.Body)
		response.Body.Close()
		if response.StatusCode != http.StatusBadRequest || method != http.MethodHead && !strings.Contains(string(body), "this port speaks HTTPS") {
			t.Errorf("%s: %s %s", method, response.Status, body)
		}
	}
	c, err := net.Dial("tcp", ln.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := io.WriteString(c, "SSH-2.0-x\r\n"); err != nil {
		t.Fatal(err)
	}
	if got, _ := io.ReadAll(c); strings.Contains(string(got), "HTTP/1.1") {
		t.Errorf("what is no HTTP is answered %q", got)
	}
}
