//go:build unix && !linux

package gateway

import (
	"errors"
	"syscall"
)

// hungUp looks at the next byte. A peer that says goodbye over TLS leaves bytes there,
// so that it is only noticed when a write fails.
func hungUp(fd int) bool {
	var one [1]byte
	n, _, err := syscall.Recvfrom(fd, one[:], syscall.MSG_PEEK|syscall.MSG_DONTWAIT)
	if err == nil {
		return n == 0
	}
	return !errors.Is(err, syscall.EAGAIN) && !errors.Is(err, syscall.EINTR)
}
