package personas

import (
	json "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/journal"
)

// SkillInput is what a Task of a Skill is submitted with that is called as a tool: it makes a Message of a text, and passes anything else as it is.
func SkillInput(arguments jsontext.Value) jsontext.Value {
	var a struct {
		Text *string `json:"text"`
	}
	if json.Unmarshal(arguments, &a) != nil || a.Text == nil {
		return arguments.Clone()
	}
	m := abi.Message{Role: abi.RoleUser, Parts: []abi.Part{{Type: abi.PartText, Text: a.Text, Visibility: abi.VisibilityPublic}}}
	return journal.CanonicalMessage(&m)
}

// SkillAnswer tells the end of the Task of a Skill as a tool's answer.
func SkillAnswer(a *abi.CallTaskAwaitAnswer) ([]byte, error) {
	answer := &abi.CallToolCallAnswer{IsError: a.Status != abi.OutcomeSucceeded}
	for i := range a.Messages {
		for _, p := range a.Messages[i].Parts {
			if p.Type == abi.PartText && p.Text != nil {
				answer.Content = append(answer.Content, abi.ToolContent{Type: "text", Text: *p.Text})
			}
			if p.Type == abi.PartJSON {
				answer.Content = append(answer.Content, abi.ToolContent{Type: "text", Text: string(p.Value)})
			}
		}
	}
	if len(answer.Content) == 0 {
		answer.Content = []abi.ToolContent{{Type: "text", Text: a.Summary}}
	}
	return json.Marshal(answer)
}
