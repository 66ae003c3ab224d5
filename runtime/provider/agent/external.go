package agent

import (
	"context"
	"errors"
	"time"

	json "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi"
)

// Work is what an agent is asked to plan, or to do.
type Work struct {
	Task           string                    `json:"task"`
	ExpectedScope  jsontext.Value            `json:"expected_scope,omitzero"`
	Context        jsontext.Value            `json:"context,omitzero"`
	Budget         abi.DelegationBudget      `json:"budget"`
	IdempotencyKey string                    `json:"idempotency_key"`
	Checkpoint     *abi.DelegationCheckpoint `json:"checkpoint,omitzero"`
}

// ErrNoPlan says that an agent makes no plans.
var ErrNoPlan = errors.New("the agent makes no plans")

// RefusedError is what an agent says that does not take a piece of work.
type RefusedError struct{ Message string }

// Error implements the error interface.
func (e *RefusedError) Error() string { return e.Message }

// Plan asks what an agent would do. Nothing is paid for it. The error is [ErrNoPlan], a
// [*RefusedError] or a *provider.Refusal.
func (p *Peer) Plan(ctx context.Context, tenant string, card *Card, w *Work) (*abi.DelegationCheckpoint, error) {
	if !card.External.Plans() {
		return nil, ErrNoPlan
	}
	ctx, cancel := context.WithTimeout(ctx, p.config.Timeout)
	defer cancel()
	var said abi.DelegationCheckpoint
	_, err := p.ask(ctx, tenant, card, abi.MethodExternalPlan, w, &said)
	if rpc, ok := err.(*rpcError); ok && rpc.Code == codeNoMethod {
		return nil, ErrNoPlan
	}
	if err != nil {
		return nil, refused(err)
	}
	if said.CheckpointID == "" || len(said.Plan) == 0 || said.Plan.Kind() == 'n' {
		return nil, refuse(abi.CallUnavailable, codeRejected, "the agent %q has answered without a plan", p.config.Name)
	}
	return &abi.DelegationCheckpoint{CheckpointID: said.CheckpointID, Plan: said.Plan, ExpectedScope: said.ExpectedScope,
		EvidenceRefs: said.EvidenceRefs, Metadata: said.Metadata}, nil
}

// refused makes a [*RefusedError] of what an agent says against a request; other errors stay.
func refused(err error) error {
	if said, ok := err.(*rpcError); ok {
		return &RefusedError{said.Error()}
	}
	return err
}

// Result is what an agent says came of a piece of work.
type Result struct {
	Status         string         `json:"status"`
	IdempotencyKey string         `json:"idempotency_key"`
	CheckpointID   string         `json:"checkpoint_id"`
	TaskID         string         `json:"task_id"`
	Handoff        jsontext.Value `json:"handoff"`
	Artifacts      jsontext.Value `json:"artifacts"`
	Receipts       jsontext.Value `json:"receipts"`
	Diff           jsontext.Value `json:"diff"`
	Patch          jsontext.Value `json:"patch"`
	Used           struct {
		USD       *float64 `json:"usd"`
		Tokens    *float64 `json:"tokens"`
		Seconds   *float64 `json:"seconds"`
		ToolCalls *float64 `json:"tool_calls"`
	} `json:"budget_used"`
}

// Repeated reports whether the agent says that it had done the work before.
func (r *Result) Repeated() bool { return r.Status == string(abi.DelegationReplayed) }

// Patched returns the patch that was handed over; "" for none.
func (r *Result) Patched() string {
	for _, text := range []jsontext.Value{r.Diff, r.Patch} {
		var said string
		var within struct {
			Diff  string `json:"diff"`
			Patch string `json:"patch"`
		}
		switch {
		case text.Kind() == '"' && json.Unmarshal(text, &said) == nil && said != "":
			return said
		case text.Kind() == '{' && json.Unmarshal(text, &within) == nil && within.Diff+within.Patch != "":
			return within.Diff + within.Patch
		}
	}
	return ""
}

// working are the statuses of work that goes on.
var working = map[string]bool{"working": true, "in_progress": true, "submitted": true}

// patience is how long an agent may take whose work has no bound in time.
const patience = 15 * time.Minute

// grace is what an agent may take besides the time that its work may take.
const grace = 30 * time.Second

// Dispatch has an agent do a piece of work, and waits for what comes of it. It sends the same again
// when an answer does not come, or says that the work goes on: the agent tells by the key that it is
// the same. The error is a [*RefusedError] when the agent has not taken it; anything else leaves it
// open whether the work is done.
func (p *Peer) Dispatch(ctx context.Context, tenant string, card *Card, w *Work) (*Result, error) {
	within := patience
	if w.Budget.Seconds > 0 {
		within = time.Duration(w.Budget.Seconds*float64(time.Second)) + grace
	}
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	for pause := firstPause; ; pause = min(2*pause, longestPause) {
		result := &Result{}
		retry, err := p.ask(ctx, tenant, card, abi.MethodExternalDispatch, w, result)
		switch {
		case err == nil && !working[result.Status]:
			return result, nil
		case err != nil && !retry || ctx.Err() != nil:
			return nil, refused(err)
		}
		if slept := sleep(ctx, pause); slept != nil {
			return nil, p.unanswered(ctx, slept)
		}
	}
}
