package intake

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"net/http"
	"slices"
	"time"

	json "github.com/go-json-experiment/json"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/connector"
	"github.com/wharf-dev/wharf/runtime/hostcall"
	"github.com/wharf-dev/wharf/runtime/ledger"
	"github.com/wharf-dev/wharf/runtime/provider"
	"github.com/wharf-dev/wharf/storage"
)

// maxDelivered is how many deliveries one call hands over at most.
const maxDelivered = 1000

// handover is a call that hands deliveries to a Connector, while it is made.
type handover struct {
	intake  *Intake
	inlet   *inlet
	claims  []func()
	records []ledger.Record
	answer  abi.CallDeliverAnswer
}

// HostCalls are the calls of plugins that the intake answers.
func (i *Intake) HostCalls() map[string]hostcall.Func {
	return map[string]hostcall.Func{abi.CallDeliver: hostcall.Of(i.deliver)}
}

// deliver takes what a poll has found as if its Connector had been sent it. The deliveries are
// told in the batch of the call's own record, so that a crash neither loses them nor takes them
// twice. When a writer that shares no claims takes one of them meanwhile, the batch leaves
// nothing, and the call is made again: it takes the others.
func (i *Intake) deliver(ctx context.Context, c *hostcall.Call, req *abi.CallDeliverRequest) (hostcall.Answer, error) {
	if n := len(req.Deliveries); n > maxDelivered {
		return hostcall.Answer{}, provider.Refuse(abi.CallTooLarge, "too_many_deliveries", fmt.Sprintf("%d deliveries; one call takes %d", n, maxDelivered))
	}
	h := &handover{intake: i, inlet: i.polledBy(c.Tenant, c.Task)}
	if h.inlet == nil {
		return hostcall.Answer{}, provider.Refuse(abi.CallNotFound, "no_connector", "this task is not a poll of a connector")
	}
	for at := range req.Deliveries {
		if err := checkPolled(at, &req.Deliveries[at]); err != nil {
			return hostcall.Answer{}, provider.Malformed(err)
		}
	}
	if err := h.take(ctx, req.Deliveries); err != nil {
		h.end(err)
		return hostcall.Answer{}, err
	}
	answer, err := json.Marshal(&h.answer)
	return hostcall.Answer{JSON: answer, Extra: h.records, Release: h.end}, err
}

// polledBy returns the Connector that a Task polls for; nil when it does not.
func (i *Intake) polledBy(tenant storage.Tenant, t *abi.Task) *inlet {
	if t.ConnectorID == "" || t.DeliveryID != "" {
		return nil
	}
	return i.inlets.get(ledger.Key{Tenant: tenant, ID: t.ConnectorID})
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
	about := h.inlet.about.Load()
	keys := make([]found, len(all))
	for i := range all {
		keys[i] = found{deliveryKey(about.ID, all[i].ID), i}
	}
	slices.SortStableFunc(keys, func(a, b found) int { return bytes.Compare(a.key.key[:], b.key.key[:]) })
	once := slices.CompactFunc(slices.Clone(keys), func(a, b found) bool { return a.key == b.key })
	h.answer.Deduped = len(keys) - len(once)
	i, now := h.intake, h.intake.parts.Now()
	fresh := once[:0]
	for _, k := range once {
		release, err := i.deliveries.Claim(ctx, ledger.ClaimKey{Tenant: h.inlet.key.Tenant, Key: k.key.whole()})
		if err != nil {
			return err
		}
		h.claims = append(h.claims, release)
		_, seen, err := i.parts.Store.Seen(ctx, h.inlet.key.Tenant, k.key.key, now.Add(-i.window(about)))
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
	if !h.inlet.polled.take(now, len(fresh), size) {
		return provider.Refuse(abi.CallUnavailable, "too_fast", fmt.Sprintf(
			"the polls of a connector hand over %d deliveries or %d bytes in a minute: the rest is for later polls", paceDeliveries, paceBytes))
	}
	slices.SortFunc(fresh, func(a, b found) int { return cmp.Compare(a.at, b.at) })
	for _, k := range fresh {
		h.add(about, &all[k.at], k.key.key, now)
	}
	return h.room()
}

// add adds the event that takes a delivery, which is new at that time.
func (h *handover) add(about *abi.Connector, d *abi.PolledDelivery, key storage.DeliveryKey, now time.Time) {
	i := h.intake
	in := &Incoming{Method: http.MethodPost, Header: polled{d.Header}, Body: d.Body}
	if d.Text != "" {
		in.Body = []byte(d.Text)
	}
	got := Received{ID: i.parts.IDs.New(abi.ObjectDelivery), DeliveryID: d.ID}
	h.records = append(h.records, ledger.Record{
		Kind: abi.EventConnectorDeliveryReceived, Object: abi.ObjectDelivery, ID: got.ID, Restricted: true,
		Text:   i.appendDelivery(make([]byte, 0, len(in.Body)+len(in.Body)/8+768), &got, about, i.parts.Now(), in),
		Intake: storage.IntakeOp{Kind: storage.IntakeReceive, Connector: about.ID, Delivery: key}, Unseen: now.Add(-i.window(about)),
	})
	h.answer.Received++
}

// room makes sure that the Connector's backlog takes the deliveries.
func (h *handover) room() error {
	n := int64(len(h.records))
	if h.intake.addPending(h.inlet, n) {
		return nil
	}
	h.intake.addPending(h.inlet, -n)
	h.records = nil
	return provider.Refuse(abi.CallUnavailable, "backlog", "too many deliveries are waiting to be handled")
}

// end is called when the call is recorded, and the deliveries with it, or when it
// failed.
func (h *handover) end(err error) {
	i, n := h.intake, int64(len(h.records))
	for _, release := range h.claims {
		release()
	}
	if err != nil {
		i.addPending(h.inlet, -n)
		return
	}
	h.inlet.tally.deduped.Add(uint64(h.answer.Deduped))
	if n > 0 {
		i.reread(h.inlet, 0)
	}
}
