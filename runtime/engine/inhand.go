package engine

import (
	"context"

	"github.com/wharf-dev/wharf/runtime/inhand"
)

// runCopies is how often a Task's large input is held while it runs: as it was read, as it
// is told to the plugin, and what becomes of it when the plugin gives it back: a request,
// its decoded form, an event.
const runCopies = 5

// handFor returns what a run holds its large documents in: the share that the Task has
// waited for, or nothing yet. It is nil for a Task whose input is in memory: that is small.
func (e *Engine) handFor(t *task) *inhand.Hand {
	h := t.hand
	t.hand = nil
	if h != nil || t.input != nil || e.config.InHand == nil {
		return h
	}
	h = new(inhand.Hand)
	kind := inhand.Defers
	if t.trial > 0 {
		kind = inhand.Counts // it has the node to itself now, and not later
	}
	h.Init(e.config.InHand, t.tenant, runCopies, kind)
	return h
}

// intoHand returns a context whose reads are in the hand.
func intoHand(ctx context.Context, h *inhand.Hand) context.Context {
	if h == nil {
		return ctx
	}
	return inhand.Into(ctx, h)
}

// later runs a Task again when there is room for its large documents. Meanwhile it has no
// place among those that run, so that small ones need not wait for it.
func (e *Engine) later(t *task, h *inhand.Hand) {
	t.hand = h
	h.Later(func() {
		if e.draining.Load() {
			e.leaveRunning(t) // the next start runs it
			h.End()
			return
		}
		e.queue.PushAccepted(t.job())
	})
}
