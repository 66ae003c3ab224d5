package model

import (
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"pgregory.net/rapid"

	"github.com/wharf-dev/wharf/abi"
)

// TestCompatibleServers covers what servers do that speak chat completions nearly
// as they are written down.
func TestCompatibleServers(t *testing.T) {
	call := func(id, name, arguments string) abi.ModelToolCall {
		return abi.ModelToolCall{ID: id, Name: name, Arguments: jsontext.Value(arguments)}
	}
	earlier := &abi.ModelRequest{Messages: []abi.ModelMessage{
		{Role: "user", Text: "go"},
		{Role: "assistant", ToolCalls: []abi.ModelToolCall{call("call_1", "f", `{}`)}},
		{Role: "tool", ToolCallID: "call_1", Text: "done"},
	}}
	for _, c := range []struct {
		name   string
		answer string   // whole
		stream []string // or streamed
		want   abi.ModelAnswer
	}{
		{name: "no ids, no usage, no model",
			answer: `{"choices":[{"finish_reason":"stop","message":{"content":null,"tool_calls":[{"function":{"name":"f","arguments":"{}"}},{"function":{"name":"g","arguments":"{}"}}]}}]}`,
			want:   abi.ModelAnswer{Model: "small", StopReason: abi.StopTools, ToolCalls: []abi.ModelToolCall{call("call_2", "f", `{}`), call("call_3", "g", `{}`)}}},
		{name: "arguments that are an object",
			answer: `{"choices":[{"finish_reason":"tool_calls","message":{"tool_calls":[{"id":"a","function":{"name":"f","arguments":{"x": [1, 2]}}}]}}]}`,
			want:   abi.ModelAnswer{Model: "small", StopReason: abi.StopTools, ToolCalls: []abi.ModelToolCall{call("a", "f", `{"x":[1,2]}`)}}},
		{name: "arguments that are no object",
			answer: `{"choices":[{"finish_reason":"tool_calls","message":{"tool_calls":[{"id":"a","function":{"name":"f","arguments":"{\"x\": "}},{"id":"b","function":{"name":"f","arguments":"[1]"}},{"id":"c","function":{"name":"f","arguments":"{\"x\":1,\"x\":2}"}}]}}]}`,
			want: abi.ModelAnswer{Model: "small", StopReason: abi.StopTools, ToolCalls: []abi.ModelToolCall{
				call("a", "f", `{"_malformed":"{\"x\": "}`), call("b", "f", `{"_malformed":"[1]"}`), call("c", "f", `{"_malformed":"{\"x\":1,\"x\":2}"}`)}}},
		{name: "all calls in one place", stream: []string{
			`{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":"{}"}}]}}]}`,
			`{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"b","function":{"name":"g","arguments":"{}"}}]}}]}`,
			`{"choices":[{"delta":{},"finish_reason":"stop"}]}`},
			want: abi.ModelAnswer{Model: "small", StopReason: abi.StopTools, ToolCalls: []abi.ModelToolCall{call("a", "f", `{}`), call("b", "g", `{}`)}}},
		{name: "calls whose pieces alternate", stream: []string{
			`{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":"{\"x\""}},{"index":1,"id":"b","function":{"name":"g","arguments":"{"}}]}}]}`,
			`{"choices":[{"delta":{"tool_calls":[{"index":0,"function":{"arguments":":1}"}}]}}]}`,
			`{"choices":[{"delta":{"tool_calls":[{"index":1,"function":{"arguments":"}"}}]},"finish_reason":"tool_calls"}]}`},
			want: abi.ModelAnswer{Model: "small", StopReason: abi.StopTools, ToolCalls: []abi.ModelToolCall{call("a", "f", `{"x":1}`), call("b", "g", `{}`)}}},
		{name: "no end mark, usage null", stream: []string{
			`{"choices":[{"delta":{"content":"a"}}],"usage":null}`, `{"choices":[{"delta":{"content":"b"},"finish_reason":"length"}],"usage":null}`},
			want: abi.ModelAnswer{Model: "small", Text: "ab", StopReason: abi.StopLength}},
		{name: "reasoning within the text",
			answer: `{"choices":[{"finish_reason":"stop","message":{"content":"\n<think>\ncanary\n</think>\n\nYes, <think> is a tag."}}]}`,
			want:   abi.ModelAnswer{Model: "small", Text: "Yes, <think> is a tag.", StopReason: abi.StopEnd}},
		{name: "refusal",
			answer: `{"choices":[{"finish_reason":"stop","message":{"content":null,"refusal":"I will not."}}]}`,
			want:   abi.ModelAnswer{Model: "small", Text: "I will not.", StopReason: abi.StopRefusal}},
		{name: "refusal, streamed", stream: []string{
			`{"choices":[{"delta":{"refusal":"I will "}}]}`, `{"choices":[{"delta":{"refusal":"not."},"finish_reason":"stop"}]}`},
			want: abi.ModelAnswer{Model: "small", Text: "I will not.", StopReason: abi.StopRefusal}},
		{name: "filtered",
			answer: `{"choices":[{"finish_reason":"content_filter","message":{"content":""}}]}`,
			want:   abi.ModelAnswer{Model: "small", StopReason: abi.StopRefusal}},
	} {
		t.Run(c.name, func(t *testing.T) {
			handler := jsonBody(c.answer)
			if c.stream != nil {
				handler = events(c.stream...)
			}
			request := *earlier
			request.Stream = c.stream != nil
			c.want.Provider, c.want.Currency, c.want.Route = ProviderOpenAI, "USD", "configured default"
			equal(t, "answer", answered(t, one(t, serve(t, handler).openAI()).ask(t, &request)), c.want)
		})
	}
}

func TestAnthropicStops(t *testing.T) {
	for reason, want := range map[string]abi.StopReason{
		"end_turn": abi.StopEnd, "stop_sequence": abi.StopEnd, "max_tokens": abi.StopLength,
		"model_context_window_exceeded": abi.StopLength, "refusal": abi.StopRefusal,
	} {
		s := serve(t, jsonBody(strings.Replace(anthropicText, "end_turn", reason, 1)))
		equal(t, reason, answered(t, one(t, s.anthropic()).ask(t, hello(false))).StopReason, want)
	}
}

// TestToolNames holds that tools of any name can be offered, and are called by it.
func TestToolNames(t *testing.T) {
	request := hello(false)
	long := strings.Repeat("x", 70)
	for _, name := range []string{"files:read", "files_read", "files/read", "käse", long + "1", long + "2"} {
		request.Tools = append(request.Tools, abi.ModelTool{Name: name})
	}
	request.ToolChoice = "files:read"
	request.Messages = append(request.Messages,
		abi.ModelMessage{Role: "assistant", ToolCalls: []abi.ModelToolCall{{ID: "a", Name: "files/read", Arguments: jsontext.Value(`{}`)}}},
		abi.ModelMessage{Role: "tool", ToolCallID: "a", Text: "x"})
	both(t, func(t *testing.T, model func(*server) Model, w wire) {
		whole := strings.Replace(openAITool, `"find"`, `"files_read_3"`, 1)
		if w.begins > 3 {
			whole = strings.Replace(anthropicTool, `"find"`, `"files_read_3"`, 1)
		}
		s := serve(t, jsonBody(whole))
		equal(t, "called", answered(t, one(t, model(s)).ask(t, request)).ToolCalls[0].Name, "files/read")
		sent := s.only(t)
		for name, times := range map[string]int{"files_read": 1, "files_read_2": 2, "files_read_3": 2, "k_se": 1, long[:64]: 1, long[:62] + "_2": 1} {
			if n := strings.Count(sent, `"name": "`+name+`"`); n != times {
				t.Errorf("%q is named %d times, not %d, in\n%s", name, n, times, sent)
			}
		}
	})
}

// pieces cuts s anywhere.
func pieces(t *rapid.T, s string) []string {
	var all []string
	for s != "" {
		n := rapid.IntRange(1, len(s)).Draw(t, "length")
		all, s = append(all, s[:n]), s[n:]
	}
	return all
}

// TestTextInPieces holds that it does not matter where a stream is cut: neither
// for the text, nor for what is left out of it.
func TestTextInPieces(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		parts := rapid.SliceOf(rapid.SampledFrom([]string{
			" ", "\n", "<", "<th", "<think>", "</think>", "</thi", "a", "é", "\xff", "\xe2\x82", testKey, testKey[:7], testKey[7:], testKey[:20],
		})).Draw(t, "parts")
		s := strings.Join(parts, "")
		whole := newText(testKey, func(string) {})
		whole.write(s)
		whole.close()
		var heard strings.Builder
		cut := newText(testKey, func(piece string) {
			if piece == "" {
				t.Fatal("a watcher was told nothing")
			}
			heard.WriteString(piece)
		})
		for _, piece := range pieces(t, s) {
			cut.write(piece)
		}
		cut.close()
		if whole.String() != cut.String() || heard.String() != cut.String() {
			t.Fatalf("whole %q, in pieces %q, heard %q", whole, cut, heard.String())
		}
		if strings.Contains(cut.String(), testKey) {
			t.Fatalf("the key is in %q", cut)
		}
		if want := withoutThinking(string([]rune(s))); strings.ReplaceAll(want, testKey, redacted) != cut.String() {
			t.Fatalf("of %q there is %q, not %q", s, cut, want)
		}
	})
}

// withoutThinking says in another way what thinkFilter does.
func withoutThinking(s string) string {
	const space = " \t\r\n"
	inside, ok := strings.CutPrefix(strings.TrimLeft(s, space), thinkOpen)
	if !ok {
		return s
	}
	_, after, _ := strings.Cut(inside, thinkClose)
	return strings.TrimLeft(after, space)
}

// TestWatcher holds that what a watcher has been told over several attempts is
// the beginning of one of them.
func TestWatcher(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		heard := ""
		w := &watcher{on: true, emit: func(s string) { heard += s }}
		texts := rapid.SliceOfN(rapid.StringMatching(`(ab?c?)*`), 1, 4).Draw(t, "texts")
		for _, text := range texts {
			tell := w.attempt()
			for _, piece := range pieces(t, text) {
				tell(piece)
			}
		}
		for _, text := range texts {
			if strings.HasPrefix(text, heard) {
				return
			}
		}
		t.Fatalf("heard %q, which none of %q begins with", heard, texts)
	})
}

// FuzzOpenAIChunks and FuzzAnthropicEvents hold that whatever a server streams,
// one event a line, an answer comes out that can be encoded, or none.
func FuzzOpenAIChunks(f *testing.F) {
	f.Add(strings.Join(openAITextStream, "\n"))
	f.Add(strings.Join(openAIToolStream, "\n"))
	f.Add(`{"choices":[{"delta":{"tool_calls":[{"index":-1,"id":"a","function":{"arguments":{"a":"\ud800"}}}]},"finish_reason":"stop"}]}`)
	f.Fuzz(func(t *testing.T, lines string) {
		a := &ask{request: hello(true), key: testKey, text: newText(testKey, func(string) {})}
		var s openAIStream
		for line := range strings.Lines(lines) {
			_, _ = s.event([]byte(line), a.text)
		}
		r, err := s.reply()
		encodable(t, a, r, err)
	})
}

func FuzzAnthropicEvents(f *testing.F) {
	for _, list := range [][]string{anthropicTextStream, anthropicToolStream} {
		var lines strings.Builder
		for _, e := range list {
			_, data, _ := strings.Cut(e, " ")
			lines.WriteString(data + "\n")
		}
		f.Add(lines.String())
	}
	f.Fuzz(func(t *testing.T, lines string) {
		a := &ask{request: hello(true), key: testKey, text: newText(testKey, func(string) {})}
		s := claudeStream{at: map[int64]int{}}
		for line := range strings.Lines(lines) {
			_ = s.event("message", []byte(line), a.text)
		}
		r, err := s.finish()
		encodable(t, a, r, err)
	})
}

func encodable(t *testing.T, a *ask, r *reply, err error) {
	if err != nil {
		return
	}
	a.text.close()
	a.name = "main"
	m := &Models{config: Config{Models: map[string]Model{"main": {Provider: ProviderOpenAI, Model: "small"}}}}
	answer, fail := m.answer(a, r)
	if fail != nil {
		return
	}
	b, err := encode(answer)
	if err != nil {
		t.Fatal(err)
	}
	if !jsontext.Value(b).IsValid() || strings.Contains(string(b), testKey) {
		t.Fatalf("the answer is %s", b)
	}
}
