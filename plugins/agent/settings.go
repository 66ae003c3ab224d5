package main

import (
	"fmt"

	wharf "github.com/wharf-dev/wharf/sdk/go"
)

const defaultPrompt = `You are a careful assistant that works on its own. Do what the user asks for.
Use the tools you have when they help, one step after the other, and look at what they
answer before you go on. When something fails, say so, and do not make anything up.
When you are done, answer the user in plain words.`

const codeSettings = "invalid_settings"

// The values of the setting approve.
const (
	approveDestructive = "destructive" // tools that say they are destructive
	approveAlways      = "always"      // all that are not read-only
	approveNever       = "never"
)

// settings is what the operator can configure for the agent, with the defaults of
// [defaults]. A maximum of 0 is none.
type settings struct {
	prompt       string // system_prompt
	model        string // model: the node's default when it is empty
	approve      string // approve: which tools a person has to approve
	maxTurns     int    // max_turns: questions to the model
	maxToolCalls int    // max_tool_calls: of the whole Task
	maxTokens    int64  // max_tokens: read and written by the model, of the whole Task
	stay         bool   // stay: to wait for more after an answer, and not to end

	// What the Task or its agent asks for.
	context     string // of the Task's Session, and of its own
	temperature *float64
	maxAnswer   int // tokens of one answer
}

func defaults() settings {
	return settings{prompt: defaultPrompt, approve: approveDestructive, maxTurns: 12, maxToolCalls: 50}
}

// configured returns the settings as the operator made them.
func configured() (settings, error) {
	s := defaults()
	for _, setting := range s.named() {
		if _, err := wharf.Config(setting.name, setting.value); err != nil {
			return s, &wharf.Failure{Code: codeSettings, Message: fmt.Sprintf("the setting %s of the agent: %v", setting.name, err)}
		}
	}
	switch s.approve {
	case approveDestructive, approveAlways, approveNever:
		return s, nil
	}
	return s, &wharf.Failure{Code: codeSettings,
		Message: fmt.Sprintf("the setting approve of the agent is %q; it is one of destructive, always and never", s.approve)}
}

// follow takes over what the Task asks for, and else what its agent is: both come before what the
// operator has set.
func (s *settings) follow(run *wharf.RunOptions, agent *wharf.Agent) {
	s.context = run.Context
	s.prompt = first(run.Instructions, agent.Instructions, s.prompt)
	s.model = first(run.Model, agent.Model, s.model)
	s.temperature = first(run.Temperature, agent.Temperature)
	s.maxAnswer = first(run.MaxTokens, agent.MaxTokens)
}

// first returns the first value that says something.
func first[T comparable](values ...T) (found T) {
	for _, v := range values {
		if v != found {
			return v
		}
	}
	return found
}

// setting is where the value of a setting goes.
type setting struct {
	name  string
	value any
}

func (s *settings) named() []setting {
	return []setting{
		{"system_prompt", &s.prompt}, {"model", &s.model}, {"approve", &s.approve},
		{"max_turns", &s.maxTurns}, {"max_tool_calls", &s.maxToolCalls}, {"max_tokens", &s.maxTokens}, {"stay", &s.stay},
	}
}

// asksFor reports whether a person has to approve a call of the tool.
func (s settings) asksFor(t wharf.Tool) bool {
	switch s.approve {
	case approveNever:
		return false
	case approveAlways:
		return !t.ReadOnly
	}
	return t.Destructive && !t.ReadOnly
}
