package model

import (
	"flag"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	json "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// golden compares with a file in testdata.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(got+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got+"\n" != string(want) {
		t.Errorf("%s: got\n%s\nwant\n%s", name, got, want)
	}
}

// Both wires, each with the same answer whole and streamed. Reasoning stands
// wherever the wire has a place for it.
const (
	openAIText = `{"id":"x","object":"chat.completion","model":"small-2","choices":[{"index":0,"finish_reason":"stop",
		"message":{"role":"assistant","content":"Hello, you!","reasoning_content":"canary-think","reasoning":"canary-think"}}],
		"usage":{"prompt_tokens":9,"completion_tokens":4,"total_tokens":13}}`
	openAITool = `{"model":"small-2","choices":[{"index":0,"finish_reason":"tool_calls","message":{"role":"assistant","content":"Let me see.",
		"reasoning_content":"canary-think","tool_calls":[
		{"id":"a","type":"function","function":{"name":"find","arguments":"{\"q\": \"x\", \"n\": 12345678901234567890}"}},
		{"id":"b","type":"function","function":{"name":"stop","arguments":""}}]}}],
		"usage":{"prompt_tokens":9,"completion_tokens":4}}`
	anthropicText = `{"id":"m","type":"message","role":"assistant","model":"small-2","stop_reason":"end_turn","content":[
		{"type":"thinking","thinking":"canary-think","signature":"canary-think"},
		{"type":"redacted_thinking","data":"canary-think"},
		{"type":"text","text":"Hello, you!"}],
		"usage":{"input_tokens":5,"cache_read_input_tokens":3,"cache_creation_input_tokens":1,"output_tokens":4}}`
	anthropicTool = `{"id":"m","type":"message","role":"assistant","model":"small-2","stop_reason":"tool_use","content":[
		{"type":"thinking","thinking":"canary-think","signature":"s"},
		{"type":"text","text":"Let me see."},
		{"type":"tool_use","id":"a","name":"find","input":{"q": "x", "n": 12345678901234567890}},
		{"type":"tool_use","id":"b","name":"stop","input":{}}],
		"usage":{"input_tokens":9,"output_tokens":4}}`
)

var (
	openAITextStream = []string{
		`{"model":"small-2","choices":[{"index":0,"delta":{"role":"assistant","content":"","reasoning_content":"canary-think"}}]}`,
		`{"model":"small-2","choices":[{"index":0,"delta":{"reasoning":"canary-think"}}]}`,
		`{"model":"small-2","choices":[{"index":0,"delta":{"content":"Hello, "}}]}`,
		`{"model":"small-2","choices":[{"index":0,"delta":{"content":"you!"}}]}`,
		`{"model":"small-2","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}`,
		`{"model":"small-2","choices":[],"usage":{"prompt_tokens":9,"completion_tokens":4,"total_tokens":13}}`,
		`[DONE]`,
	}
	openAIToolStream = []string{
		`{"model":"small-2","choices":[{"index":0,"delta":{"content":"Let me see."}}]}`,
		`{"model":"small-2","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"a","type":"function","function":{"name":"find","arguments":""}}]}}]}`,
		`{"model":"small-2","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"{\"q\": \"x\", \"n\": 12345"}}]}}]}`,
		`{"model":"small-2","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"678901234567890}"}}]}}]}`,
		`{"model":"small-2","choices":[{"index":0,"delta":{"tool_calls":[{"index":1,"id":"b","type":"function","function":{"name":"stop","arguments":""}}]}}]}`,
		`{"model":"small-2","choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}],"usage":{"prompt_tokens":9,"completion_tokens":4}}`,
		`[DONE]`,
	}
	anthropicTextStream = []string{
		`message_start {"type":"message_start","message":{"model":"small-2","usage":{"input_tokens":5,"cache_read_input_tokens":3,"cache_creation_input_tokens":1,"output_tokens":1}}}`,
		`ping {"type":"ping"}`,
		`content_block_start {"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":""}}`,
		`content_block_delta {"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"canary-think"}}`,
		`content_block_delta {"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"canary-think"}}`,
		`content_block_stop {"type":"content_block_stop","index":0}`,
		`content_block_start {"type":"content_block_start","index":1,"content_block":{"type":"redacted_thinking","data":"canary-think"}}`,
		`content_block_stop {"type":"content_block_stop","index":1}`,
		`content_block_start {"type":"content_block_start","index":2,"content_block":{"type":"text","text":""}}`,
		`content_block_delta {"type":"content_block_delta","index":2,"delta":{"type":"text_delta","text":"Hello, "}}`,
		`content_block_delta {"type":"content_block_delta","index":2,"delta":{"type":"text_delta","text":"you!"}}`,
		`content_block_stop {"type":"content_block_stop","index":2}`,
		`message_delta {"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":4}}`,
		`message_stop {"type":"message_stop"}`,
	}
	anthropicToolStream = []string{
		`message_start {"type":"message_start","message":{"model":"small-2","usage":{"input_tokens":9,"output_tokens":1}}}`,
		`content_block_start {"type":"content_block_start","index":0,"content_block":{"type":"text","text":"Let me "}}`,
		`content_block_delta {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"see."}}`,
		`content_block_start {"type":"content_block_start","index":1,"content_block":{"type":"tool_use","id":"a","name":"find","input":{}}}`,
		`content_block_delta {"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"{\"q\": \"x\", \"n\": 12345"}}`,
		`content_block_delta {"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"678901234567890}"}}`,
		`content_block_start {"type":"content_block_start","index":2,"content_block":{"type":"tool_use","id":"b","name":"stop","input":{}}}`,
		`message_delta {"type":"message_delta","delta":{"stop_reason":"tool_use"},"usage":{"input_tokens":9,"output_tokens":4}}`,
		`message_stop {"type":"message_stop"}`,
	}
)

// TestAnswers holds that an answer is the same whole and streamed, from either
// provider, and that reasoning is nowhere in it.
func TestAnswers(t *testing.T) {
	text := abi.ModelAnswer{Model: "small-2", Text: "Hello, you!", StopReason: abi.StopEnd,
		Usage: abi.ModelUsage{InputTokens: 9, OutputTokens: 4}, Currency: "USD", Route: "configured default"}
	tools := text
	tools.Text, tools.StopReason = "Let me see.", abi.StopTools
	tools.ToolCalls = []abi.ModelToolCall{
		{ID: "a", Name: "find", Arguments: jsontext.Value(`{"q":"x","n":12345678901234567890}`)},
		{ID: "b", Name: "stop", Arguments: jsontext.Value(`{}`)},
	}
	for _, c := range []struct {
		name, provider, whole string
		stream                []string
		want                  abi.ModelAnswer
		deltas                []string
	}{
		{"text", ProviderOpenAI, openAIText, openAITextStream, text, []string{"Hello, ", "you!"}},
		{"tools", ProviderOpenAI, openAITool, openAIToolStream, tools, []string{"Let me see."}},
		{"text", ProviderAnthropic, anthropicText, anthropicTextStream, text, []string{"Hello, ", "you!"}},
		{"tools", ProviderAnthropic, anthropicTool, anthropicToolStream, tools, []string{"Let me ", "see."}},
	} {
		t.Run(c.provider+"/"+c.name, func(t *testing.T) {
			s := serve(t, jsonBody(c.whole), events(c.stream...))
			m := s.openAI()
			if c.provider == ProviderAnthropic {
				m = s.anthropic()
			}
			r := one(t, m)
			c.want.Provider = c.provider
			whole := r.ask(t, hello(false))
			equal(t, "answer", answered(t, whole), c.want)
			if whole.deltas != nil {
				t.Errorf("watchers were told %q of a call that is not streamed", whole.deltas)
			}
			streamed := r.ask(t, hello(true))
			if string(streamed.raw) != string(whole.raw) {
				t.Errorf("streamed, the answer is\n%s\nand whole it is\n%s", streamed.raw, whole.raw)
			}
			equal(t, "deltas", streamed.deltas, c.deltas)
			for _, raw := range []string{string(whole.raw), strings.Join(streamed.deltas, "")} {
				if strings.Contains(raw, "canary-think") {
					t.Errorf("reasoning is told: %s", raw)
				}
			}
		})
	}
}

// conversation has everything that a request can have.
func conversation() *abi.ModelRequest {
	cold := 0.0
	return &abi.ModelRequest{
		System: "Be brief.",
		Messages: []abi.ModelMessage{
			{Role: "user", Text: "Find x & <y>."},
			{Role: "assistant", Text: "Let me see.", ToolCalls: []abi.ModelToolCall{
				{ID: "a", Name: "find", Arguments: jsontext.Value(`{"q":"x"}`)},
				{ID: "b", Name: "find", Arguments: jsontext.Value(`{"_malformed":"{"}`)}}},
			{Role: "tool", ToolCallID: "a", Text: "found"},
			{Role: "tool", ToolCallID: "b", Text: "no such place", IsError: true},
			{Role: "user", Text: "And now?"},
			{Role: "assistant"},
			{Role: "user", Text: "Well?"},
		},
		Tools: []abi.ModelTool{
			{Name: "find", Description: "Finds.", InputSchema: jsontext.Value(`{"type":"object","properties":{"z":{"type":"string"},"a":{"maximum":12345678901234567890}},"required":["z"]}`)},
			{Name: "stop"},
		},
		MaxTokens: 100, Temperature: &cold, Stop: []string{"END"},
	}
}

// TestRequests shows what goes over the wire.
func TestRequests(t *testing.T) {
	for _, choice := range []string{"", "auto", "none", "any", "find"} {
		name := "choice-" + choice
		request := conversation()
		if request.ToolChoice = choice; choice == "" {
			name = "whole"
		}
		t.Run(name, func(t *testing.T) {
			o, a := serve(t, jsonBody(openAIText)), serve(t, jsonBody(anthropicText))
			answered(t, one(t, o.openAI()).ask(t, request))
			answered(t, one(t, a.anthropic()).ask(t, request))
			if choice == "" {
				golden(t, "openai-request.json", o.only(t))
				golden(t, "anthropic-request.json", a.only(t))
				return
			}
			_, got, _ := strings.Cut(o.only(t), `"tool_choice": `)
			golden(t, "openai-"+name+".json", got[:strings.LastIndex(got, "\n}")])
			_, got, _ = strings.Cut(a.only(t), `"tool_choice": `)
			golden(t, "anthropic-"+name+".json", got[:strings.Index(got, "\n  },")+4])
		})
	}
}

// A model's answer whose arguments nest too deep is one that is not understood, at
// whatever depth; one at the bound can be passed on by the plugin.
func TestDeepArguments(t *testing.T) {
	nested := func(levels int) string {
		return `{"a":` + strings.Repeat("[", levels-1) + strings.Repeat("]", levels-1) + `}`
	}
	answer := func(levels int) http.HandlerFunc {
		arguments, err := json.Marshal(nested(levels))
		if err != nil {
			t.Fatal(err)
		}
		return jsonBody(`{"model":"small-2","choices":[{"message":{"tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":` +
			string(arguments) + `}}]},"finish_reason":"tool_calls"}]}`)
	}
	got := answered(t, one(t, serve(t, answer(abi.MaxToldDepth)).openAI()).ask(t, hello(false)))
	if want := nested(abi.MaxToldDepth); len(got.ToolCalls) != 1 || string(got.ToolCalls[0].Arguments) != want {
		t.Fatalf("at the bound: %+v", got.ToolCalls)
	}
	for _, passedOn := range []any{
		&abi.ModelRequest{Messages: []abi.ModelMessage{{Role: "assistant", ToolCalls: got.ToolCalls}}},
		&abi.CallToolCallRequest{Server: "s", Name: "f", Arguments: got.ToolCalls[0].Arguments},
		&abi.MessageInput{Role: abi.RoleAssistant, Parts: []abi.Part{{Type: abi.PartToolCall, ToolCallID: "a", Name: "f", Input: got.ToolCalls[0].Arguments}}},
	} {
		text, err := json.Marshal(passedOn)
		if err != nil || abi.TooDeep(text, abi.MaxDepth) >= 0 {
			t.Errorf("%T is too deep with what a model said (%v)", passedOn, err)
		}
	}
	for _, levels := range []int{abi.MaxToldDepth + 1, abi.MaxDepth, 9_990, 9_996, 9_999, 10_000, 10_001} {
		r := one(t, serve(t, answer(levels)).openAI()).ask(t, hello(false))
		if said := refused(t, r.err, abi.CallUnavailable, "model_answer_too_deep"); !strings.Contains(said.Message, "184 levels") {
			t.Errorf("%d levels: %s", levels, said.Message)
		}
	}
}
