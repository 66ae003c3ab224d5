package main

import (
	"strings"

	wharf "github.com/wharf-dev/wharf/sdk/go"
)

// history is how many Messages of the Session the model is shown.
const history = 50

// conversation returns what the Session has said, and last what the Task asks for.
// Of earlier Tasks the model sees what was said, and not the tools that were called
// for it.
func conversation(task *wharf.Task) ([]wharf.ModelMessage, error) {
	asked := question(task)
	if asked == "" {
		return nil, &wharf.Failure{Code: "invalid_input", Message: "the input asks for nothing: send a Message with text, or any JSON object"}
	}
	transcript, _, err := wharf.Transcript(history)
	if err != nil {
		return nil, err
	}
	var out []wharf.ModelMessage
	for _, m := range transcript {
		text, role := textOf(m), roleOf(m)
		switch {
		case m.ID != "" && m.ID == task.InputMessageID: // it comes last
		case text == "", auditOnly(m):
		case len(out) == 0 && role == "assistant": // models want the user to begin
		default:
			out = append(out, wharf.ModelMessage{Role: role, Text: text})
		}
	}
	return append(out, wharf.ModelMessage{Role: "user", Text: asked}), nil
}

// question is what the Task asks for, as text.
func question(task *wharf.Task) string {
	if m, ok := task.Message(); ok {
		return textOf(m)
	}
	if text := task.Text(); text != "" {
		return text
	}
	return string(task.Input)
}

func roleOf(m wharf.Message) string {
	if m.Role == "assistant" || m.Role == "agent" {
		return "assistant"
	}
	return "user"
}

// textOf returns what a Message says to a model: texts and JSON as they are, and
// what else it refers to by name.
func textOf(m wharf.Message) string {
	var texts []string
	for _, p := range m.Parts {
		switch p.Type {
		case "text":
			texts = append(texts, p.Text)
		case "json":
			texts = append(texts, string(p.Value))
		case "artifact_ref", "image_ref":
			texts = append(texts, "[the artifact "+p.ArtifactID+"]")
		case "file_ref":
			texts = append(texts, "[the file "+p.URI+"]")
		}
	}
	return strings.TrimSpace(strings.Join(texts, "\n\n"))
}
