package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/composition"
	"github.com/wharf-dev/wharf/runtime/disk"
	"github.com/wharf-dev/wharf/runtime/journal"
	"github.com/wharf-dev/wharf/runtime/ledger"
	"github.com/wharf-dev/wharf/runtime/tooluse"
	"github.com/wharf-dev/wharf/storage"
)

// errEndedMeanwhile ends a run whose Task was ended from outside.
var errEndedMeanwhile = errors.New("the task has ended meanwhile")

// close adds the answer of a call to the record, and writes what has to be on disk by now.
// What the guest is told never gets ahead of the log: whatever depends on an answer is
// handed over after it, and so is durable only if the answer is.
func (r *run) close(ctx context.Context, c *liveCall, phase journal.Phase, answer []byte, failed error) (abi.CallStatus, []byte, error) {
	if cause := stopped(ctx); failed != nil && cause != nil {
		return 0, nil, cause // it may have failed of that: the next start makes the call
	}
	status, answer, err := r.answer(answer, failed)
	if err != nil {
		return 0, nil, err
	}
	e := &c.entry
	e.At, e.Status, e.Answer = journal.Moment(r.engine.now()), status, answer
	if status != abi.CallOK {
		c.states, c.extra = nil, nil
	}
	if err := r.tell(ctx, c, phase); err != nil {
		return 0, nil, err
	}
	before := r.ground.At()
	r.ground.Reach(e.At)
	if err := r.remember(e, before, func() bool { return c.streamed }); err != nil {
		return 0, nil, fmt.Errorf("taking over the answer of %s: %w", e.Call, err)
	}
	switch {
	case (c.def.Durable || c.durable) && status == abi.CallOK:
		err = r.flush(true)
	case r.engine.performers[e.Call] != nil || r.holdsMuch():
		err = r.flush(false)
	}
	return status, answer, err
}

// holdsMuch reports whether so much is pending that it is handed over: whoever ends the Task takes it.
func (r *run) holdsMuch() bool {
	r.task.mu.Lock()
	defer r.task.mu.Unlock()
	return r.pendingBytes > maxPending
}

// intend puts the intent of a write on disk.
func (r *run) intend(ctx context.Context, c *liveCall) error {
	c.entry.At = journal.Moment(r.engine.now())
	if err := r.tell(ctx, c, journal.Intent); err != nil {
		return err
	}
	if err := r.handOver(); err != nil {
		return err
	}
	c.use.Told(r.last)
	return r.waitDurable()
}

// tell adds the event of a call to what is pending.
func (r *run) tell(ctx context.Context, c *liveCall, phase journal.Phase) error {
	refs, err := c.entry.Keep(ctx, disk.Patient{Blobs: r.engine.store.Blobs()}, phase)
	if err != nil {
		return err
	}
	rec := ledger.Record{Kind: journal.Kind(c.entry.Call, phase, c.entry.Status), Object: abi.ObjectTask, ID: r.task.id, Restricted: true}
	if c.states != nil {
		rec = *c.states
		rec.Restricted = true
	}
	rec.Text = c.entry.AppendPayload(make([]byte, 0, 96+len(c.entry.Request)+len(c.entry.Answer)), phase, refs)
	if phase == journal.Intent {
		rec.Text, err = c.use.AppendBegun(rec.Text)
	} else {
		rec.Text, err = c.use.AppendEnded(rec.Text, &tooluse.End{At: c.entry.At, Status: c.entry.Status, Answer: c.entry.Answer})
	}
	if err != nil {
		return err
	}
	told := append(slices.Clip(c.extra), r.composition().Tell(&composition.Call{Task: r.task.id, Use: c.use, Entry: &c.entry, Phase: phase, Begun: c.intent != nil})...)
	// What cannot be written fails here, before the receipt counts it.
	for i := range told {
		if err := told[i].Encode(); err != nil {
			return err
		}
	}
	if err := rec.Encode(); err != nil {
		return err
	}
	r.task.mu.Lock()
	defer r.task.mu.Unlock()
	r.pending = append(r.pending, r.engine.WithHooks(r.task.tenant, &r.task.about, append(told, rec)...)...)
	for i := range told {
		r.pendingBytes += told[i].Size()
	}
	r.pendingBytes += rec.Size()
	r.task.account.Use(&c.entry, phase)
	if r.using = nil; phase == journal.Intent {
		r.using = c
		r.facts.Composition.Begun(c.entry)
		return nil
	}
	return r.take(&c.entry)
}

// flush hands over what is pending, and waits for the disk if it is to.
func (r *run) flush(wait bool) error {
	if err := r.handOver(); err != nil || !wait {
		return err
	}
	return r.waitDurable()
}

// handOver gives what is pending to the store.
func (r *run) handOver() error {
	e, t := r.engine, r.task
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.state.Status.Terminal() {
		return errEndedMeanwhile
	}
	if len(r.pending) == 0 {
		return nil
	}
	records := t.number(r.pending)
	encoded, err := ledger.Encode(records...)
	if err != nil {
		return err
	}
	r.takePending()
	b := &storage.Batch{Frame: taskFrame(t.tenant, &t.about, t.about.PersonaID, e.now(), encoded)}
	b.Expect = ledger.ExpectedDeliveries(records)
	t.seq += sequenced(records)
	hand := func() error {
		return e.book.Count(&t.account, b, "", false, func() { r.last = &handed{e.ledger.Append(b), len(records)} })
	}
	if slices.ContainsFunc(records, func(rec ledger.Record) bool { return rec.Transcript.Kind != storage.TranscriptNone }) {
		return t.session.While(nil, hand)
	}
	return hand()
}

// waitDurable waits until everything handed over is durable: batches become so in the
// order in which they were handed over, so the last one says it of all.
func (r *run) waitDurable() error {
	if r.last == nil {
		return nil
	}
	last := r.last
	r.last = nil
	// Not the run's context: what was handed over may become durable all the same.
	if _, err := last.Wait(context.Background()); err != nil {
		return fmt.Errorf("writing to the log: %w", err)
	}
	return nil
}
