package gateway

import (
	"errors"
	"io"
	"net"
	"runtime"

	"golang.org/x/sys/unix"
)

// discard takes off a connection what arrives, until it ends or its deadline has come. The
// system throws it away itself: to copy what somebody goes on sending who was refused would
// cost as much as to take it.
func discard(c net.Conn) {
	if tcp, ok := c.(*net.TCPConn); !ok || truncate(tcp) != nil {
		_, _ = io.Copy(io.Discard, c)
	}
}

// atOnce is how much is thrown away by one call.
const atOnce = 1 << 20

// truncate fails if the system does not know how to throw away what it has not copied.
func truncate(c *net.TCPConn) error {
	raw, err := c.SyscallConn()
	if err != nil {
		return err
	}
	failed := unix.Errno(0)
	_ = raw.Read(func(fd uintptr) (done bool) { // its error is the deadline's
		for {
			n, _, errno := unix.Syscall6(unix.SYS_RECVFROM, fd, 0, atOnce, unix.MSG_TRUNC|unix.MSG_DONTWAIT, 0, 0)
			switch {
			case errno == unix.EAGAIN:
				return false
			case errno == unix.EINTR:
				continue
			case errno != 0:
				failed = errno
				return true
			case n == 0:
				return true
			}
			runtime.Gosched() // who sends fast has always something to throw away
		}
	})
	if failed == unix.EFAULT || failed == unix.EINVAL {
		return failed
	}
	return nil
}

// hungUp asks for the end of the stream itself, whatever is still to be read before it:
// over TLS a peer says goodbye, and that is data.
func hungUp(fd int) bool {
	polled := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLRDHUP}}
	if _, err := unix.Poll(polled, 0); err != nil {
		return !errors.Is(err, unix.EINTR) && !errors.Is(err, unix.EAGAIN)
	}
	return polled[0].Revents != 0
}
