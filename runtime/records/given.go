package records

import (
	"bytes"
	"context"
	"fmt"

	json "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/journal"
	"github.com/wharf-dev/wharf/runtime/receipt"
	"github.com/wharf-dev/wharf/runtime/redact"
	"github.com/wharf-dev/wharf/storage"
)

// Given is what a Task was submitted with.
type Given struct {
	From     *abi.Task           // the Task that was submitted: of a fork, where it comes from in the end
	Input    jsontext.Value      // without what is for receipts only
	Withheld []receipt.Redaction // what that was
}

// Answer is the answer to abi.CallInput. persona is the text of the Task's Persona, and p what it
// runs.
func (g *Given) Answer(persona []byte, p *journal.Program) jsontext.Value {
	return journal.Given(g.From, g.Input, persona, p.Skills)
}

// Given returns what a Task was submitted with. whole is its input as it is shown, for a caller
// that has it in memory; nil has it read. A fork is given what its source was given: they share
// a record.
func (r *Reader) Given(ctx context.Context, tenant storage.Tenant, about *abi.Task, whole jsontext.Value) (Given, error) {
	if whole == nil {
		var err error
		if whole, err = r.input(ctx, tenant, about.ID); err != nil {
			return Given{}, err
		}
	}
	input, err := redact.ForPlugins(whole)
	if err != nil {
		return Given{}, err
	}
	for about.Fork != nil {
		if about, err = r.Task(ctx, tenant, about.Fork.SourceTaskID); err != nil {
			return Given{}, err
		}
	}
	return Given{From: about, Input: input, Withheld: withheld(whole)}, nil
}

// input reads a Task's input, as it is shown.
func (r *Reader) input(ctx context.Context, tenant storage.Tenant, id string) (jsontext.Value, error) {
	res, err := r.parts.Ledger.Find(ctx, tenant, abi.ObjectTask, id)
	if err != nil {
		return nil, err
	}
	in, err := r.parts.Desk.InputOf(ctx, tenant, res)
	return in.Value, err
}

// withheld says what of a Task's input is for receipts only: by its hash, anyone who has the
// content can prove that it was there.
func withheld(input jsontext.Value) (list []receipt.Redaction) {
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
