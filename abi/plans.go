package abi

import (
	"fmt"
	"slices"
	"unicode/utf8"
)

// Plan is what a Task means to do, and how far it got. The plugin sets it, and so do people, as
// long as the Task has not ended. A Task without one has an empty plan of version 0.
type Plan struct {
	Envelope    `json:",inline"`
	WorkspaceID string `json:"workspace_id"`
	SessionID   string `json:"session_id"`
	TaskID      string `json:"task_id"`
	// Version counts the changes, from 1. Whoever states it with a change changes nothing when
	// somebody else was faster.
	Version   int64         `json:"version"`
	ChangedBy string        `json:"changed_by,omitzero"` // the actor of the last change
	Steps     []PlannedStep `json:"steps"`               // in their order
}

// PlannedStep is one step of a [Plan].
type PlannedStep struct {
	ID      string     `json:"id,omitzero"` // unique in its plan; the host makes one where there is none
	Content string     `json:"content"`     // what is to be done
	Status  StepStatus `json:"status"`
}

// StepStatus says how far a step of a plan is.
type StepStatus string

// How far a step can be.
const (
	StepPending    StepStatus = "pending"
	StepInProgress StepStatus = "in_progress"
	StepCompleted  StepStatus = "completed"
	StepSkipped    StepStatus = "skipped"
)

// UpdatePlanRequest replaces the steps of a Task's plan.
type UpdatePlanRequest struct {
	Steps []PlannedStep `json:"steps" maxItems:"200"`
	// Version is that of the plan which is to be replaced; left out for whatever is there.
	Version *int64 `json:"version,omitzero"`
}

// UpdatePlanStepRequest changes one step of a Task's plan. Nil members stay as they are.
type UpdatePlanStepRequest struct {
	Content *string     `json:"content,omitzero"`
	Status  *StepStatus `json:"status,omitzero"`
}

// The bounds of a plan.
const (
	MaxPlannedSteps = 200
	MaxStepContent  = 2000 // characters of what one step is to do
)

// PlanSteps returns the steps of a list as a plan has them: those that came without an id get one
// that follows from seed and their place. The error is an [*Error].
func PlanSteps(list []PlannedStep, seed string) ([]PlannedStep, error) {
	if len(list) > MaxPlannedSteps {
		return nil, InvalidParam("steps", "a plan has at most %d steps", MaxPlannedSteps)
	}
	taken := map[string]bool{}
	for i := range list {
		if err := list[i].check(taken); err != nil {
			err.Param = fmt.Sprintf("steps.%d.%s", i, err.Param)
			return nil, err
		}
	}
	steps := slices.Concat([]PlannedStep{}, list)
	for i := range steps {
		if steps[i].ID == "" {
			steps[i].ID = freeID(fmt.Sprintf("step_%s_%d", seed, i+1), taken)
		}
	}
	return steps, nil
}

// check refuses a step that does not fit, and takes its id.
func (s *PlannedStep) check(taken map[string]bool) *Error {
	switch {
	case len(s.ID) > MaxIDLen || !ValidName(s.ID):
		return InvalidParam("id", "an id is 1 to %d characters A-Z a-z 0-9 _ - .", MaxIDLen)
	case s.ID != "" && taken[s.ID]:
		return InvalidParam("id", "another step has the id %q", s.ID)
	case s.Content == "" || utf8.RuneCountInString(s.Content) > MaxStepContent:
		return InvalidParam("content", "content is 1 to %d characters", MaxStepContent)
	}
	taken[s.ID] = true
	switch s.Status {
	case StepPending, StepInProgress, StepCompleted, StepSkipped:
		return nil
	}
	return InvalidParam("status", "%q is not a status: one of pending, in_progress, completed, skipped", s.Status)
}

func freeID(id string, taken map[string]bool) string {
	for taken[id] {
		id += "_"
	}
	taken[id] = true
	return id
}
