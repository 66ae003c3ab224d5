package wharf

import "github.com/wharf-dev/wharf/sdk/go/internal/hostcall"

// Plan is what the Task means to do, and how far it got. The user sees it, and may change it.
type Plan struct {
	Version   int64  `json:"version"`    // it counts the changes; 0 for no plan
	ChangedBy string `json:"changed_by"` // the actor of the last change
	Steps     []Step `json:"steps"`
}

// Step is one step of a [Plan]. Status is pending, in_progress, completed or skipped.
type Step struct {
	ID      string `json:"id,omitempty"` // the host makes one where there is none
	Content string `json:"content"`
	Status  string `json:"status"`
}

// CodePlanChanged is the code of the [Error] of [ReplacePlan] when somebody else was faster.
const CodePlanChanged = "plan_changed"

// ReplacePlan sets the Task's plan and returns it with the ids of its steps. version is that of the
// plan which it replaces: when somebody has changed that meanwhile, nothing happens. A negative
// version stands for whatever is there.
func ReplacePlan(version int64, steps ...Step) (Plan, error) {
	request := struct {
		Steps   []Step `json:"steps"`
		Version *int64 `json:"version,omitempty"`
	}{Steps: steps}
	if version >= 0 {
		request.Version = &version
	}
	if steps == nil {
		request.Steps = []Step{}
	}
	var plan Plan
	err := ask(hostcall.NamePlanSet, hostcall.PlanSet, request, &plan)
	return plan, err
}

// CurrentPlan returns the Task's plan as it is now, with what people have changed.
func CurrentPlan() (Plan, error) {
	var plan Plan
	err := ask(hostcall.NamePlanGet, hostcall.PlanGet, struct{}{}, &plan)
	return plan, err
}
