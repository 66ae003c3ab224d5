package api

import (
	"context"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/desk"
)

// plansCore serves what Tasks mean to do.
type plansCore interface {
	Plan(ctx context.Context, c *desk.Caller, task string) (desk.Doc, error)
	UpdatePlan(ctx context.Context, c *desk.Caller, r *desk.Retry, task string, req abi.UpdatePlanRequest) (desk.Doc, error)
	UpdatePlanStep(ctx context.Context, c *desk.Caller, r *desk.Retry, task, step string, req abi.UpdatePlanStepRequest) (desk.Doc, error)
}

// Plan returns a Task's plan, also when the Task has ended: an empty one of version 0 when it has
// none.
func (a *API) Plan(ctx context.Context, c *Caller, task string) (View, error) {
	return a.to(ctx, c).view(a.core.Plan(ctx, c, task))
}

// UpdatePlan replaces the steps of the plan of a Task that has not ended.
func (a *API) UpdatePlan(ctx context.Context, c *Caller, r *Write, task string, req abi.UpdatePlanRequest) (View, error) {
	return a.to(ctx, c).view(a.core.UpdatePlan(ctx, c, r, task, req))
}

// UpdatePlanStep changes a step of the plan of a Task that has not ended.
func (a *API) UpdatePlanStep(ctx context.Context, c *Caller, r *Write, task, step string, req abi.UpdatePlanStepRequest) (View, error) {
	return a.to(ctx, c).view(a.core.UpdatePlanStep(ctx, c, r, task, step, req))
}
