package delegation

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"strings"

	json "github.com/go-json-experiment/json"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/ledger"
	"github.com/wharf-dev/wharf/runtime/provider"
	"github.com/wharf-dev/wharf/runtime/provider/agent"
)

// prepare goes as far as the checkpoint: the card proves what paid work needs, and the agent has said
// what it would do.
func (d *delegation) prepare(ctx context.Context) (provider.Plan, error) {
	card, err := d.peer.Card(ctx, d.call.Tenant)
	if err != nil {
		return provider.Plan{}, err
	}
	peer := d.peerBy(card)
	if lacks := card.External.Lacks(); len(lacks) > 0 {
		return answers(d.refuses(peer, codeUnproved, "the agent's card does not promise "+strings.Join(lacks, ", "))), nil
	}
	if d.call.Approved {
		if c := d.req.Checkpoint; c == nil || c.Peer == nil || *c.Peer != *peer {
			return answers(d.refuses(peer, codeChanged, "the agent's card is not the one by which its plan was approved")), nil
		}
		return d.dispatches(card), nil
	}
	checkpoint, refused, err := d.plan(ctx, card)
	if err != nil || refused != nil {
		return answers(refused), err
	}
	asked := d.req.Checkpoint
	if asked == nil || !asked.Approved || asked.CheckpointID != "" && asked.CheckpointID != checkpoint.CheckpointID {
		return answers(&abi.CallAgentDelegateAnswer{Status: abi.DelegationCheckpointRequired, Peer: peer, Checkpoint: checkpoint, IdempotencyKey: d.req.IdempotencyKey}), nil
	}
	d.req.Checkpoint = checkpoint
	plan := d.dispatches(card)
	plan.Request, err = json.Marshal(&d.req, json.Deterministic(true))
	return plan, err
}

func (d *delegation) peerBy(card *agent.Card) *abi.DelegationPeer {
	return &abi.DelegationPeer{Agent: d.req.Agent, Name: card.Name, URL: card.Endpoint, CardSHA256: card.SHA256}
}

func (d *delegation) refuses(peer *abi.DelegationPeer, code, message string) *abi.CallAgentDelegateAnswer {
	return &abi.CallAgentDelegateAnswer{Status: abi.DelegationRefused, Peer: peer, Reason: &abi.CallError{Code: code, Message: message}}
}

// plan returns the checkpoint: the agent's, or the plugin's own where the agent makes none and the
// plugin has said that its own may stand in.
func (d *delegation) plan(ctx context.Context, card *agent.Card) (c *abi.DelegationCheckpoint, refused *abi.CallAgentDelegateAnswer, err error) {
	c, err = d.peer.Plan(ctx, d.call.Tenant, card, d.work(nil))
	said, isRefused := errors.AsType[*agent.RefusedError](err)
	own := d.req.Checkpoint
	switch {
	case isRefused:
		return nil, d.refuses(d.peerBy(card), codeRefused, "the agent makes no plan for this: "+said.Message), nil
	case errors.Is(err, agent.ErrNoPlan) && (own == nil || !own.AllowLocalFallback || len(own.Plan) == 0 || own.Plan.Kind() == 'n'):
		return nil, d.refuses(d.peerBy(card), codeNoPlan, "the agent makes no plan, and checkpoint.allow_local_fallback with a plan is not given"), nil
	case errors.Is(err, agent.ErrNoPlan):
		sum := sha256.Sum256(canonical(own.Plan))
		c = &abi.DelegationCheckpoint{CheckpointID: "local:" + hex.EncodeToString(sum[:]), Plan: own.Plan, ExpectedScope: d.req.ExpectedScope, Local: true, AllowLocalFallback: true}
	case err != nil:
		return nil, nil, err
	}
	c.Approved, c.Peer = own != nil && own.Approved, d.peerBy(card)
	return c, nil, nil
}

// work is what the agent is asked.
func (d *delegation) work(c *abi.DelegationCheckpoint) *agent.Work {
	return &agent.Work{Task: d.req.Task, ExpectedScope: d.req.ExpectedScope, Context: d.req.Context, Budget: d.req.Budget, IdempotencyKey: d.key, Checkpoint: c}
}

// before returns the answer for work that was done before by this key; nil where none was. Nobody
// outside is asked.
func (d *delegation) before(ctx context.Context) (*abi.CallAgentDelegateAnswer, error) {
	p := &d.keeper.parts
	res, err := p.Ledger.Find(ctx, d.tenant, abi.ObjectArtifact, d.id)
	if ledger.IsNotFound(err) {
		return nil, nil
	}
	var a abi.Artifact
	if err == nil {
		err = ledger.Decode(res.State, &a)
	}
	if err != nil {
		return nil, err
	}
	text, err := p.Artifacts.ReadArtifact(ctx, &a, 0, 0, 64<<20)
	if err != nil {
		return nil, err
	}
	h := &abi.DelegationHandoff{}
	if err := json.Unmarshal(text, h); err != nil {
		return nil, err
	}
	if h.AskedSHA256 != d.asked {
		return nil, provider.Refuse(abi.CallInvalid, codeReused, "the idempotency_key stands for other work")
	}
	h.Artifacts = append([]abi.DelegationArtifact{named(&a)}, h.Artifacts...)
	return &abi.CallAgentDelegateAnswer{Status: abi.DelegationReplayed, Peer: &h.Peer, Handoff: h, IdempotencyKey: d.req.IdempotencyKey}, nil
}

func named(a *abi.Artifact) abi.DelegationArtifact {
	return abi.DelegationArtifact{ArtifactID: a.ID, Kind: a.Kind, SHA256: *a.SHA256}
}
