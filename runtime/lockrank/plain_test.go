//go:build !lockcheck

package lockrank

import (
	"sync"
	"testing"
)

type any1 struct{}

func (any1) Rank() (int, string) { return 1, "any" }

// A build that does not check has the locks of package sync, and nothing else.
func TestPlainLocksCostNothing(t *testing.T) {
	var (
		_ *sync.Mutex   = new(Mutex[any1])
		_ *sync.RWMutex = new(RWMutex[any1])
	)
	if n := testing.AllocsPerRun(100, func() { Enter[any1](); Leave[any1]() }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
