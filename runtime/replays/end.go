package replays

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"

	json "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/ledger"
	"github.com/wharf-dev/wharf/runtime/lifecycle"
	"github.com/wharf-dev/wharf/runtime/proofs"
	"github.com/wharf-dev/wharf/runtime/replay"
	"github.com/wharf-dev/wharf/runtime/sessions"
	"github.com/wharf-dev/wharf/storage"
)

// end records how a replay ended.
func (p *underWay) end(result *replay.Result, failed error) {
	failure := p.failure(result, failed)
	kind := abi.EventReplayCompleted
	if failure != nil {
		kind = abi.EventReplayFailed
	}
	p.tell(kind, p.conclusion(result, failure))
	ending := &Ending{Kind: endKind(result, failure), Records: p.pending, Outcome: func(o *abi.Outcome) { complete(o, result, failure) }}
	defer p.prepareReceipt(ending, result)()
	if err := p.made(ending, result); err != nil {
		p.keeper.parts.Log.Error("what a replay made could not be kept", "task", p.about.ID, "error", err)
	}
	p.task.End(ending)
}

// conclusion is what the event at the end of a replay tells.
func (p *underWay) conclusion(result *replay.Result, failure *abi.Failure) *abi.ReplayEnded {
	about := p.about.Replay
	told := &abi.ReplayEnded{Mode: about.Mode, SourceTaskID: about.SourceTaskID, ReplayID: about.ReplayID}
	if result != nil {
		calls := len(result.Entries)
		told.Calls = &calls
	}
	if failure != nil { // without its details
		told.Failure = &abi.Failure{Code: failure.Code, Message: failure.Message}
	}
	return told
}

// prepareReceipt adds what the receipt of a replay is made from, if there is to be one.
// The receipt is locked until the returned function is called.
func (p *underWay) prepareReceipt(ending *Ending, result *replay.Result) (unlock func()) {
	k, about := p.keeper, p.about
	if result == nil || p.record == nil {
		return func() {}
	}
	var err error
	if ending.Facts, err = p.receiptFacts(context.Background(), result); err != nil {
		k.parts.Log.Error("a replay's receipt could not be made", "task", about.ID, "error", err)
	}
	if ending.Facts == nil {
		return func() {}
	}
	unlock, err = k.parts.Receipts.HoldReceipt(p.tenant, ending.Facts.Replay)
	if err != nil {
		k.parts.Log.Error("an earlier receipt of a replay could not be read", "task", about.ID, "error", err)
	}
	return unlock
}

func (p *underWay) failure(result *replay.Result, failed error) *abi.Failure {
	switch {
	case failed != nil:
		if capped, ok := errors.AsType[*replay.Capped](failed); ok {
			return &abi.Failure{Code: abi.FailureDivergence, Message: capped.Error()}
		}
		if failure, ok := errors.AsType[*abi.Failure](failed); ok {
			return failure
		}
		p.keeper.parts.Log.Error("the host failed a replay", "task", p.about.ID, "error", failed)
		return &abi.Failure{Code: abi.FailureHost, Message: "the host could not replay the task; see the node's log"}
	case result.Divergence != nil:
		return result.Divergence.Failure()
	}
	return result.End.Failure
}

// endKind says how a replay ends: as its source did, unless it could not be done.
func endKind(result *replay.Result, failure *abi.Failure) lifecycle.InputKind {
	switch {
	case failure != nil:
		return lifecycle.Fail
	case result.End.Status == abi.TaskCanceled:
		return lifecycle.Canceled
	}
	return lifecycle.Complete
}

// complete fills in the Outcome of a replay.
func complete(o *abi.Outcome, result *replay.Result, failure *abi.Failure) {
	o.Failure = failure
	switch {
	case failure != nil:
		o.Summary = failure.Message
	case o.Status != abi.OutcomeCanceled:
		o.Summary = "replayed"
	}
	if result == nil {
		return
	}
	o.MessageIDs, o.ArtifactIDs = result.Messages, result.ArtifactIDs()
	if o.Status == abi.OutcomeSucceeded && result.Output != nil && result.Output.Summary != "" {
		o.Summary = result.Output.Summary
	}
	o.Metrics = jsontext.Value(fmt.Sprintf(`{"host_calls":%d,"overrides":%d}`, len(result.Entries), len(result.Applied)))
}

// receiptFacts returns what the receipt of a replay is made from.
func (p *underWay) receiptFacts(ctx context.Context, result *replay.Result) (*proofs.Facts, error) {
	k, about := p.keeper, p.about
	persona, err := k.parts.PersonaAt(ctx, p.tenant, p.source.PersonaID, p.record.Program.Persona)
	if err != nil {
		return nil, err
	}
	r, err := k.parts.Receipts.ReceiptOfReplay(ctx, p.tenant, about.Replay, p.source, p.record, result.Applied)
	if err != nil {
		return nil, err
	}
	given, err := k.parts.Records.Given(ctx, p.tenant, p.source, nil)
	return &proofs.Facts{Persona: &persona.Persona, Tally: result.Tally, Artifacts: result.Artifacts, Withheld: given.Withheld, Replay: r}, err
}

// made adds the Messages and Artifacts that a replay with overrides made to the
// batch that ends it. They stay out of the Session's transcript.
func (p *underWay) made(ending *Ending, result *replay.Result) error {
	if result == nil {
		return nil
	}
	for _, m := range result.Made {
		if _, err := p.keeper.parts.Ledger.Find(context.Background(), p.tenant, objectOf(m.Call), m.ID); err == nil {
			continue // the same replay has made it before
		}
		rec, err := p.madeRecord(m)
		if err != nil {
			return err
		}
		if rec != nil {
			ending.Records = append(ending.Records, *rec)
		}
	}
	return nil
}

func objectOf(call string) abi.Object {
	if call == abi.CallArtifactPut {
		return abi.ObjectArtifact
	}
	return abi.ObjectMessage
}

func (p *underWay) madeRecord(m replay.Made) (*ledger.Record, error) {
	k, about := p.keeper, p.about
	switch m.Call {
	case abi.CallMessageAppend:
		var in abi.MessageInput
		if err := json.Unmarshal(m.Request, &in); err != nil {
			return nil, err
		}
		message, err := k.parts.Sessions.NewMessage(&in, about.SessionID, about.ID)
		if err != nil {
			return nil, err
		}
		message.ID = m.ID
		rec := sessions.MessageRecord(message)
		rec.Transcript = storage.TranscriptOp{}
		return &rec, nil
	case abi.CallArtifactPut:
		header, content, _ := bytes.Cut(m.Request, []byte("\n"))
		var put abi.CallArtifactPutRequest
		if err := json.Unmarshal(header, &put); err != nil {
			return nil, err
		}
		put.Visibility = cmp.Or(put.Visibility, abi.VisibilityPublic)
		a, err := k.parts.Artifacts.ArtifactOf(context.Background(), about,
			&abi.RegisterArtifactRequest{Kind: put.Kind, MimeType: put.MimeType, Visibility: put.Visibility, Name: put.Name}, content)
		if err != nil {
			return nil, err
		}
		uri := abi.ArtifactName + m.ID
		a.ID, a.URI = m.ID, &uri
		return &ledger.Record{Kind: abi.EventArtifactCreated, Object: abi.ObjectArtifact, ID: a.ID, Created: true, State: a}, nil
	}
	return nil, nil
}
