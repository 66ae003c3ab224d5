package gateway

import (
	"errors"
	"log/slog"
	"net"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
)

// scarce is a listener of a process or machine that lacks something to accept with.
type scarce struct {
	errors []error // are returned first, one by one
	closed chan struct{}
	once   sync.Once
}

func (s *scarce) Accept() (net.Conn, error) {
	if len(s.errors) > 0 {
		err := s.errors[0]
		s.errors = s.errors[1:]
		return nil, &net.OpError{Op: "accept", Net: "tcp", Err: os.NewSyscallError("accept4", err)}
	}
	mine, _ := net.Pipe()
	return mine, nil
}

func (s *scarce) Close() error   { s.once.Do(func() { close(s.closed) }); return nil }
func (s *scarce) Addr() net.Addr { return &net.TCPAddr{} }

// TestScarcityIsWaitedOut holds that a listener that cannot accept for want of files or
// memory waits and tries again, and says so once and not for each try.
func TestScarcityIsWaitedOut(t *testing.T) {
	for _, cause := range []syscall.Errno{syscall.EMFILE, syscall.ENFILE, syscall.ENOBUFS, syscall.ENOMEM, syscall.ECONNABORTED} {
		synctest.Test(t, func(t *testing.T) {
			var told strings.Builder
			l := newListener(&scarce{errors: slicesOf(cause, 100), closed: make(chan struct{})}, 10, nil, slog.New(slog.NewTextHandler(&told, nil)))
			began := time.Now()
			c, err := l.Accept()
			if err != nil {
				t.Fatalf("%s: %v", cause, err)
			}
			c.Close()
			if lines := strings.Count(told.String(), "\n"); lines != 1 {
				t.Errorf("%s: it was told in %d lines:\n%s", cause, lines, told.String())
			}
			if took := time.Since(began); took < time.Second || took > 100*maxAcceptWait {
				t.Errorf("%s: 100 tries took %s", cause, took)
			}
		})
	}
}

// TestOtherErrorsEndTheListener holds that what waiting cannot mend is returned, and
// that a listener that is closed stops waiting.
func TestOtherErrorsEndTheListener(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		quiet := slog.New(slog.DiscardHandler)
		l := newListener(&scarce{errors: slicesOf(syscall.EINVAL, 1), closed: make(chan struct{})}, 10, nil, quiet)
		if _, err := l.Accept(); !errors.Is(err, syscall.EINVAL) {
			t.Errorf("accepting ended with %v", err)
		}
		l = newListener(&scarce{errors: slicesOf(syscall.EMFILE, 1_000_000), closed: make(chan struct{})}, 10, nil, quiet)
		ended := make(chan error)
		go func() {
			_, err := l.Accept()
			ended <- err
		}()
		time.Sleep(time.Minute)
		if err := l.Close(); err != nil {
			t.Error(err)
		}
		if err := <-ended; !errors.Is(err, net.ErrClosed) {
			t.Errorf("a listener that was closed ended with %v", err)
		}
	})
}

func slicesOf(err error, n int) (all []error) {
	for range n {
		all = append(all, err)
	}
	return all
}
