package proofs

import (
	"context"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/composition"
	"github.com/wharf-dev/wharf/runtime/journal"
	"github.com/wharf-dev/wharf/runtime/ledger"
	"github.com/wharf-dev/wharf/runtime/receipt"
	"github.com/wharf-dev/wharf/runtime/replay"
	"github.com/wharf-dev/wharf/storage"
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
	Composition    composition.State
}

// Take adds a call that is recorded.
func (f *Facts) Take(e *journal.Entry) error {
	if err := f.Tally.Add(e); err != nil {
		return err
	}
	if err := f.Composition.Take(e); err != nil {
		return err
	}
	made, err := replay.Artifacts(e)
	f.Artifacts = append(f.Artifacts, made...)
	return err
}

// TakeAll adds the calls of a record, as far as they were answered.
func (f *Facts) TakeAll(entries []journal.Entry) error {
	f.Composition.Begun(entries[journal.Closed(entries):]...)
	for i := range journal.Closed(entries) {
		if err := f.Take(&entries[i]); err != nil {
			return err
		}
	}
	return nil
}

// CompositionAtEnd tells the end of the composition that is open when the Task ends, as it is stated then. It may be
// asked of a nil one.
func (f *Facts) CompositionAtEnd(t *abi.Task, at time.Time) []ledger.Record {
	if f == nil || f.Replay != nil || t.Replay != nil {
		return nil
	}
	var shown abi.ToolsVisibility
	if f.Persona != nil {
		shown = f.Persona.ToolsVisibility
	}
	return f.Composition.Ends(t.ID, t.Status, at, shown)
}

// ReadFacts fills in what the log tells of a Task; input is what it was submitted with, nil to have it read.
// What is left after an error says that the record could not be read.
func (k *Keeper) ReadFacts(ctx context.Context, t storage.Tenant, about *abi.Task, input jsontext.Value, f *Facts) error {
	h, err := k.parts.Records.History(ctx, t, about)
	if err != nil {
		return err
	}
	if h.Program == nil {
		if h.LastStart != 0 && len(h.Entries) == 0 { // there was nothing to run
			f.Irreproducible = ""
		}
		return nil
	}
	given, err := k.parts.Records.Given(ctx, t, about, input)
	if err != nil {
		return err
	}
	f.Withheld = given.Withheld
	persona, err := k.parts.PersonaAt(ctx, t, about.PersonaID, h.Program.Persona)
	if err != nil {
		return err
	}
	f.Persona = &persona.Persona
	f.Tally = receipt.NewTally(h.Program, given.Answer(persona.Text, h.Program), about.ID)
	if err := f.TakeAll(h.Entries); err != nil {
		return err
	}
	f.Irreproducible = ""
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
