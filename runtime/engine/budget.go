package engine

import (
	"context"
	"errors"
	"fmt"

	json "github.com/go-json-experiment/json"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/alarm"
	"github.com/wharf-dev/wharf/runtime/desk"
	"github.com/wharf-dev/wharf/runtime/policy"
	"github.com/wharf-dev/wharf/runtime/provider"
	"github.com/wharf-dev/wharf/runtime/quotas"
	"github.com/wharf-dev/wharf/storage"
)

// codeBudget is what a plugin reads when a call would pass its Task's budget.
const codeBudget = "budget_exhausted"

// withinBudget refuses a call for which nothing of the Persona's budget is left. What was
// used is counted from the record, so that it is the same after a restart.
func (r *run) withinBudget(a *policy.Action) error {
	if r.persona.Budget == nil {
		return nil
	}
	if what := policy.Exhausted(r.persona.Budget, a, r.used()); what != "" {
		return provider.Refuse(abi.CallDenied, codeBudget, fmt.Sprintf("this task has used up its budget, as persona %s and its own options say: %s", r.persona.ID, what))
	}
	return nil
}

// used is what the Task has used up so far.
func (r *run) used() abi.Used {
	r.task.mu.Lock()
	defer r.task.mu.Unlock()
	return r.facts.Tally.Used()
}

// bound lowers what a model may answer to what policy leaves of it. The record keeps
// what the plugin asked.
func (r *run) bound(c *liveCall) error {
	limit := policy.MaxTokens(&r.persona.Persona, r.used())
	if c.entry.Call != abi.CallLLMComplete || limit == 0 {
		return nil
	}
	req, err := ask[abi.ModelRequest](c)
	if err != nil {
		return err
	}
	if req.MaxTokens != 0 && req.MaxTokens <= limit {
		return nil
	}
	req.MaxTokens = limit
	c.request, err = json.Marshal(&req)
	return err
}

// allowModel tells a provider which models the Task's Persona may ask.
func (r *run) allowModel(name, of string) error {
	return refusal(policy.Permit(&r.persona.Persona, &policy.Action{Call: abi.CallLLMComplete, Model: name, Provider: of}))
}

// errOvertime says that a Task's time was up before it was run again.
var errOvertime = errors.New("the task's time was up")

// watchTime ends a run's Task when its time is up; stop is called when the run ends.
// errOvertime says that it is up already.
func (e *Engine) watchTime(t *task, p *abi.Persona) (stop func(), err error) {
	t.mu.Lock()
	end := policy.EndOfTime(p, t.task.StartedAt)
	t.mu.Unlock()
	if end.IsZero() {
		return func() {}, nil
	}
	if !end.After(e.now()) {
		return nil, errOvertime
	}
	key := t.key()
	return alarm.Set(e.now, end, e.background.Owned(func() { e.exhaust(key) })).Stop, nil
}

// inTime ends a wait when the Task's time is up: it is brought back, and fails.
func (r *run) inTime(w *abi.Waiting) {
	r.task.mu.Lock()
	end := policy.EndOfTime(&r.persona.Persona, r.task.task.StartedAt)
	r.task.mu.Unlock()
	if !end.IsZero() && (w.Until.IsZero() || end.Before(w.Until)) {
		w.Until = abi.At(end)
	}
}

// newBook returns what counts the engine's Tasks against Quotas.
func (e *Engine) newBook(common desk.Parts) *quotas.Book {
	pricing, _ := e.performers[abi.CallLLMComplete].(provider.Priced)
	return quotas.NewBook(quotas.Parts{
		Parts: common, Tenants: e.tenants,
		Persona: func(ctx context.Context, t storage.Tenant, id string) (*abi.Persona, error) {
			p, err := e.Persona(ctx, t, id)
			if err != nil {
				return nil, err
			}
			return &p.Persona, nil
		},
		Pricing: pricing, LeaveOut: e.aside.LeaveOut, Owned: e.background.Owned, Overtime: e.outOfTime,
	})
}
