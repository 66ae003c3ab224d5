package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	wharf "github.com/wharf-dev/wharf/sdk/go"
)

// toolbox is what the model can ask for, by the names that it is told.
type toolbox struct {
	offered []wharf.ModelTool
	byName  map[string]wharf.Tool
}

// maxName is how long the names of tools are with every provider.
const maxName = 64

func newToolbox(tools []wharf.Tool) toolbox {
	box := toolbox{byName: map[string]wharf.Tool{}}
	for _, t := range tools {
		name := box.free(safeName(t.Server + "__" + t.Name))
		box.byName[name] = t
		box.offered = append(box.offered, wharf.ModelTool{Name: name, Description: t.Description, InputSchema: t.InputSchema})
	}
	return box
}

// safeName replaces what providers do not take in names.
func safeName(name string) string {
	return strings.Map(func(c rune) rune {
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', c == '_', c == '-':
			return c
		}
		return '_'
	}, name[:min(len(name), maxName)])
}

// free returns the name, or one like it that is not taken.
func (b toolbox) free(name string) string {
	for n, base := 2, name; ; n++ {
		if _, taken := b.byName[name]; !taken {
			return name
		}
		suffix := fmt.Sprintf("_%d", n)
		name = base[:min(len(base), maxName-len(suffix))] + suffix
	}
}

// callTools makes the calls that the model wants, one after the other, and puts what
// came of them into the conversation and the transcript.
func (a *agent) callTools(calls []wharf.ModelToolCall) error {
	for i, c := range calls {
		if a.toolCalls++; a.settings.maxToolCalls > 0 && a.toolCalls > a.settings.maxToolCalls {
			return spent("max_tool_calls", a.settings.maxToolCalls)
		}
		if !a.plan.there {
			_ = wharf.SetPlan(plan(calls, i)...)
		}
		output, text, failed := a.call(c)
		a.messages = append(a.messages, wharf.ModelMessage{Role: "tool", ToolCallID: c.ID, Text: text, IsError: failed})
		_, err := wharf.AppendMessage(wharf.Message{Role: "tool", Parts: []wharf.Part{wharf.ToolResultPart(c.ID, output, failed)}})
		if err != nil {
			return err
		}
	}
	return nil
}

func plan(calls []wharf.ModelToolCall, current int) []wharf.PlanStep {
	steps := make([]wharf.PlanStep, len(calls))
	for i, c := range calls {
		steps[i] = wharf.PlanStep{Title: "call " + c.Name, Status: "pending"}
		if i < current {
			steps[i].Status = "completed"
		}
	}
	steps[current].Status = "in_progress"
	return steps
}

// call makes one call. Whatever goes wrong is told to the model, which may try
// something else.
func (a *agent) call(c wharf.ModelToolCall) (output json.RawMessage, text string, failed bool) {
	answer, err := a.attempt(c)
	if err != nil {
		return quoted(err.Error()), err.Error(), true
	}
	text = clipped(answer.Text())
	output = answer.Structured
	if text == "" {
		text = clipped(string(answer.Structured))
	}
	if output == nil {
		output = quoted(text)
	}
	return output, text, answer.IsError
}

func (a *agent) attempt(c wharf.ModelToolCall) (wharf.ToolAnswer, error) {
	if c.Name == searchTool && a.search.strategy != "" {
		return a.search.call(c, &a.tools)
	}
	tool, ok := a.tools.byName[c.Name]
	if !ok {
		return wharf.ToolAnswer{}, fmt.Errorf("there is no tool %q", c.Name)
	}
	if !a.active.offers(c.Name) {
		return wharf.ToolAnswer{}, fmt.Errorf("no skill that is active asks for the tool %q", c.Name)
	}
	a.active.saw(tool, c.Arguments)
	arguments, err := a.approved(tool, c)
	if err != nil {
		return wharf.ToolAnswer{}, err
	}
	switch {
	case setsPlan(tool):
		arguments = a.plan.from(arguments)
	case replacesBlocks(tool):
		arguments = a.blocks.from(arguments)
	}
	answer, err := wharf.CallTool(wharf.ToolRequest{
		CallID: a.callID(c), Server: tool.Server, Name: tool.Name, Arguments: arguments,
	})
	switch {
	case setsPlan(tool):
		a.plan.take(answer, err)
	case err == nil && replacesBlocks(tool):
		a.blocks.take(answer)
	}
	if errors.Is(err, wharf.StatusIndeterminate) {
		return answer, fmt.Errorf("%w: it may have been done or not; find out before you do it again", err)
	}
	return answer, err
}

// callID is what a replay calls the call: as the model does, unless it gave that
// name before.
func (a *agent) callID(c wharf.ModelToolCall) string {
	id := c.ID
	if a.seen[id] {
		id = fmt.Sprintf("%s:%d", id, a.toolCalls)
	}
	a.seen[id] = true
	return id
}

// approved returns the arguments to call a tool with, after asking a person where
// that is due.
func (a *agent) approved(tool wharf.Tool, c wharf.ModelToolCall) (json.RawMessage, error) {
	if setsPlan(tool) || !a.settings.asksFor(tool) { // a plan is for the user, who may change it
		return c.Arguments, nil
	}
	decision, err := wharf.RequestApproval(wharf.ApprovalRequest{
		Action:    tool.Server + "." + tool.Name,
		Prompt:    fmt.Sprintf("The agent wants to call %s of %s.", tool.Name, tool.Server),
		Arguments: c.Arguments,
	})
	switch {
	case err != nil:
		return nil, err
	case decision.Decision != wharf.DecisionApproved:
		return nil, fmt.Errorf("the call was not approved (%s) %s", decision.Decision, decision.Reason)
	case decision.Arguments != nil:
		return decision.Arguments, nil
	}
	return c.Arguments, nil
}

// maxToolText is how much of a tool's answer the model is shown, in bytes.
const maxToolText = 64 << 10

func clipped(text string) string {
	if len(text) <= maxToolText {
		return text
	}
	return strings.ToValidUTF8(text[:maxToolText], "") + fmt.Sprintf("\n[%d more bytes]", len(text)-maxToolText)
}

func quoted(text string) json.RawMessage {
	b, err := json.Marshal(text)
	if err != nil {
		panic(err) // a string can always be encoded
	}
	return b
}
