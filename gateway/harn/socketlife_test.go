package harn_test

import (
	"bufio"
	"bytes"
	"compress/flate"
	"errors"
	"fmt"
	"io"
	"net"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/fasthttp/websocket"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/gateway"
	"github.com/wharf-dev/wharf/runtime/enginetest"
)

// A node that drains says so to everybody who is connected.
func TestSocketDrain(t *testing.T) {
	n := newNode(t)
	session := n.session(t)
	idle, _ := n.connect(t, connectPath(session))
	busy, _ := n.connect(t, "/v1/events/stream")
	n.server.Drain()
	for _, s := range []*socket{idle, busy} {
		if bye := s.want("bye"); bye.Code != 1001 {
			t.Errorf("bye %+v", bye)
		}
		s.wantClosed(websocket.CloseGoingAway)
	}
	if _, resp := n.knock(t, connectPath(session)); resp.StatusCode != 503 {
		t.Errorf("a draining node answers %d", resp.StatusCode)
	}
}

// following counts the goroutines that follow the log for sockets.
func following() int {
	buf := make([]byte, 4<<20)
	return strings.Count(string(buf[:runtime.Stack(buf, true)]), "harn.(*trail).run(")
}

// A socket that has nothing to send has no goroutine for it, and goes on with the next
// event.
func TestSocketAtRest(t *testing.T) {
	n := newNode(t)
	session := n.session(t)
	var all []*socket
	for range 8 {
		s, _ := n.connect(t, connectPath(session))
		all = append(all, s)
	}
	for deadline := time.Now().Add(patience); following() > 0; runtime.Gosched() {
		if time.Now().After(deadline) {
			t.Fatalf("%d goroutines follow the log for sockets that have nothing to send", following())
		}
	}
	n.do(t, "POST", "/v1/sessions/"+session+"/messages", object{"message": message("wake up")}).want(201)
	for _, s := range all {
		if f := s.want("event"); !strings.Contains(string(f.Event.Payload), "wake up") {
			t.Errorf("payload %s", f.Event.Payload)
		}
	}
}

// Sockets count as streams, and give their place back.
func TestSocketLimit(t *testing.T) {
	n := newNode(t, func(c *gateway.Config) { c.Streams = 2 })
	session := n.session(t)
	one, _ := n.connect(t, connectPath(session))
	n.connect(t, connectPath(session))
	if _, resp := n.knock(t, connectPath(session)); resp.StatusCode != 429 || resp.Header.Get("Retry-After") == "" {
		t.Errorf("status %d", resp.StatusCode)
	}
	one.conn.Close()
	for deadline := time.Now().Add(patience); ; {
		if s, _ := n.knock(t, connectPath(session)); s != nil {
			return
		}
		if time.Now().After(deadline) {
			t.Fatal("the place of a socket that is gone is still taken")
		}
	}
}

// A client that closes gets its own code back.
func TestSocketClosedByTheClient(t *testing.T) {
	n := newNode(t)
	s, _ := n.connect(t, connectPath(n.session(t)))
	if err := s.conn.WriteControl(websocket.CloseMessage, websocket.FormatCloseMessage(4000, "enough"), time.Now().Add(patience)); err != nil {
		t.Fatal(err)
	}
	s.wantClosed(4000)
}

func TestSocketRefusesMessages(t *testing.T) {
	n := newNode(t, func(c *gateway.Config) { c.MessageLimit = 64 << 10 })
	session := n.session(t)
	large := `{"type":"message","message":{"role":"user","parts":[{"type":"text","text":"` + strings.Repeat("x", 70<<10) + `"}]}}`
	for name, c := range map[string]struct {
		kind, code int
		text       string
	}{
		"binary":    {websocket.BinaryMessage, 1003, `{"type":"ping"}`},
		"no UTF-8":  {websocket.TextMessage, 1007, "{\"type\":\"ping\",\"id\":\"\xff\xfe\"}"},
		"too large": {websocket.TextMessage, 1009, large},
	} {
		t.Run(name, func(t *testing.T) {
			s, _ := n.connect(t, connectPath(session))
			if err := s.conn.WriteMessage(c.kind, []byte(c.text)); err != nil {
				t.Fatal(err)
			}
			s.wantClosed(c.code)
		})
	}
	// What is large only when it is unpacked is too large as well.
	t.Run("bomb", func(t *testing.T) {
		s, _ := n.connect(t, connectPath(session), header("X-Compress", "yes"))
		if !strings.Contains(s.resp.Header.Get("Sec-WebSocket-Extensions"), "permessage-deflate") {
			t.Fatalf("extensions %q", s.resp.Header.Get("Sec-WebSocket-Extensions"))
		}
		s.write(`{"type":"message","message":"` + strings.Repeat("x", 32<<20) + `"}`)
		s.wantClosed(1009)
	})
	t.Run("compressed", func(t *testing.T) {
		s, _ := n.connect(t, connectPath(session), header("X-Compress", "yes"))
		words := strings.Repeat("the same words ", 2000)
		s.do("message", object{"message": message(words)})
		if f := s.want("event"); !strings.Contains(string(f.Event.Payload), words) {
			t.Error("the message is not what was sent")
		}
	})
}

// rawSocket opens a socket whose frames are written by hand.
func (n *node) rawSocket(t *testing.T, session string, more ...string) (net.Conn, *bufio.Reader) {
	t.Helper()
	c, err := net.Dial("tcp", n.addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	_ = c.SetDeadline(time.Now().Add(patience))
	fmt.Fprintf(c, "GET %s HTTP/1.1\r\nHost: %s\r\nConnection: keep-alive, Upgrade\r\nUpgrade: WebSocket\r\nSec-WebSocket-Version: 13\r\n"+
		"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nAuthorization: Bearer %s\r\n%s: %s\r\n%s\r\n",
		connectPath(session), n.addr, enginetest.RootKey, abi.VersionHeader, abi.ProtocolVersion, strings.Join(more, ""))
	r := bufio.NewReader(c)
	status, err := r.ReadString('\n')
	if err != nil || !strings.Contains(status, " 101 ") {
		t.Fatalf("%q %v", status, err)
	}
	for line := status; line != "\r\n"; {
		if line, err = r.ReadString('\n'); err != nil {
			t.Fatal(err)
		}
	}
	return c, r
}

// closeCode reads frames of a server until it closes, and returns the code.
func closeCode(t *testing.T, r *bufio.Reader) int {
	t.Helper()
	for {
		var head [2]byte
		if _, err := io.ReadFull(r, head[:]); err != nil {
			return 0
		}
		size := int(head[1])
		switch size {
		case 126:
			hi, _ := r.ReadByte()
			lo, _ := r.ReadByte()
			size = int(hi)<<8 | int(lo)
		case 127:
			t.Fatal("a huge frame")
		}
		payload := make([]byte, size)
		if _, err := io.ReadFull(r, payload); err != nil {
			return 0
		}
		if head[0]&0xf == websocket.CloseMessage && size >= 2 {
			return int(payload[0])<<8 | int(payload[1])
		}
	}
}

// Frames that no library sends.
func TestSocketHostileFrames(t *testing.T) {
	n := newNode(t, func(c *gateway.Config) { c.Heartbeat, c.ReadTimeout = 300*time.Millisecond, 300*time.Millisecond })
	session := n.session(t)
	mask := "\x00\x00\x00\x00"
	var packed bytes.Buffer
	w, _ := flate.NewWriter(&packed, flate.BestSpeed)
	_, _ = w.Write([]byte(`{"type":"ping"}`))
	_ = w.Flush()
	for name, c := range map[string]struct {
		bytes string
		code  int
	}{
		"not masked":           {"\x81\x02{}", 1002},
		"reserved bit":         {"\xc1\x82" + mask + "{}", 1002}, // RSV1 without permessage-deflate
		"unknown opcode":       {"\x83\x80" + mask, 1002},
		"a continuation first": {"\x80\x80" + mask, 1002},
		"a long ping":          {"\x89\xfe\x01\x00" + mask + strings.Repeat("x", 256), 1002},
		"a ping in pieces":     {"\x09\x80" + mask, 1002},
		"a bad close code":     {"\x88\x82" + mask + "\x03\xed", 1002}, // 1005
		"a huge length":        {"\x81\xff\x7f\xff\xff\xff\xff\xff\xff\xff" + mask, 1009},
		"a length beyond all":  {"\x81\xff\xff\xff\xff\xff\xff\xff\xff\xff" + mask, 0},
		"half a message":       {"\x81\xfe\x10\x00" + mask + "half", gateway.CloseTimeout},
		"half a header":        {"\x81", gateway.CloseTimeout},
		"silence":              {"", gateway.CloseTimeout}, // not even pongs
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			conn, r := n.rawSocket(t, session)
			_, _ = io.WriteString(conn, c.bytes)
			if code := closeCode(t, r); code != c.code && c.code != 0 {
				t.Errorf("closed with %d, want %d", code, c.code)
			}
		})
	}
}

// A message that trickles in is given up, whatever pongs come between its pieces.
func TestSocketTrickle(t *testing.T) {
	n := newNode(t, func(c *gateway.Config) { c.Heartbeat, c.ReadTimeout = time.Hour, 300*time.Millisecond })
	conn, r := n.rawSocket(t, n.session(t))
	stop := make(chan struct{})
	defer close(stop)
	_, _ = io.WriteString(conn, "\x01\x81\x00\x00\x00\x00{")
	go func() {
		tick := time.NewTicker(20 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				_, _ = io.WriteString(conn, "\x8a\x80\x00\x00\x00\x00\x00\x81\x00\x00\x00\x00 ")
			case <-stop:
				return
			}
		}
	}()
	if code := closeCode(t, r); code != gateway.CloseTimeout {
		t.Errorf("closed with %d", code)
	}
}

// A client that asks and never reads is not read from any more, and cut off: what
// the node holds for it does not grow.
func TestSocketFlood(t *testing.T) {
	n := newNode(t, func(c *gateway.Config) { c.WriteTimeout = 500 * time.Millisecond })
	session := n.session(t)
	conn, _ := n.rawSocket(t, session)
	_ = conn.(*net.TCPConn).SetReadBuffer(4096)
	text := `{"type":"session.get"}`
	frame := append([]byte{0x81, 0x80 | byte(len(text)), 0, 0, 0, 0}, text...)
	flood := bytes.Repeat(frame, 1000)
	var sent int64
	for {
		m, err := conn.Write(flood)
		sent += int64(m)
		if err != nil {
			break
		}
		if sent > 256<<20 {
			t.Fatal("the node takes whatever is sent by a client that reads nothing")
		}
	}
	// Others are served meanwhile and afterwards.
	s, _ := n.connect(t, connectPath(session))
	s.do("session.get", nil)
}

// A reader that is slow falls behind on the log, and catches up.
func TestSocketSlowReader(t *testing.T) {
	n := newNode(t)
	session := n.session(t)
	slow, _ := n.connect(t, connectPath(session))
	writer, _ := n.connect(t, connectPath(session))
	words := strings.Repeat("w", 20<<10)
	const count = 300
	go func() {
		for {
			if _, _, err := writer.conn.ReadMessage(); err != nil {
				return
			}
		}
	}()
	for range count {
		n.do(t, "POST", "/v1/sessions/"+session+"/messages", object{"message": message(words)}).want(201)
	}
	last := ""
	for range count {
		f := slow.want("event")
		if f.Event.ID == last {
			t.Fatalf("event %s twice", last)
		}
		last = f.Event.ID
	}
}

// Sockets that send large messages at the same time take what their tenant has for bodies:
// those beyond it are told to come back, and the node answers others.
func TestMessagesOfManySocketsAreBounded(t *testing.T) {
	n := newNode(t, func(c *gateway.Config) { c.InFlightBytes, c.MessageLimit, c.BodyLimit = 1<<20, 64<<10, 64<<10 })
	session := n.session(t)
	refused := make(chan int)
	const sockets, fit = 6, 3 // of three quarters of a MiB, four times 64 KiB each
	for range sockets {
		s, _ := n.connect(t, connectPath(session))
		w, err := s.conn.NextWriter(websocket.TextMessage)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write(make([]byte, 60<<10)); err != nil { // and no end of it
			t.Fatal(err)
		}
		go func() {
			for {
				if _, _, err := s.conn.ReadMessage(); err != nil {
					closed, _ := errors.AsType[*websocket.CloseError](err)
					if closed != nil {
						refused <- closed.Code
					}
					return
				}
			}
		}()
	}
	for range sockets - fit {
		if code := <-refused; code != gateway.CloseTryAgain {
			t.Errorf("closed with %d", code)
		}
	}
	n.do(t, "GET", "/v1/sessions/"+session, "").want(200)
}
