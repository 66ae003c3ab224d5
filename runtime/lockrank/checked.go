//go:build lockcheck

package lockrank

import (
	"bytes"
	"fmt"
	"runtime"
	"strconv"
	"sync"
)

// Checked says whether locks are checked in this build.
const Checked = true

// Mutex is a [sync.Mutex] with a rank.
type Mutex[R Ranked] struct{ mu sync.Mutex }

// Lock locks m, or panics when that is against the order.
func (m *Mutex[R]) Lock() {
	Enter[R]()
	m.mu.Lock()
}

// Unlock unlocks m, which the calling goroutine has locked.
func (m *Mutex[R]) Unlock() {
	m.mu.Unlock()
	Leave[R]()
}

// RWMutex is a [sync.RWMutex] with a rank, the same for readers and writers.
type RWMutex[R Ranked] struct{ mu sync.RWMutex }

// Lock locks m for writing, or panics when that is against the order.
func (m *RWMutex[R]) Lock() {
	Enter[R]()
	m.mu.Lock()
}

// Unlock unlocks m, which the calling goroutine has locked.
func (m *RWMutex[R]) Unlock() {
	m.mu.Unlock()
	Leave[R]()
}

// RLock locks m for reading, or panics when that is against the order: a goroutine that
// reads twice waits for itself when a writer comes in between.
func (m *RWMutex[R]) RLock() {
	Enter[R]()
	m.mu.RLock()
}

// RUnlock undoes an RLock of the calling goroutine.
func (m *RWMutex[R]) RUnlock() {
	m.mu.RUnlock()
	Leave[R]()
}

// held is what each goroutine holds, by its number. A goroutine looks at its own alone;
// which that is is a matter of the process, and so is this.
var held sync.Map // uint64 → []lock

func heldBy(goroutine uint64) []lock {
	all, _ := held.Load(goroutine)
	list, _ := all.([]lock)
	return list
}

type lock struct {
	place   int
	name    string
	several bool
}

func lockOf[R Ranked]() (l lock) {
	var r R
	l.place, l.name = r.Rank()
	_, l.several = any(r).(Several)
	return l
}

// Enter says that the caller's goroutine is about to hold something that others wait
// for and that is no Mutex, until [Leave]. It panics when that is against the order.
func Enter[R Ranked]() {
	l, id := lockOf[R](), goroutine()
	all := heldBy(id)
	for _, other := range all {
		if l.place < other.place || l.place == other.place && !l.several {
			panic(fmt.Sprintf("lockrank: %s (%d) is taken while %s (%d) is held", l.name, l.place, other.name, other.place))
		}
	}
	held.Store(id, append(all, l))
}

// Leave ends what Enter began, on the same goroutine.
func Leave[R Ranked]() {
	l, id := lockOf[R](), goroutine()
	all := heldBy(id)
	for i := len(all) - 1; i >= 0; i-- {
		if all[i] != l {
			continue
		}
		if all = append(all[:i], all[i+1:]...); len(all) == 0 {
			held.Delete(id)
		} else {
			held.Store(id, all)
		}
		return
	}
	panic(fmt.Sprintf("lockrank: %s (%d) is given back by a goroutine that does not hold it", l.name, l.place))
}

// goroutine returns the number of the calling goroutine, which is in its stack's first
// line: "goroutine 7 [running]:".
func goroutine() uint64 {
	var buf [64]byte
	text := bytes.TrimPrefix(buf[:runtime.Stack(buf[:], false)], []byte("goroutine "))
	number, _, _ := bytes.Cut(text, []byte(" "))
	id, err := strconv.ParseUint(string(number), 10, 64)
	if err != nil {
		panic(fmt.Sprintf("lockrank: %q does not begin with a goroutine's number", text))
	}
	return id
}
