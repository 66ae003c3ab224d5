package prove_test

import (
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/wharf-dev/wharf/conformance/internal/nodetest"
)

// TestFewFiles holds that a node that may open few files survives clients who take all of
// them, and answers again once they are gone.
func TestFewFiles(t *testing.T) {
	const files = 256
	n := builder.StartWith(t, nodetest.Options{Files: files})
	host := strings.TrimPrefix(n.URL, "http://")
	var open []net.Conn
	for range 2 * files {
		c, err := net.Dial("tcp", host)
		if err != nil {
			break // the backlog is full, too
		}
		open = append(open, c)
		// No more than this: what follows would end the request.
		if _, err := c.Write([]byte("GET /v1 HTTP/1.1\r\nHost: x\r\n")); err != nil {
			t.Log(err) // it was turned away
		}
	}
	if len(open) < files {
		t.Fatalf("only %d connections could be opened", len(open))
	}
	for _, c := range open {
		c.Close()
	}
	c := newClient(n)
	for { // until the node has noticed that they are gone
		if a, err := c.try(t.Context(), "GET", "/v1", nil); err == nil && a.status == http.StatusOK {
			break
		}
	}
	if task := c.run(t, "persona_echo", object{"text": "still here"}); task["status"] != "COMPLETED" {
		t.Errorf("a Task afterwards: %v", task)
	}
}
