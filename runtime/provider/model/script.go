package model

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	json "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/abi/plainly"
	"github.com/wharf-dev/wharf/runtime/provider"
)

// Script is canned answers: the provider for tests, demonstrations and work
// without a network. Its file is a JSON array of steps:
//
//	[
//	  {"match": {"user": "weather"},
//	   "answer": {"tool_calls": [{"name": "forecast", "arguments": {"city": "Oslo"}}]}},
//	  {"match": {"user": "weather"}, "answer": {"text": "Rain, all day."}},
//	  {"error": {"status": 503, "message": "busy"}, "times": 2},
//	  {"answer": {"text": "Hello!", "usage": {"input_tokens": 12, "output_tokens": 3}}, "times": -1}
//	]
//
// Which step answers a call follows from the call alone, and never from what was
// asked before: Tasks do not take each other's answers, and a call that is made
// again after a crash, or in a fork, is answered the same.
//
//   - match says which calls a step is for. All members that it has must fit: user
//     is a part of the last message of the user, call_id is the call's, model is the
//     configured name of the model. A step without match is for calls that no step
//     with a match is for.
//   - Steps with a match answer the turns of an agent: with n messages of the
//     assistant since the last one of the user, the n-th of them, from 0.
//   - Steps without match answer a Task's calls of llm.complete in their order.
//     Where the engine does not number the calls, they too are taken by turns.
//   - times repeats a step; -1 is without end, 0 and 1 are once.
//   - An error has the HTTP status of a provider. One that is tried again (408, 429
//     and from 500) belongs to the answer after it, whose first attempts it fails;
//     any other takes the place of an answer.
//
// Past the end the call fails with the code "script_exhausted".
type Script struct {
	steps []scriptStep
}

type scriptStep struct {
	Match  *scriptMatch  `json:"match,omitzero"`
	Answer *scriptAnswer `json:"answer,omitzero"`
	Error  *scriptError  `json:"error,omitzero"`
	Times  int           `json:"times,omitzero"`
}

type scriptMatch struct {
	User   string `json:"user,omitzero"`
	CallID string `json:"call_id,omitzero"`
	Model  string `json:"model,omitzero"`
}

type scriptAnswer struct {
	Text       string           `json:"text,omitzero"`
	ToolCalls  []scriptToolCall `json:"tool_calls,omitzero"`
	StopReason abi.StopReason   `json:"stop_reason,omitzero"`
	Usage      abi.ModelUsage   `json:"usage,omitzero"`
}

type scriptToolCall struct {
	ID        string         `json:"id,omitzero"`
	Name      string         `json:"name"`
	Arguments jsontext.Value `json:"arguments,omitzero"`
}

type scriptError struct {
	Status  int    `json:"status"`
	Message string `json:"message,omitzero"`
}

// errExhausted says that a script has no step for a call.
var errExhausted = errors.New("the script has no further answer for this call")

// loadScript reads the script, where a model needs one.
func (c *Config) loadScript() (*Script, error) {
	for _, model := range c.Models {
		if model.Provider == ProviderScript {
			return LoadScript(c.Script)
		}
	}
	return nil, nil
}

// LoadScript reads a script from a file.
func LoadScript(path string) (*Script, error) {
	body, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("reading the script of answers: %w", err)
	}
	s, err := ParseScript(body)
	if err != nil {
		return nil, fmt.Errorf("the script of answers %s: %w", path, err)
	}
	return s, nil
}

// ParseScript reads a script.
func ParseScript(body []byte) (*Script, error) {
	var s Script
	if err := json.Unmarshal(body, &s.steps, json.RejectUnknownMembers(true)); err != nil {
		return nil, errors.New(plainly.Say(err))
	}
	for i := range s.steps {
		if err := s.steps[i].validate(); err != nil {
			return nil, fmt.Errorf("step %d: %w", i+1, err)
		}
	}
	return &s, nil
}

func (s *scriptStep) validate() error {
	switch {
	case (s.Answer == nil) == (s.Error == nil):
		return fmt.Errorf("it has either an answer or an error")
	case s.Match != nil && *s.Match == scriptMatch{}:
		return fmt.Errorf("match is empty: leave it out, or name user, call_id or model")
	case s.Times < -1:
		return fmt.Errorf("times is %d; it is -1 or more", s.Times)
	case s.Error != nil && (s.Error.Status < 400 || s.Error.Status > 599):
		return fmt.Errorf("the status of an error is 400 to 599, not %d", s.Error.Status)
	case s.Error != nil:
		return nil
	}
	for i, c := range s.Answer.ToolCalls {
		if c.Name == "" {
			return fmt.Errorf("tool_calls[%d]: the name is missing", i)
		}
	}
	switch s.Answer.StopReason {
	case "", abi.StopEnd, abi.StopTools, abi.StopLength, abi.StopRefusal:
		return nil
	}
	return fmt.Errorf("the stop reason %q is none of end, tools, length and refusal", s.Answer.StopReason)
}

// complete implements backend.
func (s *Script) complete(_ context.Context, a *ask) (*reply, error) {
	step := s.find(a)
	if step == nil {
		return nil, errExhausted
	}
	if step.Error != nil {
		return nil, &statusError{code: step.Error.Status, message: step.Error.Message, tooLong: tooLong(step.Error.Status, []byte(step.Error.Message))}
	}
	return step.Answer.give(a), nil
}

// find returns the step for an attempt; nil when there is none.
func (s *Script) find(a *ask) *scriptStep {
	steps, index := s.matching(a)
	var before failing
	for _, step := range steps {
		if step.Error != nil && step.Error.passes() {
			before = append(before, step)
			continue
		}
		if index -= step.count(index); index < 0 {
			return before.or(step, a.attempt)
		}
		before = nil
	}
	if index == 0 && len(before) > 0 {
		return before.or(before[len(before)-1], a.attempt)
	}
	return nil
}

// count returns how many calls a step answers, at least one more than index for
// one without end.
func (s *scriptStep) count(index int) int {
	if s.Times < 0 {
		return index + 1
	}
	return max(s.Times, 1)
}

// passes reports whether an error is tried again.
func (e *scriptError) passes() bool {
	return (&statusError{code: e.Status}).failure("").retry
}

// failing are the errors that the first attempts of a call get.
type failing []*scriptStep

// or returns the error for an attempt, or step when all have been given.
func (f failing) or(step *scriptStep, attempt int) *scriptStep {
	for _, e := range f {
		if attempt -= e.count(attempt); attempt < 0 {
			return e
		}
	}
	return step
}

// matching returns the steps that are for a call, and the index of the call
// among them.
func (s *Script) matching(a *ask) ([]*scriptStep, int) {
	var matched, rest []*scriptStep
	for i := range s.steps {
		switch step := &s.steps[i]; {
		case step.Match == nil:
			rest = append(rest, step)
		case step.Match.fits(a):
			matched = append(matched, step)
		}
	}
	if matched != nil {
		return matched, turn(a.request)
	}
	return rest, number(a.call, a.request)
}

func (m *scriptMatch) fits(a *ask) bool {
	return (m.User == "" || strings.Contains(lastUser(a.request), m.User)) &&
		(m.CallID == "" || m.CallID == a.request.CallID) &&
		(m.Model == "" || m.Model == a.name)
}

func lastUser(r *abi.ModelRequest) string {
	for i := len(r.Messages) - 1; i >= 0; i-- {
		if r.Messages[i].Role == "user" {
			return r.Messages[i].Text
		}
	}
	return ""
}

// turn counts the messages of the assistant since the last one of the user.
func turn(r *abi.ModelRequest) int {
	n := 0
	for i := len(r.Messages) - 1; i >= 0 && r.Messages[i].Role != "user"; i-- {
		if r.Messages[i].Role == "assistant" {
			n++
		}
	}
	return n
}

func number(c *provider.Call, r *abi.ModelRequest) int {
	if c.Number == 0 {
		return turn(r)
	}
	return c.Number - 1
}

func (s *scriptAnswer) give(a *ask) *reply {
	for _, word := range strings.SplitAfter(s.Text, " ") {
		a.text.write(word)
	}
	r := &reply{stop: s.StopReason, usage: s.Usage}
	for _, c := range s.ToolCalls {
		r.calls = append(r.calls, toolCall{c.ID, c.Name, string(c.Arguments)})
	}
	if r.stop == "" {
		r.stop = abi.StopEnd
	}
	return r
}
