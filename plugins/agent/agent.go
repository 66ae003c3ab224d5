package main

import (
	"errors"
	"fmt"
	"strings"

	wharf "github.com/wharf-dev/wharf/sdk/go"
)

// handle answers a Task.
func handle(task *wharf.Task) (wharf.Result, error) {
	a, err := newAgent(task)
	if err != nil {
		return wharf.Result{}, err
	}
	for a.turns < a.settings.maxTurns || a.settings.maxTurns == 0 {
		answer, err := a.ask()
		if err != nil {
			return wharf.Result{}, err
		}
		if len(answer.ToolCalls) == 0 {
			if more, err := a.goesOn(); !more || err != nil {
				return a.result(answer), err
			}
			continue
		}
		if err := a.callTools(answer.ToolCalls); err != nil {
			return wharf.Result{}, err
		}
		a.turnEnded(&answer)
	}
	return wharf.Result{}, spent("max_turns", a.settings.maxTurns)
}

// agent is the work on one Task.
type agent struct {
	settings settings
	tools    toolbox
	search   toolSearch
	skills   string // what the model is told of its skills
	active   activation
	blocks   blocks
	plan     planned
	inbox    inbox
	messages []wharf.ModelMessage // the conversation so far
	window   window

	turns, toolCalls int
	seen             map[string]bool // ids of tool calls
	usage            wharf.ModelUsage
	cost             float64
}

func newAgent(task *wharf.Task) (*agent, error) {
	s, err := configured()
	if err != nil {
		return nil, err
	}
	s.follow(&task.Run, &task.Persona.Agent)
	tools, err := wharf.ListTools("")
	if err != nil {
		return nil, err
	}
	messages, err := conversation(task)
	if err != nil {
		return nil, err
	}
	a := &agent{settings: s, messages: messages, window: newWindow(len(messages), s.model), seen: map[string]bool{}}
	if err := a.blocks.look(); err != nil {
		return nil, err
	}
	a.tools = newToolbox(usable(tools, task.Skills, a.blocks.none))
	a.skills = skillsSection(task.Skills, a.tools)
	if err := a.search.begin(&a.tools); err != nil {
		return nil, err
	}
	return a, a.active.begin(task.Skills)
}

// spent fails a Task whose budget is used up. What the agent said so far is in the
// transcript.
func spent(setting string, limit int) error {
	return &wharf.Failure{Code: "budget_exhausted",
		Message: fmt.Sprintf("the agent was not done when its budget was spent (%s is %d)", setting, limit),
		Details: fmt.Appendf(nil, `{"limit":%q,"max":%d}`, setting, limit)}
}

// ask puts the conversation to the model, and its answer into the transcript.
func (a *agent) ask() (wharf.ModelAnswer, error) {
	left, err := a.tokensLeft()
	if err != nil {
		return wharf.ModelAnswer{}, err
	}
	if err := a.look(); err != nil {
		return wharf.ModelAnswer{}, err
	}
	a.turns++
	a.turnBegins()
	_ = wharf.Progress(a.fraction(), "asking the model")
	answer, err := a.complete(wharf.ModelRequest{
		CallID: fmt.Sprintf("main:%d", a.turns), Model: a.settings.model, System: a.prompt(),
		Messages: a.messages, Tools: a.offers(), MaxTokens: left, Temperature: a.settings.temperature, Stream: true,
	})
	if err != nil {
		return answer, modelFailure(err)
	}
	a.inbox.shown()
	a.spend(&answer)
	if answer.StopReason == wharf.StopRefusal {
		return answer, &wharf.Failure{Code: "model_refused", Message: "the model declined: " + answer.Text}
	}
	a.messages = append(a.messages, wharf.ModelMessage{Role: "assistant", Text: answer.Text, ToolCalls: answer.ToolCalls})
	return answer, a.say(answer)
}

// spend counts what an answer has cost.
func (a *agent) spend(answer *wharf.ModelAnswer) {
	a.usage.InputTokens += answer.Usage.InputTokens
	a.usage.OutputTokens += answer.Usage.OutputTokens
	a.cost += answer.Cost
}

// look reads before a turn what others may have changed since the one before.
func (a *agent) look() error {
	if _, err := a.takeInbox(wharf.AtStep, false); err != nil {
		return err
	}
	if err := a.plan.look(); err != nil || a.turns == 0 {
		return err // the blocks were read when the Task began
	}
	return a.blocks.look()
}

// tokensLeft returns how many tokens the model may still write; 0 for no limit.
func (a *agent) tokensLeft() (int, error) {
	if a.settings.maxTokens == 0 {
		return a.settings.maxAnswer, nil
	}
	left := a.settings.maxTokens - a.usage.InputTokens - a.usage.OutputTokens
	if left <= 0 {
		return 0, spent("max_tokens", int(a.settings.maxTokens))
	}
	if a.settings.maxAnswer > 0 {
		left = min(left, int64(a.settings.maxAnswer))
	}
	return int(left), nil
}

// fraction is how much of the turns is used, which is all that is known of how far
// the agent is.
func (a *agent) fraction() float64 {
	if a.settings.maxTurns == 0 {
		return 0
	}
	return float64(a.turns-1) / float64(a.settings.maxTurns)
}

// modelFailure keeps the host's code: it tells the operator what to configure.
func modelFailure(err error) error {
	var refused *wharf.Error
	if errors.As(err, &refused) && refused.Code != "" {
		return &wharf.Failure{Code: refused.Code, Message: refused.Message}
	}
	return err
}

// say appends what the model answered: its text for everybody, its wishes for those
// who may see internals.
func (a *agent) say(answer wharf.ModelAnswer) error {
	m := wharf.Message{Role: "assistant"}
	if answer.Text != "" || len(answer.ToolCalls) == 0 {
		m.Parts = append(m.Parts, wharf.TextPart(answer.Text))
	}
	for _, c := range answer.ToolCalls {
		m.Parts = append(m.Parts, wharf.ToolCallPart(c.ID, c.Name, c.Arguments))
	}
	_, err := wharf.AppendMessage(m)
	return err
}

// maxSummary is the length of a summary, in characters.
const maxSummary = 200

// firstLine returns the beginning of a text, as a summary.
func firstLine(text string) string {
	summary, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	if long := []rune(summary); len(long) > maxSummary {
		summary = string(long[:maxSummary-1]) + "…"
	}
	return summary
}

func (a *agent) result(answer wharf.ModelAnswer) wharf.Result {
	result := wharf.Result{Summary: firstLine(answer.Text)}
	if answer.StopReason == wharf.StopLength {
		result.Summary, result.StopReason = "(cut off) "+result.Summary, wharf.StopLength
	}
	result.Metrics = map[string]float64{
		"turns": float64(a.turns), "tool_calls": float64(a.toolCalls), "cost": a.cost,
		"input_tokens": float64(a.usage.InputTokens), "output_tokens": float64(a.usage.OutputTokens),
	}
	return result
}
