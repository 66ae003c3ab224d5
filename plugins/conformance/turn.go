package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	wharf "github.com/wharf-dev/wharf/sdk/go"
)

// turn does what the words of a prompt say, one after the other: "plan", "tool", "ask", "work" (for a minute) and
// "text". What it says in the end is how many it was told, and what was decided.
func turn(task *wharf.Task) (wharf.Result, error) {
	words := strings.Fields(task.Text())
	decided := ""
	for i, word := range words {
		var err error
		switch word {
		case "plan":
			_, err = wharf.ReplacePlan(-1, wharf.Step{Content: "Look", Status: "completed"}, wharf.Step{Content: "Leap", Status: "in_progress"}, wharf.Step{Content: "Rest", Status: "skipped"})
		case "tool":
			_, err = wharf.CallTool(wharf.ToolRequest{Server: "host", Name: "memory_save", CallID: fmt.Sprintf("save-%d", i), Arguments: json.RawMessage(`{"text":"It was here.","kind":"fact"}`)})
		case "ask":
			var decision wharf.Approval
			decision, err = wharf.RequestApproval(wharf.ApprovalRequest{CallID: fmt.Sprintf("ask-%d", i), Action: "file.delete", Prompt: "Delete it?", Arguments: json.RawMessage(`{"path":"a.txt"}`)})
			decided = ", " + string(decision.Decision)
		case "work":
			err = wharf.Sleep(time.Minute)
		default:
			err = wharf.Progress(0.5, word)
		}
		if err != nil {
			return wharf.Result{}, err
		}
	}
	text := fmt.Sprintf("%d words%s.", len(words), decided)
	for piece := range strings.SplitAfterSeq(text, " ") {
		if err := wharf.Delta(piece); err != nil {
			return wharf.Result{}, err
		}
	}
	return sayText("%s", text)
}
