package main

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	wharf "github.com/wharf-dev/wharf/sdk/go"
	"github.com/wharf-dev/wharf/sdk/go/wharftest"
)

// planning is an office whose host has the tool that sets plans. between is called after each
// answer of the model.
func planning(between func(h *wharftest.Host, turn int), answers ...wharf.ModelAnswer) (*wharftest.Host, *scripted) {
	h, model := office(answers...)
	h.Tools = append(h.Tools, wharf.Tool{Server: "host", Name: "plan_set"})
	h.Complete = func(r wharf.ModelRequest) (wharf.ModelAnswer, error) {
		answer, err := model.complete(r)
		between(h, len(model.asked))
		return answer, err
	}
	other := h.CallTool
	h.CallTool = func(r wharf.ToolRequest) (wharf.ToolAnswer, error) {
		if r.Name != "plan_set" {
			return other(r)
		}
		var asked struct {
			Tasks   []wharf.Step `json:"tasks"`
			Version *int64       `json:"version"`
		}
		if err := json.Unmarshal(r.Arguments, &asked); err != nil {
			return wharf.ToolAnswer{}, err
		}
		if asked.Version == nil || *asked.Version != h.Plan.Version {
			return wharf.ToolAnswer{}, &wharf.Error{Status: wharf.StatusInvalid, Code: wharf.CodePlanChanged, Message: "ada has changed the plan"}
		}
		for i := range asked.Tasks {
			asked.Tasks[i].ID = fmt.Sprint("s", i)
		}
		h.Plan = wharf.Plan{Version: h.Plan.Version + 1, ChangedBy: "persona_test", Steps: asked.Tasks}
		text, err := json.Marshal(h.Plan)
		return wharf.ToolAnswer{Content: []wharf.ToolContent{{Type: "text", Text: string(text)}}}, err
	}
	return h, model
}

func nobody(*wharftest.Host, int) {}

const aPlan = `{"tasks":[{"content":"read","status":"in_progress"},{"content":"write","status":"pending"}]}`

// What a person makes of the model's plan is what the model goes by in its next turn.
func TestTheModelSeesWhatPeopleChange(t *testing.T) {
	h, model := planning(func(h *wharftest.Host, turn int) {
		if turn == 2 {
			h.Plan = wharf.Plan{Version: 2, ChangedBy: "ada", Steps: []wharf.Step{{ID: "s0", Content: "read twice", Status: "completed"}}}
		}
	}, wants(toolCall("c1", "host__plan_set", aPlan)), wants(toolCall("c2", "files__read_file", `{}`)), says("Done."))
	h.Config = map[string]any{"approve": "always"} // a plan needs no approval
	if outcome := h.Text(handle, "go"); outcome.Failure != nil {
		t.Fatal(outcome.Failure)
	}
	if model.asked[0].System != defaultPrompt {
		t.Errorf("before there is a plan the prompt is %q", model.asked[0].System)
	}
	if got := model.asked[1].System; !strings.HasPrefix(got, defaultPrompt+"\n\n") || !strings.Contains(got, "1. [in_progress] read (id s0)\n2. [pending] write (id s1)") || strings.Contains(got, "has changed it") {
		t.Errorf("the plan is told as %q", got)
	}
	if got := model.asked[2].System; !strings.Contains(got, "1. [completed] read twice (id s0)\nada has changed it.") {
		t.Errorf("after the change it is told as %q", got)
	}
	if len(h.Plans) != 1 {
		t.Errorf("beside the model's own plan its tool calls are told as one: %v", h.Plans)
	}
}

// A plan that somebody has changed in the same turn is not lost: the model is told, and sees it.
func TestTheModelIsOvertaken(t *testing.T) {
	h, model := planning(func(h *wharftest.Host, turn int) {
		if turn == 1 {
			h.Plan = wharf.Plan{Version: 1, ChangedBy: "ada", Steps: []wharf.Step{{ID: "a", Content: "hers", Status: "pending"}}}
		}
	}, wants(toolCall("c1", "host__plan_set", aPlan)), wants(toolCall("c2", "host__plan_set", aPlan)), says("Done."))
	h.Text(handle, "go")
	last := model.asked[1].Messages[len(model.asked[1].Messages)-1]
	if !last.IsError || !strings.Contains(last.Text, "ada has changed the plan") || !strings.Contains(model.asked[1].System, "[pending] hers (id a)") {
		t.Errorf("the model is told %+v and %q", last, model.asked[1].System)
	}
	if h.Plan.Version != 2 || len(h.Plan.Steps) != 2 {
		t.Errorf("then the plan is %+v", h.Plan)
	}
}

// A Task without a plan asks the host for none, and one whose Persona may not ask goes on.
func TestNoPlanCostsNothing(t *testing.T) {
	h, _ := planning(nobody, wants(toolCall("c1", "files__read_file", `{}`)), says("Done."))
	if h.Text(handle, "go"); slices.Contains(h.Calls, "plan.get") {
		t.Errorf("the host was asked %v", h.Calls)
	}
	h, _ = planning(nobody, wants(toolCall("c1", "host__plan_set", aPlan)), wants(toolCall("c2", "host__plan_set", `[]`)), says("Done."))
	h.Refuse = map[string]*wharf.Error{"plan.get": {Status: wharf.StatusDenied, Code: "capability_denied", Message: "no"}}
	if outcome := h.Text(handle, "go"); outcome.Failure != nil || outcome.Summary != "Done." {
		t.Errorf("%+v", outcome)
	}
}
