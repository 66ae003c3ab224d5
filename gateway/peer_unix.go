//go:build unix

package gateway

import (
	"errors"
	"net"
	"syscall"
)

// gone reports whether the peer of c has closed its side or reset the
// connection, without taking bytes that it may have sent. It does not block.
func gone(c net.Conn) bool {
	if counted, ok := c.(*conn); ok {
		c = counted.Conn
	}
	sc, ok := c.(syscall.Conn)
	if !ok {
		return false
	}
	raw, err := sc.SyscallConn()
	if err != nil {
		return true
	}
	var n int
	var peek error
	err = raw.Control(func(fd uintptr) {
		var one [1]byte
		n, _, peek = syscall.Recvfrom(int(fd), one[:], syscall.MSG_PEEK|syscall.MSG_DONTWAIT)
	})
	if err != nil {
		return true
	}
	if peek == nil {
		return n == 0
	}
	return !errors.Is(peek, syscall.EAGAIN) && !errors.Is(peek, syscall.EINTR)
}
