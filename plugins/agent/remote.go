package main

import (
	"encoding/json"
	"fmt"

	wharf "github.com/wharf-dev/wharf/sdk/go"
)

// The server of tools by which the server of a hosted harness is asked, and its tools.
const (
	serverRemote = "remote"
	remoteRun    = "run"
	remoteWait   = "wait"
	remoteResult = "result"
)

const codeRemote = "remote_failed"

// remote has another server do what a Task asks for: it begins an execution there, waits for its
// end, and answers with what it resulted in.
func remote(task *wharf.Task) (wharf.Result, error) {
	asked := question(task)
	if asked == "" {
		return wharf.Result{}, &wharf.Failure{Code: "invalid_input", Message: "the input asks for nothing: send a Message with text"}
	}
	var begun struct {
		ExecutionID string `json:"execution_id"`
	}
	if err := askRemote(remoteRun, map[string]string{"message": asked}, &begun); err != nil {
		return wharf.Result{}, err
	}
	if begun.ExecutionID == "" {
		return wharf.Result{}, &wharf.Failure{Code: codeRemote, Message: "the server of the harness has begun nothing that it has a name for"}
	}
	at := map[string]string{"execution_id": begun.ExecutionID}
	for {
		var now struct {
			Status string `json:"status"`
		}
		if err := askRemote(remoteWait, at, &now); err != nil {
			return wharf.Result{}, err
		}
		switch now.Status {
		case "completed":
			return remoteEnd(at)
		case "failed", "cancelled":
			return wharf.Result{}, &wharf.Failure{Code: codeRemote, Message: fmt.Sprintf("the execution %s at the server of the harness is %s", begun.ExecutionID, now.Status)}
		}
		_ = wharf.Progress(0.5, "the server of the harness is at work")
	}
}

// remoteEnd answers with what an execution resulted in.
func remoteEnd(at map[string]string) (wharf.Result, error) {
	var end struct {
		Result struct {
			Output string `json:"output"`
		} `json:"result"`
		Output string `json:"output"` // of servers that wrap nothing
	}
	if err := askRemote(remoteResult, at, &end); err != nil {
		return wharf.Result{}, err
	}
	text := end.Result.Output
	if text == "" {
		text = end.Output
	}
	if text != "" {
		if _, err := wharf.AppendMessage(wharf.Message{Role: "assistant", Parts: []wharf.Part{wharf.TextPart(text)}}); err != nil {
			return wharf.Result{}, err
		}
	}
	return wharf.Result{Summary: firstLine(text)}, nil
}

// askRemote calls a tool of the server, and decodes what it answers.
func askRemote(name string, arguments, answer any) error {
	text, err := json.Marshal(arguments)
	if err != nil {
		return err
	}
	got, err := wharf.CallTool(wharf.ToolRequest{Server: serverRemote, Name: name, Arguments: text})
	if err != nil {
		return err
	}
	if err := json.Unmarshal(got.Structured, answer); err != nil {
		return &wharf.Failure{Code: codeRemote, Message: "the server of the harness has answered with something else than was asked for"}
	}
	return nil
}
