package scheduler

import "slices"

// Line names the jobs of a tenant that run one after the other: those that one Connector has
// ordered by one key. The zero Line has no jobs, and holds up nothing.
type Line struct{ Connector, Key string }

// Ordered reports whether there may be other jobs to wait for.
func (l Line) Ordered() bool { return l.Key != "" }

// lineKey tells the lines of all tenants apart.
type lineKey struct {
	tenant uint32
	Line
}

// line is the jobs of one Line that have not ended. The first of them holds it, be it
// queued, running or out of memory; the others wait outside of the queue, in places that
// they have there.
type line[J any] struct {
	holder  string // a job's id
	waiting []waiter[J]
}

type waiter[J any] struct {
	do *J
	id string
}

// Hold makes a job the first of its line, unless the line has one. It is for a job that was
// begun in an earlier life of the node and is not to run now: since it has begun, the others
// have not. j.Do is not looked at.
func (s *Scheduler[J]) Hold(j Job[J]) {
	if !j.Line.Ordered() {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if key := j.key(); s.lines[key] == nil {
		s.hold(key, j.ID)
	}
}

// Ended is called for every job that has ended: the next of its line gets its turn. A job that
// ended while it waited in the line gives its place back.
func (s *Scheduler[J]) Ended(j Job[J]) {
	if !j.Line.Ordered() {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	key := j.key()
	l := s.lines[key]
	if l == nil {
		return
	}
	if l.holder != j.ID {
		if i := slices.IndexFunc(l.waiting, func(w waiter[J]) bool { return w.id == j.ID }); i >= 0 {
			l.waiting = slices.Delete(l.waiting, i, i+1)
			s.leave(s.lane(j.Tenant))
		}
		return
	}
	if len(l.waiting) == 0 {
		delete(s.lines, key)
		return
	}
	next := l.waiting[0]
	l.holder, l.waiting = next.id, slices.Delete(l.waiting, 0, 1)
	s.enqueue(next.do, j.Tenant)
	s.startWaiting()
}

// follow reports whether a job may be queued now. A job that may not is queued when its
// turn comes. The caller holds s.mu.
func (s *Scheduler[J]) follow(j Job[J]) bool {
	if !j.Line.Ordered() {
		return true
	}
	key := j.key()
	l := s.lines[key]
	if l == nil {
		s.hold(key, j.ID)
		return true
	}
	if l.holder != j.ID {
		l.waiting = append(l.waiting, waiter[J]{j.Do, j.ID})
	}
	return l.holder == j.ID
}

// hold makes a job the first of its line. The caller holds s.mu.
func (s *Scheduler[J]) hold(key lineKey, id string) {
	if s.lines == nil {
		s.lines = map[lineKey]*line[J]{}
	}
	s.lines[key] = &line[J]{holder: id}
}

func (j *Job[J]) key() lineKey { return lineKey{j.Tenant, j.Line} }
