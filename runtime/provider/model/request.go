package model

import (
	"fmt"
	"slices"

	json "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/abi/plainly"
)

// decodeRequest reads a request strictly: a member that is misspelled is a
// mistake to be told, not one to be passed over.
func decodeRequest(body []byte) (*abi.ModelRequest, error) {
	var r abi.ModelRequest
	if err := json.Unmarshal(body, &r, json.RejectUnknownMembers(true)); err != nil {
		return nil, fmt.Errorf("the request is not understood: %s", plainly.Say(err))
	}
	if len(r.Messages) == 0 {
		return nil, fmt.Errorf("messages is empty")
	}
	for i := range r.Messages {
		if err := checkMessage(&r.Messages[i]); err != nil {
			return nil, fmt.Errorf("messages[%d]: %w", i, err)
		}
	}
	if r.MaxTokens < 0 {
		return nil, fmt.Errorf("max_tokens is negative")
	}
	return &r, checkTools(&r)
}

func checkMessage(m *abi.ModelMessage) error {
	switch m.Role {
	case "user":
		if m.Text == "" {
			return fmt.Errorf("a message of the user has a text")
		}
	case "assistant":
		for i := range m.ToolCalls {
			if err := checkToolCall(&m.ToolCalls[i]); err != nil {
				return fmt.Errorf("tool_calls[%d]: %w", i, err)
			}
		}
		return nil
	case "tool":
		if m.ToolCallID == "" {
			return fmt.Errorf("a message of a tool names its tool_call_id")
		}
	default:
		return fmt.Errorf("the role %q is none of user, assistant and tool", m.Role)
	}
	if len(m.ToolCalls) > 0 {
		return fmt.Errorf("only an assistant has tool_calls")
	}
	return nil
}

func checkToolCall(c *abi.ModelToolCall) error {
	if c.ID == "" || c.Name == "" {
		return fmt.Errorf("id or name is missing")
	}
	if c.Arguments.Kind() != '{' {
		return fmt.Errorf("arguments is not an object")
	}
	return nil
}

func checkTools(r *abi.ModelRequest) error {
	for i, t := range r.Tools {
		if t.Name == "" {
			return fmt.Errorf("tools[%d]: the name is missing", i)
		}
		if len(t.InputSchema) > 0 && t.InputSchema.Kind() != '{' {
			return fmt.Errorf("tools[%d]: input_schema is not an object", i)
		}
	}
	switch r.ToolChoice {
	case "", "auto", "none":
		return nil
	case "any":
		if len(r.Tools) == 0 {
			return fmt.Errorf("tool_choice is any, and there are no tools")
		}
		return nil
	}
	named := func(t abi.ModelTool) bool { return t.Name == r.ToolChoice }
	if !slices.ContainsFunc(r.Tools, named) {
		return fmt.Errorf("tool_choice %q is none of auto, none, any and the tools", r.ToolChoice)
	}
	return nil
}

// emptySchema is the schema of a tool that takes nothing.
var emptySchema = jsontext.Value(`{"type":"object","properties":{}}`)

// schemaOf returns the schema of a tool's input.
func schemaOf(t *abi.ModelTool) jsontext.Value {
	if len(t.InputSchema) == 0 {
		return emptySchema
	}
	return t.InputSchema
}
