package model

import (
	"fmt"
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
func neutralCalls(calls []toolCall, a *ask) ([]abi.ModelToolCall, *failure) {
	var all []abi.ModelToolCall
	earlier := 0
	for _, m := range a.request.Messages {
		earlier += len(m.ToolCalls)
	}
	for i, c := range calls {
		if c.id == "" {
			c.id = "call_" + strconv.Itoa(earlier+i+1)
		}
		written := a.clean(c.arguments)
		if jsontext.Value(written).Kind() == '{' && abi.TooDeep([]byte(written), abi.MaxToldDepth) >= 0 {
			return nil, &failure{status: abi.CallUnavailable, code: "model_answer_too_deep",
				message: fmt.Sprintf("its answer calls a tool with arguments that nest deeper than %d levels", abi.MaxToldDepth)}
		}
		all = append(all, abi.ModelToolCall{
			ID: a.clean(c.id), Name: orSame(a.names, a.clean(c.name)), Arguments: argumentsOf(written),
		})
	}
	return all, nil
}

// argumentsOf returns arguments as a JSON object in its plain spelling, whatever the
// model wrote.
func argumentsOf(written string) jsontext.Value {
	if strings.TrimSpace(written) == "" {
		return jsontext.Value("{}")
	}
	if v := jsontext.Value(written); v.Kind() == '{' {
		if plain, err := abi.Plain(v); err == nil {
			return plain
		}
	}
	quoted, err := jsontext.AppendQuote(nil, written)
	if err != nil { // it is UTF-8 by now
		quoted = jsontext.Value(`""`)
	}
	return jsontext.Value(`{"` + malformed + `":` + string(quoted) + `}`)
}
