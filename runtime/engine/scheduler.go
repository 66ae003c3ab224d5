package engine

import (
	"github.com/wharf-dev/wharf/runtime/lockrank"
	"github.com/wharf-dev/wharf/storage"
)

// scheduler decides which Task runs next. It takes in at most limit Tasks that
// wait, runs at most width at once, and serves tenants in turn, so that one who
// submits much delays nobody else. A Task has a goroutine only while it runs.
type scheduler struct {
	run   func(*task)
	width int
	limit int

	mu       lockrank.Mutex[lockTable]
	reserved int // places taken: Tasks on their way in, and waiting ones
	running  int // Tasks that run, or will as soon as they are accepted
	tenants  map[storage.Tenant]*lane
	turn     []*lane      // lanes with waiting Tasks, the next one first
	suspects fifo         // Tasks that may have ended the node: each starts alone, before all others
	tried    *task        // the suspect that nothing is started beside; nil for none
	workers  []chan *task // goroutines that wait for a Task, the last one in front
	draining bool
	idle     chan struct{} // closed when draining and nothing runs
	freed    chan struct{} // closed when a place in the queue is given back; nil when nobody waits for one
	chains   map[chainKey]*chain
}

// lane is one tenant's share.
type lane struct {
	tenant   storage.Tenant
	reserved int
	waiting  fifo
}

// place is room for one Task, taken before it is accepted.
type place struct {
	tenant storage.Tenant
	runs   bool // it is a place among those that run: the Task need not wait
}

// maxParked is how many goroutines are kept for the Tasks to come: their stacks
// have grown to what a run needs, which costs a new one several copies.
const maxParked = 64

func newScheduler(width, limit int, run func(*task)) *scheduler {
	return &scheduler{run: run, width: width, limit: limit,
		tenants: map[storage.Tenant]*lane{}, idle: make(chan struct{})}
}

// reserve takes a place before a Task is accepted: one to run at once if there
// is any, else one in the queue. ok is false when the queue is full. A tenant gets
// at most three quarters of the queue, so that there is room for others however
// much it sends. One that has to wait for others whatever room there is takes a
// place in the queue.
func (s *scheduler) reserve(t storage.Tenant, waits bool) (p place, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !waits && s.running < s.width && len(s.turn) == 0 && s.tried == nil && !s.draining {
		s.running++
		return place{t, true}, true
	}
	l := s.lane(t)
	if s.reserved >= s.limit || l.reserved >= s.limit-s.limit/4 {
		s.forget(l)
		return place{}, false
	}
	s.reserved++
	l.reserved++
	return place{t, false}, true
}

// unreserve gives a place back without a Task.
func (s *scheduler) unreserve(p place) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !p.runs {
		s.leave(s.lane(p.tenant))
		return
	}
	s.ended()
	s.startWaiting()
}

// push runs or queues an accepted Task in the place that was reserved for it.
func (s *scheduler) push(t *task, p place) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if p.runs && s.draining {
		s.ended()
		return // accepted, but not begun: the next start runs it
	}
	if p.runs {
		s.start(t)
		return
	}
	s.queue(t)
}

// queue lets an accepted Task wait for its turn, which begins when the Tasks have
// ended that it has to follow. The caller holds s.mu.
func (s *scheduler) queue(t *task) {
	if !s.follow(t) {
		return
	}
	s.enqueue(t)
	s.startWaiting()
}

// pushRecovered queues a Task that was accepted in an earlier life: it is taken
// in however full the queue is.
func (s *scheduler) pushRecovered(t *task) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.reserved++
	s.lane(t.tenant).reserved++
	s.queue(t)
}

// pushSuspects queues the Tasks that may have ended the node, before any other runs.
func (s *scheduler) pushSuspects(tasks []*task) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, t := range tasks {
		s.reserved++
		s.lane(t.tenant).reserved++
		if s.follow(t) {
			s.suspects.push(t)
		} else {
			t.trial = 0 // by its turn, others run
		}
	}
	s.startWaiting()
}

func (s *scheduler) enqueue(t *task) {
	l := s.lane(t.tenant)
	if l.waiting.len() == 0 {
		s.turn = append(s.turn, l)
	}
	l.waiting.push(t)
}

// startWaiting runs waiting Tasks while there is room.
func (s *scheduler) startWaiting() {
	for s.running < s.width && !s.draining {
		t := s.next()
		if t == nil {
			return
		}
		s.running++
		s.start(t)
	}
}

// start gives a Task to a parked goroutine, or to a new one.
func (s *scheduler) start(t *task) {
	last := len(s.workers) - 1
	if last < 0 {
		go s.work(t)
		return
	}
	w := s.workers[last]
	s.workers = s.workers[:last]
	w <- t // never blocks: w has room for one and its goroutine waits for it
}

// work runs Tasks one after another.
func (s *scheduler) work(t *task) {
	inbox := make(chan *task, 1)
	for t != nil {
		s.run(t)
		if t = s.another(t, inbox); t == nil {
			t = <-inbox
		}
	}
}

// another returns the next Task that waits, after one that runs no longer. When none
// does, inbox is parked, or closed for there are enough.
func (s *scheduler) another(after *task, inbox chan *task) *task {
	s.mu.Lock()
	defer s.mu.Unlock()
	tried := s.tried == after
	if tried {
		s.tried = nil
	}
	if !s.draining {
		if t := s.next(); t != nil {
			if tried {
				s.startWaiting()
			}
			return t
		}
	}
	s.ended()
	if s.draining || len(s.workers) >= maxParked {
		close(inbox)
		return nil
	}
	s.workers = append(s.workers, inbox)
	return nil
}

// cleared ends a suspect's trial: the node has lived with it for a while.
func (s *scheduler) cleared(t *task) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.tried == t {
		s.tried = nil
		s.startWaiting()
	}
}

// ended counts a Task that runs no longer.
func (s *scheduler) ended() {
	s.running--
	if s.draining && s.running == 0 {
		close(s.idle)
	}
}

// next takes the first suspect, or else the first Task of the lane whose turn it is; nil
// while a suspect is tried.
func (s *scheduler) next() *task {
	if s.tried != nil {
		return nil
	}
	if s.suspects.len() > 0 {
		s.tried = s.suspects.pop()
		s.leave(s.lane(s.tried.tenant))
		return s.tried
	}
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
	if s.freed != nil {
		close(s.freed)
		s.freed = nil
	}
}

// room returns a channel that is closed when the next place in the queue is given
// back. Whoever waits for room asks for it before trying to reserve.
func (s *scheduler) room() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.freed == nil {
		s.freed = make(chan struct{})
	}
	return s.freed
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
	if s.draining {
		return s.idle
	}
	s.draining = true
	for _, w := range s.workers {
		close(w)
	}
	s.workers = nil
	if s.running == 0 {
		close(s.idle)
	}
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
