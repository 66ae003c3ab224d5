package delegation

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	json "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/ledger"
	"github.com/wharf-dev/wharf/runtime/provider"
	"github.com/wharf-dev/wharf/runtime/provider/agent"
)

// dispatches is the plan of a call that has the work done. card is nil when that may have begun in
// an earlier life.
func (d *delegation) dispatches(card *agent.Card) provider.Plan {
	var made []ledger.Record
	end := func() {}
	return provider.Plan{Effect: abi.EffectWrite, Repeatable: true,
		Do: func(ctx context.Context, _ func(string)) ([]byte, error) {
			release, ok := d.keeper.begin(ctx, d.id)
			if !ok {
				return nil, provider.Refuse(abi.CallUnavailable, codeUnderWay, "work of this idempotency_key is being done")
			}
			end = release
			answer, records, err := d.dispatch(ctx, card)
			if err != nil {
				return nil, err
			}
			made = records
			return json.Marshal(answer, json.Deterministic(true))
		},
		Extra:  func() []ledger.Record { return made },
		Forget: func() error { end(); return nil },
	}
}

// dispatch has the agent do the work, and returns what is to be kept of it.
func (d *delegation) dispatch(ctx context.Context, card *agent.Card) (*abi.CallAgentDelegateAnswer, []ledger.Record, error) {
	done, err := d.before(ctx) // another call of the key may have been faster
	if done != nil || err != nil {
		return done, nil, err
	}
	checkpoint := d.req.Checkpoint
	if card == nil {
		var refused *abi.CallAgentDelegateAnswer
		if card, checkpoint, refused, err = d.again(ctx); err != nil || refused != nil {
			return refused, nil, err
		}
	}
	result, err := d.peer.Dispatch(ctx, d.call.Tenant, card, d.work(told(checkpoint)))
	if said, ok := errors.AsType[*agent.RefusedError](err); ok {
		return d.refuses(d.peerBy(card), codeRefused, said.Message), nil, nil
	}
	if err != nil {
		return nil, nil, unanswered(ctx, err)
	}
	if why := d.contradicts(result, checkpoint); why != "" {
		return nil, nil, provider.Refuse(abi.CallIndeterminate, codeContradict, why)
	}
	return d.keep(ctx, d.handoff(card, checkpoint, result))
}

// told is a checkpoint as the agent is told it: the plan, and what it said with it.
func told(c *abi.DelegationCheckpoint) *abi.DelegationCheckpoint {
	own := *c
	own.Approved, own.Peer, own.AllowLocalFallback = true, nil, false
	return &own
}

// again looks at the agent once more for work that may have been dispatched: what was approved stands,
// and the key is the same. Where nobody had to approve it, the record has no plan: the agent, which
// knows the key, is asked for it again.
func (d *delegation) again(ctx context.Context) (*agent.Card, *abi.DelegationCheckpoint, *abi.CallAgentDelegateAnswer, error) {
	card, err := d.peer.Card(ctx, d.call.Tenant)
	if err != nil {
		return nil, nil, nil, unanswered(ctx, err)
	}
	checkpoint := d.req.Checkpoint
	if !d.call.Approved {
		var refused *abi.CallAgentDelegateAnswer
		if checkpoint, refused, err = d.plan(ctx, card); err != nil || refused != nil {
			return nil, nil, nil, unanswered(ctx, errors.Join(err, errors.New("the agent makes no plan any more")))
		}
	}
	if checkpoint == nil || checkpoint.Peer == nil || checkpoint.Peer.URL != card.Endpoint || len(card.External.Lacks()) > 0 {
		return nil, nil, nil, provider.Refuse(abi.CallIndeterminate, codeChanged,
			"the node died while the work may have been dispatched, and the agent is another one now")
	}
	return card, checkpoint, nil, nil
}

// unanswered is what is told where nobody knows what became of the work. The run's own end stays:
// the next start asks again.
func unanswered(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	why := err.Error()
	if refused, ok := errors.AsType[*provider.Refusal](err); ok {
		why = refused.Message
	}
	return provider.Refuse(abi.CallIndeterminate, codeUnanswered, "nobody knows whether the work was done, which was dispatched: "+why)
}

// contradicts says what of a result is not what was dispatched; "" for nothing.
func (d *delegation) contradicts(r *agent.Result, c *abi.DelegationCheckpoint) string {
	switch {
	case r.IdempotencyKey != "" && r.IdempotencyKey != d.key:
		return "the agent has answered for the work of another key"
	case r.CheckpointID != "" && r.CheckpointID != c.CheckpointID:
		return "the agent has answered for another checkpoint than the approved one"
	case len(r.Handoff) == 0 || r.Handoff.Kind() == 'n':
		return fmt.Sprintf("the agent hands nothing over that could be reviewed; it says %.100q", r.Status)
	}
	return ""
}

// handoff is the envelope of what the agent hands over.
func (d *delegation) handoff(card *agent.Card, c *abi.DelegationCheckpoint, r *agent.Result) *abi.DelegationHandoff {
	h := &abi.DelegationHandoff{Schema: abi.ExternalHandoffSchema, Status: abi.DelegationCompleted, Peer: *d.peerBy(card),
		IdempotencyKey: d.key, AskedSHA256: d.asked, TaskID: r.TaskID, Checkpoint: c, Budget: d.req.Budget, Repeated: r.Repeated(),
		Handoff: r.Handoff, Diff: r.Patched(), Outputs: given(r.Artifacts), Receipts: given(r.Receipts)}
	d.weigh(h, r)
	return h
}

// weigh compares what the agent says that it has used with what it was allowed. What it does not say,
// or cannot have used, is taken to be all that it was allowed.
func (d *delegation) weigh(h *abi.DelegationHandoff, r *agent.Result) {
	h.Reported = []string{}
	used := func(name string, said *float64, allowed float64) float64 {
		if said == nil || *said < 0 || *said > mostUsed {
			return allowed
		}
		h.Reported = append(h.Reported, name)
		if allowed > 0 && *said > allowed {
			h.Exceeded, h.Status = append(h.Exceeded, name), abi.DelegationExceeded
		}
		return *said
	}
	b := &h.Budget
	h.BudgetUsed = abi.DelegationBudget{
		USD:       used("usd", r.Used.USD, b.USD),
		Tokens:    int64(math.Ceil(used("tokens", r.Used.Tokens, float64(b.Tokens)))),
		Seconds:   used("seconds", r.Used.Seconds, b.Seconds),
		ToolCalls: int64(math.Ceil(used("tool_calls", r.Used.ToolCalls, float64(b.ToolCalls)))),
	}
}

// mostUsed is more than anybody uses, and can be counted.
const mostUsed = 1 << 40

// given leaves out null.
func given(v jsontext.Value) jsontext.Value {
	if v.Kind() == 'n' {
		return nil
	}
	return v
}

// keep makes the Artifacts of what was handed over: the envelope, and the patch where there is one.
// The answer names both.
func (d *delegation) keep(ctx context.Context, h *abi.DelegationHandoff) (*abi.CallAgentDelegateAnswer, []ledger.Record, error) {
	var records []ledger.Record
	if h.Diff != "" {
		id := abi.DerivedID(abi.ObjectArtifact, time.Unix(0, 0), "diff of "+d.id)
		a, err := d.artifact(ctx, id, &abi.RegisterArtifactRequest{Kind: abi.ArtifactDiff, MimeType: "text/x-diff", Name: "changes.diff"}, []byte(h.Diff))
		if err != nil {
			return nil, nil, err
		}
		records, h.Artifacts = append(records, stated(a)), []abi.DelegationArtifact{named(a)}
	}
	envelope, err := json.Marshal(h, json.Deterministic(true))
	if err != nil {
		return nil, nil, err
	}
	a, err := d.artifact(ctx, d.id, &abi.RegisterArtifactRequest{Kind: abi.ArtifactOther, MimeType: "application/json", Name: "handoff.json"}, envelope)
	if err != nil {
		return nil, nil, err
	}
	told := *h
	told.Artifacts = append([]abi.DelegationArtifact{named(a)}, h.Artifacts...)
	return &abi.CallAgentDelegateAnswer{Status: h.Status, Peer: &h.Peer, Handoff: &told, IdempotencyKey: d.req.IdempotencyKey},
		append(records, stated(a)), nil
}

func (d *delegation) artifact(ctx context.Context, id string, reg *abi.RegisterArtifactRequest, content []byte) (*abi.Artifact, error) {
	c := d.call
	reg.Visibility = abi.VisibilityPublic
	return d.keeper.parts.Artifacts.ArtifactNamed(ctx, id, &abi.Task{Envelope: abi.Envelope{ID: c.TaskID}, WorkspaceID: c.WorkspaceID, SessionID: c.SessionID}, reg, content)
}

func stated(a *abi.Artifact) ledger.Record {
	return ledger.Record{Kind: abi.EventArtifactCreated, Object: abi.ObjectArtifact, ID: a.ID, Created: true, State: a}
}
