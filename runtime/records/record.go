package records

import (
	"context"
	"errors"
	"time"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/journal"
	"github.com/wharf-dev/wharf/runtime/ledger"
	"github.com/wharf-dev/wharf/runtime/quotas"
	"github.com/wharf-dev/wharf/storage"
)

// Of returns the record of a Task that has started. An *abi.Failure says that it is not there,
// or which part of it no longer is.
func (r *Reader) Of(ctx context.Context, tenant storage.Tenant, about *abi.Task) (*journal.Record, error) {
	h, err := r.History(ctx, tenant, about)
	if err != nil {
		return nil, missingCause(err)
	}
	program, entries := h.Program, h.Entries
	if about.StartedAt.IsZero() && (program == nil || about.Status.Terminal()) { // a fork has the program of its source
		return nil, &abi.Failure{Code: abi.FailureReplayMissing, Message: "task " + about.ID + " never started: there is nothing to replay"}
	}
	if program == nil {
		return nil, ledger.Missing("event", "task.started of "+about.ID, errors.New("retention has removed it"))
	}
	given, err := r.Given(ctx, tenant, about, nil)
	if err != nil {
		return nil, err
	}
	persona, err := r.parts.PersonaAt(ctx, tenant, about.PersonaID, program.Persona)
	if err != nil {
		return nil, err
	}
	rec := &journal.Record{TaskID: about.ID, Program: *program, Input: journal.Text(given.Answer(persona.Text, program)),
		CreatedAt: about.CreatedAt, StartedAt: about.StartedAt, Entries: entries}
	if about.Fork != nil {
		rec.StartedAt = given.From.StartedAt
	}
	if about.Status.Terminal() {
		rec.EndedAt = endOf(about)
		rec.End = &journal.End{Status: about.Status, Failure: about.Failure, Calls: journal.Closed(entries), Stopped: Stopped(about)}
		rec.End.Gas, err = r.gasOf(ctx, tenant, about)
	}
	return rec, err
}

// gasOf returns what the run of a Task that has ended used, 0 where nothing tells.
func (r *Reader) gasOf(ctx context.Context, tenant storage.Tenant, about *abi.Task) (uint64, error) {
	if about.OutcomeID == "" {
		return 0, nil
	}
	res, err := r.parts.Ledger.Find(ctx, tenant, abi.ObjectOutcome, about.OutcomeID)
	if err != nil {
		return 0, err
	}
	var outcome struct {
		Metrics struct {
			Gas uint64 `json:"gas"`
		} `json:"metrics"`
	}
	err = ledger.Decode(res.State, &outcome)
	return outcome.Metrics.Gas, err
}

// missingCause names what a record refers to and is no longer there.
func missingCause(err error) error {
	if errors.Is(err, storage.ErrNotFound) || ledger.Lost(err) != nil {
		return ledger.Missing("blob", "of the record", err)
	}
	return err
}

func endOf(t *abi.Task) time.Time {
	if t.Status == abi.TaskCanceled {
		return t.CanceledAt
	}
	return t.CompletedAt
}

// Stopped reports whether a Task's plugin did not end by itself.
func Stopped(t *abi.Task) bool {
	if t.Status == abi.TaskCanceled {
		return true
	}
	return t.Failure != nil && FromOutside(t.Failure)
}

// FromOutside reports whether a failure is not the plugin's own: run again, it would not fail so.
func FromOutside(f *abi.Failure) bool {
	switch f.Code {
	case abi.FailureDeadline, abi.FailurePluginTimeout, abi.FailureAttempts, abi.FailureHost, abi.FailureDivergence, abi.FailureBudget, quotas.Code:
		return true
	}
	return false
}
