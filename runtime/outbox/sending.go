package outbox

import (
	"cmp"
	"slices"
	"time"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/desk"
)

// sending is what a queue is about to send, and how the receiver takes it.
type sending struct {
	retries []*retry
	flying  int // attempts under way
	pace    pace
	ordered bool // as the format has it
	over    bool // the last delivery that there will be was taken
}

// retry is a delivery that was not taken at first, and is pending.
type retry struct {
	about    abi.WebhookDelivery
	at       desk.Position // of the event that has made it pending; 0 until that is durable
	next     uint64        // the sequence of its next event
	due      time.Time
	underWay bool
}

// job is one attempt: of an item, or of a retry.
type job struct {
	source
	item  *item
	retry *retry

	about    *abi.WebhookEndpoint // to whom
	doubtful bool                 // the receiver has taken nothing lately
	outcome
}

// outcome is what has become of an attempt.
type outcome struct {
	taken   bool
	skipped bool          // there was nothing to send
	last    bool          // nothing comes after it
	broken  bool          // it was broken off, and says nothing
	final   bool          // no other attempt can do better
	gone    bool          // the receiver wants nothing any more
	status  int           // of the answer, 0 for none
	asked   time.Duration // the wait that the receiver wants
	failure *abi.Failure
}

// takeUp takes up what was driven again.
func (q *queue) takeUp() { q.retries = append(q.retries, q.again.take()...) }

// send begins the attempts that there is room for.
func (q *queue) send(now time.Time) {
	about := q.about.Load()
	if about.Status != abi.WebhookActive {
		return
	}
	for q.flying < q.pace.room(now) {
		j := q.next(now)
		if j == nil {
			if q.flying == 0 {
				q.o.reads.forget(q.key)
			}
			return
		}
		j.about, j.doubtful = about, q.pace.width <= 1
		q.flying++
		go func() {
			q.o.attempt(q, j)
			q.done <- j
		}()
	}
}

// next returns what is to be sent next, nil for nothing.
func (q *queue) next(now time.Time) *job {
	if q.ordered && len(q.retries) > 0 {
		if r := q.oldest(); q.flying > 0 || r.at == 0 || r.due.After(now) {
			return nil
		}
	}
	if r := q.dueFirst(now); r != nil {
		r.underWay = true
		return &job{retry: r, source: sourceOf(&r.about)}
	}
	if len(q.retries) >= maxKept {
		return nil
	}
	for _, i := range q.window {
		if i.waits() {
			i.underWay = true
			return &job{item: i, source: i.source}
		}
	}
	return nil
}

func sourceOf(d *abi.WebhookDelivery) source {
	at, _ := desk.ParsePosition(d.EventID)
	return source{at: at, kind: d.Event, time: d.EventAt, id: d.ID}
}

// oldest returns the pending delivery of the earliest event; there is one.
func (q *queue) oldest() *retry {
	return slices.MinFunc(q.retries, func(a, b *retry) int { return cmp.Compare(sourceOf(&a.about).at, sourceOf(&b.about).at) })
}

// dueFirst returns the pending delivery that is due for longest, nil for none. Of one that has an order it
// is the first.
func (q *queue) dueFirst(now time.Time) (first *retry) {
	if q.ordered && len(q.retries) > 0 {
		return q.oldest()
	}
	for _, r := range q.retries {
		ready := !r.underWay && r.at > 0 && !r.due.After(now)
		if ready && (first == nil || r.due.Before(first.due)) {
			first = r
		}
	}
	return first
}

// settle takes note of what has become of an attempt.
func (q *queue) settle(j *job) {
	q.flying--
	if j.item != nil {
		j.item.underWay = false
	} else {
		j.retry.underWay = false
	}
	if j.broken {
		return
	}
	now := q.now()
	if j.taken && !j.skipped || j.status != 0 {
		q.counts.last.Store(now.UnixNano())
	}
	switch {
	case j.taken:
		q.took(j, now)
	case j.final && !j.gone:
		q.bury(j, now)
	default:
		q.counts.failed.Add(1)
		q.pace.missed(now, j.asked, q.o.parts.Jitter())
		q.retire = q.retire || j.gone
		q.missed(j, now)
	}
}

// took notes a delivery that was taken.
func (q *queue) took(j *job, now time.Time) {
	if !j.skipped {
		q.counts.taken.Add(1)
		q.over = q.over || j.last
		if q.pace.took() {
			for _, r := range q.retries {
				r.due = now // the receiver is back: what waits need not wait longer
			}
		}
	}
	if j.item != nil {
		j.item.settled = true
		q.owe(now)
		return
	}
	d := &j.retry.about
	d.Attempts++
	d.Status, d.HTTPStatus, d.Failure, d.NextAttemptAt = abi.WebhookDeliveryDelivered, j.status, nil, time.Time{}
	q.finish(j.retry, abi.EventWebhookTaken, now)
}

// missed records a delivery that was not taken: it is tried again, or given up.
func (q *queue) missed(j *job, now time.Time) {
	r := q.recorded(j, now)
	d := &r.about
	d.Attempts++
	d.HTTPStatus, d.Failure = j.status, j.failure
	wait, again := q.o.parts.Config.delay(q.o.format(j.about), d.Attempts)
	if j.final || !again {
		q.giveUpOn(r, now)
		return
	}
	r.due = now.Add(max(spread(wait, q.o.parts.Jitter()), j.asked))
	d.NextAttemptAt = abi.At(r.due)
	q.change(r, abi.EventWebhookFailed, now)
}

// bury records a delivery that is given up for a reason that lies not with the receiver.
func (q *queue) bury(j *job, now time.Time) {
	r := q.recorded(j, now)
	r.about.Failure = j.failure
	q.giveUpOn(r, now)
}

// recorded returns the record of a delivery, and begins it if there is none.
func (q *queue) recorded(j *job, now time.Time) *retry {
	if j.retry != nil {
		return j.retry
	}
	j.item.settled = true
	return q.record(j.source, now)
}

func (q *queue) record(s source, now time.Time) *retry {
	return &retry{about: abi.WebhookDelivery{
		Envelope:  abi.NewEnvelope(abi.ObjectWebhookDelivery, s.id, now, nil),
		WebhookID: q.key.ID, WorkspaceID: q.about.Load().WorkspaceID,
		EventID: s.at.String(), Event: s.kind, EventAt: abi.At(s.time), Status: abi.WebhookDeliveryPending,
	}}
}

// giveUp gives up what has waited for too long.
func (q *queue) giveUp(now time.Time) {
	for _, r := range append([]*retry(nil), q.retries...) {
		if !r.underWay && r.at > 0 && !q.expiry(r.about.EventAt, r.about.RedrivenAt).After(now) {
			q.giveUpOn(r, now)
		}
	}
	for _, i := range q.window {
		if i.waits() && !q.expiry(i.time, time.Time{}).After(now) {
			i.settled = true
			r := q.record(i.source, now)
			r.about.Failure = &abi.Failure{Code: abi.WebhookTooOld, Message: "it has waited for " + q.o.parts.Config.Age.String()}
			q.giveUpOn(r, now)
		}
	}
}

// giveUpOn makes a delivery a dead letter. It keeps why the last attempt has failed.
func (q *queue) giveUpOn(r *retry, now time.Time) {
	q.counts.dead.Add(1)
	r.about.Status, r.about.NextAttemptAt = abi.WebhookDeliveryDead, time.Time{}
	q.finish(r, abi.EventWebhookDead, now)
}

// lose records that events are gone which the Webhook may have wanted.
func (q *queue) lose(from, through desk.Position, now time.Time) {
	if q.wants == nil || q.wants.Status == abi.WebhookDisabled {
		return
	}
	r := q.record(source{at: from, time: now, id: q.o.parts.IDs.New(abi.ObjectWebhookDelivery)}, now)
	r.about.ThroughID = through.String()
	r.about.Failure = &abi.Failure{Code: abi.WebhookExpired, Message: "retention has removed these events before they were looked at"}
	q.giveUpOn(r, now)
}
