//go:build unix

package gateway

import (
	"net"
	"syscall"
)

// gone reports whether the peer of c has closed its side or reset the
// connection, without taking bytes that it may have sent. It does not block.
func gone(c net.Conn) bool {
	sc, ok := below(c).(syscall.Conn)
	if !ok {
		return false
	}
	raw, err := sc.SyscallConn()
	if err != nil {
		return true
	}
	left := false
	if err := raw.Control(func(fd uintptr) { left = hungUp(int(fd)) }); err != nil {
		return true
	}
	return left
}
