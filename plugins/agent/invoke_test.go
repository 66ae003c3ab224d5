package main

import (
	"encoding/json"
	"strings"
	"testing"

	wharf "github.com/wharf-dev/wharf/sdk/go"
	"github.com/wharf-dev/wharf/sdk/go/wharftest"
)

// One tool is called with what the input has, and its whole answer is the Message.
func TestInvoke(t *testing.T) {
	var asked wharf.ToolRequest
	h := &wharftest.Host{CallTool: func(r wharf.ToolRequest) (wharf.ToolAnswer, error) {
		asked = r
		return wharf.ToolAnswer{Content: []wharf.ToolContent{{Type: "text", Text: "rain"}}, Structured: json.RawMessage(`{"mm":3}`)}, nil
	}}
	outcome := h.Run(invoke, map[string]any{"server": "weather", "name": "look", "arguments": map[string]int{"days": 1}})
	if outcome.Failure != nil || outcome.Summary != "rain" || asked.Server != "weather" || asked.Name != "look" || string(asked.Arguments) != `{"days":1}` {
		t.Errorf("%+v, asked %+v", outcome, asked)
	}
	said, err := json.Marshal(h.Messages)
	if err != nil || len(h.Messages) != 1 || !strings.Contains(string(said), `"structured":{"mm":3}`) {
		t.Errorf("%s, %v", said, err)
	}
}

// A tool that is refused fails the Task with the host's code, and so does an input without one.
func TestInvokeFails(t *testing.T) {
	h := &wharftest.Host{CallTool: func(wharf.ToolRequest) (wharf.ToolAnswer, error) {
		return wharf.ToolAnswer{}, &wharf.Error{Status: wharf.StatusDenied, Code: "tool_denied", Message: "no"}
	}}
	if failure := h.Run(invoke, map[string]string{"server": "s", "name": "n"}).Failure; failure == nil || failure.Code != "tool_denied" {
		t.Errorf("%+v", failure)
	}
	for _, input := range []any{map[string]string{"name": "n"}, map[string]string{"server": "s"}, wharf.Message{Role: "user"}} {
		if failure := h.Run(invoke, input).Failure; failure == nil || failure.Code != "invalid_input" {
			t.Errorf("%+v: %+v", input, failure)
		}
	}
}
