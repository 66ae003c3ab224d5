package engine

import (
	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/journal"
	"github.com/wharf-dev/wharf/runtime/ledger"
	"github.com/wharf-dev/wharf/runtime/provider"
	"github.com/wharf-dev/wharf/storage"
)

// hint takes telemetry. It is checked and counted always, so that a re-run is where
// the first run was, and told only by a run that is live. Beyond maxHints it is dropped,
// and so is one that is too deep or too long: it is not refused, for a record of before may hold a
// run that was answered so.
func (r *run) hint(call string, request []byte) error {
	kind, payload, err := journal.ReadHint(call, request)
	if err != nil {
		return provider.Malformed(err)
	}
	if r.hints++; r.hints <= maxHints && payload != nil && abi.TooDeep(request, abi.MaxDepth) < 0 {
		r.tellHint(kind, payload)
	}
	return nil
}

// delta tells watchers a piece of text that a model gives.
func (r *run) delta(text string) {
	if r.deltas++; r.deltas <= maxHints {
		r.tellHint(abi.EventMessageDelta, &abi.CallMessageDeltaRequest{Text: text})
	}
}

// tellHint appends telemetry. It is not waited for. Nothing is told by a run that repeats what was told before.
func (r *run) tellHint(kind abi.EventKind, payload any) {
	if !r.cursor.Done() {
		return
	}
	e, t := r.engine, r.task
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.state.Status.Terminal() {
		return
	}
	records, err := ledger.Encode(ledger.Record{Kind: kind, Object: abi.ObjectTask, ID: t.id, Sequence: t.seq, Hint: true, Payload: payload})
	if err != nil {
		e.log.Warn("a hint could not be encoded", "task", t.id, "kind", kind, "error", err)
		return
	}
	e.ledger.Append(&storage.Batch{Frame: taskFrame(t.tenant, &t.about, t.about.PersonaID, e.now(), records)})
	t.seq++
}
