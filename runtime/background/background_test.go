package background

import (
	"testing"
	"testing/synctest"
)

// What a drain waits for has begun before it: nothing begins afterwards.
func TestAGroupEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var b Group
		began, leave := make(chan struct{}), make(chan struct{})
		b.Go(func() { close(began); <-leave })
		<-began
		idle := b.End()
		ran := false
		b.Go(func() { ran = true })
		b.Owned(func() { ran = true })()
		synctest.Wait()
		select {
		case <-idle:
			t.Error("it ended before what it has begun")
		default:
		}
		close(leave)
		<-idle
		<-b.End()
		if ran {
			t.Error("it has begun something after its end")
		}
	})
}
