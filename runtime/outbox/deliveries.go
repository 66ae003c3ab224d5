package outbox

import (
	"context"
	"time"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/desk"
	"github.com/wharf-dev/wharf/runtime/ledger"
	"github.com/wharf-dev/wharf/storage"
)

// WebhookDeliveries lists the deliveries of a Webhook that its receiver has not taken at first,
// newest first: all of them, or those of one status.
func (o *Outbox) WebhookDeliveries(ctx context.Context, c *desk.Caller, webhook string, status abi.WebhookDeliveryStatus, p desk.Page) (list desk.DocList, err error) {
	q, err := o.find(c, webhook)
	if err != nil {
		return desk.DocList{}, err
	}
	if status != "" {
		if err := desk.CheckOneOf("status", status, abi.WebhookDeliveryPending, abi.WebhookDeliveryDelivered, abi.WebhookDeliveryDead); err != nil {
			return desk.DocList{}, err
		}
	}
	scope := desk.Filter{WorkspaceID: q.about.Load().WorkspaceID}.ScopeFor(abi.ObjectWebhookDelivery)
	for after, looked := p.After, 0; ; {
		page, more, err := o.parts.Store.List(ctx, c.Tenant, abi.ObjectWebhookDelivery, scope, storage.Page{After: after, Limit: p.Limit})
		if err != nil {
			return desk.DocList{}, o.parts.Ledger.Failed("listing deliveries", err)
		}
		for i, res := range page {
			after = res.ID
			d, err := readDelivery(&res)
			if err != nil {
				list.LeaveOut(c, res.ID)
				continue
			}
			if d.WebhookID != webhook || status != "" && d.Status != status {
				continue
			}
			if list.Add(desk.Doc{ID: res.ID, JSON: res.State}, p.Limit) {
				return list.End(after, more || i < len(page)-1), nil
			}
		}
		if looked += len(page); !more || looked >= desk.MaxLooked {
			return list.End(after, more), nil
		}
	}
}

func readDelivery(res *storage.Resource) (d abi.WebhookDelivery, err error) {
	if res.Err != nil {
		return d, res.Err
	}
	return d, ledger.Decode(res.State, &d)
}

// RedriveWebhookDeliveries has the dead letters of a page of a Webhook's deliveries tried again,
// and returns them.
func (o *Outbox) RedriveWebhookDeliveries(ctx context.Context, c *desk.Caller, r *desk.Retry, webhook string, p desk.Page) (desk.DocList, error) {
	list, err := o.WebhookDeliveries(ctx, c, webhook, abi.WebhookDeliveryDead, p)
	if err != nil {
		return desk.DocList{}, err
	}
	return list.Redo(func(id string) (desk.Doc, error) { return o.RedriveWebhookDelivery(ctx, c, r.Part(id), webhook, id) })
}

// RedriveWebhookDelivery has a delivery that was given up tried again, as if it were new.
func (o *Outbox) RedriveWebhookDelivery(ctx context.Context, c *desk.Caller, r *desk.Retry, webhook, id string) (desk.Doc, error) {
	q, err := o.find(c, webhook)
	if err != nil {
		return desk.Doc{}, err
	}
	if _, _, err := o.delivery(ctx, c, webhook, id); err != nil {
		return desk.Doc{}, err
	}
	return o.parts.Desk.Once(ctx, c, r, q.about.Load().WorkspaceID, func(idem *storage.Idempotency) (desk.Doc, error) {
		unlock := o.parts.Ledger.Lock(c.Tenant, id)
		defer unlock()
		d, res, err := o.delivery(ctx, c, webhook, id)
		if err != nil {
			return desk.Doc{}, err
		}
		if err := redrivable(q, &d); err != nil {
			return desk.Doc{}, err
		}
		return o.redrive(c, q, idem, d, res.Sequence+1)
	})
}

func (o *Outbox) delivery(ctx context.Context, c *desk.Caller, webhook, id string) (abi.WebhookDelivery, storage.Resource, error) {
	d, res, err := desk.Find[abi.WebhookDelivery](ctx, o.parts.Desk, c, abi.ObjectWebhookDelivery, id)
	if err == nil && d.WebhookID != webhook {
		err = abi.NotFound(abi.ObjectWebhookDelivery, id)
	}
	return d, res, err
}

func redrivable(q *queue, d *abi.WebhookDelivery) error {
	switch {
	case d.Status != abi.WebhookDeliveryDead:
		return abi.Errorf(abi.CodeConflict, "delivery %s is %s: those that are DEAD can be driven again", d.ID, d.Status)
	case d.ThroughID != "":
		return abi.Errorf(abi.CodeConflict, "delivery %s stands for events that are no longer there", d.ID)
	case q.counts.pending.Load() >= 2*maxKept:
		return abi.Errorf(abi.CodeConflict, "%d deliveries are pending already: drive this one again when there are fewer", q.counts.pending.Load())
	}
	return nil
}

// redrive writes that a delivery is pending again, and has the queue send it.
func (o *Outbox) redrive(c *desk.Caller, q *queue, idem *storage.Idempotency, d abi.WebhookDelivery, sequence uint64) (desk.Doc, error) {
	now := abi.At(o.parts.Now())
	d.Status, d.Attempts, d.HTTPStatus, d.Failure = abi.WebhookDeliveryPending, 0, 0, nil
	d.RedrivenAt, d.UpdatedAt, d.NextAttemptAt = now, now, now
	rec := ledger.Record{Kind: abi.EventWebhookRedriven, Object: abi.ObjectWebhookDelivery, ID: d.ID, Sequence: sequence, State: &d,
		Intake: storage.IntakeOp{Kind: storage.IntakePend, Connector: q.key.ID}}
	doc, commit, err := o.handState(c, q, idem, desk.StatusAccepted, []ledger.Record{rec})
	if err != nil {
		return desk.Doc{}, err
	}
	at, err := o.parts.Ledger.Durable(commit)
	if err != nil {
		return desk.Doc{}, err
	}
	q.counts.redriven.Add(1)
	q.counts.pending.Add(1)
	q.again.add(&retry{about: d, at: at, next: sequence + 1, due: time.Time(now)})
	q.nudge()
	return doc, nil
}
