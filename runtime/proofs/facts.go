package proofs

import (
	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/journal"
	"github.com/wharf-dev/wharf/runtime/receipt"
	"github.com/wharf-dev/wharf/runtime/replay"
)

// Facts is what the receipt of a Task is made from besides the Task itself.
type Facts struct {
	Persona        *abi.Persona // as the Task began with it
	Tally          *receipt.Tally
	Artifacts      []receipt.ArtifactRef
	Withheld       []receipt.Redaction
	Gas            uint64    // as journal.End has it
	Irreproducible string    // why the receipt cannot be made again; "" when it can
	Replay         *Replayed // set for a replay
}

// Take adds a call that is recorded.
func (f *Facts) Take(e *journal.Entry) error {
	if err := f.Tally.Add(e); err != nil {
		return err
	}
	made, err := replay.Artifacts(e)
	f.Artifacts = append(f.Artifacts, made...)
	return err
}

// TakeAll adds the calls of a record, as far as they were answered.
func (f *Facts) TakeAll(entries []journal.Entry) error {
	for i := range journal.Closed(entries) {
		if err := f.Take(&entries[i]); err != nil {
			return err
		}
	}
	return nil
}

// limit is the Persona's Budget as a receipt states it; nil when it bounds nothing that
// receipts count.
func (f *Facts) limit() *receipt.Budget {
	b := f.Persona.Budget
	if b == nil {
		return nil
	}
	limit := &receipt.Budget{USD: unlessZero(b.USD), InputTokens: unlessZero(b.InputTokens), OutputTokens: unlessZero(b.OutputTokens),
		ToolCalls: unlessZero(b.ToolCalls), WallTimeMS: unlessZero(b.WallTimeMS)}
	if *limit == (receipt.Budget{}) {
		return nil
	}
	return limit
}

func unlessZero[T comparable](v T) *T {
	var zero T
	if v == zero {
		return nil
	}
	return &v
}
