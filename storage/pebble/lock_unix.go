//go:build unix

package pebble

import (
	"errors"
	"io"
	"os"
	"syscall"
)

// lockShared takes a lock of readers on a file that may not be writable. It fails with
// EAGAIN when another process holds the lock of a writer.
func lockShared(name string) (io.Closer, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	err = syscall.FcntlFlock(f.Fd(), syscall.F_SETLK, &syscall.Flock_t{Type: syscall.F_RDLCK, Whence: io.SeekStart})
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}
