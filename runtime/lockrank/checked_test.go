//go:build lockcheck

package lockrank

import (
	"strings"
	"sync"
	"testing"
)

type (
	first  struct{}
	second struct{}
	many   struct{}
)

func (first) Rank() (int, string)  { return 1, "first" }
func (second) Rank() (int, string) { return 2, "second" }
func (many) Rank() (int, string)   { return 3, "many" }
func (many) Several()              {}

// locks are what one goroutine may take in a test.
type locks struct {
	first, other Mutex[first]
	second       RWMutex[second]
}

func TestOrder(t *testing.T) {
	for _, c := range []struct {
		name  string
		take  func(l *locks)
		wrong string // what it panics with; "" when it is in order
	}{
		{"in order", func(l *locks) { l.first.Lock(); l.second.Lock(); Enter[many]() }, ""},
		{"read in order", func(l *locks) { l.first.Lock(); l.second.RLock() }, ""},
		{"given back first", func(l *locks) { l.second.Lock(); l.second.Unlock(); l.first.Lock() }, ""},
		{"given back crosswise", func(l *locks) { l.first.Lock(); l.second.Lock(); l.first.Unlock(); Enter[many]() }, ""},
		{"several", func(l *locks) { Enter[many](); Enter[many]() }, ""},
		{"against the order", func(l *locks) { l.second.Lock(); l.first.Lock() }, "first (1) is taken while second (2) is held"},
		{"reading against the order", func(l *locks) { Enter[many](); l.second.RLock() }, "second (2) is taken while many (3) is held"},
		{"two of a rank", func(l *locks) { l.first.Lock(); l.other.Lock() }, "first (1) is taken while first (1) is held"},
		{"read twice", func(l *locks) { l.second.RLock(); l.second.RLock() }, "second (2) is taken while second (2) is held"},
		{"given back by another", func(l *locks) { l.first.mu.Lock(); l.first.Unlock() }, "first (1) is given back by a goroutine that does not hold it"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var wrong string
			var done sync.WaitGroup
			done.Go(func() { // what it still holds ends with it
				defer func() {
					if r := recover(); r != nil {
						wrong = r.(string)
					}
				}()
				c.take(&locks{})
			})
			done.Wait()
			if !strings.HasSuffix(wrong, c.wrong) || wrong == "" != (c.wrong == "") {
				t.Errorf("%q, want %q", wrong, c.wrong)
			}
		})
	}
}

// What one goroutine holds does not matter to another.
func TestGoroutinesAreApart(t *testing.T) {
	var l locks
	l.second.Lock()
	defer l.second.Unlock()
	var done sync.WaitGroup
	done.Go(func() {
		l.first.Lock()
		l.first.Unlock()
	})
	done.Wait()
}
