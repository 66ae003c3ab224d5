package stack

import (
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Details are what the details of a trap tell: where it was, the innermost first, and what
// the plugin said last on stderr, which is the text of a panic.
type Details struct {
	Stack []Frame `json:"stack,omitempty"`
	Text  string  `json:"text,omitzero"`
}

// Read reads the details of a failure. Records of before tell a stack as the names of
// functions, as the engine knew them. What is no stack tells nothing.
func Read(details jsontext.Value) Details {
	var told struct {
		Stack []jsontext.Value `json:"stack"`
		Text  jsontext.Value   `json:"text"`
	}
	if len(details) == 0 || json.Unmarshal(details, &told) != nil {
		return Details{}
	}
	var d Details
	for _, v := range told.Stack[:min(len(told.Stack), MaxFrames)] {
		if f, ok := readFrame(v); ok {
			d.Stack = append(d.Stack, f)
		}
	}
	_ = json.Unmarshal(told.Text, &d.Text) // what is no text says nothing
	return d
}

func readFrame(v jsontext.Value) (f Frame, ok bool) {
	if v.Kind() != '"' {
		err := json.Unmarshal(v, &f)
		return f, err == nil && f.Function != ""
	}
	var symbol string
	if json.Unmarshal(v, &symbol) != nil {
		return f, false
	}
	return frame(symbol, Place{}), true
}
