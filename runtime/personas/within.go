package personas

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	json "github.com/go-json-experiment/json"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/lockrank"
	"github.com/wharf-dev/wharf/runtime/policy"
	"github.com/wharf-dev/wharf/storage"
)

// bounded remembers Personas as their Tasks run, by what they were made of. It only saves work.
type bounded struct {
	mu  lockrank.Mutex[lockrank.Table]
	all map[pair]*Persona
}

// pair are a subagent and its parent, each as it is: a change makes another one.
type pair struct{ of, parent *Persona }

// maxBounded bounds what is remembered.
const maxBounded = 1000

// RunsAs returns the Persona that a Task of p is pinned to: p, or for a subagent what it may do
// within what its parent may, and that one's parent, as they are now. Whoever gave the subagent its
// work, and whatever its own policy says, it may do no more.
func (k *Keeper) RunsAs(ctx context.Context, t storage.Tenant, p *Persona) (*Persona, error) {
	if !p.IsSubagent() {
		return p, nil
	}
	parent, err := k.PersonaIn(ctx, t, p.WorkspaceID, p.Agent.ParentID)
	if err == nil {
		parent, err = k.RunsAs(ctx, t, parent)
	}
	if err != nil {
		return nil, fmt.Errorf("reading the agent whose subagent %s is: %w", p.ID, err)
	}
	return k.bounded.of(p, parent)
}

// IsSubagent reports whether p is the subagent of an agent.
func (p *Persona) IsSubagent() bool { return p.Agent != nil && p.Agent.ParentID != "" }

func (b *bounded) of(p, parent *Persona) (*Persona, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	key := pair{p, parent}
	if own := b.all[key]; own != nil {
		return own, nil
	}
	own, err := p.within(parent)
	if err != nil {
		return nil, err
	}
	if b.all == nil || len(b.all) >= maxBounded {
		b.all = map[pair]*Persona{}
	}
	b.all[key] = own
	return own, nil
}

// within returns p as it may act within what another Persona may.
func (p *Persona) within(parent *Persona) (*Persona, error) {
	own := &Persona{Persona: p.Persona}
	own.Within = append([]abi.Rights{policy.RightsOf(&parent.Persona)}, parent.Within...)
	own.AutonomyTier = lower(p.AutonomyTier, parent.AutonomyTier)
	own.Approvals = stricter(&p.Persona, &parent.Persona)
	own.Budget = narrower(p.Budget, parent.Budget)
	if parent.ModelPolicy != nil && parent.ModelPolicy.MaxTokens > 0 {
		own = own.Under(&abi.RunOptions{MaxTokens: parent.ModelPolicy.MaxTokens})
	}
	text, err := json.Marshal(&own.Persona)
	own.Text = text
	return own, err
}

// tiers are the autonomy tiers, the least first.
var tiers = []abi.AutonomyTier{abi.TierShadow, abi.TierSuggest, abi.TierActWithApproval, abi.TierActAuto}

// lower returns the lesser one of two tiers. One that is not known is less than any.
func lower(a, b abi.AutonomyTier) abi.AutonomyTier {
	if slices.Index(tiers, a) < slices.Index(tiers, b) {
		return a
	}
	return b
}

// stricter returns how writes of a Persona are approved within what another one may. Those of the
// other that may approve come before its own; without approval is what both may do without.
func stricter(p, parent *abi.Persona) *abi.ApprovalPolicy {
	a, b := p.Approvals, parent.Approvals
	if a == nil && b == nil {
		return nil
	}
	a, b = cmp.Or(a, &abi.ApprovalPolicy{SelfApproval: true}), cmp.Or(b, &abi.ApprovalPolicy{SelfApproval: true})
	both := &abi.ApprovalPolicy{Quorum: max(a.Quorum, b.Quorum), Approvers: b.Approvers, SelfApproval: a.SelfApproval && b.SelfApproval,
		TimeoutSeconds: least(a.TimeoutSeconds, b.TimeoutSeconds)}
	if len(both.Approvers) == 0 {
		both.Approvers = a.Approvers
	}
	switch {
	case p.AutonomyTier == abi.TierActAuto:
		both.Without = b.Without
	case parent.AutonomyTier == abi.TierActAuto:
		both.Without = a.Without
	default:
		both.Without = slices.DeleteFunc(slices.Clone(a.Without), func(pattern string) bool { return !slices.Contains(b.Without, pattern) })
	}
	return both
}
