package scheduler

import "github.com/wharf-dev/wharf/runtime/lockrank"

// Job describes a job to a [Scheduler], when it is handed over and when it has ended.
type Job[J any] struct {
	Do     *J     // what is run
	Tenant uint32 // whose turn it takes
	ID     string // tells it from the others of its line; it outlives Do, which may be loaded anew
	Line   Line   // what it has to wait for; the zero Line for most
}

// Scheduler runs jobs, each a *J. It takes in at most limit jobs that wait, runs at most
// width at once, and serves tenants in turn. A job has a goroutine only while it runs.
// Its methods may be called by any goroutine.
type Scheduler[J any] struct {
	run   func(*J)
	width int
	limit int

	mu       lockrank.Mutex[lockrank.Table]
	reserved int // places taken: jobs on their way in, and waiting ones
	running  int // jobs that run, or will as soon as they are accepted
	tenants  map[uint32]*lane[J]
	turn     []*lane[J]       // lanes with waiting jobs, the next one first
	suspects fifo[suspect[J]] // each starts alone, before all others
	tried    *J               // the suspect that nothing is started beside; nil for none
	workers  []chan *J        // goroutines that wait for a job, the last one in front
	draining bool
	idle     chan struct{} // closed when draining and nothing runs
	freed    chan struct{} // closed when a place in the queue is given back; nil when nobody waits for one
	lines    map[lineKey]*line[J]
}

// lane is one tenant's share.
type lane[J any] struct {
	tenant   uint32
	reserved int
	waiting  fifo[*J]
}

// suspect is a job that may have ended the node.
type suspect[J any] struct {
	do     *J
	tenant uint32
}

// Place is room for one job, taken before the job is accepted. It is used once: with
// [Scheduler.Push] or with [Scheduler.Unreserve].
type Place struct {
	tenant uint32
	runs   bool
}

// Runs reports whether it is a place among the jobs that run: the job need not wait.
func (p Place) Runs() bool { return p.runs }

// maxKept is how many goroutines are kept for the jobs to come: their stacks have grown
// to what a run needs, which costs a new one several copies.
const maxKept = 64

// New returns a scheduler that calls run for each job, on a goroutine that has no other
// job meanwhile.
func New[J any](width, limit int, run func(*J)) *Scheduler[J] {
	return &Scheduler[J]{run: run, width: width, limit: limit,
		tenants: map[uint32]*lane[J]{}, idle: make(chan struct{})}
}

// Reserve takes a place before a job is accepted: one to run at once if there is any,
// else one in the queue. ok is false when the queue is full. A tenant gets at most three
// quarters of the queue, so that there is room for others however much it sends. A job
// that waits for others whatever room there is takes a place in the queue.
func (s *Scheduler[J]) Reserve(tenant uint32, waits bool) (p Place, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !waits && s.running < s.width && len(s.turn) == 0 && s.tried == nil && !s.draining {
		s.running++
		return Place{tenant, true}, true
	}
	l := s.lane(tenant)
	if s.reserved >= s.limit || l.reserved >= s.limit-s.limit/4 {
		s.forget(l)
		return Place{}, false
	}
	s.reserved++
	l.reserved++
	return Place{tenant, false}, true
}

// Unreserve gives a place back without a job.
func (s *Scheduler[J]) Unreserve(p Place) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !p.runs {
		s.leave(s.lane(p.tenant))
		return
	}
	s.ended()
	s.startWaiting()
}

// Push runs or queues an accepted job in the place that was reserved for it. Once the
// scheduler drains the job is not begun: the next life of the node pushes it again.
func (s *Scheduler[J]) Push(j Job[J], p Place) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if p.runs && s.draining {
		s.ended()
		return
	}
	if p.runs {
		s.start(j.Do)
		return
	}
	s.queue(j)
}

// PushAccepted queues a job that was accepted before and has no place now: it is taken in
// however full the queue is.
func (s *Scheduler[J]) PushAccepted(j Job[J]) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.take(j.Tenant)
	s.queue(j)
}

// PushSuspects queues the jobs that may have ended the node, before any other runs. Each
// is tried alone, until it has ended or is [Scheduler.Cleared]. A suspect that has to follow
// another of its line is not tried alone: others run by its turn. beside is called with it
// before it can run, under the scheduler's lock.
func (s *Scheduler[J]) PushSuspects(jobs []Job[J], beside func(*J)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, j := range jobs {
		s.take(j.Tenant)
		if s.follow(j) {
			s.suspects.push(suspect[J]{j.Do, j.Tenant})
		} else {
			beside(j.Do)
		}
	}
	s.startWaiting()
}

// Cleared ends a suspect's trial: the node has lived with it for a while.
func (s *Scheduler[J]) Cleared(do *J) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.tried == do {
		s.tried = nil
		s.startWaiting()
	}
}

// Room returns a channel that is closed when the next place in the queue is given back.
// Callers that wait for room ask for it before they try to reserve.
func (s *Scheduler[J]) Room() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.freed == nil {
		s.freed = make(chan struct{})
	}
	return s.freed
}

// Drain starts no more jobs; the channel closes when none runs. It may be called more
// than once.
func (s *Scheduler[J]) Drain() <-chan struct{} {
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

// Load returns how many places in the queue are taken, and how many jobs run.
func (s *Scheduler[J]) Load() (queued, running int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.reserved, s.running
}

// All that follows is called by a goroutine that holds s.mu, but for work and another.

// queue lets an accepted job wait for its turn, which begins when the jobs have ended
// that it has to follow.
func (s *Scheduler[J]) queue(j Job[J]) {
	if !s.follow(j) {
		return
	}
	s.enqueue(j.Do, j.Tenant)
	s.startWaiting()
}

func (s *Scheduler[J]) enqueue(do *J, tenant uint32) {
	l := s.lane(tenant)
	if l.waiting.len() == 0 {
		s.turn = append(s.turn, l)
	}
	l.waiting.push(do)
}

// startWaiting runs waiting jobs while there is room.
func (s *Scheduler[J]) startWaiting() {
	for s.running < s.width && !s.draining {
		do := s.next()
		if do == nil {
			return
		}
		s.running++
		s.start(do)
	}
}

// start gives a job to a goroutine that waits for one, or to a new one.
func (s *Scheduler[J]) start(do *J) {
	last := len(s.workers) - 1
	if last < 0 {
		go s.work(do)
		return
	}
	w := s.workers[last]
	s.workers = s.workers[:last]
	w <- do // never blocks: w has room for one and its goroutine waits for it
}

// work runs jobs one after another.
func (s *Scheduler[J]) work(do *J) {
	inbox := make(chan *J, 1)
	for do != nil {
		s.run(do)
		if do = s.another(do, inbox); do == nil {
			do = <-inbox
		}
	}
}

// another returns the next job that waits, after one that runs no longer. When none does,
// inbox is kept for the jobs to come, or closed when enough are.
func (s *Scheduler[J]) another(after *J, inbox chan *J) *J {
	s.mu.Lock()
	defer s.mu.Unlock()
	tried := s.tried == after
	if tried {
		s.tried = nil
	}
	if !s.draining {
		if do := s.next(); do != nil {
			if tried {
				s.startWaiting()
			}
			return do
		}
	}
	s.ended()
	if s.draining || len(s.workers) >= maxKept {
		close(inbox)
		return nil
	}
	s.workers = append(s.workers, inbox)
	return nil
}

// ended counts a job that runs no longer.
func (s *Scheduler[J]) ended() {
	s.running--
	if s.draining && s.running == 0 {
		close(s.idle)
	}
}

// next takes the first suspect, or else the first job of the lane whose turn it is; nil
// while a suspect is tried.
func (s *Scheduler[J]) next() *J {
	if s.tried != nil {
		return nil
	}
	if s.suspects.len() > 0 {
		first := s.suspects.pop()
		s.tried = first.do
		s.leave(s.lane(first.tenant))
		return s.tried
	}
	if len(s.turn) == 0 {
		return nil
	}
	l := s.turn[0]
	copy(s.turn, s.turn[1:])
	s.turn = s.turn[:len(s.turn)-1]
	do := l.waiting.pop()
	if l.waiting.len() > 0 {
		s.turn = append(s.turn, l)
	}
	s.leave(l)
	return do
}

// take counts a job that waits and had no place.
func (s *Scheduler[J]) take(tenant uint32) {
	s.reserved++
	s.lane(tenant).reserved++
}

// leave gives back one of a lane's places.
func (s *Scheduler[J]) leave(l *lane[J]) {
	s.reserved--
	l.reserved--
	s.forget(l)
	if s.freed != nil {
		close(s.freed)
		s.freed = nil
	}
}

// forget drops a lane that holds nothing, so that tenants cost memory only while they
// have jobs.
func (s *Scheduler[J]) forget(l *lane[J]) {
	if l.reserved == 0 {
		delete(s.tenants, l.tenant)
	}
}

func (s *Scheduler[J]) lane(tenant uint32) *lane[J] {
	l := s.tenants[tenant]
	if l == nil {
		l = &lane[J]{tenant: tenant}
		s.tenants[tenant] = l
	}
	return l
}

// fifo is a queue on a slice that is reused from the front.
type fifo[T any] struct {
	items []T
	head  int
}

func (f *fifo[T]) len() int { return len(f.items) - f.head }

func (f *fifo[T]) push(item T) {
	if f.head > 64 && f.head*2 >= len(f.items) {
		n := copy(f.items, f.items[f.head:])
		clear(f.items[n:])
		f.items, f.head = f.items[:n], 0
	}
	f.items = append(f.items, item)
}

func (f *fifo[T]) pop() T {
	var none T
	item := f.items[f.head]
	f.items[f.head] = none
	f.head++
	return item
}
