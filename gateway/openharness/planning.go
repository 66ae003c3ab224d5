package openharness

import (
	"cmp"
	"errors"
	"slices"
	"strconv"
	"strings"

	json "github.com/go-json-experiment/json"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/gateway"
	"github.com/wharf-dev/wharf/gateway/api"
)

func (a *Adapter) planRoutes() []gateway.Route {
	const reads, writes, plan = "tasks:read", "tasks:write", "executions/{executionId}/plan"
	return []gateway.Route{
		read(plan, "planning.get", reads, "Get the plan of an execution", a.at(a.getPlan)),
		mayPatch(plan, "planning.update", writes, "Replace the steps of a plan", a.at(a.updatePlan)),
		read(plan+"/tasks", "planning.listTasks", reads, "List the steps of a plan", a.at(a.listPlanTasks)),
		mayPatch(plan+"/tasks/{taskId}", "planning.updateTask", writes, "Change a step of a plan", a.at(a.updatePlanTask)),
		eventStream(plan+"/stream", "planning.stream", reads, "Stream the changes of a plan", a.at(a.streamPlan)),
	}
}

// mayPatch is a patch whose body may be left out: then nothing changes.
func mayPatch(path, operation, scope, summary string, h gateway.Handler) gateway.Route {
	rt := patch(path, operation, scope, summary, h)
	rt.Body = gateway.BodyOptionalJSON
	return rt
}

// planTask is a step of a plan as the protocol shows it: its statuses are fewer.
type planTask struct {
	ID      string `json:"id"`
	Content string `json:"content"`
	Status  string `json:"status"` // pending, in_progress or completed
	Order   int    `json:"order"`
	Skipped bool   `json:"skipped,omitzero"` // it was completed by leaving it out
}

type planView struct {
	ExecutionID string     `json:"execution_id"`
	Tasks       []planTask `json:"tasks"`
	UpdatedAt   abi.Time   `json:"updated_at"`
}

// planTasksOf returns the steps of a plan in their order.
func planTasksOf(steps []abi.PlannedStep) []planTask {
	all := make([]planTask, len(steps))
	for i, s := range steps {
		all[i] = planTask{ID: s.ID, Content: s.Content, Status: string(s.Status), Order: i}
		if s.Status == abi.StepSkipped {
			all[i].Status, all[i].Skipped = string(abi.StepCompleted), true
		}
	}
	return all
}

type planAnswer struct {
	Plan planView `json:"plan"`
}

func planOf(view api.View) (planAnswer, error) {
	p, err := as[abi.Plan](view)
	return planAnswer{planView{p.TaskID, planTasksOf(p.Steps), p.UpdatedAt}}, err
}

// execution finds the execution that the path names, in a harness.
func (a *Adapter) execution(r *gateway.Request, h *abi.Harness) (string, error) {
	id := r.PathValue("executionId")
	view, err := a.core.Get(r.Context(), r.Caller, abi.ObjectTask, id)
	if err != nil {
		return "", err
	}
	if task, err := as[abi.Task](view); err != nil || task.WorkspaceID != h.WorkspaceID {
		return "", cmp.Or(err, error(abi.NotFound(abi.ObjectTask, id)))
	}
	return id, nil
}

// plan reads the plan that the path names.
func (a *Adapter) plan(r *gateway.Request, h *abi.Harness) (planAnswer, error) {
	id, err := a.execution(r, h)
	if err != nil {
		return planAnswer{}, err
	}
	view, err := a.core.Plan(r.Context(), r.Caller, id)
	if err != nil {
		return planAnswer{}, err
	}
	return planOf(view)
}

func (a *Adapter) getPlan(r *gateway.Request, h *abi.Harness) error {
	p, err := a.plan(r, h)
	if err != nil {
		return err
	}
	return send(r, statusOK, &p)
}

type planTasksAnswer struct {
	Tasks []planTask `json:"tasks"`
}

func (a *Adapter) listPlanTasks(r *gateway.Request, h *abi.Harness) error {
	status, err := oneOf(r, "status", string(abi.StepPending), string(abi.StepInProgress), string(abi.StepCompleted))
	if err != nil {
		return err
	}
	p, err := a.plan(r, h)
	if err != nil {
		return err
	}
	tasks := slices.DeleteFunc(p.Plan.Tasks, func(t planTask) bool { return status != "" && t.Status != status })
	return send(r, statusOK, planTasksAnswer{tasks})
}

type updatePlanRequest struct {
	Tasks []planTask `json:"tasks" maxItems:"200"`
}

// updatePlan replaces the steps, in the order that they say.
func (a *Adapter) updatePlan(r *gateway.Request, h *abi.Harness) error {
	req, retry, err := decode[updatePlanRequest](r)
	if err != nil {
		return err
	}
	if req.Tasks == nil {
		return a.getPlan(r, h)
	}
	id, err := a.execution(r, h)
	if err != nil {
		return err
	}
	slices.SortStableFunc(req.Tasks, func(a, b planTask) int { return cmp.Compare(a.Order, b.Order) })
	steps := make([]abi.PlannedStep, len(req.Tasks))
	for i, t := range req.Tasks {
		if steps[i] = (abi.PlannedStep{ID: t.ID, Content: t.Content, Status: abi.StepStatus(t.Status)}); t.Skipped && t.Status == string(abi.StepCompleted) {
			steps[i].Status = abi.StepSkipped
		}
	}
	view, err := a.core.UpdatePlan(r.Context(), r.Caller, retry, id, abi.UpdatePlanRequest{Steps: steps})
	if wrong, ok := errors.AsType[*abi.Error](err); ok {
		wrong.Param = strings.Replace(wrong.Param, "steps", "tasks", 1)
	}
	if err != nil {
		return err
	}
	p, err := planOf(view)
	if err != nil {
		return err
	}
	return sent(r, statusOK, view, &p)
}

type updatePlanTaskRequest struct {
	Content *string         `json:"content"`
	Status  *abi.StepStatus `json:"status"`
}

type planTaskAnswer struct {
	Task planTask `json:"task"`
}

func (a *Adapter) updatePlanTask(r *gateway.Request, h *abi.Harness) error {
	req, retry, err := decode[updatePlanTaskRequest](r)
	if err != nil {
		return err
	}
	id, err := a.execution(r, h)
	if err != nil {
		return err
	}
	step := r.PathValue("taskId")
	view, err := a.core.UpdatePlanStep(r.Context(), r.Caller, retry, id, step, abi.UpdatePlanStepRequest{Content: req.Content, Status: req.Status})
	if err != nil {
		return err
	}
	p, err := planOf(view)
	if err != nil {
		return err
	}
	for _, t := range p.Plan.Tasks {
		if t.ID == step {
			return sent(r, statusOK, view, planTaskAnswer{t})
		}
	}
	return abi.Errorf(abi.CodeResourceNotFound, "the plan has no step %q any more", step)
}

// planEvent is a change of a plan.
type planEvent struct {
	Type    string    `json:"type"`
	Task    *planTask `json:"task,omitzero"`
	TaskID  string    `json:"task_id,omitzero"`
	TaskIDs []string  `json:"task_ids,omitzero"`
}

// planEvents returns what has changed from one plan to the next: what was removed, added and
// changed, and last whether what has stayed is in another order.
func planEvents(before, after []planTask) (all []planEvent) {
	find := func(in []planTask, id string) *planTask {
		if i := slices.IndexFunc(in, func(t planTask) bool { return t.ID == id }); i >= 0 {
			return &in[i]
		}
		return nil
	}
	stayed := []string{}
	for i := range before {
		if id := before[i].ID; find(after, id) == nil {
			all = append(all, planEvent{Type: "task.removed", TaskID: id})
		} else {
			stayed = append(stayed, id)
		}
	}
	var updated []planEvent
	still, ids := []string{}, []string{}
	for i := range after {
		now := &after[i]
		ids = append(ids, now.ID)
		was := find(before, now.ID)
		if was == nil {
			all = append(all, planEvent{Type: "task.added", Task: now})
			continue
		}
		still = append(still, now.ID)
		if was.Content != now.Content || was.Status != now.Status || was.Skipped != now.Skipped {
			updated = append(updated, planEvent{Type: "task.updated", Task: now})
		}
	}
	if all = append(all, updated...); !slices.Equal(stayed, still) {
		all = append(all, planEvent{Type: "plan.reordered", TaskIDs: ids})
	}
	return all
}

// planTeller tells the changes of a plan. It has seen the plan from its beginning, and says nothing of
// what a client was told before.
type planTeller struct {
	last  []planTask
	after api.Cursor // up to here all was told,
	nth   int        // and so many of what comes of that event
}

func (p *planTeller) tell(b []byte, ev *api.Event) ([]byte, bool) {
	var logged struct {
		Kind    abi.EventKind `json:"event"`
		Payload struct {
			Plan *abi.Plan `json:"plan"`
		} `json:"payload"`
	}
	if json.Unmarshal(ev.AppendJSON(nil, false), &logged) != nil {
		return b, false
	}
	if logged.Kind != abi.EventPlanChanged || logged.Payload.Plan == nil {
		return b, endsTask(logged.Kind)
	}
	now := planTasksOf(logged.Payload.Plan.Steps)
	for n, change := range planEvents(p.last, now) {
		if ev.At > p.after || ev.At == p.after && n > p.nth {
			id := ev.At.String()
			if n > 0 {
				id += "." + strconv.Itoa(n)
			}
			b = frame(b, id, change.Type, appendJSON(nil, &change))
		}
	}
	p.last = now
	return b, false
}

func endsTask(k abi.EventKind) bool {
	return k == abi.EventTaskCompleted || k == abi.EventTaskFailed || k == abi.EventTaskCanceled
}

// streamPlan tells how the plan has come about and what becomes of it, until the execution has ended.
func (a *Adapter) streamPlan(r *gateway.Request, h *abi.Harness) error {
	id, err := a.execution(r, h)
	if err != nil {
		return err
	}
	after, nth, err := resumeAt(r, 0)
	if err != nil {
		return err
	}
	return a.stream(r, api.Filter{TaskID: id}, 0, &planTeller{after: after, nth: nth})
}
