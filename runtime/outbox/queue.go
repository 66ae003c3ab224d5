package outbox

import (
	"context"
	"encoding/binary"
	"slices"
	"sync/atomic"
	"time"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/alarm"
	"github.com/wharf-dev/wharf/runtime/desk"
	"github.com/wharf-dev/wharf/runtime/ledger"
	"github.com/wharf-dev/wharf/runtime/lockrank"
	"github.com/wharf-dev/wharf/storage"
)

const (
	// maxAhead is how many events a queue knows of that were not tried yet; the log has the rest.
	maxAhead = 256
	// maxKept is how many deliveries may be pending before no new one is begun. Twice as many
	// may be, when others are driven again.
	maxKept = 1000
)

// queue is a Webhook in memory: what it is to be sent, and how far that is.
type queue struct {
	o     *Outbox
	key   ledger.Key
	about atomic.Pointer[abi.WebhookEndpoint] // as it is stored; shared, not to be changed

	// order is held while an event of the Webhook is handed over.
	order   lockrank.Mutex[lockrank.Inlet]
	seq     uint64 // of the next such event
	deleted bool   // none is handed over any more

	poke   chan struct{} // says that there may be something to do
	done   chan *job     // attempts that have ended
	again  redriven
	keys   keyring
	life   context.Context    // of the loop; set before it runs
	end    context.CancelFunc // ends life
	counts counts

	// The loop owns these.
	reading
	sending
	keeping
	ending
}

// counts is what is told of a queue, and read by others than its loop.
type counts struct {
	taken, failed, dead, redriven atomic.Uint64
	pending                       atomic.Int64
	behind                        atomic.Bool
	oldest, last                  atomic.Int64 // in nanoseconds since 1970, 0 for none
}

func (c *counts) oldestAt() time.Time { return atNanos(c.oldest.Load()) }

func atNanos(n int64) time.Time {
	if n == 0 {
		return time.Time{}
	}
	return time.Unix(0, n)
}

// redriven has the deliveries that callers have driven again, until the loop takes them up.
type redriven struct {
	mu  lockrank.Mutex[lockrank.Last]
	all []*retry
}

func (r *redriven) add(d *retry) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.all = append(r.all, d)
}

func (r *redriven) take() []*retry {
	r.mu.Lock()
	defer r.mu.Unlock()
	all := r.all
	r.all = nil
	return all
}

// newQueue returns a queue that has begun nothing.
func (o *Outbox) newQueue(t storage.Tenant, about *abi.WebhookEndpoint, seq uint64, at tally) *queue {
	q := &queue{o: o, key: ledger.Key{Tenant: t, ID: about.ID}, seq: seq, poke: make(chan struct{}, 1), done: make(chan *job, o.parts.Config.Parallel)}
	q.about.Store(about)
	q.life, q.end = context.Background(), func() {}
	q.read, q.stated = at.cursor, []desk.Position{at.asOf}
	q.pace.most = o.parts.Config.Parallel
	format := o.format(about)
	if q.ordered, q.ends = format.Ordered, format.Ends; q.ordered {
		q.pace.most = 1
	}
	q.counts.taken.Store(at.taken)
	q.counts.failed.Store(at.failed)
	q.counts.dead.Store(at.dead)
	q.counts.redriven.Store(at.redriven)
	return q
}

// nudge has the loop look whether there is something to do.
func (q *queue) nudge() {
	select {
	case q.poke <- struct{}{}:
	default:
	}
}

// run is the queue's loop. When ctx ends it waits for the attempts that are under way, and keeps
// what has become of them.
func (q *queue) run(ctx context.Context) {
	defer q.unsubscribe()
	for q.turn(ctx) {
		if !q.rest(ctx) {
			break
		}
	}
	for q.flying > 0 {
		q.settle(<-q.done)
	}
	q.tell(q.keep(context.WithoutCancel(ctx), q.now(), true))
}

// turn does what is to be done now. It reports whether the queue can go on.
func (q *queue) turn(ctx context.Context) bool {
	now := q.now()
	q.takeUp()
	q.readOn(ctx, now)
	q.giveUp(now)
	if ctx.Err() == nil {
		q.send(now)
	}
	if q.tell(q.keep(ctx, now, false)) != nil {
		return false // nothing can be written any more
	}
	q.count()
	return true
}

// tell logs an error.
func (q *queue) tell(err error) error {
	if err != nil {
		q.o.parts.Log.Error("a webhook stops: its progress cannot be written", "webhook", q.key.ID, "error", err)
	}
	return err
}

// rest waits until there may be something to do. It returns false when ctx has ended.
func (q *queue) rest(ctx context.Context) bool {
	now := q.now()
	timer := time.NewTimer(alarm.Wait(now, q.nextLook(now)))
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-q.poke:
	case <-timer.C:
	case j := <-q.done:
		q.settle(j)
		for range len(q.done) {
			q.settle(<-q.done)
		}
	}
	return true
}

// nextLook returns when there is something to do that nothing else will tell.
func (q *queue) nextLook(now time.Time) time.Time {
	next := now.Add(alarm.LookEvery)
	sooner := func(t time.Time) {
		if !t.IsZero() && t.Before(next) {
			next = t
		}
	}
	if q.unsaved > 0 {
		sooner(q.saveBy)
	}
	sooner(q.stuck)
	if q.full && len(q.window) < maxAhead {
		sooner(now) // there is room again
	}
	for _, r := range q.retries {
		if !r.underWay {
			sooner(q.expiry(r.about.EventAt, r.about.RedrivenAt))
		}
	}
	if i := slices.IndexFunc(q.window, (*item).waits); i >= 0 {
		sooner(q.expiry(q.window[i].time, time.Time{}))
	}
	switch {
	case q.about.Load().Status != abi.WebhookActive:
	case now.Before(q.pace.until):
		sooner(q.pace.until)
	case q.ordered && len(q.retries) > 0: // the others wait for it
		if q.flying == 0 {
			sooner(q.oldest().due)
		}
	case q.flying < q.pace.room(now): // or else what is under way will tell
		for _, r := range q.retries {
			if !r.underWay {
				sooner(r.due)
			}
		}
	}
	return next
}

// expiry returns when an event is given up that has not been taken.
func (q *queue) expiry(at, redriven time.Time) time.Time {
	if redriven.After(at) {
		at = redriven
	}
	return at.Add(q.o.parts.Config.Age)
}

// count notes what is told of the queue.
func (q *queue) count() {
	oldest := time.Time{}
	earlier := func(t time.Time) {
		if oldest.IsZero() || t.Before(oldest) {
			oldest = t
		}
	}
	if i := slices.IndexFunc(q.window, func(i *item) bool { return !i.settled }); i >= 0 {
		earlier(q.window[i].time)
	}
	for _, r := range q.retries {
		earlier(r.about.EventAt)
	}
	nanos := int64(0)
	if !oldest.IsZero() {
		nanos = oldest.UnixNano()
	}
	q.counts.oldest.Store(nanos)
	q.counts.pending.Store(int64(len(q.retries)))
	q.counts.behind.Store(len(q.window) >= maxAhead)
}

// now returns the time.
func (q *queue) now() time.Time { return q.o.parts.Now() }

// scope is where the events are that a Webhook may want, and those of its own.
func (q *queue) scope() desk.Scope {
	if id := q.about.Load().WorkspaceID; id != "" {
		return desk.Scope{Object: abi.ObjectWorkspace, ID: id}
	}
	return desk.Scope{}
}

// tally is what is kept of a queue beside its deliveries.
type tally struct {
	cursor desk.Position // everything up to here is taken, or recorded
	// asOf is the event that states the Webhook as it was at the cursor; 0 when it begins after
	// the cursor.
	asOf                          desk.Position
	taken, failed, dead, redriven uint64
}

// tallyVersion begins a tally, so that a later build can tell what follows.
const tallyVersion = 1

func (t *tally) text() string {
	b := []byte{tallyVersion}
	for _, n := range []uint64{uint64(t.cursor), uint64(t.asOf), t.taken, t.failed, t.dead, t.redriven} {
		b = binary.AppendUvarint(b, n)
	}
	return string(b)
}

// readTally reads what text wrote. What is missing is 0.
func readTally(text []byte) (t tally) {
	if len(text) == 0 || text[0] != tallyVersion {
		return t
	}
	text = text[1:]
	for _, to := range []*uint64{(*uint64)(&t.cursor), (*uint64)(&t.asOf), &t.taken, &t.failed, &t.dead, &t.redriven} {
		n, size := binary.Uvarint(text)
		if size <= 0 {
			return t
		}
		*to, text = n, text[size:]
	}
	return t
}
