package harn_test

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/wharf-dev/wharf/gateway"
)

// begins sends the beginning of a request whose body does not end.
func (n *node) begins(t *testing.T, path string) net.Conn {
	t.Helper()
	c := n.dial(t)
	_, err := fmt.Fprintf(c, "POST %s HTTP/1.1\r\nHost: x\r\nContent-Type: %s\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n", path, gateway.MediaForm)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// Bodies of strangers that never end leave room for those who are known, and for what
// comes in on the paths of Connectors; of a path that there is not nothing is read.
func TestStrangersLeaveRoom(t *testing.T) {
	n := newNode(t, func(c *gateway.Config) {
		c.InFlightBytes, c.BodyLimit, c.DeliveryLimit = 1<<20, 64<<10, 64<<10
	})
	hook := func(more object) string {
		body := object{"provider": "generic", "plugin": "echo#main", "webhook": object{"enabled": true}, "auth": object{"scheme": "none"}}
		for name, value := range more {
			body[name] = value
		}
		made := n.do(t, "POST", "/v1/connectors", body).want(201)
		return made.get("webhook", "path").(string)
	}
	open, shut := hook(nil), hook(object{"webhook": object{"enabled": false}})
	form := func() int {
		return n.do(t, "POST", "/oauth/token", "grant_type=x", header("Authorization", ""), header("Content-Type", gateway.MediaForm)).status
	}
	token := form()

	for _, path := range []string{"/hooks/bogus", shut} {
		for range 20 {
			c := n.begins(t, path)
			answer, err := io.ReadAll(c) // to the end: the node closes
			if err != nil || !strings.HasPrefix(string(answer), "HTTP/1.1 404") {
				t.Fatalf("%s: %v %s", path, err, answer)
			}
			c.Close()
		}
	}
	for range 300 {
		n.begins(t, "/oauth/token")
	}
	for end := time.Now().Add(patience); form() == token; {
		if time.Now().After(end) {
			t.Fatal("strangers are refused nothing")
		}
	}
	n.do(t, "POST", "/v1/workspaces", object{"name": "w", "root": "/w"}).want(201)
	delivery := func() int {
		return n.do(t, "POST", open, object{"a": 1}, header("Authorization", ""), header("webhook-id", "1")).status
	}
	if status := delivery(); status != http.StatusAccepted {
		t.Errorf("a delivery is answered %d", status)
	}

	for range 300 { // whoever knows the path can fill its part, and no more
		n.begins(t, open)
	}
	for end := time.Now().Add(patience); delivery() != http.StatusServiceUnavailable; {
		if time.Now().After(end) {
			t.Fatal("deliveries are refused nothing")
		}
	}
	n.do(t, "POST", "/v1/workspaces", object{"name": "w", "root": "/w"}).want(201)
}
