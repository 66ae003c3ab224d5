package engine

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	json "github.com/go-json-experiment/json"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/lockrank"
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

// intake decides whose deliveries are normalized next. A Connector is worked on by
// one goroutine at a time, for some batches; then it goes to the end of its tenant's
// lane. Tenants are served in turn, and one has at most three quarters of the workers.
type intake struct {
	width int
	work  func(*source)
	bytes atomic.Int64 // of all inboxes
	polls pollTable

	mu      lockrank.Mutex[lockTable]
	lanes   map[storage.Tenant]*intakeLane
	turn    []*intakeLane // lanes with Connectors that wait, the next one first
	running int

	ctx  context.Context // ends when the node drains
	stop context.CancelFunc
	busy background // its workers
}

// intakeLane is one tenant's share.
type intakeLane struct {
	tenant  storage.Tenant
	waiting []*source
	running int
}

func (i *intake) init(width int, work func(*source)) {
	i.width, i.work = width, work
	i.lanes = map[storage.Tenant]*intakeLane{}
	i.ctx, i.stop = context.WithCancel(context.Background())
}

// push queues a Connector.
func (i *intake) push(s *source) {
	i.mu.Lock()
	defer i.mu.Unlock()
	l := i.lanes[s.key.tenant]
	if l == nil {
		l = &intakeLane{tenant: s.key.tenant}
		i.lanes[s.key.tenant] = l
	}
	if l.waiting = append(l.waiting, s); len(l.waiting) == 1 {
		i.turn = append(i.turn, l)
	}
	i.startWaiting()
}

// startWaiting starts workers while there is room. The caller holds i.mu.
func (i *intake) startWaiting() {
	for i.running < i.width && i.ctx.Err() == nil {
		s, l := i.next()
		if s == nil {
			return
		}
		i.running++
		l.running++
		i.busy.Go(func() {
			i.work(s)
			i.ended(l)
		})
	}
}

// next takes the first Connector of the first lane that has not its share already.
func (i *intake) next() (*source, *intakeLane) {
	share := max(1, i.width*3/4)
	for n, l := range i.turn {
		if l.running >= share {
			continue
		}
		i.turn = append(i.turn[:n], i.turn[n+1:]...)
		s := l.waiting[0]
		if l.waiting = l.waiting[1:]; len(l.waiting) > 0 {
			i.turn = append(i.turn, l)
		}
		return s, l
	}
	return nil, nil
}

func (i *intake) ended(l *intakeLane) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.running--
	l.running--
	if l.running == 0 && len(l.waiting) == 0 {
		delete(i.lanes, l.tenant)
	}
	i.startWaiting()
}

// startIntake brings the Connectors back, and goes on with what is pending.
func (e *Engine) startIntake(ctx context.Context) error {
	if err := e.loadSources(ctx); err != nil {
		return err
	}
	for _, s := range e.sources.all() {
		if s.about.Load().Status == abi.ConnectorFailed {
			s.retry.Trip(e.now())
		}
		e.normalizeSoon(s)
	}
	e.startPolls()
	return nil
}

// drainIntake stops normalizing. What is pending stays so until the next start. The
// counts that no settled delivery told of are written down.
func (e *Engine) drainIntake(ctx context.Context) error {
	e.intake.mu.Lock()
	e.intake.stop()
	e.intake.mu.Unlock()
	for _, busy := range []*background{&e.intake.busy, &e.intake.polls.busy} {
		if err := waitFor(ctx, busy.end()); err != nil {
			return fmt.Errorf("waiting for deliveries and polls that are worked on: %w", err)
		}
	}
	for _, s := range e.sources.all() {
		s.hand.Lock()
		if s.timer != nil {
			s.timer.Stop()
		}
		if about := s.about.Load(); !s.gone && s.tally.deduped.Load() > 0 {
			e.store.Append(deliveryFrame(s, about, e.now(), storage.Record{
				Kind: abi.EventConnectorDeliveryDeduped, Resource: abi.ResourcePointer{Object: abi.ObjectConnector, ID: about.ID}, Sequence: s.seq,
				Hint: true, Intake: storage.IntakeOp{Kind: storage.IntakeTally, Connector: about.ID, Tally: s.tally.text()},
			}))
			s.seq++
		}
		s.hand.Unlock()
	}
	return nil
}

// normalizeSoon makes a worker look at a Connector, unless one is about to or there is
// nothing to do.
func (e *Engine) normalizeSoon(s *source) {
	s.hand.Lock()
	start := !s.active && e.idle(s) == nil
	s.active = s.active || start
	s.hand.Unlock()
	if start {
		e.intake.push(s)
	}
}

// errIdle says that a Connector has nothing to normalize now.
var errIdle = errors.New("there is nothing to normalize")

// idle says why nothing of a Connector's is to be normalized now, nil when something
// is. The caller holds s.hand.
func (e *Engine) idle(s *source) error {
	status := s.about.Load().Status
	if s.gone || e.draining.Load() || len(s.inbox) == 0 && !s.behind || status != abi.ConnectorActive && status != abi.ConnectorFailed {
		return errIdle
	}
	if status == abi.ConnectorActive && s.retry.Open() { // somebody says that it is mended
		s.retry.Reset()
	}
	if wait := s.retry.RetryAt().Sub(e.now()); wait > 0 {
		if s.timer != nil {
			s.timer.Stop()
		}
		s.timer = time.AfterFunc(wait, e.background.owned(func() { e.normalizeSoon(s) }))
		return errIdle
	}
	return nil
}

// batchesATurn is how many batches of a Connector follow each other before others get
// their turn.
const batchesATurn = 8

// turn is a worker's turn with a Connector. While what one batch means gets onto the
// disk, the plugin normalizes the next.
type turn struct {
	engine  *Engine
	source  *source
	letting chan error // what becomes of the batch that is being let go; nil when none is
}

// normalizeSome is a worker's turn with a Connector: some batches.
func (e *Engine) normalizeSome(s *source) {
	t := &turn{engine: e, source: s}
	err := t.normalize(e.intake.ctx)
	if failed := t.settled(); err == nil {
		err = failed
	}
	s.hand.Lock()
	if err != nil && e.intake.ctx.Err() == nil {
		e.failedBatch(s, err)
	}
	again := e.idle(s) == nil
	s.active = again
	s.hand.Unlock()
	if again {
		e.intake.push(s)
	}
}

func (t *turn) normalize(ctx context.Context) error {
	e, s := t.engine, t.source
	for range batchesATurn {
		if err := t.normalizeBatch(ctx); err != nil {
			return err
		}
		s.hand.Lock()
		idle := e.idle(s) != nil
		s.hand.Unlock()
		if idle {
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
func (e *Engine) failedBatch(s *source, err error) {
	retryAt, tripped := s.retry.Failed(e.now())
	e.log.Warn("the deliveries of a connector cannot be normalized", "connector", s.key.id, "error", err, "retry_at", retryAt)
	if tripped {
		e.background.Go(func() { e.tellTripped(s, err) })
	}
}

func (e *Engine) tellTripped(s *source, cause error) {
	if err := e.setConnectorStatus(context.Background(), s, abi.ConnectorFailed, failureMessage(cause)); err != nil {
		e.log.Error("a connector's failure could not be recorded", "connector", s.key.id, "error", err)
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
	e, s := t.engine, t.source
	batch, err := t.take(ctx)
	if err != nil || len(batch) == 0 {
		return err
	}
	s.reach(batch)
	defer s.reach(nil)
	left, err := t.settleAll(ctx, batch)
	if len(left) > 0 {
		s.hand.Lock()
		s.inbox = append(left[:len(left):len(left)], s.inbox...)
		for _, a := range left {
			s.bytes += len(a.text)
			e.intake.bytes.Add(int64(len(a.text)))
		}
		s.hand.Unlock()
	}
	if err == nil && s.retry.Succeeded() && s.about.Load().Status == abi.ConnectorFailed {
		err = e.setConnectorStatus(ctx, s, abi.ConnectorActive, "")
	}
	return err
}

// take returns the next deliveries, which are durable: those that are remembered, else
// those that the log has.
func (t *turn) take(ctx context.Context) ([]arrival, error) {
	e, s := t.engine, t.source
	s.hand.Lock()
	batch := s.shift()
	behind, skipped := s.behind, s.skipped
	rewind := s.rewind && len(batch) == 0
	if rewind {
		s.read, s.rewind = 0, false
	}
	s.hand.Unlock()
	if rewind { // what is being settled would be read as pending
		if err := t.settled(); err != nil {
			return nil, err
		}
	}
	if len(batch) > 0 {
		for _, a := range batch {
			e.intake.bytes.Add(-int64(len(a.text)))
		}
		return e.durable(s, batch)
	}
	if !behind {
		return nil, nil
	}
	if skipped != nil {
		if _, err := skipped.Wait(ctx); err != nil {
			return nil, err
		}
	}
	return e.readPending(ctx, s, skipped)
}

// shift takes the first deliveries out of the inbox. The caller holds s.hand.
func (s *source) shift() []arrival {
	n, bytes := 0, 0
	for n < len(s.inbox) && n < maxBatch && (n == 0 || bytes+len(s.inbox[n].text) <= maxBatchBytes) {
		bytes += len(s.inbox[n].text)
		n++
	}
	batch := s.inbox[:n:n]
	s.inbox, s.bytes = s.inbox[n:], s.bytes-bytes
	if len(s.inbox) == 0 {
		s.inbox = nil
	}
	return batch
}

// durable waits until deliveries are on disk, and leaves out those that never got
// there: whoever sent them was told so.
func (e *Engine) durable(s *source, batch []arrival) ([]arrival, error) {
	kept := batch[:0]
	for _, a := range batch {
		if a.commit != nil {
			var err error
			if a.position, err = a.commit.Wait(context.Background()); err != nil {
				if failed := e.store.Failed(); failed != nil {
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
// remembered again; skipped is what was the last that is not.
func (e *Engine) readPending(ctx context.Context, s *source, skipped storage.Commit) ([]arrival, error) {
	events, more, err := e.store.Pending(ctx, s.key.tenant, s.key.id, s.read, maxBatch)
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
	s.hand.Lock()
	if s.skipped == skipped && !s.rewind {
		s.behind, s.skipped = false, nil
	}
	s.hand.Unlock()
	return batch, nil
}

// settleAll normalizes deliveries and does what they mean, and returns those that are
// still pending. Where a plugin fails at several, they are halved until the one is
// found that it fails at.
func (t *turn) settleAll(ctx context.Context, batch []arrival) (left []arrival, err error) {
	found, err := t.engine.normalize(ctx, t.source, batch)
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
func (e *Engine) normalize(ctx context.Context, s *source, batch []arrival) (*normalized, error) {
	about := s.about.Load()
	name, export, _ := strings.Cut(about.Plugin, "#")
	digest, err := e.modules.Resolve(ctx, name)
	if err != nil {
		return nil, err
	}
	module, err := e.modules.ModuleAt(ctx, digest)
	if err != nil {
		return nil, err
	}
	if !module.HasExport(export) {
		return nil, &abi.Failure{Code: abi.FailurePluginMissing, Message: fmt.Sprintf("plugin %q has no export %q", name, export)}
	}
	answer, err := deliveriesAnswer(about, batch)
	if err != nil {
		return nil, err
	}
	e.sources.counts.batches.observe(len(batch))
	h := newBatchHost(e, about, batch, answer)
	usage, err := module.Run(turns.For(ctx, uint64(s.key.tenant)), export, h, batchLimits(e.config.limitsFor(name), len(batch)))
	e.counts.gas.Add(usage.Gas)
	if err != nil {
		return nil, err
	}
	if err := h.check(batch); err != nil {
		return nil, err
	}
	return &normalized{results: h.results.Results, module: digest, gas: usage.Gas / uint64(len(batch))}, nil
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
