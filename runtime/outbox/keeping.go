package outbox

import (
	"context"
	"slices"
	"time"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/desk"
	"github.com/wharf-dev/wharf/runtime/ledger"
	"github.com/wharf-dev/wharf/storage"
)

const (
	// saveEach and saveAfter bound what is sent again after a crash: so many deliveries, or those
	// of so long, that were taken at first.
	saveEach  = 100
	saveAfter = 250 * time.Millisecond
	// pinEach is how many events the pin lies behind the cursor before it is moved, and pinAfter
	// how long when there are pinFew at least.
	pinEach  = 10_000
	pinFew   = 1_000
	pinAfter = time.Hour
)

// keeping is what a queue has written, and is about to.
type keeping struct {
	unsaved int // deliveries that were taken since the cursor was kept
	saveBy  time.Time
	changes []change // of deliveries
	retire  bool     // the Webhook is to be disabled
	// pins are the events that keep retention away: the cursor has not passed the second.
	pins   []desk.Position
	pinned time.Time     // when the last was written
	own    desk.Position // the last event that the queue has written
}

// change is an event of a delivery that is to be written.
type change struct {
	rec   ledger.Record
	retry *retry
}

// owe notes that the cursor is to be kept soon.
func (q *queue) owe(now time.Time) {
	if q.unsaved++; q.unsaved == 1 {
		q.saveBy = now.Add(saveAfter)
	}
}

// change has an event of a delivery written that stays pending.
func (q *queue) change(r *retry, kind abi.EventKind, now time.Time) {
	fresh := r.next == 0
	rec := q.event(r, kind, now)
	if fresh {
		rec.Intake = storage.IntakeOp{Kind: storage.IntakePend, Connector: q.key.ID}
		q.retries = append(q.retries, r)
	}
	q.changes = append(q.changes, change{rec, r})
}

// finish has the last event of a delivery written.
func (q *queue) finish(r *retry, kind abi.EventKind, now time.Time) {
	rec := q.event(r, kind, now)
	if r.at > 0 {
		rec.Intake = storage.IntakeOp{Kind: storage.IntakeSettle, Connector: q.key.ID, At: r.at}
		q.retries = slices.DeleteFunc(q.retries, func(other *retry) bool { return other == r })
	}
	q.changes = append(q.changes, change{rec, nil})
}

// event returns the next event of a delivery.
func (q *queue) event(r *retry, kind abi.EventKind, now time.Time) ledger.Record {
	r.about.UpdatedAt = abi.At(now)
	state := r.about
	rec := ledger.Record{Kind: kind, Object: abi.ObjectWebhookDelivery, ID: state.ID, Sequence: r.next, Created: r.next == 0, State: &state}
	r.next++
	return rec
}

// through returns the cursor: everything up to it is settled.
func (q *queue) through() desk.Position {
	for len(q.window) > 0 && q.window[0].settled {
		q.window[0] = nil
		q.window = q.window[1:]
	}
	if len(q.window) > 0 {
		return q.window[0].at - 1
	}
	return q.read
}

// keep writes what there is to write now: everything when the queue ends. An error says that the
// store takes nothing any more.
func (q *queue) keep(ctx context.Context, now time.Time, ends bool) error {
	if q.over && len(q.retries) == 0 && q.counts.dead.Load() == 0 {
		q.over = false
		return q.o.retire(ctx, q) // before it is written that the last was taken, so that a crash leaves neither
	}
	if !ends && q.outlived(ctx, now) {
		return q.o.retire(ctx, q)
	}
	through := q.through()
	moves := q.movesPin(through, now)
	frees := len(q.pins) > 1 && through >= q.pins[1]
	due := len(q.changes) > 0 || moves || frees || q.unsaved >= saveEach || q.unsaved > 0 && (ends || !now.Before(q.saveBy))
	if due {
		if err := q.save(through, moves && !ends, frees, now); err != nil {
			return err
		}
	}
	if q.retire {
		q.retire = false
		return q.o.disable(ctx, q, "the receiver has answered with 410")
	}
	return nil
}

// movesPin reports whether a new pin is to be set.
func (q *queue) movesPin(through desk.Position, now time.Time) bool {
	switch {
	case len(q.pins) != 1:
		return len(q.pins) == 0
	case through >= q.pins[0]+pinEach:
		return true
	}
	return !now.Before(q.pinned.Add(pinAfter)) && q.o.parts.Store.Watermark() >= max(q.own, q.pins[0])+pinFew
}

// save writes the changes of deliveries and the cursor in one batch.
func (q *queue) save(through desk.Position, moves, frees bool, now time.Time) error {
	records := make([]ledger.Record, 0, len(q.changes)+2)
	for i := range q.changes {
		records = append(records, q.changes[i].rec)
	}
	progress := q.progress(through)
	progress.Intake = storage.IntakeOp{Kind: storage.IntakeTally, Connector: q.key.ID}
	if frees {
		progress.Intake.Kind, progress.Intake.At = storage.IntakeSettle, q.pins[0]
	}
	text := q.tally(through)
	records = append(records, progress)
	for i := range records {
		if k := records[i].Intake.Kind; k == storage.IntakeTally || k == storage.IntakeSettle {
			records[i].Intake.Tally = text
		}
	}
	if moves {
		pin := q.progress(through)
		pin.Intake = storage.IntakeOp{Kind: storage.IntakePend, Connector: q.key.ID}
		records = append(records, pin)
	}
	first, ok, err := q.write(records)
	if err != nil || !ok {
		return err
	}
	for i, c := range q.changes {
		if c.retry != nil && c.retry.at == 0 {
			c.retry.at = first + desk.Position(i)
		}
	}
	if frees {
		q.pins = q.pins[1:]
	}
	q.own = first + desk.Position(len(records)-1)
	if moves {
		q.pins, q.pinned = append(q.pins, q.own), now
	}
	q.unsaved, q.changes = 0, q.changes[:0]
	return nil
}

func (q *queue) progress(through desk.Position) ledger.Record {
	return ledger.Record{Kind: abi.EventWebhookProgress, Object: abi.ObjectWebhook, ID: q.key.ID,
		Payload: &abi.WebhookProgress{Through: through.String(), Taken: q.counts.taken.Load()}}
}

// tally returns what is kept of the queue with a cursor.
func (q *queue) tally(through desk.Position) string {
	for len(q.stated) > 1 && q.stated[1] <= through {
		q.stated = q.stated[1:]
	}
	c := &q.counts
	t := tally{cursor: through, asOf: q.stated[0], taken: c.taken.Load(), failed: c.failed.Load(), dead: c.dead.Load(), redriven: c.redriven.Load()}
	return t.text()
}

// write hands records over in one frame, and waits for the disk. ok is false when the Webhook
// was deleted: then nothing is written any more.
func (q *queue) write(records []ledger.Record) (first desk.Position, ok bool, err error) {
	commit, err := q.hand(records)
	if commit == nil || err != nil {
		return 0, false, err
	}
	first, err = q.o.parts.Ledger.Durable(commit)
	return first, err == nil, err
}

func (q *queue) hand(records []ledger.Record) (storage.Commit, error) {
	q.order.Lock()
	defer q.order.Unlock()
	if q.deleted {
		return nil, nil
	}
	q.number(records)
	f := storage.Frame{Tenant: q.key.Tenant, WorkspaceID: q.about.Load().WorkspaceID, Actor: desk.HostActor}
	_, commit, err := q.o.parts.Ledger.HandOver(f, nil, 0, records...)
	return commit, err
}

// number gives the events of the Webhook their sequences. The caller holds q.order.
func (q *queue) number(records []ledger.Record) {
	for i := range records {
		if records[i].Object == abi.ObjectWebhook {
			records[i].Sequence = q.seq
			q.seq++
		}
	}
}
