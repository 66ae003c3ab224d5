package alone

import (
	"bytes"
	"fmt"
	"reflect"
	"slices"
	"strings"

	json "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi"
)

// Missing says that nothing answers a call.
type Missing struct {
	Call    string
	Request jsontext.Value
	Add     string // what to add to the file of answers
}

// Error implements the error interface.
func (m *Missing) Error() string {
	return fmt.Sprintf("nothing answers %s, which needs a node, or an answer", m.Call)
}

func missing(def *abi.HostCall, request []byte) error {
	asked := Shown(def.Name, bytes.Clone(request))
	var b strings.Builder
	b.WriteString(def.Name + ":\n  - ")
	if names := naming(asked); names != nil {
		b.WriteString("request:" + "\n" + AsYAML(names, 6) + "    ")
	}
	example := exampleAnswer(def)
	if example == nil {
		b.WriteString("status: ok\n")
		return &Missing{def.Name, asked, b.String()}
	}
	w := yamlWriter{}
	if w.value(jsontext.NewDecoder(bytes.NewReader(example)), 6) == nil {
		b.WriteString("answer:" + w.b.String())
	}
	return &Missing{def.Name, asked, b.String()}
}

// maxNaming bounds the members of a request that are taken to tell it from others.
const maxNaming = 200

// naming returns the members of a request that tell it from others: those that are short texts,
// numbers and the like. nil when it has none.
func naming(asked jsontext.Value) jsontext.Value {
	if asked.Kind() != '{' {
		return nil
	}
	d := jsontext.NewDecoder(bytes.NewBuffer(asked))
	if _, err := d.ReadToken(); err != nil {
		return nil
	}
	out := []byte{'{'}
	for d.PeekKind() == '"' {
		name, err := d.ReadToken()
		if err != nil {
			return nil
		}
		text := name.String()
		v, err := d.ReadValue()
		if err != nil {
			return nil
		}
		if v.Kind() == '{' || v.Kind() == '[' || len(v) > maxNaming {
			continue
		}
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = append(append(append(out, quoted(text)...), ':'), v...)
	}
	if len(out) == 1 {
		return nil
	}
	return append(out, '}')
}

// exampleAnswer returns an answer of the right form, for the author to fill in; nil for a call
// whose answer is empty.
func exampleAnswer(def *abi.HostCall) jsontext.Value {
	switch def.Name {
	case abi.CallLLMComplete:
		return jsontext.Value(`{"text":"...","stop_reason":"end"}`)
	case abi.CallHTTPFetch:
		return jsontext.Value(`{"status":200,"header":{},"text":"..."}`)
	case abi.CallToolCall:
		return jsontext.Value(`{"content":[{"type":"text","text":"..."}]}`)
	case abi.CallArtifactGet:
		return jsontext.Value(`"dGhlIGNvbnRlbnQ="`)
	}
	if def.AnswerType == nil {
		return nil
	}
	text, err := json.Marshal(def.AnswerType)
	if err != nil || reflect.TypeOf(def.AnswerType).NumField() == 0 {
		return nil
	}
	return slices.Clip(text)
}
