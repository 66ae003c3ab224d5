package harn_test

import (
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/wharf-dev/wharf/gateway"
	"github.com/wharf-dev/wharf/runtime/enginetest"
	"github.com/wharf-dev/wharf/runtime/inhand"
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

// TestLargeReadsTakeTurns holds that whoever reads what is large does so in one of the places
// of long work, and gives it back: a read, a page of a list, an event, streams of events.
func TestLargeReadsTakeTurns(t *testing.T) {
	one, budget := turns.New(1), inhand.NewBudget(64<<20)
	n := newNode(t, func(c *gateway.Config) { c.Turns, c.InHand = one, budget })
	session := n.session(t)
	path := "/v1/sessions/" + session + "/messages"
	small := n.do(t, "POST", path, object{"message": message("small")}).want(201).id()
	id := n.do(t, "POST", path, object{"message": message(strings.Repeat("x", 1<<20))}).want(201).id()
	events := "/v1/sessions/" + session + "/events"
	reads := map[string]func() bool{
		"a Message": func() bool { return n.do(t, "GET", "/v1/messages/"+id, nil).status == 200 },
		"a list":    func() bool { return n.do(t, "GET", path, nil).status == 200 },
		"events":    func() bool { return n.do(t, "GET", events, nil).status == 200 },
		"a stream":  func() bool { return n.reads(t, events+"/stream", id) },
		"a socket":  func() bool { return n.hears(t, events+"/stream", id) },
	}
	for name, read := range reads {
		t.Run(name, func(t *testing.T) {
			if err := one.Enter(t.Context()); err != nil {
				t.Fatal(err)
			}
			done := make(chan bool, 1)
			go func() { done <- read() }()
			for one.Waiting() == 0 && len(done) == 0 {
				runtime.Gosched()
			}
			n.do(t, "GET", "/v1/messages/"+small, nil).want(200)
			if len(done) != 0 {
				t.Error("what is large was read without a place")
			}
			one.Leave()
			if !<-done {
				t.Error("it was not read")
			}
			if err := one.Enter(t.Context()); err != nil {
				t.Fatal(err)
			}
			one.Leave() // it was given back
		})
	}
	for end := time.Now().Add(patience); budget.Used() != 0; {
		if time.Now().After(end) {
			t.Fatalf("%d bytes are in hand when all was read", budget.Used())
		}
		runtime.Gosched()
	}
}

// reads follows a stream of events until one tells of the resource with that id.
func (n *node) reads(t *testing.T, path, id string) bool {
	s := n.follow(t, path)
	defer s.stop()
	for {
		f, err := s.next()
		if err != nil {
			t.Error(err)
			return false
		}
		if strings.Contains(f.data, id) {
			return true
		}
	}
}

// hears is reads, over a WebSocket.
func (n *node) hears(t *testing.T, path, id string) bool {
	s, _ := n.connect(t, path)
	defer s.conn.Close()
	for {
		_, text, err := s.conn.ReadMessage()
		if err != nil {
			t.Error(err)
			return false
		}
		if strings.Contains(string(text), id) {
			return true
		}
	}
}

// TestWhoIsRefusedGetsTheAnswer holds that a client that sends a large body to its end before
// it reads gets the answer that was given at its beginning.
func TestWhoIsRefusedGetsTheAnswer(t *testing.T) {
	const size = 24 << 20 // more than the buffers of a connection take
	n := newNode(t)
	for name, head := range map[string]string{
		"nobody":    "POST /v1/sessions HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n",
		"no route":  "POST /v1/nothing HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer " + enginetest.RootKey + "\r\n",
		"too large": "POST /v1/sessions HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer " + enginetest.RootKey + "\r\nHarn-Agents-Protocol-Version: agents-protocol-2026-04-25\r\nContent-Type: application/json\r\n",
	} {
		t.Run(name, func(t *testing.T) {
			c := n.dial(t)
			fmt.Fprintf(c, "%sContent-Length: %d\r\n\r\n", head, size)
			if sent, err := io.Copy(c, io.LimitReader(zeros{}, size)); err != nil {
				t.Fatalf("after %d bytes: %v", sent, err)
			}
			if a := readAnswer(t, c); a.status < 400 || a.status >= 500 {
				t.Errorf("it got %d", a.status)
			}
		})
	}
}
