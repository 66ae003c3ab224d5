package harn_test

import (
	"runtime"
	"strings"
	"testing"

	"github.com/wharf-dev/wharf/gateway"
	"github.com/wharf-dev/wharf/runtime/turns"
)

// TestLargeBodiesTakeTurns holds that a large body is decoded in one of the places of long
// work, however it comes, and that small ones never wait.
func TestLargeBodiesTakeTurns(t *testing.T) {
	one := turns.New(1)
	n := newNode(t, func(c *gateway.Config) { c.Turns = one })
	session := n.session(t)
	path := "/v1/sessions/" + session + "/messages"
	message := func(size int) string {
		return `{"message":{"role":"user","parts":[{"type":"text","text":"` + strings.Repeat("x", size) + `"}]}}`
	}
	large := make(chan *answer, 1)
	if err := one.Enter(t.Context()); err != nil {
		t.Fatal(err)
	}
	go func() { large <- n.do(t, "POST", path, message(turns.Large)) }()
	for one.Waiting() == 0 && len(large) == 0 {
		runtime.Gosched()
	}
	n.do(t, "POST", path, message(1)).want(201)
	if len(large) != 0 {
		t.Error("a large body did not wait for its turn")
	}
	one.Leave()
	(<-large).want(201)
	if one.Waiting() != 0 {
		t.Error("somebody waits though nobody works")
	}
}
