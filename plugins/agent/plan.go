package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	wharf "github.com/wharf-dev/wharf/sdk/go"
)

// planned is the plan of the Task, as the model knows it. A model that makes none has the list of
// its tool calls told as one.
type planned struct {
	wharf.Plan
	there   bool // there is a plan: it is asked for before each turn
	changed bool // somebody else has changed it since the model was told last
}

// look reads the plan before a turn, with what people have changed.
func (p *planned) look() error {
	if !p.there {
		return nil
	}
	now, err := wharf.CurrentPlan()
	if errors.Is(err, wharf.StatusDenied) { // by a Persona of before there were plans
		return nil
	}
	if err != nil {
		return err
	}
	p.changed = now.Version != p.Version
	p.Plan = now
	return nil
}

// section is what the prompt says of the plan.
func (p *planned) section() string {
	if !p.there {
		return ""
	}
	var b strings.Builder
	b.WriteString("The plan of this task, which the user sees and may change:")
	for i, s := range p.Steps {
		fmt.Fprintf(&b, "\n%d. [%s] %s (id %s)", i+1, s.Status, s.Content, s.ID)
	}
	if len(p.Steps) == 0 {
		b.WriteString("\nIt has no steps.")
	}
	if p.changed {
		fmt.Fprintf(&b, "\n%s has changed it. Go by the plan as it is now.", p.ChangedBy)
	}
	return b.String()
}

// setsPlan reports whether a tool is the one that sets the plan.
func setsPlan(t wharf.Tool) bool { return t.Server == "host" && t.Name == "plan_set" }

// from puts into the arguments of that tool which plan the model has seen: when somebody has
// changed it meanwhile, nothing is lost.
func (p *planned) from(arguments json.RawMessage) json.RawMessage {
	var members map[string]json.RawMessage
	if json.Unmarshal(arguments, &members) != nil || members == nil {
		return arguments // the host says what is wrong
	}
	members["version"] = fmt.Appendf(nil, "%d", p.Version)
	with, err := json.Marshal(members)
	if err != nil {
		return arguments
	}
	return with
}

// take takes over what has become of a call of that tool.
func (p *planned) take(answer wharf.ToolAnswer, err error) {
	var refused *wharf.Error
	if errors.As(err, &refused) && refused.Code == wharf.CodePlanChanged {
		p.there = true // the next turn is told what it is now
	}
	var now wharf.Plan
	if err == nil && json.Unmarshal([]byte(answer.Text()), &now) == nil {
		p.Plan, p.there = now, true
	}
}
