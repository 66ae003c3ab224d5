package engine

import (
	"sync"

	"github.com/wharf-dev/wharf/storage"
)

// scheduler decides which Task runs next. It takes in at most limit Tasks that
// wait, runs at most width at once, and serves tenants in turn, so that one who
// submits much delays nobody else. A Task has a goroutine only while it runs.
type scheduler struct {
	run   func(*task)
	width int
	limit int

	mu       sync.Mutex
	reserved int // places taken: Tasks on their way in, and waiting ones
	running  int
	tenants  map[storage.Tenant]*lane
	turn     []*lane // lanes with waiting Tasks, the next one first
	draining bool
	idle     chan struct{} // closed when draining and nothing runs
}

// lane is one tenant's share.
type lane struct {
	tenant   storage.Tenant
	reserved int
	waiting  fifo
}

func newScheduler(width, limit int, run func(*task)) *scheduler {
	return &scheduler{run: run, width: width, limit: limit,
		tenants: map[storage.Tenant]*lane{}, idle: make(chan struct{})}
}

// reserve takes a place in the queue before a Task is accepted; false means that
// the queue is full. A tenant gets at most three quarters of the places, so that
// there is room for others however much it sends.
func (s *scheduler) reserve(t storage.Tenant) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	l := s.lane(t)
	if s.reserved >= s.limit || l.reserved >= s.limit-s.limit/4 {
		s.forget(l)
		return false
	}
	s.reserved++
	l.reserved++
	return true
}

// unreserve gives a place back without a Task.
func (s *scheduler) unreserve(t storage.Tenant) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.leave(s.lane(t))
}

// push queues a Task for which a place was reserved.
func (s *scheduler) push(t *task) {
	s.mu.Lock()
	s.enqueue(t)
	s.startWaiting()
	s.mu.Unlock()
}

// pushRecovered queues a Task that was accepted in an earlier life: it is taken
// in however full the queue is.
func (s *scheduler) pushRecovered(t *task) {
	s.mu.Lock()
	s.reserved++
	s.lane(t.tenant).reserved++
	s.enqueue(t)
	s.startWaiting()
	s.mu.Unlock()
}

func (s *scheduler) enqueue(t *task) {
	l := s.lane(t.tenant)
	if l.waiting.len() == 0 {
		s.turn = append(s.turn, l)
	}
	l.waiting.push(t)
}

// startWaiting gives waiting Tasks the goroutines that are free.
func (s *scheduler) startWaiting() {
	for s.running < s.width && !s.draining {
		t := s.next()
		if t == nil {
			return
		}
		s.running++
		go s.work(t)
	}
}

// work runs Tasks one after another until none waits.
func (s *scheduler) work(t *task) {
	for t != nil {
		s.run(t)
		t = s.another()
	}
}

func (s *scheduler) another() *task {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.draining {
		if t := s.next(); t != nil {
			return t
		}
	}
	s.running--
	if s.draining && s.running == 0 {
		close(s.idle)
	}
	return nil
}

// next takes the first Task of the lane whose turn it is.
func (s *scheduler) next() *task {
	if len(s.turn) == 0 {
		return nil
	}
	l := s.turn[0]
	copy(s.turn, s.turn[1:])
	s.turn = s.turn[:len(s.turn)-1]
	t := l.waiting.pop()
	if l.waiting.len() > 0 {
		s.turn = append(s.turn, l)
	}
	s.leave(l)
	return t
}

// leave gives back one of a lane's places.
func (s *scheduler) leave(l *lane) {
	s.reserved--
	l.reserved--
	s.forget(l)
}

// forget drops a lane that holds nothing, so that tenants cost memory only while
// they have Tasks.
func (s *scheduler) forget(l *lane) {
	if l.reserved == 0 {
		delete(s.tenants, l.tenant)
	}
}

func (s *scheduler) lane(t storage.Tenant) *lane {
	l := s.tenants[t]
	if l == nil {
		l = &lane{tenant: t}
		s.tenants[t] = l
	}
	return l
}

// drain starts no more Tasks; the channel closes when none runs. It may be called
// more than once.
func (s *scheduler) drain() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.draining && s.running == 0 {
		close(s.idle)
	}
	s.draining = true
	return s.idle
}

func (s *scheduler) load() (queued, running int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.reserved, s.running
}

// fifo is a queue of Tasks on a slice that is reused from the front.
type fifo struct {
	tasks []*task
	head  int
}

func (f *fifo) len() int { return len(f.tasks) - f.head }

func (f *fifo) push(t *task) {
	if f.head > 64 && f.head*2 >= len(f.tasks) {
		n := copy(f.tasks, f.tasks[f.head:])
		clear(f.tasks[n:])
		f.tasks, f.head = f.tasks[:n], 0
	}
	f.tasks = append(f.tasks, t)
}

func (f *fifo) pop() *task {
	t := f.tasks[f.head]
	f.tasks[f.head] = nil
	f.head++
	return t
}
