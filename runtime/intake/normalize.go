package intake

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	json "github.com/go-json-experiment/json"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/backlog"
	"github.com/wharf-dev/wharf/runtime/sandbox"
	"github.com/wharf-dev/wharf/runtime/turns"
	"github.com/wharf-dev/wharf/storage"
)

const (
	// maxBatch is how many deliveries a plugin normalizes in one run, and maxBatchBytes
	// how large they are together, unless one alone is larger.
	maxBatch      = 512
	maxBatchBytes = 4 << 20
	// gasOfDelivery and timeOfDelivery are what a run may take for each delivery. The
	// plugin's own limits bound it besides.
	gasOfDelivery  = 2_000_000_000
	timeOfDelivery = time.Second
)

// normalizeSoon makes a worker look at a Connector, unless one is about to or there is
// nothing to do.
func (i *Intake) normalizeSoon(s *inlet) {
	s.order.Lock()
	effect, err := s.step(backlog.Input{Kind: backlog.Look, Ready: s.state.Waits() && i.ready(s)})
	s.order.Unlock()
	if err == nil && effect == backlog.Queue {
		i.workers.push(s)
	}
}

// ready reports whether deliveries of a Connector, of which some are pending, may be
// normalized now. Where only time is in the way, it is looked at again then. The caller
// holds s.hand, and no worker has a batch.
func (i *Intake) ready(s *inlet) bool {
	status := s.about.Load().Status
	if i.parts.Draining() || status != abi.ConnectorActive && status != abi.ConnectorFailed {
		return false
	}
	if status == abi.ConnectorActive && s.retry.Open() { // somebody says that it is mended
		s.retry.Reset()
	}
	if wait := s.retry.RetryAt().Sub(i.parts.Now()); wait > 0 {
		if s.timer != nil {
			s.timer.Stop()
		}
		s.timer = time.AfterFunc(wait, i.parts.Background.Owned(func() { i.normalizeSoon(s) }))
		return false
	}
	return true
}

// batchesATurn is how many batches of a Connector follow each other before others get
// their turn.
const batchesATurn = 8

// turn is a worker's turn with a Connector. While what one batch means gets onto the
// disk, the plugin normalizes the next.
type turn struct {
	intake  *Intake
	inlet   *inlet
	letting chan error // what becomes of the batch that is being let go; nil when none is
}

// normalizeSome is a worker's turn with a Connector: some batches.
func (i *Intake) normalizeSome(s *inlet) {
	t := &turn{intake: i, inlet: s}
	err := t.normalize(i.workers.ctx)
	if failed := t.settled(); err == nil {
		err = failed
	}
	s.order.Lock()
	if err != nil && i.workers.ctx.Err() == nil {
		i.failedBatch(s, err)
	}
	effect, err := s.step(backlog.Input{Kind: backlog.Rest, Ready: s.state.Pending() && i.ready(s)})
	s.order.Unlock()
	if err == nil && effect == backlog.Queue {
		i.workers.push(s)
	}
}

func (t *turn) normalize(ctx context.Context) error {
	i, s := t.intake, t.inlet
	for range batchesATurn {
		if err := i.parts.Room(ctx); err != nil {
			return err
		}
		if err := t.normalizeBatch(ctx); err != nil {
			return err
		}
		s.order.Lock()
		more := s.state.Pending() && i.ready(s)
		s.order.Unlock()
		if !more {
			break
		}
	}
	return nil
}

// settled waits until the batch before is let go, and says why it was not.
func (t *turn) settled() error {
	if t.letting == nil {
		return nil
	}
	err := <-t.letting
	t.letting = nil
	return err
}

// letGo lets a batch go once the one before is: Tasks are queued in their order. It
// does not wait for it; the worker does before its turn ends.
func (t *turn) letGo(st *settlement) error {
	if err := t.settled(); err != nil {
		return errors.Join(err, st.release())
	}
	letting := make(chan error, 1)
	t.letting = letting
	go func() { letting <- st.release() }()
	return nil
}

// failedBatch counts a failure that is not that of a delivery: its plugin is missing,
// say. The caller holds s.hand.
func (i *Intake) failedBatch(s *inlet, err error) {
	retryAt, tripped := s.retry.Failed(i.parts.Now())
	i.parts.Log.Warn("the deliveries of a connector cannot be normalized", "connector", s.key.ID, "error", err, "retry_at", retryAt)
	if tripped {
		i.parts.Background.Go(func() { i.tellTripped(s, err) })
	}
}

func (i *Intake) tellTripped(s *inlet, cause error) {
	if err := i.setConnectorStatus(context.Background(), s, abi.ConnectorFailed, failureMessage(cause)); err != nil {
		i.parts.Log.Error("a connector's failure could not be recorded", "connector", s.key.ID, "error", err)
	}
}

// failureMessage is what of an error a client may be told.
func failureMessage(err error) string {
	if f, ok := errors.AsType[*abi.Failure](err); ok {
		return f.Message
	}
	if own, ok := errors.AsType[*abi.Error](err); ok {
		return own.Message
	}
	return "the host could not do its part; see the node's log"
}

// normalizeBatch normalizes the next deliveries of a Connector. What is not settled
// when it fails is taken again.
func (t *turn) normalizeBatch(ctx context.Context) error {
	i, s := t.intake, t.inlet
	batch, err := t.take(ctx)
	if err != nil || len(batch) == 0 {
		return cmp.Or(err, i.giveBack(s, nil))
	}
	left, err := t.settleAll(ctx, batch)
	err = cmp.Or(err, i.giveBack(s, left))
	if err == nil && s.retry.Succeeded() && s.about.Load().Status == abi.ConnectorFailed {
		err = i.setConnectorStatus(ctx, s, abi.ConnectorActive, "")
	}
	return err
}

// giveBack ends the work on a batch. What is left of it comes first in the next one.
func (i *Intake) giveBack(s *inlet, left []arrival) error {
	s.order.Lock()
	defer s.order.Unlock()
	effect, err := s.step(backlog.Input{Kind: backlog.Done, N: len(left)})
	if err != nil || effect != backlog.Return {
		return err
	}
	s.inbox = append(left[:len(left):len(left)], s.inbox...)
	for _, a := range left {
		s.bytes += len(a.text)
		i.bytes.Add(int64(len(a.text)))
	}
	return nil
}

// take returns the next deliveries, which are durable: those that are remembered, else
// those that the log has.
func (t *turn) take(ctx context.Context) ([]arrival, error) {
	i, s := t.intake, t.inlet
	s.order.Lock()
	n, bytes := s.first()
	effect, err := s.step(backlog.Input{Kind: backlog.Take, N: n})
	var batch []arrival
	switch effect {
	case backlog.Shift:
		batch = s.shift(n, bytes)
	case backlog.Restart:
		s.read = 0
	}
	skipped, missed := s.skipped, s.state.Missed
	s.order.Unlock()
	switch effect {
	case backlog.Shift:
		i.bytes.Add(-int64(bytes))
		return i.durable(s, batch)
	case backlog.Restart: // what is being settled would be read as pending
		if err := t.settled(); err != nil {
			return nil, err
		}
	case backlog.Read:
	default:
		return nil, err
	}
	if skipped != nil {
		if err := i.written(ctx, skipped); err != nil {
			return nil, err
		}
	}
	batch, err = i.readPending(ctx, s, missed)
	if len(batch) > 0 {
		s.reach(batch[0].at)
	}
	return batch, err
}

// written waits until a delivery is on disk, and all that came before it. One that left nothing
// says that of itself alone.
func (i *Intake) written(ctx context.Context, commit storage.Commit) error {
	if _, err := commit.Wait(ctx); err != nil {
		return i.parts.Store.Sync(ctx)
	}
	return nil
}

// first returns how many deliveries of the inbox are the next batch, and how large they
// are. The caller holds s.hand.
func (s *inlet) first() (n, bytes int) {
	for n < len(s.inbox) && n < maxBatch && (n == 0 || bytes+len(s.inbox[n].text) <= maxBatchBytes) {
		bytes += len(s.inbox[n].text)
		n++
	}
	return n, bytes
}

// shift takes the first n deliveries, which have so many bytes, out of the inbox. The
// caller holds s.hand.
func (s *inlet) shift(n, bytes int) []arrival {
	batch := s.inbox[:n:n]
	s.inbox, s.bytes = s.inbox[n:], s.bytes-bytes
	if len(s.inbox) == 0 {
		s.inbox = nil
	}
	s.reached = batch[0].at
	return batch
}

// durable waits until deliveries are on disk, and leaves out those that never got
// there: whoever sent them was told so.
func (i *Intake) durable(s *inlet, batch []arrival) ([]arrival, error) {
	kept := batch[:0]
	for _, a := range batch {
		if a.commit != nil {
			var err error
			if a.position, err = a.commit.Wait(context.Background()); err != nil {
				if failed := i.parts.Store.Failed(); failed != nil {
					return nil, failed
				}
				continue
			}
			a.commit = nil
		}
		s.read = max(s.read, a.position)
		kept = append(kept, a)
	}
	return kept, nil
}

// readPending reads deliveries from the log. When there are no more, what comes in is
// remembered again, unless some were missed since missed was read.
func (i *Intake) readPending(ctx context.Context, s *inlet, missed uint64) ([]arrival, error) {
	events, more, err := i.parts.Store.Pending(ctx, s.key.Tenant, s.key.ID, s.read, maxBatch)
	if err != nil {
		return nil, err
	}
	batch, bytes := make([]arrival, 0, len(events)), 0
	for _, ev := range events {
		if bytes += len(ev.Record().Payload); bytes > maxBatchBytes && len(batch) > 0 {
			return batch, nil
		}
		s.read = ev.Position()
		batch = append(batch, arrival{id: ev.Record().Resource.ID, text: ev.Record().Payload, at: ev.Frame.Time, position: ev.Position(), sequence: ev.Record().Sequence})
	}
	if more {
		return batch, nil
	}
	s.order.Lock()
	effect, err := s.step(backlog.Input{Kind: backlog.ReadAll, Missed: missed})
	if effect == backlog.Caught {
		s.skipped = nil
	}
	s.order.Unlock()
	return batch, err
}

// settleAll normalizes deliveries and does what they mean, and returns those that are
// still pending. Where a plugin fails at several, they are halved until the one is
// found that it fails at.
func (t *turn) settleAll(ctx context.Context, batch []arrival) (left []arrival, err error) {
	found, err := t.intake.normalize(ctx, t.inlet, batch)
	failure, guilty := errors.AsType[*abi.Failure](err)
	switch {
	case err == nil:
		return t.settleBatch(ctx, batch, found)
	case !guilty || !ofGuest(failure):
		return batch, err
	case len(batch) == 1:
		found = &normalized{results: []abi.NormalizedDelivery{{ID: batch[0].id, Failure: failure}}}
		return t.settleBatch(ctx, batch, found)
	}
	half := len(batch) / 2
	if left, err = t.settleAll(ctx, batch[:half:half]); err != nil || len(left) > 0 {
		return append(left, batch[half:]...), err
	}
	return t.settleAll(ctx, batch[half:])
}

// ofGuest reports whether a failure says something about the deliveries: a plugin that
// is not there does not.
func ofGuest(f *abi.Failure) bool {
	switch f.Code {
	case abi.FailurePluginMissing, abi.FailurePluginInvalid, abi.FailureHost:
		return false
	}
	return true
}

// normalized is what a plugin made of a batch.
type normalized struct {
	results []abi.NormalizedDelivery
	module  string
	gas     uint64 // for each delivery, on average
}

// normalize runs the plugin once for a batch.
func (i *Intake) normalize(ctx context.Context, s *inlet, batch []arrival) (*normalized, error) {
	about := s.about.Load()
	name, export, _ := strings.Cut(about.Plugin, "#")
	plugin, err := i.parts.Plugins.Ready(ctx, name, export)
	if err != nil {
		return nil, err
	}
	answer, err := deliveriesAnswer(about, batch)
	if err != nil {
		return nil, err
	}
	i.inlets.counts.batches.observe(len(batch))
	h := newBatchHost(i.parts.Log, about, batch, answer)
	usage, err := plugin.Run(turns.For(ctx, uint64(s.key.Tenant)), h, batchLimits(plugin.Limits, len(batch)))
	if err != nil {
		return nil, err
	}
	if err := h.check(batch); err != nil {
		return nil, err
	}
	return &normalized{results: h.results.Results, module: plugin.Digest, gas: usage.Gas / uint64(len(batch))}, nil
}

// batchLimits are those of a run for n deliveries.
func batchLimits(l sandbox.Limits, n int) sandbox.Limits {
	l.Gas = min(l.Gas, uint64(n)*gasOfDelivery)
	l.WallTime = min(l.WallTime, time.Duration(n)*timeOfDelivery)
	return l
}

// deliveriesAnswer is the answer of abi.CallDeliveries. The deliveries are JSON
// already, so they are joined and not encoded again.
func deliveriesAnswer(about *abi.Connector, batch []arrival) ([]byte, error) {
	told := *about
	told.Webhook, told.Auth = nil, nil // no plugin has a use for them
	size := 1024
	for _, a := range batch {
		size += len(a.text)
	}
	connector, err := json.Marshal(&told, json.Deterministic(true))
	if err != nil {
		return nil, err
	}
	b := append(append(append(make([]byte, 0, size+len(connector)), `{"connector":`...), connector...), `,"deliveries":[`...)
	for i, a := range batch {
		if i > 0 {
			b = append(b, ',')
		}
		var ok bool
		if b, ok = appendDeliveryText(b, a.text); !ok {
			return nil, &abi.Failure{Code: abi.FailureDelivery, Message: fmt.Sprintf("event %s tells of no delivery that can be read", a.position)}
		}
	}
	return append(b, ']', '}'), nil
}
