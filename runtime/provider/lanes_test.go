package provider

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
)

// Calls of a tenant wait for one another, in whatever order they end, and for nobody
// else's; one that waits ends with its context.
func TestLanes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := NewLanes(3)
		end := make(chan struct{})
		var running, done atomic.Int64
		for range 10 {
			go func() {
				_, _ = l.Do(t.Context(), "greedy", func() ([]byte, error) {
					running.Add(1)
					<-end
					return nil, nil
				})
				done.Add(1)
			}()
		}
		synctest.Wait()
		ctx, cancel := context.WithCancelCause(t.Context())
		gaveUp := errors.New("it gave up")
		go func() {
			if _, err := l.Enter(ctx, "greedy"); err != gaveUp {
				t.Errorf("a call that was given up: %v", err)
			}
			done.Add(1)
		}()
		synctest.Wait()
		leave, err := l.Enter(t.Context(), "modest")
		if err != nil || running.Load() != 3 {
			t.Errorf("%d calls run, and the other tenant's: %v", running.Load(), err)
		}
		leave()
		cancel(gaveUp)
		synctest.Wait()
		if done.Load() != 1 {
			t.Errorf("%d have ended", done.Load())
		}
		close(end)
		synctest.Wait()
		if running.Load() != 10 || done.Load() != 11 || len(l.tenants) != 0 {
			t.Errorf("%d ran, %d have ended, of %d tenants something is kept", running.Load(), done.Load(), len(l.tenants))
		}
	})
}
