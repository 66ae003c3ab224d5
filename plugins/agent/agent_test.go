package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	wharf "github.com/wharf-dev/wharf/sdk/go"
	"github.com/wharf-dev/wharf/sdk/go/wharftest"
)

// scripted is a model that gives the answers in their order, and keeps what it was
// asked.
type scripted struct {
	answers []wharf.ModelAnswer
	asked   []wharf.ModelRequest
}

func (s *scripted) complete(r wharf.ModelRequest) (wharf.ModelAnswer, error) {
	s.asked = append(s.asked, r)
	if len(s.asked) > len(s.answers) {
		return wharf.ModelAnswer{}, errors.New("the script is over")
	}
	return s.answers[len(s.asked)-1], nil
}

func says(text string) wharf.ModelAnswer {
	return wharf.ModelAnswer{Text: text, StopReason: wharf.StopEnd, Usage: wharf.ModelUsage{InputTokens: 10, OutputTokens: 5}, Cost: 0.25}
}

func wants(calls ...wharf.ModelToolCall) wharf.ModelAnswer {
	return wharf.ModelAnswer{ToolCalls: calls, StopReason: wharf.StopTools, Usage: wharf.ModelUsage{InputTokens: 10, OutputTokens: 5}}
}

func toolCall(id, name, arguments string) wharf.ModelToolCall {
	return wharf.ModelToolCall{ID: id, Name: name, Arguments: json.RawMessage(arguments)}
}

// office is a host with two tools, and a model that follows a script.
func office(answers ...wharf.ModelAnswer) (*wharftest.Host, *scripted) {
	model := &scripted{answers: answers}
	return &wharftest.Host{
		Complete: model.complete,
		Tools: []wharf.Tool{
			{Server: "files", Name: "read file", ReadOnly: true, Description: "Reads a file."},
			{Server: "files", Name: "delete", Destructive: true},
		},
		CallTool: func(r wharf.ToolRequest) (wharf.ToolAnswer, error) {
			return wharf.ToolAnswer{Content: []wharf.ToolContent{{Type: "text", Text: r.Name + " " + string(r.Arguments)}}}, nil
		},
	}, model
}

func TestAnswersAtOnce(t *testing.T) {
	h, model := office(says("Four.\nThat is two and two."))
	h.Transcript = []wharf.Message{
		{ID: "m0", Role: "assistant", Parts: []wharf.Part{wharf.TextPart("What was said before is cut off.")}},
		{ID: "m1", Role: "user", Parts: []wharf.Part{wharf.TextPart("Hello")}},
		{ID: "m2", Role: "assistant", Parts: []wharf.Part{wharf.TextPart("Hi!"), wharf.ToolCallPart("c", "files__read_file", json.RawMessage(`{}`))}},
		{ID: "m3", Role: "tool", Parts: []wharf.Part{wharf.ToolResultPart("c", json.RawMessage(`"x"`), false)}},
		{ID: "msg_input", Role: "user", Parts: []wharf.Part{wharf.TextPart("2 + 2?")}},
	}
	outcome := h.Text(handle, "2 + 2?")
	if outcome.Failure != nil || outcome.Summary != "Four." || outcome.Metrics["cost"] != 0.25 || outcome.Metrics["turns"] != 1 {
		t.Errorf("the outcome is %+v", outcome)
	}
	if len(h.Messages) != 1 || h.Messages[0].Text() != "Four.\nThat is two and two." {
		t.Errorf("it said %+v", h.Messages)
	}
	asked := model.asked[0]
	want := []wharf.ModelMessage{{Role: "user", Text: "Hello"}, {Role: "assistant", Text: "Hi!"}, {Role: "user", Text: "2 + 2?"}}
	if got := fmt.Sprint(asked.Messages); got != fmt.Sprint(want) {
		t.Errorf("the model was shown %s, want %v", got, want)
	}
	if asked.CallID != "main:1" || asked.System != defaultPrompt || !asked.Stream || asked.Tools[0].Name != "files__read_file" {
		t.Errorf("the model was asked %+v", asked)
	}
}

// TestOtherInputs holds that what is no Message reaches the model as well.
func TestOtherInputs(t *testing.T) {
	for want, input := range map[string]any{
		`just text`:      map[string]string{"text": "just text"},
		`{"orders":[3]}`: map[string][]int{"orders": {3}},
		"see\n\n{\"a\":1}\n\n[the artifact art_1]": wharf.Message{Role: "user", Parts: []wharf.Part{
			wharf.TextPart("see"), {Type: "json", Value: json.RawMessage(`{"a":1}`), Visibility: "public"}, wharf.ArtifactPart("art_1")}},
	} {
		h, model := office(says("ok"))
		h.Run(handle, input)
		if got := model.asked[0].Messages[0].Text; got != want {
			t.Errorf("the model was asked %q, want %q", got, want)
		}
	}
}

// TestCallsTools holds that tools are called in the order of the model's wishes, and
// that it sees what came of each, what went wrong included.
func TestCallsTools(t *testing.T) {
	h, model := office(
		wants(toolCall("c1", "files__read_file", `{"path":"a"}`), toolCall("c2", "files__write", `{}`)),
		wants(toolCall("c1", "files__read_file", `{"path":"b"}`)),
		says("Done."))
	var requests []wharf.ToolRequest
	answer := h.CallTool
	h.CallTool = func(r wharf.ToolRequest) (wharf.ToolAnswer, error) {
		if requests = append(requests, r); len(requests) == 2 {
			return wharf.ToolAnswer{}, &wharf.Error{Status: wharf.StatusIndeterminate, Code: "indeterminate", Message: "the node restarted"}
		}
		return answer(r)
	}
	outcome := h.Text(handle, "read a and b")
	if outcome.Summary != "Done." || outcome.Metrics["tool_calls"] != 3 || outcome.Metrics["input_tokens"] != 30 {
		t.Fatalf("the outcome is %+v", outcome)
	}
	told := model.asked[2].Messages[1:]
	for i, want := range []string{"", `read file {"path":"a"}`, `there is no tool "files__write"`, "", "may have been done or not"} {
		if !strings.Contains(told[i].Text, want) || told[i].IsError != (i == 2 || i == 4) {
			t.Errorf("message %d is %+v, want %q", i, told[i], want)
		}
	}
	if requests[0].CallID != "c1" || requests[1].CallID != "c1:3" || requests[0].Name != "read file" {
		t.Errorf("the tools were asked %+v", requests)
	}
	roles := ""
	for _, m := range h.Messages {
		roles += m.Role + " "
	}
	if roles != "assistant tool tool assistant tool assistant " {
		t.Errorf("the transcript has %s", roles)
	}
	if h.Plans[1][0].Status != "completed" || h.Plans[1][1].Status != "in_progress" {
		t.Errorf("the plans were %+v", h.Plans)
	}
}

func TestApproval(t *testing.T) {
	destroy := wants(toolCall("c1", "files__delete", `{"path":"a"}`))
	for _, test := range []struct {
		name, setting string
		decision      wharf.Approval
		told          string // "" when nobody is asked
	}{
		{"approved", "", wharf.Approval{Decision: "approved"}, `delete {"path":"a"}`},
		{"changed", "destructive", wharf.Approval{Decision: "approved", Arguments: json.RawMessage(`{"path":"b"}`)}, `delete {"path":"b"}`},
		{"denied", "always", wharf.Approval{Decision: "denied", Reason: "keep it"}, "not approved (denied) keep it"},
		{"never asked", "never", wharf.Approval{}, `delete {"path":"a"}`},
	} {
		t.Run(test.name, func(t *testing.T) {
			h, model := office(destroy, says("ok"))
			if test.setting != "" {
				h.Config = map[string]any{"approve": test.setting}
			}
			var asked []wharf.ApprovalRequest
			h.Approve = func(r wharf.ApprovalRequest) (wharf.Approval, error) {
				asked = append(asked, r)
				return test.decision, nil
			}
			h.Text(handle, "delete a")
			if got := model.asked[1].Messages[2].Text; !strings.Contains(got, test.told) {
				t.Errorf("the model was told %q, want %q", got, test.told)
			}
			if (len(asked) == 0) != (test.setting == "never") {
				t.Errorf("people were asked %+v", asked)
			}
			if len(asked) > 0 && (asked[0].Action != "files.delete" || string(asked[0].Arguments) != `{"path":"a"}`) {
				t.Errorf("the request was %+v", asked[0])
			}
		})
	}
	h, _ := office(wants(toolCall("c1", "files__read_file", `{}`)), says("ok"))
	if h.Text(handle, "read"); slices.Contains(h.Calls, "approval.request") {
		t.Error("reading had to be approved")
	}
}

// TestFails holds that a Task that cannot go on says why, and what to do.
func TestFails(t *testing.T) {
	endless := []wharf.ModelAnswer{}
	for range 20 {
		endless = append(endless, wants(toolCall("c", "files__read_file", `{}`), toolCall("d", "files__read_file", `{}`)))
	}
	noModel := &wharf.Error{Status: wharf.StatusUnavailable, Code: "model_not_configured", Message: "configure models.default"}
	for _, test := range []struct {
		name    string
		answers []wharf.ModelAnswer
		config  map[string]any
		refuse  *wharf.Error
		code    string
		message string
	}{
		{"no model", nil, nil, noModel, "model_not_configured", "configure models.default"},
		{"turns", endless, nil, nil, "budget_exhausted", "max_turns is 12"},
		{"few turns", endless, map[string]any{"max_turns": 1}, nil, "budget_exhausted", "max_turns is 1"},
		{"tool calls", endless, map[string]any{"max_tool_calls": 3}, nil, "budget_exhausted", "max_tool_calls is 3"},
		{"tokens", endless, map[string]any{"max_tokens": 31}, nil, "budget_exhausted", "max_tokens is 31"},
		{"refusal", []wharf.ModelAnswer{{StopReason: wharf.StopRefusal, Text: "no"}}, nil, nil, "model_refused", "declined: no"},
		{"wrong setting", nil, map[string]any{"approve": "sometimes"}, nil, "invalid_settings", "destructive, always and never"},
		{"setting of another type", nil, map[string]any{"max_turns": "many"}, nil, "invalid_settings", "max_turns"},
	} {
		t.Run(test.name, func(t *testing.T) {
			h, _ := office(test.answers...)
			h.Config = test.config
			if test.refuse != nil {
				h.Refuse = map[string]*wharf.Error{"llm.complete": test.refuse}
			}
			failure := h.Text(handle, "go").Failure
			if failure == nil || failure.Code != test.code || !strings.Contains(failure.Message, test.message) {
				t.Errorf("it failed with %v, want %s: %s", failure, test.code, test.message)
			}
		})
	}
}

// TestAsksForNothing holds that the model is not asked about nothing.
func TestAsksForNothing(t *testing.T) {
	h, model := office(says("?"))
	failure := h.Run(handle, wharf.Message{Role: "user", Parts: []wharf.Part{}}).Failure
	if failure == nil || failure.Code != "invalid_input" || len(model.asked) != 0 {
		t.Errorf("it failed with %v after asking %v", failure, model.asked)
	}
}

// TestTokensLeft holds that the model is never asked for more than is left.
func TestTokensLeft(t *testing.T) {
	h, model := office(wants(toolCall("c", "files__read_file", `{}`)), says("ok"))
	h.Config = map[string]any{"max_tokens": 100}
	h.Text(handle, "go")
	if model.asked[0].MaxTokens != 100 || model.asked[1].MaxTokens != 85 {
		t.Errorf("the model could write %d, then %d tokens", model.asked[0].MaxTokens, model.asked[1].MaxTokens)
	}
}

func TestToolNames(t *testing.T) {
	long := strings.Repeat("x", 100)
	box := newToolbox([]wharf.Tool{{Server: "a", Name: "b.c"}, {Server: "a", Name: "b/c"}, {Server: "s", Name: long}, {Server: "s", Name: long + "y"}, {Server: "é", Name: "ü"}})
	seen := map[string]bool{}
	for i, tool := range box.offered {
		if seen[tool.Name] || len(tool.Name) > maxName || strings.Trim(tool.Name, "abcsx_2") != "" {
			t.Errorf("tool %d is offered as %q", i, tool.Name)
		}
		seen[tool.Name] = true
	}
	if box.byName["a__b_c_2"].Name != "b/c" {
		t.Errorf("the tools are %v", box.byName)
	}
}

// TestClipped holds that a huge answer of a tool does not fill the model's window.
func TestClipped(t *testing.T) {
	text := clipped(strings.Repeat("é", maxToolText))
	if len(text) > maxToolText+100 || !strings.HasSuffix(text, "more bytes]") {
		t.Errorf("%d bytes are left, ending in %q", len(text), text[len(text)-30:])
	}
}

// TestSettingsAreDocumented holds that an operator can read about every setting.
func TestSettingsAreDocumented(t *testing.T) {
	text, err := os.ReadFile("../../docs/plugins.md")
	if err != nil {
		t.Fatal(err)
	}
	s := defaults()
	for _, setting := range s.named() {
		if !strings.Contains(string(text), "| `"+setting.name+"` |") {
			t.Errorf("docs/plugins.md does not tell of the setting %s", setting.name)
		}
	}
}

// What a Task asks for comes before what the operator has set.
func TestATaskHasItsOwnWay(t *testing.T) {
	heat := 0.25
	for name, c := range map[string]struct {
		config  map[string]any
		options wharf.RunOptions
		want    string
	}{
		"nothing asked":       {map[string]any{"model": "set", "system_prompt": "set up"}, wharf.RunOptions{}, "set|set up|0|false"},
		"all asked":           {map[string]any{"model": "set", "system_prompt": "set up"}, wharf.RunOptions{Model: "own", Instructions: "do", Temperature: &heat, MaxTokens: 7}, "own|do|7|true"},
		"less than is left":   {map[string]any{"max_tokens": 100}, wharf.RunOptions{MaxTokens: 7}, "|" + defaultPrompt + "|7|false"},
		"more than is left":   {map[string]any{"max_tokens": 100}, wharf.RunOptions{MaxTokens: 700}, "|" + defaultPrompt + "|100|false"},
		"context":             {map[string]any{"system_prompt": "set up"}, wharf.RunOptions{Context: "and more"}, "|set up\n\nand more|0|false"},
		"coldest is not none": {nil, wharf.RunOptions{Temperature: new(float64)}, "|" + defaultPrompt + "|0|true"},
	} {
		h, model := office(says("done"))
		h.Config, h.Options = c.config, c.options
		if outcome := h.Text(handle, "go"); outcome.Failure != nil {
			t.Errorf("%s: %+v", name, outcome.Failure)
			continue
		}
		asked := model.asked[0]
		if got := fmt.Sprintf("%s|%s|%d|%v", asked.Model, asked.System, asked.MaxTokens, asked.Temperature != nil); got != c.want {
			t.Errorf("%s: the model was asked %s, want %s", name, got, c.want)
		}
	}
}

// TestAgent holds that what an agent says of itself comes before what the operator has set, and
// after what the Task asks for.
func TestAgent(t *testing.T) {
	heat, zero := 0.7, 0.0
	for _, test := range []struct {
		name  string
		agent wharf.Agent
		run   wharf.RunOptions
		want  string
	}{
		{"operator", wharf.Agent{}, wharf.RunOptions{}, "set set-model <nil> 0"},
		{"agent", wharf.Agent{Instructions: "own\n", Model: "own-model", Temperature: &heat, MaxTokens: 9}, wharf.RunOptions{}, "own\n own-model 0.7 9"},
		{"task", wharf.Agent{Instructions: "own", Model: "own-model", Temperature: &heat, MaxTokens: 9},
			wharf.RunOptions{Instructions: "task", Model: "task-model", Temperature: &zero, MaxTokens: 5}, "task task-model 0 5"},
		{"some", wharf.Agent{Instructions: "own"}, wharf.RunOptions{Model: "task-model"}, "own task-model <nil> 0"},
	} {
		h, model := office(says("ok"))
		h.Config = map[string]any{"system_prompt": "set", "model": "set-model"}
		h.Agent, h.Options = test.agent, test.run
		h.Text(handle, "go")
		r := model.asked[0]
		heat := any(nil)
		if r.Temperature != nil {
			heat = *r.Temperature
		}
		if got := fmt.Sprint(r.System, " ", r.Model, " ", heat, " ", r.MaxTokens); got != test.want {
			t.Errorf("%s: the model was asked %q, want %q", test.name, got, test.want)
		}
	}
}
