package engine

import (
	"context"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/desk"
	"github.com/wharf-dev/wharf/runtime/ledger"
	"github.com/wharf-dev/wharf/runtime/lifecycle"
	"github.com/wharf-dev/wharf/runtime/provider"
	"github.com/wharf-dev/wharf/runtime/quotas"
	"github.com/wharf-dev/wharf/storage"
)

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

// outOfTime fails a Task when the time under a Quota is used up.
func (e *Engine) outOfTime(key ledger.Key, why *abi.Failure) {
	err := e.endFromOutside(context.Background(), key, change{
		in: lifecycle.Input{Kind: lifecycle.Deadline, Failure: why.Code}, actor: desk.HostActor,
		outcome: func(o *abi.Outcome) { o.Failure, o.Summary = why, why.Message },
	})
	e.undone("that the time under a quota was up could not be recorded", key, err)
}
