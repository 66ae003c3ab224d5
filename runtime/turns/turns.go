package turns

import (
	"context"
	"runtime"
	"slices"
	"sync"
	"time"
)

// Large is from how many bytes on it is long work to decode, check or encode a document:
// some milliseconds.
const Large = 128 << 10

// breather is for how long a place stays empty that others wait for: Go looks for what came
// over the network when a processor has nothing to do, and else every 10 ms only.
const breather = 50 * time.Microsecond

// Turns are the places of long work. A nil one has a place for everybody. It is safe for
// concurrent use.
//
// Who has a place must not enter again, and must not wait for anybody before it has left:
// neither for the disk, nor for a lock under which others enter.
type Turns struct {
	mu      sync.Mutex
	free    int     // 0 while somebody waits
	waiting []*line // of tenants, the next one first
}

// line is what waits of one tenant, in order. It is never empty.
type line struct {
	whose uint64
	pass  []*ticket
}

// ticket is one piece of work that waits. given is closed when it has a place.
type ticket struct {
	whose uint64
	given chan struct{}
}

// New returns Turns with so many places.
func New(places int) *Turns { return &Turns{free: places} }

// Places is how many pieces of long work a node does at one time: it leaves one processor
// to what is short, if there is more than one.
func Places() int { return max(1, runtime.GOMAXPROCS(0)-1) }

// Enter waits for a place, which the caller gives back with [Turns.Leave]. The error is the
// cause of ctx's end; then there is nothing to give back. The work is of the tenant of [For].
func (t *Turns) Enter(ctx context.Context) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if t == nil {
		return nil
	}
	waits := t.ask(tenantOf(ctx))
	if waits == nil {
		return nil
	}
	select {
	case <-waits.given:
		return nil
	case <-ctx.Done():
		t.withdraw(waits)
		return context.Cause(ctx)
	}
}

// Leave gives a place back, to who waits for it.
func (t *Turns) Leave() {
	if t == nil {
		return
	}
	if t.wanted() {
		time.Sleep(breather)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.giveOn()
}

// wanted reports whether somebody waits for a place.
func (t *Turns) wanted() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.waiting) > 0
}

// Do does what takes long when a document of that size is worked on: in a place, if it is
// large and ctx has none.
func (t *Turns) Do(ctx context.Context, size int, work func() error) error {
	if t == nil || size < Large {
		return work()
	}
	if placed, _ := ctx.Value(PlacedKey{}).(bool); placed {
		return work()
	}
	if err := t.Enter(ctx); err != nil {
		return err
	}
	defer t.Leave()
	return work()
}

// DoFor is Do for the tenant with that number; 0 is nobody's. Small work makes no context.
func (t *Turns) DoFor(ctx context.Context, number uint64, size int, work func() error) error {
	if size >= Large {
		ctx = For(ctx, number)
	}
	return t.Do(ctx, size, work)
}

// ask takes a place, or returns what to wait for.
func (t *Turns) ask(whose uint64) *ticket {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.free > 0 {
		t.free--
		return nil
	}
	own := &ticket{whose: whose, given: make(chan struct{})}
	if i := t.lineOf(whose); i >= 0 {
		t.waiting[i].pass = append(t.waiting[i].pass, own)
	} else {
		t.waiting = append(t.waiting, &line{whose, []*ticket{own}})
	}
	return own
}

// giveOn gives a place to the next of the tenant whose turn it is; the tenant is the last
// one then. The caller holds mu.
func (t *Turns) giveOn() {
	if len(t.waiting) == 0 {
		t.free++
		return
	}
	next := t.waiting[0]
	t.waiting = slices.Delete(t.waiting, 0, 1)
	close(next.pass[0].given)
	if next.pass = slices.Delete(next.pass, 0, 1); len(next.pass) > 0 {
		t.waiting = append(t.waiting, next)
	}
}

// withdraw takes back who does not want a place any more, and gives on one that it was
// given meanwhile.
func (t *Turns) withdraw(own *ticket) {
	t.mu.Lock()
	defer t.mu.Unlock()
	select {
	case <-own.given:
		t.giveOn()
		return
	default:
	}
	i := t.lineOf(own.whose)
	l := t.waiting[i]
	at := slices.Index(l.pass, own)
	if l.pass = slices.Delete(l.pass, at, at+1); len(l.pass) == 0 {
		t.waiting = slices.Delete(t.waiting, i, i+1)
	}
}

func (t *Turns) lineOf(whose uint64) int {
	return slices.IndexFunc(t.waiting, func(l *line) bool { return l.whose == whose })
}

// Waiting returns how many pieces of work wait for a place.
func (t *Turns) Waiting() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	n := 0
	for _, l := range t.waiting {
		n += len(l.pass)
	}
	return n
}
