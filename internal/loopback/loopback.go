package loopback

import (
	"math/rand/v2"
	"net"
	"strconv"
	"testing"
)

// The ports that are drawn: below those that systems give to whoever asks for any, or connects to somewhere.
const (
	lowest  = 12000
	highest = 32767
)

// Free returns an address of loopback that nobody listens on. Only who draws the same can take it before its
// server listens there, or while that is gone.
func Free(t testing.TB) string {
	t.Helper()
	var last error
	for range 100 {
		address := net.JoinHostPort("127.0.0.1", strconv.Itoa(lowest+rand.IntN(highest-lowest+1)))
		l, err := net.Listen("tcp", address)
		if err == nil {
			_ = l.Close() // it only was a try
			return address
		}
		last = err
	}
	t.Fatalf("there is no free port: %v", last)
	return ""
}
