package pages

import (
	"errors"
	"io"
	"strings"
	"testing"

	gojson "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi"
)

// decoded are what blocks of JSON are, by kind.
var decoded = map[string]func() any{
	"":               func() any { return new(jsontext.Value) },
	"respond":        func() any { return new(abi.RespondRequest) },
	"input.request":  func() any { return new(abi.CallInputRequestRequest) },
	"input.answer":   func() any { return new(abi.CallInputRequestAnswer) },
	"submit":         func() any { return new(abi.SubmitTaskRequest) },
	"agent.delegate": func() any { return new(abi.CallAgentDelegateRequest) },
	"session":        func() any { return new(abi.CreateSessionRequest) },
	"tool server":    func() any { return new(abi.CreateToolServerRequest) },
	"skill":          func() any { return new(abi.CreateSkillRequest) },
}

// elided puts something in the place of what a document leaves out.
var elided = strings.NewReplacer("[…]", "[]", "{…}", "{}", `_at": "…"`, `_at": "2026-05-01T12:00:00Z"`)

// checkJSON holds a block to what it is: one value or several, each with no member that is not known.
func checkJSON(t *testing.T, at, kind, text string) {
	t.Helper()
	made, known := decoded[kind]
	if !known {
		t.Errorf("%s: nobody knows what %q is", at, kind)
		return
	}
	values := jsontext.NewDecoder(strings.NewReader(elided.Replace(text)))
	for n := 0; ; n++ {
		err := gojson.UnmarshalDecode(values, made(), gojson.RejectUnknownMembers(true))
		if errors.Is(err, io.EOF) && n > 0 {
			return
		}
		if err != nil {
			t.Errorf("%s: %v", at, err)
			return
		}
	}
}
