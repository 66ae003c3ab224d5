package askclient

import (
	"strings"

	json "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi"
)

// ToolRoots is the name of the tool that asks a client for its folders.
const ToolRoots = "roots"

// Tools returns the tools that a client stands for by what it can; nil for a Task without one.
func Tools(c *abi.TaskClient) []abi.Tool {
	if !can(c, abi.ClientHasRoots) {
		return nil
	}
	return []abi.Tool{{Name: ToolRoots, ReadOnly: true, Description: "The folders that the user's client lets be worked in.",
		InputSchema: jsontext.Value(`{"type":"object","properties":{}}`)}}
}

// Roots returns what a Task asks its client in the place of the tool.
func Roots() *abi.CallInputRequestRequest {
	return &abi.CallInputRequestRequest{Requests: []abi.Question{{Key: ToolRoots, Kind: abi.PermissionRoots}}}
}

// RootsAnswer returns the answer of the tool call that asked. The error is a *provider.Refusal.
func RootsAnswer(a *abi.QuestionAnswer) ([]byte, error) {
	value, err := valueOf(a, "tool_declined", "tool_timeout")
	if err != nil {
		return nil, err
	}
	var told struct {
		Roots []struct {
			URI  string `json:"uri"`
			Name string `json:"name,omitzero"`
		} `json:"roots"`
	}
	if err := json.Unmarshal(value, &told); err != nil {
		return nil, unreadable(err)
	}
	var lines []string
	for _, r := range told.Roots {
		lines = append(lines, strings.TrimSpace(r.URI+" "+r.Name))
	}
	return json.Marshal(&abi.CallToolCallAnswer{Content: []abi.ToolContent{{Type: "text", Text: strings.Join(lines, "\n")}}, Structured: value})
}
