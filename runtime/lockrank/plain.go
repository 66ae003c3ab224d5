//go:build !lockcheck

package lockrank

import "sync"

// Checked says whether locks are checked in this build.
const Checked = false

// Mutex is a [sync.Mutex] with a rank.
type Mutex[R Ranked] = sync.Mutex

// RWMutex is a [sync.RWMutex] with a rank, the same for readers and writers.
type RWMutex[R Ranked] = sync.RWMutex

// Enter says that the caller's goroutine is about to hold something that others wait
// for and that is no Mutex, until [Leave].
func Enter[R Ranked]() {}

// Leave ends what Enter began, on the same goroutine.
func Leave[R Ranked]() {}
