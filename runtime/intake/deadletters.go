package intake

import (
	"context"
	"fmt"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/abi/jsonw"
	"github.com/wharf-dev/wharf/runtime/desk"
	"github.com/wharf-dev/wharf/runtime/ledger"
	"github.com/wharf-dev/wharf/storage"
)

// DeadLetters lists the dead letters of a Connector, newest first, without the deliveries
// themselves.
func (i *Intake) DeadLetters(ctx context.Context, c *desk.Caller, connectorID string, p desk.Page) (list desk.DocList, err error) {
	s, err := i.inlet(c, connectorID)
	if err != nil {
		return desk.DocList{}, err
	}
	scope := desk.Filter{WorkspaceID: s.about.Load().WorkspaceID}.ScopeFor(abi.ObjectDeadLetter)
	for after, looked := p.After, 0; ; {
		page, more, err := i.parts.Store.List(ctx, c.Tenant, abi.ObjectDeadLetter, scope, storage.Page{After: after, Limit: p.Limit})
		if err != nil {
			return desk.DocList{}, i.parts.Ledger.Failed("listing dead letters", err)
		}
		for i, res := range page {
			after = res.ID
			var l abi.DeadLetter
			if err := ledger.Decode(res.State, &l); err != nil {
				return desk.DocList{}, err
			}
			if l.ConnectorID != connectorID {
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

// RedriveDeadLetters has a page of a Connector's dead letters handled again, and returns them.
// It leaves out those that were driven again already.
func (i *Intake) RedriveDeadLetters(ctx context.Context, c *desk.Caller, r *desk.Retry, connectorID string, p desk.Page) (desk.DocList, error) {
	list, err := i.DeadLetters(ctx, c, connectorID, p)
	if err != nil {
		return desk.DocList{}, err
	}
	return list.Redo(func(id string) (desk.Doc, error) { return i.RedriveDeadLetter(ctx, c, r.Part(id), connectorID, id) })
}

// DeadLetter returns a dead letter of a Connector, with the delivery.
func (i *Intake) DeadLetter(ctx context.Context, c *desk.Caller, connectorID, id string) (desk.Doc, error) {
	l, res, err := i.deadLetter(ctx, c, connectorID, id)
	if err != nil {
		return desk.Doc{}, err
	}
	delivery, err := i.parts.Ledger.Find(ctx, c.Tenant, abi.ObjectDelivery, l.DeliveryID)
	if err != nil {
		return desk.Doc{}, err
	}
	return desk.Doc{ID: id, JSON: desk.WithMember(res.State, "delivery", jsontext.Value(delivery.State)), Restricted: true}, nil
}

func (i *Intake) deadLetter(ctx context.Context, c *desk.Caller, connectorID, id string) (abi.DeadLetter, storage.Resource, error) {
	if _, err := i.inlet(c, connectorID); err != nil {
		return abi.DeadLetter{}, storage.Resource{}, err
	}
	l, res, err := desk.Find[abi.DeadLetter](ctx, i.parts.Desk, c, abi.ObjectDeadLetter, id)
	if err == nil && l.ConnectorID != connectorID {
		err = abi.NotFound(abi.ObjectDeadLetter, id)
	}
	return l, res, err
}

// RedriveDeadLetter has a delivery that was put aside handled again: once, until it fails
// again.
func (i *Intake) RedriveDeadLetter(ctx context.Context, c *desk.Caller, r *desk.Retry, connectorID, id string) (desk.Doc, error) {
	l, _, err := i.deadLetter(ctx, c, connectorID, id)
	if err != nil {
		return desk.Doc{}, err
	}
	s, err := i.inlet(c, connectorID)
	if err != nil {
		return desk.Doc{}, err
	}
	return i.parts.Desk.Once(ctx, c, r, l.WorkspaceID, func(idem *storage.Idempotency) (desk.Doc, error) {
		return ledger.Change(i.parts.Ledger, c.Tenant, id, func() (desk.Doc, error) {
			doc, err := i.redrive(ctx, c, s, idem, id)
			if err == nil {
				i.reread(s, 1)
			}
			return doc, err
		})
	})
}

// redrive writes that a delivery is pending again. The event holds it, as the one did
// with which it came in.
func (i *Intake) redrive(ctx context.Context, c *desk.Caller, s *inlet, idem *storage.Idempotency, id string) (desk.Doc, error) {
	l, res, err := i.deadLetter(ctx, c, s.key.ID, id)
	if err != nil {
		return desk.Doc{}, err
	}
	if !l.RedrivenAt.IsZero() {
		return desk.Doc{}, abi.Errorf(abi.CodeConflict, "%s was driven again at %s", id, l.RedrivenAt.Format("2006-01-02T15:04:05Z07:00"))
	}
	delivery, err := i.parts.Ledger.Find(ctx, c.Tenant, abi.ObjectDelivery, l.DeliveryID)
	if err != nil {
		return desk.Doc{}, err
	}
	payload := jsonw.String(append(make([]byte, 0, len(delivery.State)+128), `{"connector_id":`...), s.key.ID)
	payload = append(append(append(payload, `,"delivery":`...), delivery.State...), '}')
	if _, ok := deliveryText(payload); !ok {
		return desk.Doc{}, fmt.Errorf("the delivery %s is not as deliveries are kept", l.DeliveryID)
	}
	sequence, _, err := i.parts.Store.Sequence(ctx, c.Tenant, abi.ResourcePointer{Object: abi.ObjectDelivery, ID: l.DeliveryID})
	if err != nil {
		return desk.Doc{}, i.parts.Ledger.Failed("reading the delivery", err)
	}
	l.RedrivenAt, l.UpdatedAt = abi.At(i.parts.Now()), abi.At(i.parts.Now())
	s.tally.redriven.Add(1)
	doc, err := i.parts.Desk.Commit(c, "", l.WorkspaceID, idem, desk.StatusAccepted,
		ledger.Record{Kind: abi.EventDeliveryRedriven, Object: abi.ObjectDeadLetter, ID: id, Sequence: res.Sequence + 1, State: &l,
			Intake: storage.IntakeOp{Kind: storage.IntakeTally, Connector: s.key.ID, Tally: s.tally.text()}},
		ledger.Record{Kind: abi.EventDeliveryRedriven, Object: abi.ObjectDelivery, ID: l.DeliveryID, Sequence: sequence + 1, Restricted: true, Text: payload,
			Intake: storage.IntakeOp{Kind: storage.IntakePend, Connector: s.key.ID}})
	if err != nil {
		s.tally.redriven.Add(^uint64(0))
	}
	return doc, err
}
