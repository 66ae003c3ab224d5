package plans

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	json "github.com/go-json-experiment/json"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/desk"
	"github.com/wharf-dev/wharf/runtime/ledger"
	"github.com/wharf-dev/wharf/storage"
)

// Keeper serves plans. It is safe for concurrent use.
type Keeper struct{ parts desk.Parts }

// NewKeeper returns a keeper.
func NewKeeper(p desk.Parts) *Keeper { return &Keeper{parts: p} }

// ID returns the id of a Task's plan.
func ID(task string) string {
	return abi.IDPrefix(abi.ObjectPlan) + strings.TrimPrefix(task, abi.IDPrefix(abi.ObjectTask))
}

// Plan returns a Task's plan, also when the Task has ended: an empty one when it has none.
func (k *Keeper) Plan(ctx context.Context, c *desk.Caller, task string) (desk.Doc, error) {
	t, _, err := desk.Find[abi.Task](ctx, k.parts.Desk, c, abi.ObjectTask, task)
	if err != nil {
		return desk.Doc{}, err
	}
	p, err := k.of(ctx, c.Tenant, &t)
	if err != nil {
		return desk.Doc{}, err
	}
	text, err := json.Marshal(p.plan, json.Deterministic(true))
	return desk.Doc{ID: p.plan.ID, JSON: text}, err
}

// UpdatePlan replaces the steps of a Task's plan.
func (k *Keeper) UpdatePlan(ctx context.Context, c *desk.Caller, r *desk.Retry, task string, req abi.UpdatePlanRequest) (desk.Doc, error) {
	return k.change(ctx, c, r, task, func(p *abi.Plan) error {
		if req.Version != nil && *req.Version != p.Version {
			return abi.Errorf(abi.CodeConflict, "the plan has version %d by now, and not %d: read it again", p.Version, *req.Version)
		}
		return replace(p, req.Steps, fmt.Sprintf("v%d", p.Version+1))
	})
}

// UpdatePlanStep changes a step of a Task's plan, and leaves all others as they are by then.
func (k *Keeper) UpdatePlanStep(ctx context.Context, c *desk.Caller, r *desk.Retry, task, step string, req abi.UpdatePlanStepRequest) (desk.Doc, error) {
	return k.change(ctx, c, r, task, func(p *abi.Plan) error {
		i := slices.IndexFunc(p.Steps, func(s abi.PlannedStep) bool { return s.ID == step })
		if i < 0 {
			return abi.Errorf(abi.CodeResourceNotFound, "the plan of task %s has no step %q", task, step)
		}
		steps := slices.Clone(p.Steps)
		abi.Replace(&steps[i].Content, req.Content)
		abi.Replace(&steps[i].Status, req.Status)
		err := replace(p, steps, "")
		if wrong, ok := errors.AsType[*abi.Error](err); ok { // the caller has named no list
			wrong.Param = strings.TrimPrefix(wrong.Param, fmt.Sprintf("steps.%d.", i))
		}
		return err
	})
}

// replace puts other steps into a plan.
func replace(p *abi.Plan, steps []abi.PlannedStep, seed string) (err error) {
	p.Steps, err = abi.PlanSteps(steps, seed)
	return err
}

// change makes a caller's change of a plan. do gets a copy of the plan as it is.
func (k *Keeper) change(ctx context.Context, c *desk.Caller, r *desk.Retry, task string, do func(*abi.Plan) error) (desk.Doc, error) {
	t, _, err := desk.Find[abi.Task](ctx, k.parts.Desk, c, abi.ObjectTask, task)
	if err != nil {
		return desk.Doc{}, err
	}
	return k.parts.Desk.Once(ctx, c, r, t.WorkspaceID, func(idem *storage.Idempotency) (desk.Doc, error) {
		return ledger.Change(k.parts.Ledger, c.Tenant, ID(task), func() (desk.Doc, error) { return k.changeOnce(ctx, c, idem, task, do) })
	})
}

// changeOnce makes a change unless the Task ends, or somebody else changes the plan, meanwhile.
// The caller holds the plan's lock.
func (k *Keeper) changeOnce(ctx context.Context, c *desk.Caller, idem *storage.Idempotency, task string, do func(*abi.Plan) error) (desk.Doc, error) {
	t, res, err := desk.Find[abi.Task](ctx, k.parts.Desk, c, abi.ObjectTask, task)
	if err != nil {
		return desk.Doc{}, err
	}
	if t.Status.Terminal() {
		return desk.Doc{}, abi.Errorf(abi.CodeConflict, "task %s is %s: its plan stays as it is", t.ID, t.Status)
	}
	p, err := k.of(ctx, c.Tenant, &t)
	if err == nil {
		err = do(p.plan)
	}
	if err != nil {
		return desk.Doc{}, err
	}
	rec := k.next(p, c.Actor)
	encoded, err := ledger.Encode(rec)
	if err != nil {
		return desk.Doc{}, err
	}
	b := ledger.Batch(storage.Frame{Tenant: c.Tenant, WorkspaceID: t.WorkspaceID, SessionID: t.SessionID, TaskID: t.ID, Actor: c.Actor,
		Time: k.parts.Now(), Records: encoded}, idem, desk.StatusOK, 0)
	b.Expect = append(append(b.Expect, ledger.Expected(rec)...), storage.Expectation{Kind: storage.ExpectLease,
		Resource: abi.ResourcePointer{Object: abi.ObjectTask, ID: t.ID}, Position: res.Position})
	_, err = k.parts.Ledger.Durable(k.parts.Ledger.Append(b))
	return desk.Doc{ID: rec.ID, JSON: encoded[0].State}, err
}

// kept is a plan as the log has it.
type kept struct {
	plan  *abi.Plan
	next  uint64 // the sequence of its next event
	known bool   // there has been one
}

// next returns the event that states a changed plan.
func (k *Keeper) next(p *kept, actor string) ledger.Record {
	p.plan.Version++
	p.plan.ChangedBy, p.plan.UpdatedAt = actor, abi.At(k.parts.Now())
	return ledger.Record{Kind: abi.EventPlanChanged, Object: abi.ObjectPlan, ID: p.plan.ID, Sequence: p.next, Created: !p.known, State: p.plan}
}

// of returns the plan of a Task: an empty one when it has none.
func (k *Keeper) of(ctx context.Context, t storage.Tenant, task *abi.Task) (*kept, error) {
	own, _, err := k.stored(ctx, t, task.ID)
	if own != nil || err != nil {
		return own, err
	}
	begun, err := k.begun(ctx, t, task)
	return &kept{plan: begun}, err
}

// begun returns the plan that a Task begins with: a fork with that of its source, all others
// with none.
func (k *Keeper) begun(ctx context.Context, t storage.Tenant, task *abi.Task) (*abi.Plan, error) {
	p := &abi.Plan{Envelope: abi.NewEnvelope(abi.ObjectPlan, ID(task.ID), task.CreatedAt, nil), Steps: []abi.PlannedStep{}}
	if task.Fork != nil {
		before, err := k.before(ctx, t, task.Fork)
		if err != nil {
			return nil, err
		}
		p.Version, p.ChangedBy, p.Steps = before.Version, before.ChangedBy, before.Steps
	}
	p.WorkspaceID, p.SessionID, p.TaskID = task.WorkspaceID, task.SessionID, task.ID
	return p, nil
}

// before returns the plan that the source of a fork had where the fork leaves it.
func (k *Keeper) before(ctx context.Context, t storage.Tenant, fork *abi.TaskFork) (*abi.Plan, error) {
	now, at, err := k.stored(ctx, t, fork.SourceTaskID)
	if err != nil {
		return nil, err
	}
	until, ok := desk.ParsePosition(fork.AtEventID)
	if now != nil && (!ok || at <= until) {
		return now.plan, nil
	}
	if now != nil {
		earlier, err := k.statedBy(ctx, t, fork.SourceTaskID, until)
		if earlier != nil || err != nil {
			return earlier, err
		}
	}
	res, err := k.parts.Ledger.Find(ctx, t, abi.ObjectTask, fork.SourceTaskID)
	if err != nil {
		return nil, err
	}
	var source abi.Task
	if err := ledger.Decode(res.State, &source); err != nil {
		return nil, ledger.Naming(abi.ObjectTask, res.ID, err)
	}
	return k.begun(ctx, t, &source)
}

// statedBy returns the plan of a Task as it was at a position; nil when there was none.
func (k *Keeper) statedBy(ctx context.Context, t storage.Tenant, task string, until desk.Position) (last *abi.Plan, err error) {
	about := abi.ResourcePointer{Object: abi.ObjectPlan, ID: ID(task)}
	for after, more := desk.Position(0), true; more; {
		var page []storage.Event
		if page, more, err = k.parts.Store.Events(ctx, t, desk.Scope{Object: abi.ObjectTask, ID: task}, after, 200); err != nil {
			return nil, k.parts.Ledger.Failed("reading the plan of before", err)
		}
		for _, ev := range page {
			if after = ev.Position(); after > until {
				return last, nil
			}
			if ev.Record().Resource != about || ev.Record().State == nil {
				continue
			}
			last = &abi.Plan{}
			if err := ledger.Decode(ev.Record().State, last); err != nil {
				return nil, ledger.Naming(abi.ObjectPlan, about.ID, err)
			}
		}
	}
	return last, nil
}

// stored reads a plan, and where it was stated; nil when there is none.
func (k *Keeper) stored(ctx context.Context, t storage.Tenant, task string) (*kept, desk.Position, error) {
	res, err := k.parts.Ledger.Find(ctx, t, abi.ObjectPlan, ID(task))
	if ledger.IsNotFound(err) {
		return nil, 0, nil
	}
	p := &abi.Plan{}
	if err == nil {
		err = ledger.Decode(res.State, p)
	}
	if err == nil {
		err = ledger.CheckEnvelope(&p.Envelope, abi.ObjectPlan, res.ID)
	}
	if err != nil {
		return nil, 0, ledger.Naming(abi.ObjectPlan, cmp.Or(res.ID, ID(task)), err)
	}
	return &kept{plan: p, next: res.Sequence + 1, known: true}, res.Position, nil
}
