package scheduler

import (
	"sync"
	"testing"
)

// task is a job of the tests.
type task struct {
	tenant uint32
	id     string
	line   Line
}

func (t *task) job() Job[task] { return Job[task]{Do: t, Tenant: t.tenant, ID: t.id, Line: t.line} }

func jobs(tasks ...*task) (list []Job[task]) {
	for _, t := range tasks {
		list = append(list, t.job())
	}
	return list
}

// gate is a run function whose jobs end when they are let go.
type gate struct {
	mu      sync.Mutex
	order   []uint32 // the tenants of the jobs that were started
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

func TestTenantsAreServedInTurn(t *testing.T) {
	g := newGate()
	s := New(1, 100, g.run)
	push := func(tenant uint32) {
		p, ok := s.Reserve(tenant, false)
		if !ok {
			t.Fatal("the queue is full")
		}
		s.Push(Job[task]{Do: &task{tenant: tenant}, Tenant: tenant}, p)
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
	seen := map[uint32]int{}
	for _, tenant := range g.order {
		seen[tenant]++
	}
	if seen[2] != 1 || seen[3] != 1 {
		t.Fatalf("tenants 2 and 3 waited behind tenant 1's queue: %v", g.order)
	}
	close(g.leave)
}

func TestBounds(t *testing.T) {
	g := newGate()
	defer close(g.leave)
	s := New(2, 8, g.run)
	take := func(tenant uint32) bool {
		_, ok := s.Reserve(tenant, false)
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
	s.Unreserve(Place{tenant: 1})
	if !take(3) {
		t.Fatal("a place that was given back could not be taken")
	}
	if queued, running := s.Load(); queued != 8 || running != 2 {
		t.Fatalf("%d wait and %d run, want 8 and 2", queued, running)
	}
	s.Unreserve(Place{tenant: 1, runs: true})
	if p, ok := s.Reserve(1, false); !ok || !p.runs {
		t.Fatal("a place to run that was given back could not be taken")
	}
}

func TestWidth(t *testing.T) {
	g := newGate()
	s := New(3, 100, g.run)
	for range 10 {
		p, _ := s.Reserve(1, false)
		s.Push(Job[task]{Do: &task{tenant: 1}, Tenant: 1}, p)
	}
	for range 3 {
		<-g.started
	}
	if queued, running := s.Load(); queued != 7 || running != 3 {
		t.Fatalf("queued %d running %d, want 7 and 3", queued, running)
	}
	idle := s.Drain()
	close(g.leave)
	<-idle
	if queued, running := s.Load(); queued != 7 || running != 0 {
		t.Fatalf("after a drain: queued %d running %d, want 7 and 0", queued, running)
	}
}

func TestFifoKeepsOrder(t *testing.T) {
	var f fifo[int]
	next, last := 0, 0
	for round := range 500 {
		for range round%7 + 1 {
			f.push(last)
			last++
		}
		for range round % 7 {
			if got := f.pop(); got != next {
				t.Fatalf("popped %d, want %d", got, next)
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
	s := New(8, 100, g.run)
	suspects := []*task{{tenant: 1, id: "a"}, {tenant: 1, id: "b"}, {tenant: 2, id: "c"}}
	s.PushSuspects(jobs(suspects...), nil)
	if p, ok := s.Reserve(3, false); !ok || p.runs {
		t.Fatal("a new job runs beside a suspect")
	} else {
		s.Push((&task{tenant: 3, id: "new"}).job(), p)
	}
	s.PushAccepted((&task{tenant: 1, id: "recovered"}).job())
	want := func(id string, waiting int) *task {
		t.Helper()
		got := <-g.started
		if queued, _ := s.Load(); got.id != id && id != "" || queued != waiting {
			t.Fatalf("%s runs and %d wait, want %s and %d", got.id, queued, id, waiting)
		}
		return got
	}
	a := want("a", 4)
	s.Cleared(a) // it goes on
	want("b", 3)
	s.Cleared(a) // tells nothing of the second
	if queued, running := s.Load(); queued != 3 || running != 2 {
		t.Fatalf("%d wait and %d run, want 3 and 2", queued, running)
	}
	s.Cleared(suspects[1])
	want("c", 2)
	s.Cleared(suspects[2])
	<-g.started
	want("", 0)
	close(g.leave)
}

// The jobs of a line wait for a suspect that holds it, and do not overtake it; the
// suspect's end starts the next. A suspect that waits in the line is not tried alone.
func TestASuspectKeepsItsLine(t *testing.T) {
	g := newGate()
	s := New(8, 100, g.run)
	ordered := func(id string) *task {
		return &task{tenant: 1, id: id, line: Line{"conn", "k"}}
	}
	first, second, third := ordered("first"), ordered("second"), ordered("third")
	var beside []*task
	s.PushSuspects(jobs(first, second), func(t *task) { beside = append(beside, t) })
	s.PushAccepted(third.job())
	<-g.started
	s.Cleared(first)
	if queued, running := s.Load(); queued != 2 || running != 1 || len(beside) != 1 || beside[0] != second {
		t.Fatalf("%d wait, %d run and %d suspects are not tried alone, want 2, 1 and the second", queued, running, len(beside))
	}
	s.Ended(first.job())
	if next := <-g.started; next != second {
		t.Fatalf("%s runs, want the second", next.id)
	}
	s.Ended(second.job())
	if next := <-g.started; next != third {
		t.Fatalf("%s runs, want the third", next.id)
	}
	close(g.leave)
}

// The jobs of a line run one after another, in the order in which they came; those of
// others and of no line do not wait for them. One that is only held has a line, too.
func TestLines(t *testing.T) {
	g := newGate()
	s := New(8, 100, g.run)
	accept := func(id string, tenant uint32, line Line) *task {
		t.Helper()
		j := &task{tenant, id, line}
		p, ok := s.Reserve(tenant, line.Ordered())
		if !ok || p.Runs() == line.Ordered() {
			t.Fatalf("the place of %s is %+v, %v", id, p, ok)
		}
		s.Push(j.job(), p)
		return j
	}
	next := func(want ...*task) {
		t.Helper()
		left := map[*task]bool{}
		for range want {
			left[<-g.started] = true
		}
		for _, j := range want {
			if !left[j] {
				t.Fatalf("%s has not started: %v", j.id, left)
			}
		}
	}
	held, other := Line{"conn", "held"}, Line{"conn", "other"}
	s.Hold(Job[task]{Tenant: 1, ID: "elsewhere", Line: held})
	s.Hold(Job[task]{Tenant: 1, ID: "later", Line: held}) // there is one
	first, second, third := accept("first", 1, held), accept("second", 1, held), accept("third", 1, held)
	free, another, stranger := accept("free", 1, Line{}), accept("another", 1, other), accept("stranger", 2, held)
	next(free, another, stranger)
	if queued, running := s.Load(); queued != 3 || running != 3 {
		t.Fatalf("%d wait and %d run, want 3 and 3", queued, running)
	}
	s.Ended(second.job()) // while it waits: it never runs, and gives its place back
	if queued, _ := s.Load(); queued != 2 {
		t.Fatalf("%d wait, want 2", queued)
	}
	s.Ended(Job[task]{Tenant: 1, ID: "elsewhere", Line: held})
	next(first)
	s.PushAccepted(first.job()) // it has waited for something, and still holds its line
	next(first)
	s.Ended(first.job())
	next(third)
	s.Ended(third.job())
	next(accept("fourth", 1, held))
	close(g.leave)
}

// A caller that found no room is told when there is some.
func TestRoom(t *testing.T) {
	s := New(0, 1, func(*task) {})
	p, _ := s.Reserve(1, false)
	room := s.Room()
	if _, ok := s.Reserve(2, false); ok {
		t.Fatal("there are two places")
	}
	select {
	case <-room:
		t.Fatal("there is no room yet")
	default:
	}
	s.Unreserve(p)
	<-room
	if _, ok := s.Reserve(2, false); !ok {
		t.Fatal("there is no place after one was given back")
	}
}

func BenchmarkPush(b *testing.B) {
	for name, line := range map[string]Line{"alone": {}, "in line": {"conn_1", "k"}} {
		b.Run(name, func(b *testing.B) {
			var all sync.WaitGroup
			var s *Scheduler[task]
			s = New(64, 1<<30, func(t *task) {
				s.Ended(t.job())
				all.Done()
			})
			tasks := [256]task{}
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				t := &tasks[i%256]
				*t = task{uint32(i % 8), "task_1", line}
				p, _ := s.Reserve(t.tenant, line.Ordered())
				all.Add(1)
				s.Push(t.job(), p)
				if i%256 == 255 {
					all.Wait()
				}
			}
			all.Wait()
		})
	}
}
