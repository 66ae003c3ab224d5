package intake

import (
	"context"

	"github.com/wharf-dev/wharf/runtime/background"
	"github.com/wharf-dev/wharf/runtime/lockrank"
	"github.com/wharf-dev/wharf/storage"
)

// workers decides whose deliveries are normalized next. A Connector is worked on by
// one goroutine at a time, for some batches; then it goes to the end of its tenant's
// lane. Tenants are served in turn, and one has at most three quarters of the workers.
type workers struct {
	width int
	work  func(*inlet)

	mu      lockrank.Mutex[lockrank.Table]
	lanes   map[storage.Tenant]*intakeLane
	turn    []*intakeLane // lanes with Connectors that wait, the next one first
	running int

	ctx  context.Context // ends when the node drains
	stop context.CancelFunc
	busy background.Group // its workers
}

// intakeLane is one tenant's share.
type intakeLane struct {
	tenant  storage.Tenant
	waiting []*inlet
	running int
}

func (w *workers) init(width int, work func(*inlet)) {
	w.width, w.work = width, work
	w.lanes = map[storage.Tenant]*intakeLane{}
	w.ctx, w.stop = context.WithCancel(context.Background())
}

// end begins no more, and stops those that work.
func (w *workers) end() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.stop()
}

// push queues a Connector.
func (w *workers) push(s *inlet) {
	w.mu.Lock()
	defer w.mu.Unlock()
	l := w.lanes[s.key.Tenant]
	if l == nil {
		l = &intakeLane{tenant: s.key.Tenant}
		w.lanes[s.key.Tenant] = l
	}
	if l.waiting = append(l.waiting, s); len(l.waiting) == 1 {
		w.turn = append(w.turn, l)
	}
	w.startWaiting()
}

// startWaiting starts workers while there is room. The caller holds w.mu.
func (w *workers) startWaiting() {
	for w.running < w.width && w.ctx.Err() == nil {
		s, l := w.next()
		if s == nil {
			return
		}
		w.running++
		l.running++
		w.busy.Go(func() {
			w.work(s)
			w.ended(l)
		})
	}
}

// next takes the first Connector of the first lane that is below its share.
func (w *workers) next() (*inlet, *intakeLane) {
	share := max(1, w.width*3/4)
	for n, l := range w.turn {
		if l.running >= share {
			continue
		}
		w.turn = append(w.turn[:n], w.turn[n+1:]...)
		s := l.waiting[0]
		if l.waiting = l.waiting[1:]; len(l.waiting) > 0 {
			w.turn = append(w.turn, l)
		}
		return s, l
	}
	return nil, nil
}

func (w *workers) ended(l *intakeLane) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.running--
	l.running--
	if l.running == 0 && len(l.waiting) == 0 {
		delete(w.lanes, l.tenant)
	}
	w.startWaiting()
}
