package engine

import (
	"sync"
	"testing"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/storage"
)

// gate is a run function whose Tasks end when they are let go.
type gate struct {
	mu      sync.Mutex
	order   []storage.Tenant
	started chan *task
	leave   chan struct{}
}

func newGate() *gate {
	return &gate{started: make(chan *task, 1000), leave: make(chan struct{})}
}

func (g *gate) run(t *task) {
	g.mu.Lock()
	g.order = append(g.order, t.tenant)
	g.mu.Unlock()
	g.started <- t
	<-g.leave
}

func TestSchedulerServesTenantsInTurn(t *testing.T) {
	g := newGate()
	s := newScheduler(1, 100, g.run)
	push := func(tenant storage.Tenant) {
		p, ok := s.reserve(tenant, false)
		if !ok {
			t.Fatal("the queue is full")
		}
		s.push(&task{tenant: tenant}, p)
	}
	for range 20 { // the first one runs, 19 wait
		push(1)
	}
	<-g.started
	push(2)
	push(3)
	for range 3 {
		g.leave <- struct{}{}
		<-g.started
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	seen := map[storage.Tenant]int{}
	for _, tenant := range g.order {
		seen[tenant]++
	}
	if seen[2] != 1 || seen[3] != 1 {
		t.Fatalf("tenants 2 and 3 waited behind tenant 1's queue: %v", g.order)
	}
	close(g.leave)
}

func TestSchedulerBounds(t *testing.T) {
	g := newGate()
	defer close(g.leave)
	s := newScheduler(2, 8, g.run)
	take := func(tenant storage.Tenant) bool {
		_, ok := s.reserve(tenant, false)
		return ok
	}
	taken := 0
	for take(1) {
		taken++
	}
	if taken != 2+6 {
		t.Fatalf("one tenant got %d places, want the 2 that run and three quarters of 8", taken)
	}
	for range 2 {
		if !take(2) {
			t.Fatal("a second tenant found no place")
		}
	}
	if take(2) || take(3) {
		t.Fatal("more was taken in than the limit")
	}
	s.unreserve(place{tenant: 1})
	if !take(3) {
		t.Fatal("a place that was given back could not be taken")
	}
	if queued, running := s.load(); queued != 8 || running != 2 {
		t.Fatalf("%d wait and %d run, want 8 and 2", queued, running)
	}
	s.unreserve(place{tenant: 1, runs: true})
	if p, ok := s.reserve(1, false); !ok || !p.runs {
		t.Fatal("a place to run that was given back could not be taken")
	}
}

func TestSchedulerWidth(t *testing.T) {
	g := newGate()
	s := newScheduler(3, 100, g.run)
	for range 10 {
		p, _ := s.reserve(1, false)
		s.push(&task{tenant: 1}, p)
	}
	for range 3 {
		<-g.started
	}
	if queued, running := s.load(); queued != 7 || running != 3 {
		t.Fatalf("queued %d running %d, want 7 and 3", queued, running)
	}
	idle := s.drain()
	close(g.leave)
	<-idle
	if queued, running := s.load(); queued != 7 || running != 0 {
		t.Fatalf("after a drain: queued %d running %d, want 7 and 0", queued, running)
	}
}

func TestFifoKeepsOrder(t *testing.T) {
	var f fifo
	next, last := 0, 0
	tasks := map[int]*task{}
	for round := range 500 {
		for range round%7 + 1 {
			tasks[last] = &task{seq: uint64(last)}
			f.push(tasks[last])
			last++
		}
		for range round % 7 {
			if got := f.pop(); got != tasks[next] {
				t.Fatalf("popped %d, want %d", got.seq, next)
			}
			next++
		}
	}
	if f.len() != last-next {
		t.Fatalf("len %d, want %d", f.len(), last-next)
	}
}

// While a suspect is tried nothing else starts, be it queued or new; once it is cleared, or
// has ended, the next one does, and after the last all that waits.
func TestNothingStartsBesideASuspect(t *testing.T) {
	g := newGate()
	s := newScheduler(8, 100, g.run)
	suspects := []*task{{tenant: 1, id: "a"}, {tenant: 1, id: "b"}, {tenant: 2, id: "c"}}
	s.pushSuspects(suspects)
	if p, ok := s.reserve(3, false); !ok || p.runs {
		t.Fatal("a new Task runs beside a suspect")
	} else {
		s.push(&task{tenant: 3, id: "new"}, p)
	}
	s.pushRecovered(&task{tenant: 1, id: "recovered"})
	want := func(id string, waiting int) *task {
		t.Helper()
		got := <-g.started
		if queued, _ := s.load(); got.id != id && id != "" || queued != waiting {
			t.Fatalf("%s runs and %d wait, want %s and %d", got.id, queued, id, waiting)
		}
		return got
	}
	a := want("a", 4)
	s.cleared(a) // it goes on
	want("b", 3)
	s.cleared(a) // tells nothing of the second
	if queued, running := s.load(); queued != 3 || running != 2 {
		t.Fatalf("%d wait and %d run, want 3 and 2", queued, running)
	}
	s.cleared(suspects[1])
	want("c", 2)
	s.cleared(suspects[2])
	<-g.started
	want("", 0)
	close(g.leave)
}

// The Tasks of an order wait for a suspect that holds it, and do not overtake it; the
// suspect's end starts the next.
func TestASuspectKeepsItsOrder(t *testing.T) {
	g := newGate()
	s := newScheduler(8, 100, g.run)
	ordered := func(id string) *task {
		return &task{tenant: 1, id: id, about: abi.Task{ConnectorID: "conn", OrderKey: "k"}, trial: 1}
	}
	first, second, third := ordered("first"), ordered("second"), ordered("third")
	s.pushSuspects([]*task{first, second})
	s.pushRecovered(third)
	<-g.started
	s.cleared(first)
	if queued, running := s.load(); queued != 2 || running != 1 || second.trial != 0 {
		t.Fatalf("%d wait and %d run, want 2 and 1", queued, running)
	}
	s.leaveChain(first)
	if next := <-g.started; next != second {
		t.Fatalf("%s runs, want the second", next.id)
	}
	s.leaveChain(second)
	if next := <-g.started; next != third {
		t.Fatalf("%s runs, want the third", next.id)
	}
	close(g.leave)
}
