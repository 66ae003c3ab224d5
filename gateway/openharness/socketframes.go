package openharness

import (
	"strings"

	json "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/gateway/openharness/mapper"
)

// serverFrame is what a client on a WebSocket is told. Its members follow from its type.
type serverFrame struct {
	Type        string         `json:"type"`
	ID          string         `json:"id"`
	ExecutionID string         `json:"execution_id,omitzero"`
	ReplyTo     string         `json:"reply_to,omitzero"`
	Content     *string        `json:"content,omitzero"`
	Tool        string         `json:"tool,omitzero"`
	Input       jsontext.Value `json:"input,omitzero"`
	Data        *string        `json:"data,omitzero"`
	Prompt      *string        `json:"prompt,omitzero"`
	Name        string         `json:"name,omitzero"`
	MimeType    *string        `json:"mime_type,omitzero"`
	Code        string         `json:"code,omitzero"`
	Message     *string        `json:"message,omitzero"`
	Param       string         `json:"param,omitzero"`
	Usage       *mapper.Usage  `json:"usage,omitzero"`
}

// nthFrame is a frame that the n-th of what is told of an event becomes.
type nthFrame struct {
	serverFrame
	nth int
}

// framesOf returns the frames of what is told of an event.
func framesOf(told []mapper.Told) []nthFrame {
	var all []nthFrame
	for i := range told {
		if f, ok := frameOf(&told[i]); ok {
			all = append(all, nthFrame{f, i})
		}
	}
	return all
}

// frameOf returns the frame of what is told; false for what has none.
func frameOf(t *mapper.Told) (serverFrame, bool) {
	f := serverFrame{Type: t.Type}
	switch t.Type {
	case mapper.Text, mapper.Thinking:
		f.Content = &t.Content
	case mapper.ToolStart:
		f.Type, f.Tool, f.Input = "tool_call", t.Name, t.Input
	case mapper.Result:
		return resultFrame(t)
	case mapper.Artifact:
		f.Name, f.MimeType = t.Name, t.MimeType
	case mapper.Progress:
		if t.Waiting == nil {
			return f, false
		}
		f.Type, f.Prompt = "prompt", &t.Waiting.Prompt
	case mapper.Error:
		f.Code, f.Message = t.Code, &t.Message
	case mapper.Done:
		f.Usage = t.Usage
	default:
		return f, false
	}
	return f, true
}

// resultFrame returns what a tool has answered, or why it has failed.
func resultFrame(t *mapper.Told) (serverFrame, bool) {
	if !*t.Success {
		return serverFrame{Type: "stderr", Data: &t.Error}, true
	}
	text := answeredText(t.Output)
	return serverFrame{Type: "stdout", Data: &text}, text != ""
}

// answeredText returns the text of what a tool has answered; of what has none, the whole.
func answeredText(output jsontext.Value) string {
	var answer struct {
		Content []abi.ToolContent `json:"content"`
	}
	if json.Unmarshal(output, &answer) != nil {
		return string(output) // its content is another's
	}
	var texts []string
	for _, c := range answer.Content {
		if c.Text != "" {
			texts = append(texts, c.Text)
		}
	}
	if len(texts) == 0 {
		return string(output)
	}
	return strings.Join(texts, "\n")
}

// loggedFrame returns the frame of a line that a plugin has logged.
func loggedFrame(text []byte) []nthFrame {
	line, ok := lineOf(text)
	f := serverFrame{Type: "stderr", Data: &line.Message}
	switch {
	case !ok || line.Level == "debug":
		return nil
	case line.Level == "info":
		f.Type = "stdout"
	}
	return []nthFrame{{f, 0}}
}
