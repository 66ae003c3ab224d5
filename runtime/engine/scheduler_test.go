package engine

import (
	"sync"
	"testing"

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
		if !s.reserve(tenant) {
			t.Fatal("the queue is full")
		}
		s.push(&task{tenant: tenant})
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
	taken := 0
	for s.reserve(1) {
		taken++
	}
	if taken != 6 {
		t.Fatalf("one tenant got %d of 8 places, want three quarters", taken)
	}
	if !s.reserve(2) || !s.reserve(2) {
		t.Fatal("a second tenant found no place")
	}
	if s.reserve(2) || s.reserve(3) {
		t.Fatal("more was taken in than the limit")
	}
	s.unreserve(1)
	if !s.reserve(3) {
		t.Fatal("a place that was given back could not be taken")
	}
	if queued, _ := s.load(); queued != 8 {
		t.Fatalf("%d places are taken, want 8", queued)
	}
}

func TestSchedulerWidth(t *testing.T) {
	g := newGate()
	s := newScheduler(3, 100, g.run)
	for range 10 {
		s.reserve(1)
		s.push(&task{tenant: 1})
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
