package engine

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"net/http"
	"slices"

	json "github.com/go-json-experiment/json"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/connector"
	"github.com/wharf-dev/wharf/runtime/provider"
	"github.com/wharf-dev/wharf/storage"
)

// maxDelivered is how many deliveries one call hands over at most.
const maxDelivered = 1000

// handover is what a poll hands to its Connector.
type handover struct {
	run     *run
	source  *source
	claims  []func()
	records []record
	answer  abi.CallDeliverAnswer
}

// callNormalized refuses: a Task has no deliveries.
func (r *run) callNormalized(context.Context, *liveCall) ([]byte, error) {
	return nil, provider.Refuse(abi.CallDenied, "in_a_task", "deliveries are normalized outside of tasks")
}

// callDeliver takes what a poll has found as if its Connector had been sent it. The
// deliveries are told in the batch of the call's own record: a crash neither loses
// them nor takes them twice.
func (r *run) callDeliver(ctx context.Context, c *liveCall) ([]byte, error) {
	req, err := ask[abi.CallDeliverRequest](c)
	if err != nil {
		return nil, err
	}
	if n := len(req.Deliveries); n > maxDelivered {
		return nil, provider.Refuse(abi.CallTooLarge, "too_many_deliveries", fmt.Sprintf("%d deliveries; one call takes %d", n, maxDelivered))
	}
	h := &handover{run: r, source: r.polls()}
	if h.source == nil {
		return nil, provider.Refuse(abi.CallNotFound, "no_connector", "this task is not a poll of a connector")
	}
	for i := range req.Deliveries {
		if err := checkPolled(i, &req.Deliveries[i]); err != nil {
			return nil, provider.Malformed(err)
		}
	}
	if err := h.take(ctx, req.Deliveries); err != nil {
		h.end(err)
		return nil, err
	}
	c.extra, c.release = h.records, h.end
	return json.Marshal(&h.answer)
}

// polls returns the Connector that a Task polls for; nil when it does not.
func (r *run) polls() *source {
	t := &r.task.about
	if t.ConnectorID == "" || t.DeliveryID != "" {
		return nil
	}
	return r.engine.sources.get(owner{r.task.tenant, t.ConnectorID})
}

func checkPolled(i int, d *abi.PolledDelivery) error {
	at := fmt.Sprintf("deliveries[%d].", i)
	switch {
	case d.ID == "" || len(d.ID) > connector.MaxDeliveryID:
		return abi.InvalidParam(at+"id", "a delivery has an id of 1 to %d bytes", connector.MaxDeliveryID)
	case d.Text != "" && d.Body != nil:
		return abi.InvalidParam(at+"body", "a delivery has a text or a body")
	}
	return nil
}

// take claims the deliveries and keeps those that are new. Claims are taken in one
// order, so that two polls never wait for each other.
func (h *handover) take(ctx context.Context, all []abi.PolledDelivery) error {
	type found struct {
		key keptKey
		at  int
	}
	about := h.source.about.Load()
	keys := make([]found, len(all))
	for i := range all {
		keys[i] = found{deliveryKey(about.ID, all[i].ID), i}
	}
	slices.SortStableFunc(keys, func(a, b found) int { return bytes.Compare(a.key.key[:], b.key.key[:]) })
	once := slices.CompactFunc(slices.Clone(keys), func(a, b found) bool { return a.key == b.key })
	h.answer.Deduped = len(keys) - len(once)
	e, now := h.run.engine, h.run.engine.now()
	fresh := once[:0]
	for _, k := range once {
		release, err := e.deliveries.claim(ctx, retryKey{h.source.key.tenant, k.key.whole()})
		if err != nil {
			return err
		}
		h.claims = append(h.claims, release)
		_, seen, err := e.store.Seen(ctx, h.source.key.tenant, k.key.key, now.Add(-e.window(about)))
		if err != nil {
			return err
		}
		if seen {
			h.answer.Deduped++
			continue
		}
		fresh = append(fresh, k)
	}
	size := int64(0)
	for _, k := range fresh {
		size += int64(len(all[k.at].Text) + len(all[k.at].Body))
	}
	if !h.source.polled.take(now, len(fresh), size) {
		return provider.Refuse(abi.CallUnavailable, "too_fast", fmt.Sprintf(
			"the polls of a connector hand over %d deliveries or %d bytes in a minute: the rest is for later polls", paceDeliveries, paceBytes))
	}
	slices.SortFunc(fresh, func(a, b found) int { return cmp.Compare(a.at, b.at) })
	for _, k := range fresh {
		h.add(about, &all[k.at], k.key.key)
	}
	return h.room()
}

// add adds the event that takes a delivery.
func (h *handover) add(about *abi.Connector, d *abi.PolledDelivery, key storage.DeliveryKey) {
	e := h.run.engine
	in := &Incoming{Method: http.MethodPost, Header: polled{d.Header}, Body: d.Body}
	if d.Text != "" {
		in.Body = []byte(d.Text)
	}
	got := Received{ID: e.ids.New(abi.ObjectDelivery), DeliveryID: d.ID}
	h.records = append(h.records, record{
		kind: abi.EventConnectorDeliveryReceived, object: abi.ObjectDelivery, id: got.ID, restricted: true,
		text:   e.appendDelivery(make([]byte, 0, len(in.Body)+len(in.Body)/8+768), &got, about, e.now(), in),
		intake: storage.IntakeOp{Kind: storage.IntakeReceive, Connector: about.ID, Delivery: key},
	})
	h.answer.Received++
}

// room makes sure that the Connector's backlog takes the deliveries.
func (h *handover) room() error {
	n := int64(len(h.records))
	if h.run.engine.addPending(h.source, n) {
		return nil
	}
	h.run.engine.addPending(h.source, -n)
	h.records = nil
	return provider.Refuse(abi.CallUnavailable, "backlog", "too many deliveries are waiting to be handled")
}

// end is called when the call is recorded, and the deliveries with it, or when it
// failed.
func (h *handover) end(err error) {
	e, n := h.run.engine, int64(len(h.records))
	for _, release := range h.claims {
		release()
	}
	if err != nil {
		e.addPending(h.source, -n)
		return
	}
	h.source.tally.deduped.Add(uint64(h.answer.Deduped))
	if n > 0 {
		e.reread(h.source, 0)
	}
}
