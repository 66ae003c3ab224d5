package model

import (
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/provider"
)

func scripted(t *testing.T, path string, retries int) *rig {
	return newRig(t, Config{Script: path, Models: map[string]Model{"main": {Provider: ProviderScript, Retries: retries}}})
}

func (r *rig) nth(t *testing.T, n int, request *abi.ModelRequest) told {
	t.Helper()
	return r.askAs(t, t.Context(), request, provider.Call{TaskID: "task_1", Number: n})
}

func TestScript(t *testing.T) {
	r := scripted(t, filepath.Join("testdata", "script.json"), 2)

	t.Run("turns of an agent", func(t *testing.T) {
		request := hello(true)
		request.Messages[0].Text = "What will the weather be?"
		got := r.nth(t, 5, request) // its number plays no part
		equal(t, "answer", answered(t, got), abi.ModelAnswer{
			Provider: "script", Model: "script", StopReason: abi.StopTools, Currency: "USD", Route: "configured default",
			ToolCalls: []abi.ModelToolCall{{ID: "call_1", Name: "forecast", Arguments: jsontext.Value(`{"city":"Oslo"}`)}},
			Usage:     abi.ModelUsage{InputTokens: 40, OutputTokens: 9},
		})
		request.Messages = append(request.Messages,
			abi.ModelMessage{Role: "assistant", ToolCalls: got.answer.ToolCalls},
			abi.ModelMessage{Role: "tool", ToolCallID: "call_1", Text: "rain"})
		got = r.nth(t, 6, request)
		equal(t, "text", answered(t, got).Text, "Rain, all day.")
		equal(t, "deltas", got.deltas, []string{"Rain, ", "all ", "day."})
		request.Messages = append(request.Messages, abi.ModelMessage{Role: "assistant", Text: "Rain, all day."})
		refused(t, r.nth(t, 7, request).err, abi.CallUnavailable, "script_exhausted")
	})

	t.Run("call_id", func(t *testing.T) {
		request := hello(false)
		request.CallID = "title"
		equal(t, "text", answered(t, r.nth(t, 9, request)).Text, "A short title")
	})

	t.Run("calls in their order", func(t *testing.T) {
		for range 2 { // made again, each is answered the same
			r.waits = nil
			equal(t, "first", answered(t, r.nth(t, 1, hello(false))).Text, "First.")
			equal(t, "waits", len(r.waits), 2)
			equal(t, "second", refused(t, r.nth(t, 2, hello(false)).err, abi.CallInvalid, "model_rejected").Message, `model "main": HTTP 400: no`)
			equal(t, "third", answered(t, r.nth(t, 3, hello(false))).Text, "Further.")
			equal(t, "fourth", answered(t, r.nth(t, 4, hello(false))).Text, "Further.")
			refused(t, r.nth(t, 5, hello(false)).err, abi.CallUnavailable, "script_exhausted")
		}
	})

	t.Run("without a number they go by turns", func(t *testing.T) {
		request := hello(false)
		request.Messages = append(request.Messages, abi.ModelMessage{Role: "assistant", Text: "a"},
			abi.ModelMessage{Role: "assistant", Text: "b"})
		equal(t, "text", answered(t, r.nth(t, 0, request)).Text, "Further.")
	})

	t.Run("fewer attempts than errors", func(t *testing.T) {
		short := scripted(t, filepath.Join("testdata", "script.json"), 1)
		refused(t, short.nth(t, 1, hello(false)).err, abi.CallUnavailable, "model_unavailable")
	})
}

// TestScriptIsShared holds that Tasks which run at one time do not take each
// other's answers.
func TestScriptIsShared(t *testing.T) {
	r := scripted(t, filepath.Join("testdata", "script.json"), 2)
	want := []string{"First.", "", "Further.", "Further.", ""}
	var all sync.WaitGroup
	for task := range 20 {
		all.Go(func() {
			for i, text := range want {
				got := r.askAs(t, t.Context(), hello(false), provider.Call{TaskID: fmt.Sprint("task_", task), Number: i + 1})
				if got.answer.Text != text {
					t.Errorf("task %d, call %d: got %q, not %q", task, i+1, got.answer.Text, text)
				}
			}
		})
	}
	all.Wait()
}

func TestScriptForms(t *testing.T) {
	for script, says := range map[string]string{
		`{}`:                          "the JSON text has to be a list, not an object",
		`[{"answer":{},"replies":1}]`: `there is no member "replies" in /0`,
		`[{}]`:                        "step 1: it has either an answer or an error",
		`[{"answer":{"text":"a"}},{"answer":{},"error":{"status":500}}]`: "step 2: it has either an answer or an error",
		`[{"answer":{},"match":{}}]`:                                     "step 1: match is empty",
		`[{"answer":{},"times":-2}]`:                                     "step 1: times is -2",
		`[{"error":{"status":200}}]`:                                     "step 1: the status of an error is 400 to 599, not 200",
		`[{"answer":{"tool_calls":[{"name":""}]}}]`:                      "step 1: tool_calls[0]: the name is missing",
		`[{"answer":{"stop_reason":"done"}}]`:                            `step 1: the stop reason "done" is none of`,
	} {
		if _, err := ParseScript([]byte(script)); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: got %v, not %q", script, err, says)
		}
	}
}

// TestScriptWithoutEnd covers times -1 and errors that nothing follows.
func TestScriptWithoutEnd(t *testing.T) {
	for _, c := range []struct {
		script string
		number int
		text   string
		code   string
	}{
		{`[{"answer":{"text":"a"}},{"answer":{"text":"b"},"times":-1}]`, 1000, "b", ""},
		{`[{"match":{"model":"main"},"answer":{"text":"m"}},{"answer":{"text":"b"}}]`, 7, "m", ""},
		{`[{"match":{"model":"other"},"answer":{"text":"m"}},{"answer":{"text":"b"}}]`, 1, "b", ""},
		{`[{"answer":{"text":"a"}},{"error":{"status":503}}]`, 2, "", "model_unavailable"},
		{`[{"answer":{"text":"a"}},{"error":{"status":503}}]`, 3, "", "script_exhausted"},
		{`[{"error":{"status":503},"times":-1},{"answer":{"text":"a"}}]`, 1, "", "model_unavailable"},
		{`[]`, 1, "", "script_exhausted"},
	} {
		s, err := ParseScript([]byte(c.script))
		if err != nil {
			t.Fatal(err)
		}
		r := scripted(t, filepath.Join("testdata", "script.json"), 3)
		r.backends["main"] = s
		got := r.nth(t, c.number, hello(false))
		if c.code != "" {
			refused(t, got.err, abi.CallUnavailable, c.code)
			continue
		}
		equal(t, c.script, answered(t, got).Text, c.text)
	}
}
