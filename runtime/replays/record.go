package replays

import (
	"context"
	"errors"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/journal"
	"github.com/wharf-dev/wharf/runtime/ledger"
	"github.com/wharf-dev/wharf/runtime/personas"
	"github.com/wharf-dev/wharf/runtime/quotas"
	"github.com/wharf-dev/wharf/runtime/receipt"
	"github.com/wharf-dev/wharf/storage"
)

// Runs returns what the log has of Tasks and of how they ran.
type Runs interface {
	// Stored returns a Task as the log has it, without its input.
	Stored(ctx context.Context, t storage.Tenant, id string) (*abi.Task, error)
	// History returns the program that a Task runs, nil where the log has none, and the calls
	// of its record, with those that a fork shares with its source.
	History(ctx context.Context, t storage.Tenant, about *abi.Task) (*journal.Program, []journal.Entry, error)
	// Given returns what the plugin of a Task learns that it was submitted with.
	Given(ctx context.Context, t storage.Tenant, about *abi.Task) (Given, error)
	// PersonaAt returns a Persona as it was when a program was fixed, by the hash that this names.
	PersonaAt(ctx context.Context, t storage.Tenant, id, hash string) (*personas.Persona, error)
}

// Given is what a Task was submitted with.
type Given struct {
	From     *abi.Task           // the Task that was submitted: of a fork, where it comes from in the end
	Input    jsontext.Value      // without what is for receipts only
	Withheld []receipt.Redaction // what that was
}

// Answer is the answer to abi.CallInput. persona is the text of the Task's Persona.
func (g *Given) Answer(persona []byte) jsontext.Value {
	return journal.Given(g.From, g.Input, persona)
}

// Records puts the records of Tasks together from what the log has of their runs. It is safe
// for concurrent use.
type Records struct {
	Runs
	ledger *ledger.Ledger
}

// NewRecords returns the records of what ran.
func NewRecords(l *ledger.Ledger, runs Runs) *Records { return &Records{Runs: runs, ledger: l} }

// Of returns the record of a Task that has started. An *abi.Failure says that it is not there,
// or which part of it no longer is.
func (r *Records) Of(ctx context.Context, tenant storage.Tenant, about *abi.Task) (*journal.Record, error) {
	program, entries, err := r.History(ctx, tenant, about)
	if err != nil {
		return nil, missingCause(err)
	}
	if about.StartedAt.IsZero() && (program == nil || about.Status.Terminal()) { // a fork has the program of its source
		return nil, &abi.Failure{Code: abi.FailureReplayMissing, Message: "task " + about.ID + " never started: there is nothing to replay"}
	}
	if program == nil {
		return nil, ledger.Missing("event", "task.started of "+about.ID, errors.New("retention has removed it"))
	}
	given, err := r.Given(ctx, tenant, about)
	if err != nil {
		return nil, err
	}
	persona, err := r.PersonaAt(ctx, tenant, about.PersonaID, program.Persona)
	if err != nil {
		return nil, err
	}
	rec := &journal.Record{TaskID: about.ID, Program: *program, Input: journal.Text(given.Answer(persona.Text)),
		CreatedAt: about.CreatedAt, StartedAt: about.StartedAt, Entries: entries}
	if about.Fork != nil {
		rec.StartedAt = given.From.StartedAt
	}
	if about.Status.Terminal() {
		rec.EndedAt = endOf(about)
		rec.End = &journal.End{Status: about.Status, Failure: about.Failure, Calls: journal.Closed(entries), Stopped: stoppedFromOutside(about)}
		rec.End.Gas, err = r.gasOf(ctx, tenant, about)
	}
	return rec, err
}

// gasOf returns what the run of a Task that has ended used, 0 where nothing tells.
func (r *Records) gasOf(ctx context.Context, tenant storage.Tenant, about *abi.Task) (uint64, error) {
	if about.OutcomeID == "" {
		return 0, nil
	}
	res, err := r.ledger.Find(ctx, tenant, abi.ObjectOutcome, about.OutcomeID)
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

// stoppedFromOutside reports whether a Task's plugin did not end by itself.
func stoppedFromOutside(t *abi.Task) bool {
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
