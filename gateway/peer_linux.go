package gateway

import (
	"errors"

	"golang.org/x/sys/unix"
)

// hungUp asks for the end of the stream itself, whatever is still to be read before it:
// over TLS a peer says goodbye, and that is data.
func hungUp(fd int) bool {
	polled := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLRDHUP}}
	if _, err := unix.Poll(polled, 0); err != nil {
		return !errors.Is(err, unix.EINTR) && !errors.Is(err, unix.EAGAIN)
	}
	return polled[0].Revents != 0
}
