package skill

import (
	"context"
	"fmt"
	"strings"

	json "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/turns"
)

// Arguments returns what a Task was submitted with as the arguments of its Skill: the
// value of the last json part of a Message, else its text as the member "text", and
// any other input as it is.
func Arguments(input []byte) jsontext.Value {
	value, text, message := content(input)
	switch {
	case !message:
		return input
	case value != nil:
		return value
	}
	quoted, err := json.Marshal(map[string]string{"text": text})
	if err != nil { // the text is not UTF-8, which no Message's is
		return input
	}
	return quoted
}

// content returns the value of the last json part of a Message, nil when there is
// none, and its text.
func content(text []byte) (value jsontext.Value, said string, message bool) {
	var m struct {
		Role  abi.Role   `json:"role"`
		Parts []abi.Part `json:"parts"`
	}
	if json.Unmarshal(text, &m) != nil || m.Role == "" || m.Parts == nil {
		return nil, "", false
	}
	var texts []string
	for _, p := range m.Parts {
		switch {
		case p.Type == abi.PartJSON:
			value = p.Value
		case p.Type == abi.PartText && p.Text != nil:
			texts = append(texts, *p.Text)
		}
	}
	return value, strings.Join(texts, "\n"), true
}

// Result is what a Task has given out so far.
type Result struct {
	value   jsontext.Value
	summary string
}

// Note takes over a host call that was answered well.
func (r *Result) Note(call string, request []byte) {
	switch call {
	case abi.CallMessageAppend:
		if value, _, _ := content(request); value != nil {
			r.value = value.Clone()
		}
	case abi.CallOutput:
		var out abi.CallOutputRequest
		if json.Unmarshal(request, &out) == nil {
			r.summary = out.Summary
		}
	}
}

// Output returns the last JSON that the Task has said, else its summary: as JSON
// where it is some, else as a text.
func (r *Result) Output() jsontext.Value {
	if r.value != nil {
		return r.value
	}
	if v := jsontext.Value(r.summary); v.IsValid() {
		return v
	}
	quoted, err := jsontext.AppendQuote(nil, r.summary)
	if err != nil {
		return jsontext.Value("null")
	}
	return quoted
}

// Conclude says how a Task of a Skill ends that would have ended with a failure, or
// with nil well: what it gave out must be what the Skill's schema says. An error is
// that of a context that ended the check.
func (r *Result) Conclude(ctx context.Context, turns *turns.Turns, schema []byte, failure *abi.Failure) (*abi.Failure, error) {
	if failure != nil || len(schema) == 0 {
		return failure, nil
	}
	s, err := Compile(schema)
	if err == nil {
		err = s.Check(ctx, turns, r.Output())
	}
	if !Wrong(err) {
		return nil, err
	}
	return &abi.Failure{Code: abi.FailureSkillOutput, Message: fmt.Sprintf("what the skill gave is not what its output_schema says: %v", err)}, nil
}
