package model

import (
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/provider"
)

// thinking asks, and returns what was told of what the model thinks.
func (r *rig) thinking(t *testing.T, request *abi.ModelRequest) (heard string, got told) {
	t.Helper()
	got = r.askAs(t, t.Context(), request, provider.Call{Plugin: "agent", Thinks: func(s string) { heard += s }})
	return heard, got
}

// What a model thinks is told where the operator has it think aloud and the call is streamed, once, without the
// key, and is no part of the answer.
func TestThoughts(t *testing.T) {
	spelled := func(list []string) (all []string) { // in two pieces, with the key across them
		for _, e := range list {
			if at := strings.Index(e, `thinking":"canary-think"`); at >= 0 && strings.Contains(e, "delta") {
				all = append(all, strings.Replace(e, "canary-think", "canary "+testKey[:9], 1), strings.Replace(e, "canary-think", testKey[9:]+" think", 1))
				continue
			}
			all = append(all, e)
		}
		return all
	}
	for _, c := range []struct {
		provider string
		stream   []string
		want     string
	}{
		{ProviderOpenAI, openAITextStream, "canary-thinkcanary-think"},
		{ProviderOpenAI, append([]string{`{"choices":[{"delta":{"reasoning":"once ","reasoning_content":"once "}}]}`}, openAITextStream...), "once canary-thinkcanary-think"},
		{ProviderAnthropic, anthropicTextStream, "canary-think"},
		{ProviderAnthropic, spelled(anthropicTextStream), "canary " + redacted + " think"},
	} {
		s := serve(t, events(c.stream...))
		m := s.openAI()
		if c.provider == ProviderAnthropic {
			m = s.anthropic()
		}
		m.Thinking = 1024
		heard, got := one(t, m).thinking(t, hello(true))
		if answered(t, got).Text != "Hello, you!" || strings.Contains(string(got.raw), "think") || heard != c.want {
			t.Errorf("%s: %q, then %s", c.provider, heard, got.raw)
		}
		m.Thinking = 0
		if heard, _ := one(t, m).thinking(t, hello(true)); heard != "" {
			t.Errorf("%s: %q is told of a model that does not think aloud", c.provider, heard)
		}
	}
}

// A second attempt, or another model, tells nothing again.
func TestThoughtsOfAFurtherAttempt(t *testing.T) {
	s := serve(t, cut(openAITextStream[:2]...), events(openAITextStream...))
	m := s.openAI()
	m.Thinking, m.Retries = 1, 1
	if heard, got := one(t, m).thinking(t, hello(true)); heard != "canary-thinkcanary-think" || got.err != nil {
		t.Errorf("%q, %v", heard, got.err)
	}
}

// The API of Anthropic is asked to think where it takes that.
func TestWhenAnthropicThinks(t *testing.T) {
	calls := []abi.ModelMessage{{Role: "user", Text: "go"}, {Role: "assistant", ToolCalls: []abi.ModelToolCall{{ID: "a", Name: "f", Arguments: jsontext.Value("{}")}}}, {Role: "tool", ToolCallID: "a", Text: "x"}}
	tools := []abi.ModelTool{{Name: "f"}}
	for name, c := range map[string]struct {
		change func(*abi.ModelRequest)
		want   bool
	}{
		"a question":         {func(*abi.ModelRequest) {}, true},
		"tools":              {func(r *abi.ModelRequest) { r.Tools, r.ToolChoice = tools, "auto" }, true},
		"a forced tool":      {func(r *abi.ModelRequest) { r.Tools, r.ToolChoice = tools, "f" }, false},
		"any tool":           {func(r *abi.ModelRequest) { r.Tools, r.ToolChoice = tools, "any" }, false},
		"after a tool":       {func(r *abi.ModelRequest) { r.Tools, r.Messages = tools, calls }, false},
		"a temperature":      {func(r *abi.ModelRequest) { r.Temperature = new(0.5) }, false},
		"too few tokens":     {func(r *abi.ModelRequest) { r.MaxTokens = 2000 }, false},
		"just enough tokens": {func(r *abi.ModelRequest) { r.MaxTokens = 2001 }, true},
	} {
		s := serve(t, jsonBody(anthropicText))
		m := s.anthropic()
		m.Thinking = 2000
		request := hello(false)
		c.change(request)
		heard, got := one(t, m).thinking(t, request)
		if answered(t, got); heard != "" {
			t.Errorf("%s: %q is told of a call that is not streamed", name, heard)
		}
		if sent := strings.Contains(s.only(t), `"budget_tokens": 2000`); sent != c.want {
			t.Errorf("%s: it is asked to think: %v", name, sent)
		}
	}
}

// What a server thinks without end is told in few pieces, and not all of it.
func TestThoughtsWithoutEnd(t *testing.T) {
	at := time.Unix(1_000_000, 0)
	times, bytes := 0, 0
	th := &thoughts{tell: func(s string) { times++; bytes += len(s) }, now: func() time.Time { return at }}
	for range 10 * maxThoughts / 10 {
		th.write("ten bytes ")
	}
	th.close()
	if bytes < maxThoughts || bytes > maxThoughts+10 || times > 2+maxThoughts/thoughtPiece {
		t.Errorf("%d bytes are told in %d pieces", bytes, times)
	}
}

// Thoughts are told with pauses, and before the text that follows them.
func TestThoughtsInPieces(t *testing.T) {
	at := time.Unix(1_000_000, 0)
	var all []string
	tx := newText("", func(s string) { all = append(all, "text "+s) })
	tx.thoughts = &thoughts{tell: func(s string) { all = append(all, s) }, now: func() time.Time { return at }}
	for _, piece := range []string{"a", "b", "c", "later", "d\xe4", "\xb8\x96"} {
		if piece == "later" {
			at = at.Add(thoughtPause)
		}
		tx.thoughts.write(piece)
	}
	tx.write("x")
	tx.thoughts.write("e")
	tx.close()
	if got := strings.Join(all, "|"); got != "a|bclater|d世|text x|e" {
		t.Error(got)
	}
}
