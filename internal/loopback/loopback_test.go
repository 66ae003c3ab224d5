package loopback

import (
	"net"
	"testing"
)

// What is found can be listened on, again and again.
func TestFree(t *testing.T) {
	address := Free(t)
	for range 2 {
		l, err := net.Listen("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
