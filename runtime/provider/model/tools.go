package model

import (
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi"
)

// malformed is the member of the arguments that a model did not write as a JSON
// object: it holds what it wrote.
const malformed = "_malformed"

// neutralCalls returns the tool calls of an answer as a plugin is told them. A call
// without an id gets one that no other call of the conversation has.
func neutralCalls(calls []toolCall, a *ask) []abi.ModelToolCall {
	var all []abi.ModelToolCall
	earlier := 0
	for _, m := range a.request.Messages {
		earlier += len(m.ToolCalls)
	}
	for i, c := range calls {
		if c.id == "" {
			c.id = "call_" + strconv.Itoa(earlier+i+1)
		}
		all = append(all, abi.ModelToolCall{
			ID: a.clean(c.id), Name: orSame(a.names, a.clean(c.name)), Arguments: argumentsOf(a.clean(c.arguments)),
		})
	}
	return all
}

// argumentsOf returns arguments as a compact JSON object, whatever the model wrote.
func argumentsOf(written string) jsontext.Value {
	if strings.TrimSpace(written) == "" {
		return jsontext.Value("{}")
	}
	v := jsontext.Value(written)
	if v.Kind() == '{' && v.IsValid() && v.Compact() == nil {
		return v
	}
	quoted, err := jsontext.AppendQuote(nil, written)
	if err != nil { // it is UTF-8 by now
		quoted = jsontext.Value(`""`)
	}
	return jsontext.Value(`{"` + malformed + `":` + string(quoted) + `}`)
}
