package pool

import (
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"pgregory.net/rapid"
)

const (
	window    = 10 * time.Second
	trimAfter = 3 * time.Second
	coldBytes = 1
)

// TestPools holds any number of pools that share a budget against what they promise:
// nothing is lost, nothing is dropped that is in use or dropped twice, the newest is
// taken, the oldest dropped, and both the budget and the size by load are kept.
func TestPools(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := newModel(t)
		t.Repeat(map[string]func(*rapid.T){
			"":      m.check,
			"take":  m.take,
			"put":   m.put,
			"lose":  m.lose,
			"add":   m.add,
			"wait":  m.wait,
			"sweep": m.sweep,
			"close": m.close,
		})
	})
}

// made is a thing. Its number is that of its making.
type made struct{ number int }

// state is what the model knows of a pool.
type state struct {
	pool    *Pool[*made]
	idle    map[*made]*idleState
	inUse   []*made // things that were taken or made, until put or lost
	history []use
	closed  bool
}

type idleState struct {
	bytes uint64
	put   int // the number of the put
	since time.Time
}

type use struct {
	at    time.Time
	inUse int
}

type model struct {
	t      *rapid.T
	budget *Budget
	limit  uint64
	now    time.Time
	pools  []*state
	things int
	puts   int
}

func newModel(t *rapid.T) *model {
	m := &model{t: t, limit: rapid.Uint64Range(0, 60).Draw(t, "limit"), now: time.Unix(1, 0)}
	m.budget = NewBudget(m.limit, func() time.Time { return m.now })
	for range rapid.IntRange(1, 3).Draw(t, "pools") {
		s := &state{idle: map[*made]*idleState{}}
		s.pool = New(m.budget, Config[*made]{
			Drop: func(x *made) { m.drop(s, x) },
			Trim: func(x *made) uint64 { return m.trim(s, x) },
			// Nothing is trimmed by a Put before it is due.
			TrimAfter: trimAfter,
			Window:    window,
		})
		m.pools = append(m.pools, s)
	}
	return m
}

func (m *model) drop(s *state, x *made) {
	if s.idle[x] == nil {
		m.t.Fatalf("dropped %d, which is not idle", x.number)
	}
	for other, i := range s.idle {
		if i.put < s.idle[x].put && s.idle[x].bytes != coldBytes {
			m.t.Fatalf("dropped %d before %d, which is older", x.number, other.number)
		}
	}
	delete(s.idle, x)
}

func (m *model) trim(s *state, x *made) uint64 {
	i := s.idle[x]
	switch {
	case i == nil:
		m.t.Fatalf("trimmed %d, which is not idle", x.number)
	case m.now.Sub(i.since) < trimAfter:
		m.t.Fatalf("trimmed %d, idle for %v", x.number, m.now.Sub(i.since))
	}
	i.bytes = coldBytes
	return coldBytes
}

func (m *model) any(t *rapid.T) *state {
	return m.pools[rapid.IntRange(0, len(m.pools)-1).Draw(t, "pool")]
}

func (m *model) take(t *rapid.T) {
	s := m.any(t)
	x, ok := s.pool.Take()
	if ok != (len(s.idle) > 0) {
		t.Fatalf("Take() = %v with %d idle", ok, len(s.idle))
	}
	if ok {
		m.taken(t, s, x)
	} else {
		x = m.make()
	}
	s.inUse = append(s.inUse, x)
	s.history = append(s.history, use{m.now, len(s.inUse)})
}

func (m *model) taken(t *rapid.T, s *state, x *made) {
	if s.idle[x] == nil {
		t.Fatalf("took %d, which is not idle", x.number)
	}
	for other, i := range s.idle {
		if i.put > s.idle[x].put {
			t.Fatalf("took %d and not %d, which was put later", x.number, other.number)
		}
	}
	delete(s.idle, x)
}

func (m *model) make() *made {
	m.things++
	return &made{m.things}
}

func (m *model) put(t *rapid.T) {
	s := m.any(t)
	if len(s.inUse) == 0 {
		t.Skip("nothing in use")
	}
	n := rapid.IntRange(0, len(s.inUse)-1).Draw(t, "which")
	x := s.inUse[n]
	s.inUse = slices.Delete(s.inUse, n, n+1)
	m.give(t, s, x, s.pool.Put)
}

func (m *model) add(t *rapid.T) {
	s := m.any(t)
	m.give(t, s, m.make(), s.pool.Add)
}

func (m *model) give(t *rapid.T, s *state, x *made, give func(*made, uint64)) {
	bytes := rapid.Uint64Range(2, 30).Draw(t, "bytes")
	m.puts++
	s.idle[x] = &idleState{bytes, m.puts, m.now}
	before := len(s.idle)
	give(x, bytes)
	if most := s.mostInUse(m.now) - len(s.inUse); !s.closed && len(s.idle) > max(most, before-mostAtOnce) {
		t.Fatalf("%d idle after a Put, %d before, %d in use at most lately", len(s.idle), before, s.mostInUse(m.now))
	}
}

func (m *model) lose(t *rapid.T) {
	s := m.any(t)
	if len(s.inUse) == 0 {
		t.Skip("nothing in use")
	}
	s.inUse = s.inUse[1:]
	s.pool.Lose()
}

func (m *model) wait(t *rapid.T) {
	m.now = m.now.Add(time.Duration(rapid.Int64Range(1, int64(2*window)).Draw(t, "time")))
}

func (m *model) sweep(t *rapid.T) {
	m.budget.Sweep()
	for _, s := range m.pools {
		if len(s.idle)+len(s.inUse) > s.mostInUse(m.now) && len(s.idle) > 0 {
			t.Fatalf("%d idle and %d in use after a sweep, where %d were lately", len(s.idle), len(s.inUse), s.mostInUse(m.now))
		}
		for x, i := range s.idle {
			if m.now.Sub(i.since) >= trimAfter && i.bytes != coldBytes {
				t.Fatalf("%d is idle for %v and was not trimmed", x.number, m.now.Sub(i.since))
			}
		}
	}
}

// mostInUse returns the most things in use at once over what a pool can remember.
func (s *state) mostInUse(now time.Time) int {
	most := len(s.inUse)
	for n, u := range s.history {
		// A use counts until the next begins.
		over := n+1 < len(s.history) && now.Sub(s.history[n+1].at) > 2*window
		if !over {
			most = max(most, u.inUse)
		}
	}
	return most
}

func (m *model) close(t *rapid.T) {
	if rapid.IntRange(0, 9).Draw(t, "really") > 0 {
		t.Skip("not now")
	}
	s := m.any(t)
	s.pool.Close()
	s.closed = true
	if len(s.idle) > 0 {
		t.Fatalf("%d idle after Close", len(s.idle))
	}
}

func (m *model) check(t *rapid.T) {
	used := uint64(0)
	for _, s := range m.pools {
		if got := s.pool.Idle(); got != len(s.idle) {
			t.Fatalf("Idle() = %d, want %d", got, len(s.idle))
		}
		for _, i := range s.idle {
			used += i.bytes
		}
	}
	if got := m.budget.Used(); got != used || got > m.limit {
		t.Fatalf("Used() = %d, want %d and at most %d", got, used, m.limit)
	}
}

// TestBudgetEvictsTheOldestOfAnyPool holds that a pool in use takes room from one that
// is not.
func TestBudgetEvictsTheOldestOfAnyPool(t *testing.T) {
	now := time.Unix(1, 0)
	b := NewBudget(100, func() time.Time { return now })
	var dropped []string
	config := Config[string]{Drop: func(s string) { dropped = append(dropped, s) }}
	quiet, busy := New(b, config), New(b, config)
	for range 3 {
		quiet.Take()
		busy.Take()
	}
	quiet.Put("quiet 1", 40)
	quiet.Put("quiet 2", 40)
	busy.Put("busy 1", 40)
	busy.Put("busy 2", 40)
	if want := []string{"quiet 1", "quiet 2"}; !slices.Equal(dropped, want) {
		t.Fatalf("dropped %q, want %q", dropped, want)
	}
	if b.Used() != 80 || quiet.Idle() != 0 || busy.Idle() != 2 {
		t.Errorf("%d bytes used, %d and %d idle", b.Used(), quiet.Idle(), busy.Idle())
	}
}

// TestTrimmedThingsGoFirst holds that trimming does not make a thing young again.
func TestTrimmedThingsGoFirst(t *testing.T) {
	now := time.Unix(1, 0)
	b := NewBudget(100, func() time.Time { return now })
	var dropped []string
	config := Config[string]{
		Drop:      func(s string) { dropped = append(dropped, s) },
		Trim:      func(string) uint64 { return 10 },
		TrimAfter: trimAfter,
	}
	quiet, busy := New(b, config), New(b, config)
	for _, p := range []*Pool[string]{quiet, quiet, busy, busy} {
		p.Take()
	}
	quiet.Put("quiet 1", 20)
	quiet.Put("quiet 2", 20)
	now = now.Add(trimAfter - 1)
	busy.Put("busy 1", 40)
	now = now.Add(1)
	b.Sweep()
	if b.Used() != 60 || len(dropped) > 0 {
		t.Fatalf("%d bytes used, %q dropped, after trimming two", b.Used(), dropped)
	}
	busy.Put("busy 2", 55)
	if want := []string{"quiet 1", "quiet 2"}; !slices.Equal(dropped, want) {
		t.Errorf("dropped %q, want %q", dropped, want)
	}
}

// TestPoolFollowsTheLoad holds that a pool keeps what a busy moment needed, and gives it
// back when the moment is over for long.
func TestPoolFollowsTheLoad(t *testing.T) {
	now := time.Unix(1, 0)
	b := NewBudget(1<<40, func() time.Time { return now })
	p := New(b, Config[int]{Drop: func(int) {}, Window: window})
	use := func(n int) {
		for range n {
			p.Take()
		}
		for i := range n {
			p.Put(i, 1)
		}
	}
	use(50)
	if p.Idle() != 50 {
		t.Fatalf("%d idle after 50 in use at once", p.Idle())
	}
	now = now.Add(window)
	use(3)
	if p.Idle() != 50 {
		t.Fatalf("%d idle one window later", p.Idle())
	}
	now = now.Add(window)
	for range 30 {
		use(3)
	}
	if p.Idle() != 3 {
		t.Fatalf("%d idle after two windows with 3 in use", p.Idle())
	}
	now = now.Add(2 * window)
	b.Sweep()
	if p.Idle() != 0 {
		t.Fatalf("%d idle after two windows without use", p.Idle())
	}
}

// TestPoolsAreSafeForConcurrentUse counts things from many goroutines: each is in one
// place, and in the end all are dropped.
func TestPoolsAreSafeForConcurrentUse(t *testing.T) {
	var clock, alive atomic.Int64
	b := NewBudget(200, func() time.Time { return time.Unix(0, clock.Load()) })
	type thing struct{ held atomic.Bool }
	config := Config[*thing]{
		Drop:      func(*thing) { alive.Add(-1) },
		Trim:      func(x *thing) uint64 { hold(t, &x.held); x.held.Store(false); return 1 },
		TrimAfter: 1,
		Window:    1000,
	}
	pools := []*Pool[*thing]{New(b, config), New(b, config)}
	var users sync.WaitGroup
	for g := range 8 {
		users.Go(func() {
			for n := range 2000 {
				p := pools[(g+n)%2]
				x, ok := p.Take()
				if !ok {
					x = new(thing)
					alive.Add(1)
				}
				hold(t, &x.held)
				clock.Add(1)
				x.held.Store(false)
				p.Put(x, 30)
				if n%100 == 0 {
					b.Sweep()
				}
			}
		})
	}
	users.Wait()
	for _, p := range pools {
		p.Close()
	}
	if alive.Load() != 0 || b.Used() != 0 {
		t.Errorf("%d things and %d bytes are left", alive.Load(), b.Used())
	}
}

func hold(t *testing.T, held *atomic.Bool) {
	if !held.CompareAndSwap(false, true) {
		t.Error("a thing is held twice")
	}
}

func BenchmarkTakeAndPut(b *testing.B) {
	budget := NewBudget(1<<30, time.Now)
	p := New(budget, Config[*int]{Drop: func(*int) {}})
	x := new(int)
	for b.Loop() {
		if y, ok := p.Take(); ok {
			x = y
		}
		p.Put(x, 10)
	}
}

// Idle returns how many things are idle.
func (p *Pool[T]) Idle() int {
	p.budget.mu.Lock()
	defer p.budget.mu.Unlock()
	return len(p.idle)
}
