package proofs

import (
	"bytes"
	"fmt"

	json "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

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
	if e.Call != abi.CallArtifactPut || e.Status != abi.CallOK {
		return nil
	}
	a, err := replay.Artifact(e)
	f.Artifacts = append(f.Artifacts, a)
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

// Withheld says what of a Task's input is for receipts only: by its hash, anyone who has the
// content can prove that it was there.
func Withheld(input jsontext.Value) (list []receipt.Redaction) {
	var m struct {
		Parts []jsontext.Value `json:"parts"`
	}
	if !bytes.Contains(input, []byte(abi.VisibilityReceiptOnly)) || json.Unmarshal(input, &m) != nil {
		return nil
	}
	for i, part := range m.Parts {
		var p struct {
			Visibility abi.Visibility `json:"visibility"`
		}
		canonical := part.Clone()
		if json.Unmarshal(part, &p) != nil || p.Visibility != abi.VisibilityReceiptOnly || canonical.Canonicalize() != nil {
			continue
		}
		list = append(list, receipt.Redaction{Field: fmt.Sprintf("/replay_input/materials/input/parts/%d", i),
			Reason: "for receipts only", ProofHash: journal.HashOf(canonical)})
	}
	return list
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
