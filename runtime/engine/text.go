package engine

import (
	"context"
	"time"

	json "github.com/go-json-experiment/json"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/deltas"
	"github.com/wharf-dev/wharf/runtime/journal"
	"github.com/wharf-dev/wharf/runtime/provider"
)

// told performs a call that leaves the node, and tells watchers the text that comes.
func (r *run) told(ctx context.Context, c *liveCall, plan provider.Plan) ([]byte, error) {
	began := r.engine.now()
	answer, err := plan.Do(ctx, func(says string) {
		if !c.streamed {
			c.streamed = true
			r.textBegins(deltas.TextOf(r.task.id, c.entry.Index, r.ground.At()))
		}
		r.tellText(func(now time.Time) (deltas.Piece, bool) { return r.text.Add(now, says) })
	})
	c.use.Took(r.engine.now().Sub(began))
	if c.streamed {
		r.tellText(r.text.End)
	}
	return answer, err
}

// textBegins begins a text that answers a call. What was recorded before is handed over, so that no
// piece of the text overtakes it; when that fails, so does the call's own record.
func (r *run) textBegins(text deltas.Text) {
	_ = r.handOver()
	r.task.mu.Lock()
	defer r.task.mu.Unlock()
	r.text.Begin(text)
}

// writes takes text that the plugin writes by itself. What a run repeats was told before.
func (r *run) writes(says string) error {
	told := !r.cursor.Done()
	if !told {
		if err := r.handOver(); err != nil {
			return err
		}
	}
	at := r.ground.At()
	r.tellText(func(now time.Time) (deltas.Piece, bool) {
		return r.text.Writes(func() deltas.Text { return deltas.TextOf(r.task.id, r.index, at) }, now, says, told)
	})
	return nil
}

// textEnds ends what the plugin writes by itself when it appends a Message, and returns the id of
// that: the one that its text was told under, or else fresh.
func (r *run) textEnds(m *abi.MessageInput, fresh string) string {
	r.tellText(r.text.End)
	r.task.mu.Lock()
	defer r.task.mu.Unlock()
	if id := r.text.MessageID(m); id != "" {
		return id
	}
	return fresh
}

// noteText takes over what a call that was answered means for the text that is told. before is the
// time that the record had reached when the call was made.
func (r *run) noteText(e *journal.Entry, before time.Time, streamed func() bool) error {
	switch e.Call {
	case abi.CallLLMComplete:
		text := deltas.TextOf(r.task.id, e.Index, before)
		r.task.mu.Lock()
		defer r.task.mu.Unlock()
		r.text.Answered(streamed, e.Answer, text.MessageID)
	case abi.CallMessageAppend:
		var a abi.CallMessageAppendAnswer
		if err := json.Unmarshal(e.Answer, &a); err != nil {
			return err
		}
		r.task.mu.Lock()
		defer r.task.mu.Unlock()
		r.text.Appended(a.MessageID)
	}
	return nil
}

// tellText tells what there is to be told now, and sees to it that the rest is told in time.
func (r *run) tellText(next func(now time.Time) (deltas.Piece, bool)) {
	e, t := r.engine, r.task
	t.mu.Lock()
	defer t.mu.Unlock()
	now := e.now()
	if piece, ok := next(now); ok {
		r.tellHint(abi.EventMessageDelta, &abi.MessageDelta{Text: piece.Says, MessageID: piece.MessageID, Offset: piece.Offset,
			Index: piece.Index, Attempt: t.state.Attempt}, false)
	}
	due, ok := r.text.Due()
	if !ok || r.textTimer {
		return
	}
	r.textTimer = true
	time.AfterFunc(min(due.Sub(now), time.Second), e.background.Owned(func() {
		t.mu.Lock()
		r.textTimer = false
		t.mu.Unlock()
		r.tellText(r.text.Poll)
	}))
}
