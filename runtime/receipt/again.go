package receipt

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/journal"
)

// CheckRecord reports how a Task's receipt differs from what the Task's record
// says: it makes the receipt again, taking from it only what no record holds.
func CheckRecord(r *Receipt, record *journal.Record) error {
	tally := NewTally(&record.Program, record.Input, r.Identifiers.TaskID)
	if record.Program.Module == "" {
		tally.program = nil
	}
	for i := range record.Entries {
		if e := &record.Entries[i]; !e.Open {
			if err := tally.Add(e); err != nil {
				return fmt.Errorf("making the receipt again: %w", err)
			}
		}
	}
	facts := r.facts()
	if record.End != nil {
		facts.Gas = record.End.Gas
	}
	again, err := Build(facts, tally)
	if err != nil {
		return fmt.Errorf("making the receipt again: %w", err)
	}
	again.Chain.PreviousReceiptHash, again.Issuer = r.Chain.PreviousReceiptHash, r.Issuer
	got, want := r.AppendHashed(nil), again.AppendHashed(nil)
	if bytes.Equal(got, want) {
		return nil
	}
	if len(got)+len(want) > maxPretty {
		return fmt.Errorf("the record gives another receipt:\n%s", firstDifference(got, want))
	}
	return fmt.Errorf("the record gives another receipt:\n%s", journal.Diff(journal.Pretty(got), journal.Pretty(want)))
}

// maxPretty bounds the receipts of which all differences are shown, line by line: that takes
// several times their bytes.
const maxPretty = 256 << 10

// firstDifference shows where two receipts begin to differ.
func firstDifference(got, want []byte) string {
	at := 0
	for at < len(got) && at < len(want) && got[at] == want[at] {
		at++
	}
	near := func(b []byte) string {
		return strings.ToValidUTF8(string(b[min(len(b), max(0, at-80)):min(len(b), at+80)]), "")
	}
	return fmt.Sprintf("-%s\n+%s", near(got), near(want))
}

// facts are those that the receipt was built from.
func (r *Receipt) facts() *Facts {
	id, l := &r.Identifiers, &r.Lifecycle
	f := &Facts{ReceiptID: r.ReceiptID, IssuerID: r.Issuer.ID, IssuerName: r.Issuer.Name, IssuerVersion: r.Issuer.Version,
		TenantID: id.TenantID, PersonaRef: id.PersonaRef, WorkspaceID: id.WorkspaceRef, SessionID: id.SessionID,
		TaskID: id.TaskID, BranchID: id.BranchID,
		CreatedAt: l.CreatedAt, StartedAt: l.StartedAt, CompletedAt: l.CompletedAt, IssuedAt: r.IssuedAt, Status: r.status(),
		StartTier: r.Trust.StartTier, EndTier: r.Trust.EndTier, PolicyRef: r.Trust.PolicyRef, Limit: r.AutonomyBudget.Limit,
		Artifacts: r.FinalArtifacts, Redactions: r.Redactions, NodeVersion: r.Metadata.NodeVersion,
		Irreproducible: r.ReplayInput.UnavailableReason}
	if l.Failure != nil {
		f.Failure = &abi.Failure{Code: l.Failure.Code, Message: l.Failure.Message}
	}
	if r.Subject.Object == subjectReplay {
		f.Replay = &Replay{ID: r.Subject.ID, SourceTaskID: r.Metadata.SourceTaskID, Mode: r.Metadata.ReplayMode, Deltas: r.Deltas}
	}
	return f
}

// status is the Task's state that the final state stands for; "" for none.
func (r *Receipt) status() abi.TaskStatus {
	for status, final := range finalStates {
		if final == r.Lifecycle.FinalState {
			return status
		}
	}
	return ""
}
