package main

import (
	"encoding/json"
	"errors"

	wharf "github.com/wharf-dev/wharf/sdk/go"
)

// invocation is the input of a Task that calls one tool.
type invocation struct {
	Server    string          `json:"server"`
	Name      string          `json:"name"`
	Arguments json.RawMessage `json:"arguments"`
}

// invoke calls the tool that the input names, and answers with what it has answered.
func invoke(task *wharf.Task) (wharf.Result, error) {
	var asked invocation
	if err := json.Unmarshal(task.Input, &asked); err != nil || asked.Server == "" || asked.Name == "" {
		return wharf.Result{}, &wharf.Failure{Code: "invalid_input", Message: `the input names no tool: send {"server", "name", "arguments"}`}
	}
	answer, err := wharf.CallTool(wharf.ToolRequest{CallID: "call-1", Server: asked.Server, Name: asked.Name, Arguments: asked.Arguments})
	if err != nil {
		return wharf.Result{}, toolFailure(err)
	}
	part, err := wharf.JSONPart(answer)
	if err != nil {
		return wharf.Result{}, err
	}
	if _, err := wharf.AppendMessage(wharf.Message{Role: "assistant", Parts: []wharf.Part{part}}); err != nil {
		return wharf.Result{}, err
	}
	return wharf.Result{Summary: firstLine(answer.Text())}, nil
}

// toolFailure keeps the host's code: it tells a tool that is not there from one that failed.
func toolFailure(err error) error {
	var refused *wharf.Error
	if errors.As(err, &refused) && refused.Code != "" {
		return &wharf.Failure{Code: refused.Code, Message: refused.Message}
	}
	return err
}
