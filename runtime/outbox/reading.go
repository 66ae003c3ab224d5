package outbox

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	json "github.com/go-json-experiment/json"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/desk"
	"github.com/wharf-dev/wharf/runtime/ledger"
	"github.com/wharf-dev/wharf/storage"
)

// reading is how far a queue has read the log, and what it has found there.
type reading struct {
	sub   storage.Subscription // nil until it is needed
	read  desk.Position        // everything up to here was looked at
	fresh desk.Position        // up to here deliveries may be recorded that lie behind the cursor
	// stated are the events that state the Webhook: as it was at the cursor, and since. 0 stands
	// for before it was made.
	stated []desk.Position
	wants  *abi.WebhookEndpoint // as it was at read; nil before it was made
	// window has the events that are wanted, in their order, from the first that is not settled.
	window []*item
	full   bool      // it was not read on for want of room, and nobody says that there is more
	stuck  time.Time // nothing is read before, for something cannot be read
	actor  struct{ task, persona string }
}

// item is an event that is wanted and was not recorded.
type item struct {
	source
	underWay bool
	settled  bool // it is taken, or recorded with the next save
}

// source says which event is sent.
type source struct {
	at   desk.Position
	kind abi.EventKind
	time time.Time
	id   string // of the delivery
}

func (i *item) waits() bool { return !i.underWay && !i.settled }

// retryRead is after how long a queue reads on that has met something that it cannot read.
const retryRead = 10 * time.Second

// recall reads what a stopped queue has kept.
func (q *queue) recall(ctx context.Context) error {
	q.fresh = q.o.parts.Store.Watermark()
	if err := q.recallWants(ctx); err != nil {
		return err
	}
	for after := desk.Position(0); ; {
		events, more, err := q.o.parts.Store.Pending(ctx, q.key.Tenant, q.key.ID, after, 200)
		if err != nil {
			return err
		}
		for _, ev := range events {
			after = ev.Position()
			if ev.Record().Resource.Object == abi.ObjectWebhook {
				q.pins = append(q.pins, after)
				continue
			}
			r, err := q.o.pending(ctx, q.key.Tenant, ev.Record().Resource.ID, after)
			if err != nil {
				return err
			}
			q.retries = append(q.retries, r)
		}
		if !more {
			return nil
		}
	}
}

// recallWants reads what was wanted at the cursor.
func (q *queue) recallWants(ctx context.Context) error {
	if q.stated[0] == 0 {
		q.wants = q.early()
		return nil
	}
	ev, err := q.o.parts.Store.Event(ctx, q.key.Tenant, q.stated[0])
	if errors.Is(err, storage.ErrCursorExpired) {
		q.wants = q.about.Load() // nothing has changed since, or nobody knows what
		return nil
	}
	if err != nil {
		return err
	}
	q.wants = new(abi.WebhookEndpoint)
	return ledger.Decode(ev.Record().State, q.wants)
}

// early returns what is wanted of the events before the one that has made the Webhook; nil for nothing.
func (q *queue) early() *abi.WebhookEndpoint {
	if about := q.about.Load(); about.AfterEventID != "" {
		return about
	}
	return nil
}

// pending reads a delivery that the event at a position has made pending.
func (o *Outbox) pending(ctx context.Context, t storage.Tenant, id string, at desk.Position) (*retry, error) {
	res, err := o.parts.Ledger.Find(ctx, t, abi.ObjectWebhookDelivery, id)
	if err != nil {
		return nil, err
	}
	r := &retry{at: at, next: res.Sequence + 1}
	if err := ledger.Decode(res.State, &r.about); err != nil {
		return nil, ledger.Naming(abi.ObjectWebhookDelivery, id, err)
	}
	r.due = r.about.NextAttemptAt
	return r, nil
}

// readOn looks at the events that have come, as far as there is room.
func (q *queue) readOn(ctx context.Context, now time.Time) {
	if now.Before(q.stuck) {
		return
	}
	q.stuck, q.full = time.Time{}, false
	defer func() { q.full = len(q.window) >= maxAhead }()
	for len(q.window) < maxAhead && ctx.Err() == nil {
		n, err := q.readSome(ctx)
		switch {
		case errors.Is(err, storage.ErrCursorExpired):
			err = q.skip(ctx, now)
		case err == nil && n == 0:
			return
		}
		if err != nil {
			q.unsubscribe()
			q.stuck = now.Add(retryRead)
			if ctx.Err() == nil {
				q.o.parts.Log.Warn("a webhook cannot read on", "webhook", q.key.ID, "after", q.read.String(), "error", err)
			}
			return
		}
	}
}

// readSome looks at the next events, and returns how many there were.
func (q *queue) readSome(ctx context.Context) (int, error) {
	if q.sub == nil {
		sub, err := q.o.parts.Store.Subscribe(q.key.Tenant, q.scope(), q.read)
		if err != nil {
			return 0, err
		}
		q.sub = sub
	}
	events, err := q.sub.Poll(ctx, q.nudge)
	for i, ev := range events {
		if err := q.look(ctx, ev); err != nil {
			return i, err
		}
	}
	return len(events), err
}

func (q *queue) unsubscribe() {
	if q.sub != nil {
		q.sub.Close()
		q.sub = nil
	}
}

// look decides whether an event is to be sent. When it fails, the event is looked at again.
func (q *queue) look(ctx context.Context, ev desk.Event) error {
	rec, at := ev.Record(), ev.Position()
	if rec.Resource == (abi.ResourcePointer{Object: abi.ObjectWebhook, ID: q.key.ID}) {
		q.learn(rec, at)
	} else if wanted, err := q.wanted(ctx, ev); err != nil {
		return err
	} else if wanted {
		i := &item{source: source{at: at, kind: rec.Kind, time: ev.Frame.Time, id: deliveryID(q.key.ID, ev)}}
		known, err := q.known(ctx, i)
		if err != nil {
			return err
		}
		if !known {
			q.window = append(q.window, i)
		}
	}
	q.read = at
	return nil
}

// deliveryID returns the id of the delivery of an event, which follows from the two.
func deliveryID(webhook string, ev desk.Event) string {
	return abi.DerivedID(abi.ObjectWebhookDelivery, ev.Frame.Time, webhook+" "+ev.Position().String())
}

// learn takes note of what the Webhook wants from an event of its own on.
func (q *queue) learn(rec *storage.Record, at desk.Position) {
	if rec.State == nil {
		return
	}
	var about abi.WebhookEndpoint
	if ledger.Decode(rec.State, &about) == nil {
		q.wants, q.stated = &about, append(q.stated, at)
	}
}

// known reports whether a delivery was recorded before the node has died, although the cursor
// had not passed it.
func (q *queue) known(ctx context.Context, i *item) (bool, error) {
	if i.at > q.fresh {
		return false, nil
	}
	_, err := q.o.parts.Ledger.Find(ctx, q.key.Tenant, abi.ObjectWebhookDelivery, i.id)
	if ledger.IsNotFound(err) {
		return false, nil
	}
	return err == nil, err
}

// wanted reports whether the Webhook wanted an event when it happened.
func (q *queue) wanted(ctx context.Context, ev desk.Event) (bool, error) {
	w, rec := q.wants, ev.Record()
	if w == nil || w.Status == abi.WebhookDisabled || rec.Hint || !wantsKind(w.Events, rec.Kind) {
		return false, nil
	}
	if w.SessionID != "" && w.SessionID != ev.Frame.SessionID || w.TaskID != "" && w.TaskID != ev.Frame.TaskID {
		return false, nil
	}
	// What belongs to the Task's frame alone is not of the Task, nor of its Session.
	ofSession, ofTask := desk.Scope{Object: abi.ObjectSession}, desk.Scope{Object: abi.ObjectTask}
	if w.SessionID != "" && !ofSession.Shows(rec) || (w.TaskID != "" || w.PersonaID != "") && !ofTask.Shows(rec) {
		return false, nil
	}
	if w.PersonaID == "" {
		return true, nil
	}
	persona, err := q.persona(ctx, ev.Frame.TaskID)
	return persona == w.PersonaID, err
}

// wantsKind reports whether a kind is among those that patterns stand for.
func wantsKind(patterns []string, kind abi.EventKind) bool {
	return !kind.OfWebhooks() && slices.ContainsFunc(patterns, func(p string) bool {
		if begin, ok := strings.CutSuffix(p, "*"); ok {
			return strings.HasPrefix(string(kind), begin)
		}
		return p == string(kind)
	})
}

// persona returns whose Task it is. That never changes.
func (q *queue) persona(ctx context.Context, task string) (string, error) {
	if task == "" || q.actor.task == task {
		return q.actor.persona, nil
	}
	res, err := q.o.parts.Ledger.Find(ctx, q.key.Tenant, abi.ObjectTask, task)
	if ledger.IsNotFound(err) || ledger.IsUnreadable(err) {
		return "", nil
	}
	var about struct {
		PersonaID string `json:"persona_id"`
	}
	if err == nil {
		err = json.Unmarshal(res.State, &about)
	}
	if err != nil {
		return "", fmt.Errorf("reading whose task %s is: %w", task, err)
	}
	q.actor.task, q.actor.persona = task, about.PersonaID
	return about.PersonaID, nil
}

// skip goes on after what retention has removed, and tells that this is lost. The pin keeps this
// from happening, unless something else has removed events.
func (q *queue) skip(ctx context.Context, now time.Time) error {
	q.unsubscribe()
	next := q.o.parts.Store.Watermark()
	first, _, err := q.o.parts.Store.Events(ctx, q.key.Tenant, q.scope(), 0, 1)
	if err != nil {
		return fmt.Errorf("looking for the oldest event: %w", err)
	}
	if len(first) > 0 {
		next = first[0].Position() - 1
	}
	if next > q.read {
		q.lose(q.read+1, next, now)
		q.read = next
	}
	return nil
}
