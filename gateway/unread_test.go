package gateway

import (
	"io"
	"net"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// Clients that read nothing hold no more than the limit: the one that has waited longest
// loses its connection, and the newest keeps its own.
func TestClientsThatDoNotReadHoldSoMuch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const frame = 1 << 20
		u := &unread{limit: 2 * unreadCopies * frame}
		var clients [3]net.Conn
		var errs [3]error
		var writes sync.WaitGroup
		for i := range clients {
			server, client := net.Pipe()
			clients[i] = client
			st := NewStream(server, time.Minute, true)
			st.unread = u
			writes.Go(func() { _, errs[i] = st.Write(make([]byte, frame)) })
			synctest.Wait() // now the client is waited for
			if want := min(int64(i)+1, 2) * unreadCopies * frame; u.held != want {
				t.Errorf("with %d clients %d bytes are held, want %d", i+1, u.held, want)
			}
		}
		if errs[0] == nil || errs[1] != nil || errs[2] != nil {
			t.Errorf("the writes ended with %v; client 0 has waited longest", errs)
		}
		go io.Copy(io.Discard, clients[1])
		clients[2].Close()
		writes.Wait()
		if errs[1] != nil || errs[2] == nil || u.held != 0 {
			t.Errorf("one client read and one left: %v, %d bytes are held", errs[1:], u.held)
		}
		clients[1].Close()
	})
}

// One write that is larger than the limit alone goes through.
func TestALargeWriteIsNotAlone(t *testing.T) {
	u := &unread{limit: 10}
	wrote := false
	if err := u.write(nil, 1<<20, func() error { wrote = true; return nil }); err != nil || !wrote {
		t.Errorf("wrote %v, %v", wrote, err)
	}
	if u.held != 0 {
		t.Errorf("%d bytes are held afterwards", u.held)
	}
}
