package plans

import (
	"context"
	"fmt"
	"strconv"

	json "github.com/go-json-experiment/json"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/hostcall"
	"github.com/wharf-dev/wharf/runtime/ledger"
	"github.com/wharf-dev/wharf/runtime/provider"
)

// CodeChanged is the code of a plan.set that says which plan it replaces, and that another has
// changed meanwhile.
const CodeChanged = "plan_changed"

// HostCalls are the calls of plugins that the keeper answers.
func (k *Keeper) HostCalls() map[string]hostcall.Func {
	return map[string]hostcall.Func{
		abi.CallPlanSet: hostcall.Of(k.setFor),
		abi.CallPlanGet: func(ctx context.Context, c *hostcall.Call) (hostcall.Answer, error) { return k.getFor(ctx, c) },
	}
}

func (k *Keeper) getFor(ctx context.Context, c *hostcall.Call) (hostcall.Answer, error) {
	p, err := k.of(ctx, c.Tenant, c.Task)
	if err != nil {
		return hostcall.Answer{}, unreadable(err)
	}
	return hostcall.Encoded(told(p.plan))
}

// setFor replaces the plan. Until that is on disk, nobody else changes it.
func (k *Keeper) setFor(ctx context.Context, c *hostcall.Call, req *abi.CallPlanSetRequest) (hostcall.Answer, error) {
	unlock := k.parts.Ledger.Lock(c.Tenant, ID(c.Task.ID))
	answer, err := k.set(ctx, c, req)
	if err != nil {
		unlock()
		return hostcall.Answer{}, unreadable(err)
	}
	answer.Release = func(error) { unlock() }
	return answer, nil
}

func (k *Keeper) set(ctx context.Context, c *hostcall.Call, req *abi.CallPlanSetRequest) (hostcall.Answer, error) {
	p, err := k.of(ctx, c.Tenant, c.Task)
	if err != nil {
		return hostcall.Answer{}, err
	}
	if req.Version != nil && *req.Version != p.plan.Version {
		return hostcall.Answer{}, changed(p.plan)
	}
	if err := replace(p.plan, req.Steps, strconv.Itoa(c.Index)); err != nil {
		return hostcall.Answer{}, provider.Malformed(err)
	}
	rec := k.next(p, c.Task.PersonaID)
	answer, err := hostcall.Encoded(told(p.plan))
	answer.Extra = []ledger.Record{rec}
	return answer, err
}

func told(p *abi.Plan) *abi.CallPlanAnswer {
	return &abi.CallPlanAnswer{Version: p.Version, ChangedBy: p.ChangedBy, Steps: p.Steps}
}

// changed tells a plugin what the plan is, which it had not seen.
func changed(p *abi.Plan) error {
	now, err := json.Marshal(told(p), json.Deterministic(true))
	if err != nil {
		return err
	}
	return provider.Refuse(abi.CallInvalid, CodeChanged, fmt.Sprintf("%s has changed the plan meanwhile, and nothing was set. It is now: %s", p.ChangedBy, now))
}

// unreadable answers a plugin whose plan cannot be read.
func unreadable(err error) error {
	if ledger.IsUnreadable(err) {
		return provider.Refuse(abi.CallUnavailable, "unreadable", "the plan cannot be read")
	}
	return err
}
