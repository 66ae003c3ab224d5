package mapper

import (
	"cmp"

	json "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi"
)

// toolEvent is what is read of a tool call's events.
type toolEvent struct {
	Tool    *abi.ToolUse `json:"tool"`
	Request struct {
		Arguments jsontext.Value `json:"arguments"`
	} `json:"request"`
	Answer jsontext.Value `json:"answer"`
}

// ToolID names a tool among all.
func ToolID(server, name string) string { return server + ":" + name }

// begins tells that a tool is called. Its input is whole.
func (m *Mapper) begins(p *toolEvent) []Told {
	if p.Tool == nil || m.calls[p.Tool.CallID] {
		return nil
	}
	if m.calls == nil {
		m.calls = map[string]bool{}
	}
	m.calls[p.Tool.CallID] = true
	return []Told{
		{Type: ToolStart, ID: p.Tool.CallID, Name: p.Tool.Name, Input: InputOf(p.Request.Arguments), ToolID: ToolID(p.Tool.Server, p.Tool.Name)},
		{Type: ToolEnd, ID: p.Tool.CallID},
	}
}

// InputOf returns the arguments of a call as everybody is shown some: an object.
func InputOf(arguments jsontext.Value) jsontext.Value {
	if arguments.Kind() != '{' {
		return abi.EmptyObject()
	}
	return arguments
}

// ends tells what came of a call.
func (m *Mapper) ends(kind abi.EventKind, p *toolEvent) []Told {
	if p.Tool == nil {
		return nil
	}
	out := m.begins(p)
	delete(m.calls, p.Tool.CallID)
	output, failure, wrong := AnswerOf(p.Answer)
	success := kind == abi.EventToolCompleted && !wrong
	told := Told{Type: Result, ID: p.Tool.CallID, Success: &success, Output: output, TookUS: p.Tool.DurationUs}
	switch {
	case kind == abi.EventToolDenied:
		told.Error = cmp.Or(failure, "the call was denied")
	case !success:
		told.Error = cmp.Or(failure, string(p.Tool.ErrorCategory), "the tool has failed")
	}
	return append(out, told)
}

// ObjectOf returns what a tool has answered as an object; nil for nothing.
func ObjectOf(v jsontext.Value) jsontext.Value {
	if len(v) == 0 || v.Kind() == '{' {
		return v
	}
	return append(append(jsontext.Value(`{"value":`), v...), '}')
}

// AnswerOf returns what a tool answered as an object, nil where it may not be seen, and whether the
// tool or the node says that it is a failure, and which.
func AnswerOf(answer jsontext.Value) (output jsontext.Value, failure string, wrong bool) {
	if answer.Kind() != '{' {
		return nil, "", false
	}
	var read struct {
		abi.CallToolCallAnswer `json:",inline"`
		Code                   string `json:"code"`
		Message                string `json:"message"`
	}
	if json.Unmarshal(answer, &read) != nil {
		return answer, "", false
	}
	if read.Code != "" && read.Content == nil {
		return nil, read.Message, true
	}
	if read.IsError {
		return answer, textOf(read.Content), true
	}
	if read.Structured.Kind() == '{' {
		return read.Structured, "", false
	}
	return answer, "", false
}

func textOf(content []abi.ToolContent) string {
	for _, c := range content {
		if c.Text != "" {
			return c.Text
		}
	}
	return "the tool has failed"
}

// artifact tells of an Artifact that an execution has made.
func artifact(of *abi.Artifact) []Told {
	if of == nil {
		return nil
	}
	size := int64(0)
	if of.SizeBytes != nil {
		size = *of.SizeBytes
	}
	return []Told{{Type: Artifact, ID: of.ID, Name: cmp.Or(of.Name, of.ID), MimeType: &of.MimeType, Size: &size}}
}

// file tells of a file that an execution has written.
func file(p *payload) []Told {
	if p.Path == "" {
		return nil
	}
	media := "application/octet-stream"
	return []Told{{Type: Artifact, ID: p.Path, Name: p.Path, MimeType: &media, Size: &p.Size}}
}
