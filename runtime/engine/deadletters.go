package engine

import (
	"context"
	"errors"
	"fmt"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/storage"
)

// DeadLetters lists what a Connector has put aside, newest first, without the
// deliveries themselves.
func (e *Engine) DeadLetters(ctx context.Context, c *Caller, connectorID string, p Page) (list DocList, err error) {
	s, err := e.source(c, connectorID)
	if err != nil {
		return DocList{}, err
	}
	scope := Filter{WorkspaceID: s.about.Load().WorkspaceID}.scopeFor(abi.ObjectDeadLetter)
	for after, looked := p.After, 0; ; {
		page, more, err := e.store.List(ctx, c.Tenant, abi.ObjectDeadLetter, scope, storage.Page{After: after, Limit: p.Limit})
		if err != nil {
			return DocList{}, e.failed("listing dead letters", err)
		}
		for i, res := range page {
			after = res.ID
			var l abi.DeadLetter
			if err := decode(res.State, &l); err != nil {
				return DocList{}, err
			}
			if l.ConnectorID != connectorID {
				continue
			}
			if list.add(Doc{ID: res.ID, JSON: res.State}, p.Limit) {
				return list.end(after, more || i < len(page)-1), nil
			}
		}
		if looked += len(page); !more || looked >= maxLooked {
			return list.end(after, more), nil
		}
	}
}

// RedriveDeadLetters has a page of what a Connector has put aside handled again, and
// returns what it had handled: not what was driven again already.
func (e *Engine) RedriveDeadLetters(ctx context.Context, c *Caller, r *Retry, connectorID string, p Page) (DocList, error) {
	list, err := e.DeadLetters(ctx, c, connectorID, p)
	if err != nil {
		return DocList{}, err
	}
	letters := list.Docs
	list.Docs = nil
	for _, letter := range letters {
		var retry *Retry
		if r != nil {
			retry = &Retry{Key: r.Key, Method: r.Method, Target: r.Target + "/" + letter.ID, Body: r.Body}
		}
		doc, err := e.RedriveDeadLetter(ctx, c, retry, connectorID, letter.ID)
		if refused, ok := errors.AsType[*abi.Error](err); ok && refused.Code == abi.CodeConflict {
			continue
		}
		if err != nil {
			return DocList{}, err
		}
		list.Docs = append(list.Docs, doc)
	}
	return list, nil
}

// DeadLetter returns what a Connector has put aside, with the delivery.
func (e *Engine) DeadLetter(ctx context.Context, c *Caller, connectorID, id string) (Doc, error) {
	l, res, err := e.deadLetter(ctx, c, connectorID, id)
	if err != nil {
		return Doc{}, err
	}
	delivery, err := e.find(ctx, c.Tenant, abi.ObjectDelivery, l.DeliveryID)
	if err != nil {
		return Doc{}, err
	}
	return Doc{ID: id, JSON: withMember(res.State, "delivery", jsontext.Value(delivery.State)), Restricted: true}, nil
}

func (e *Engine) deadLetter(ctx context.Context, c *Caller, connectorID, id string) (abi.DeadLetter, storage.Resource, error) {
	if _, err := e.source(c, connectorID); err != nil {
		return abi.DeadLetter{}, storage.Resource{}, err
	}
	l, res, err := findAs[abi.DeadLetter](ctx, e, c, abi.ObjectDeadLetter, id)
	if err == nil && l.ConnectorID != connectorID {
		err = abi.NotFound(abi.ObjectDeadLetter, id)
	}
	return l, res, err
}

// RedriveDeadLetter has a delivery handled again that was put aside: once, until it
// fails again.
func (e *Engine) RedriveDeadLetter(ctx context.Context, c *Caller, r *Retry, connectorID, id string) (Doc, error) {
	l, _, err := e.deadLetter(ctx, c, connectorID, id)
	if err != nil {
		return Doc{}, err
	}
	s, err := e.source(c, connectorID)
	if err != nil {
		return Doc{}, err
	}
	return e.once(ctx, c, r, l.WorkspaceID, func(idem *storage.Idempotency) (Doc, error) {
		unlock := e.locks.lock(c.Tenant, id)
		defer unlock()
		doc, err := e.redrive(ctx, c, s, idem, id)
		if err == nil {
			e.reread(s, 1)
		}
		return doc, err
	})
}

// redrive writes that a delivery is pending again. The event holds it, as the one did
// with which it came in.
func (e *Engine) redrive(ctx context.Context, c *Caller, s *source, idem *storage.Idempotency, id string) (Doc, error) {
	l, res, err := e.deadLetter(ctx, c, s.key.id, id)
	if err != nil {
		return Doc{}, err
	}
	if !l.RedrivenAt.IsZero() {
		return Doc{}, abi.Errorf(abi.CodeConflict, "%s was driven again at %s", id, l.RedrivenAt.Format("2006-01-02T15:04:05Z07:00"))
	}
	delivery, err := e.find(ctx, c.Tenant, abi.ObjectDelivery, l.DeliveryID)
	if err != nil {
		return Doc{}, err
	}
	payload := jsonText(append(make([]byte, 0, len(delivery.State)+128), `{"connector_id":`...), s.key.id)
	payload = append(append(append(payload, `,"delivery":`...), delivery.State...), '}')
	if _, ok := deliveryText(payload); !ok {
		return Doc{}, fmt.Errorf("the delivery %s is not as deliveries are kept", l.DeliveryID)
	}
	sequence, _, err := e.store.Sequence(ctx, c.Tenant, abi.ResourcePointer{Object: abi.ObjectDelivery, ID: l.DeliveryID})
	if err != nil {
		return Doc{}, e.failed("reading the delivery", err)
	}
	l.RedrivenAt, l.UpdatedAt = abi.At(e.now()), abi.At(e.now())
	s.tally.redriven.Add(1)
	doc, err := e.commit(c, "", l.WorkspaceID, idem, statusAccepted,
		record{kind: abi.EventDeliveryRedriven, object: abi.ObjectDeadLetter, id: id, seq: res.Sequence + 1, state: &l,
			intake: storage.IntakeOp{Kind: storage.IntakeTally, Connector: s.key.id, Tally: s.tally.text()}},
		record{kind: abi.EventDeliveryRedriven, object: abi.ObjectDelivery, id: l.DeliveryID, seq: sequence + 1, restricted: true, text: payload,
			intake: storage.IntakeOp{Kind: storage.IntakePend, Connector: s.key.id}})
	if err != nil {
		s.tally.redriven.Add(^uint64(0))
	}
	return doc, err
}
