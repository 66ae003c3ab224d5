package harn_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/wharf-dev/wharf/gateway"
	"github.com/wharf-dev/wharf/runtime/enginetest"
	"github.com/wharf-dev/wharf/runtime/inhand"
)

// A large answer is in hand until its client has taken it, or has left: a read, a page of
// a list, a retry of a write.
func TestLargeAnswersAreInHandUntilTheyAreTaken(t *testing.T) {
	const size = 12 << 20 // more than the buffers of a connection take
	budget := inhand.NewBudget(64 << 20)
	n := newNode(t, func(c *gateway.Config) { c.InHand = budget })
	nothing := func() {
		t.Helper()
		for end := time.Now().Add(patience); budget.Used() != 0; {
			if time.Now().After(end) {
				t.Fatalf("%d bytes are in hand with no request", budget.Used())
			}
		}
	}
	path := "/v1/sessions/" + n.session(t) + "/messages"
	write := object{"message": message(strings.Repeat("x", size))}
	id := n.do(t, "POST", path, write, header("Idempotency-Key", "once")).want(201).id()
	nothing()
	n.do(t, "POST", path, write, header("Idempotency-Key", "once")).want(201)
	nothing()
	for _, read := range []string{"/v1/messages/" + id, path} {
		n.do(t, "GET", read, nil).want(200)
		nothing()
		c := n.dial(t)
		fmt.Fprintf(c, "GET %s HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\nHarn-Agents-Protocol-Version: agents-protocol-2026-04-25\r\n\r\n", read, enginetest.RootKey)
		if _, err := c.Read(make([]byte, 1)); err != nil {
			t.Fatal(err)
		}
		if used := budget.Used(); used < size {
			t.Errorf("%s: %d bytes are in hand while the client does not read", read, used)
		}
		c.Close()
		nothing()
	}
}
