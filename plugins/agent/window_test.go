package main

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	wharf "github.com/wharf-dev/wharf/sdk/go"
	"github.com/wharf-dev/wharf/sdk/go/wharftest"
)

// narrow is a model that refuses what has more bytes than it reads, and requests in which a call has no
// result or a result no call. It calls a tool for so many turns, and then says that it is done.
type narrow struct {
	reads, turns int
	noSummary    bool
	asked        []wharf.ModelRequest
	refusals     int
}

func (m *narrow) complete(r wharf.ModelRequest) (wharf.ModelAnswer, error) {
	text, err := json.Marshal(r)
	if err != nil {
		return wharf.ModelAnswer{}, err
	}
	if err := paired(r.Messages); err != nil {
		return wharf.ModelAnswer{}, err
	}
	if len(text) > m.reads {
		m.refusals++
		return wharf.ModelAnswer{}, &wharf.Error{Status: wharf.StatusTooLarge, Code: "context_length_exceeded", Message: "prompt is too long"}
	}
	usage := wharf.ModelUsage{InputTokens: int64(len(text) / 4), OutputTokens: 5}
	if strings.HasPrefix(r.CallID, "compact:") {
		if m.noSummary {
			return wharf.ModelAnswer{}, &wharf.Error{Status: wharf.StatusUnavailable, Code: "model_unavailable", Message: "overloaded"}
		}
		return wharf.ModelAnswer{Text: "They read files.", StopReason: wharf.StopEnd, Usage: usage}, nil
	}
	var copied wharf.ModelRequest // what is asked with is changed later
	if err := json.Unmarshal(text, &copied); err != nil {
		return wharf.ModelAnswer{}, err
	}
	m.asked = append(m.asked, copied)
	if len(m.asked) > m.turns {
		return wharf.ModelAnswer{Text: "Done.", StopReason: wharf.StopEnd, Usage: usage}, nil
	}
	return wharf.ModelAnswer{ToolCalls: []wharf.ModelToolCall{
		toolCall(fmt.Sprint("c", len(m.asked)), "files__read_file", fmt.Sprintf(`{"path":"f%d"}`, len(m.asked))),
		toolCall(fmt.Sprint("d", len(m.asked)), "files__read_file", `{"path":"other"}`),
	}, StopReason: wharf.StopTools, Usage: usage}, nil
}

// paired holds what providers ask for: each call is followed by its result, and no result is without one.
func paired(messages []wharf.ModelMessage) error {
	open := map[string]bool{}
	for i, m := range messages {
		if m.Role == "tool" {
			if !open[m.ToolCallID] {
				return fmt.Errorf("message %d is a result without a call", i)
			}
			delete(open, m.ToolCallID)
			continue
		}
		if len(open) > 0 {
			return fmt.Errorf("before message %d there are calls without results: %v", i, open)
		}
		for _, c := range m.ToolCalls {
			open[c.ID] = true
		}
	}
	if len(open) > 0 {
		return fmt.Errorf("calls without results: %v", open)
	}
	return nil
}

// reading is an office whose tool answers with so many bytes, and whose model is narrow.
func reading(m *narrow, answer int) *wharftest.Host {
	h, _ := office()
	h.Complete = m.complete
	h.CallTool = func(r wharf.ToolRequest) (wharf.ToolAnswer, error) {
		return wharf.ToolAnswer{Content: []wharf.ToolContent{{Type: "text", Text: strings.Repeat("x", answer)}}}, nil
	}
	return h
}

// told returns the data of the events of one kind.
func told[T any](t *testing.T, h *wharftest.Host, kind wharf.AgentEvent) (all []T) {
	t.Helper()
	for _, ev := range h.Told {
		if ev.Kind != kind {
			continue
		}
		var v T
		if err := json.Unmarshal(ev.Data, &v); err != nil {
			t.Fatal(err)
		}
		all = append(all, v)
	}
	return all
}

// A Task whose tools answer with more than its model reads goes on to its end, and the model knows in
// each turn what the user wants, whatever the settings say of the window.
func TestTheConversationFits(t *testing.T) {
	for name, c := range map[string]struct {
		config    map[string]any
		noSummary bool
		answer    int
		refused   bool // the model may refuse a request before it is made shorter
		strategy  string
	}{
		"the window is known":       {map[string]any{"context_tokens": 8_000}, false, 4_000, false, "summarize"},
		"the window is the model's": {map[string]any{"model": "small", "context_windows": map[string]any{"small": 8_000, "": 500_000}}, false, 4_000, false, "summarize"},
		"the default's":             {map[string]any{"context_windows": map[string]any{"small": 500_000, "": 8_000}}, false, 4_000, false, "summarize"},
		"the operator knows better": {map[string]any{"context_tokens": 8_000, "context_windows": map[string]any{"": 500_000}}, false, 4_000, false, "summarize"},
		"another's is known":        {map[string]any{"context_windows": map[string]any{"small": 8_000}}, false, 4_000, true, "summarize"},
		"the window is not":         {nil, false, 4_000, true, "summarize"},
		"no summary":                {map[string]any{"context_tokens": 8_000}, true, 4_000, false, "truncate"},
		"a list is asked for":       {map[string]any{"context_tokens": 8_000, "compaction": map[string]any{"strategy": "truncate"}}, false, 4_000, false, "truncate"},
		"answers that are large":    {map[string]any{"context_tokens": 8_000}, false, 60_000, false, "summarize"},
		"settings that are none":    {map[string]any{"context_tokens": "many", "compaction": map[string]any{"at": 7}}, false, 4_000, true, "summarize"},
	} {
		t.Run(name, func(t *testing.T) {
			m := &narrow{reads: 26_000, turns: 60, noSummary: c.noSummary}
			h := reading(m, c.answer)
			h.Config = map[string]any{"max_turns": 0, "max_tool_calls": 0}
			for k, v := range c.config {
				h.Config[k] = v
			}
			outcome := h.Text(handle, "Read all the files, and nothing else.")
			if outcome.Failure != nil || outcome.Summary != "Done." || len(m.asked) != 61 {
				t.Fatalf("after %d questions: %+v", len(m.asked), outcome)
			}
			if (m.refusals > 0) != c.refused {
				t.Errorf("the model has refused %d requests", m.refusals)
			}
			for i, r := range m.asked {
				if whole := fmt.Sprint(r.Messages); !strings.Contains(whole, "Read all the files, and nothing else.") {
					t.Fatalf("question %d does not have what the user wants: %s", i+1, whole)
				}
			}
			compacted := told[wharf.Compaction](t, h, wharf.TranscriptCompacted)
			if len(compacted) == 0 || len(compacted) > 30 || compacted[0].Strategy != c.strategy || compacted[0].ArchivedMessages == 0 ||
				compacted[0].EstimatedTokensAfter >= compacted[0].EstimatedTokensBefore || len(h.Stored) != len(compacted) {
				t.Errorf("%d artifacts, %d compactions, the first %+v", len(h.Stored), len(compacted), compacted[:min(1, len(compacted))])
			}
			for i, s := range h.Stored {
				if s.ID != compacted[i].SnapshotAssetID || s.Kind != "snapshot" || s.Visibility != "internal" || !strings.Contains(string(s.Content), `{"messages":[{"role":"user"`) {
					t.Errorf("artifact %d is %+v", i, s.Artifact)
				}
			}
			if len(told[wharf.Projection](t, h, wharf.TranscriptProjected)) == 0 {
				t.Error("no answer of a tool was left out")
			}
		})
	}
}

// Between two changes the conversation begins with the same bytes, so that what a provider has kept counts.
func TestThePrefixStays(t *testing.T) {
	m := &narrow{reads: 26_000, turns: 40}
	h := reading(m, 3_000)
	h.Config = map[string]any{"max_turns": 0, "max_tool_calls": 0, "context_tokens": 8_000}
	h.Text(handle, "go")
	changes := len(told[wharf.Projection](t, h, wharf.TranscriptProjected)) + len(told[wharf.Compaction](t, h, wharf.TranscriptCompacted))
	broken := 0
	for i := 1; i < len(m.asked); i++ {
		before, now := m.asked[i-1].Messages, m.asked[i].Messages
		if len(now) < len(before) || fmt.Sprint(now[:len(before)]) != fmt.Sprint(before) {
			broken++
		}
	}
	if broken == 0 || broken > changes || broken > len(m.asked)/2 {
		t.Errorf("of %d questions %d begin with something else, for %d changes that were told", len(m.asked), broken, changes)
	}
	for _, p := range told[wharf.Projection](t, h, wharf.TranscriptProjected) {
		if !strings.HasPrefix(p.PrefixHash, "fnv128a:") || p.ReclaimedTokens <= 0 || len(p.RedactionPointers) != p.DroppedCount+p.RedactedCount {
			t.Errorf("%+v", p)
		}
	}
}

// A long Session that is too much for the model at once becomes a summary before the first question;
// where nothing helps, the Task fails with what the model says.
func TestALongSession(t *testing.T) {
	m := &narrow{reads: 20_000}
	h := reading(m, 1)
	for i := range 40 {
		h.Transcript = append(h.Transcript, wharf.Message{ID: fmt.Sprint("m", i), Role: []string{"user", "assistant"}[i%2], Parts: []wharf.Part{wharf.TextPart(fmt.Sprint(i, strings.Repeat(" word", 500)))}})
	}
	if outcome := h.Text(handle, "And now?"); outcome.Failure != nil {
		t.Fatal(outcome.Failure)
	}
	asked := m.asked[0].Messages
	if !strings.HasPrefix(asked[0].Text, summaryHead+"They read files.") || asked[len(asked)-1].Text != "And now?" || strings.Contains(asked[0].Text, "And now?") {
		t.Errorf("the model is asked with %d messages: %.200s", len(asked), asked[0].Text)
	}
	m = &narrow{reads: 20_000}
	h = reading(m, 1)
	if failure := h.Text(handle, strings.Repeat("much ", 10_000)).Failure; failure == nil || failure.Code != "context_length_exceeded" {
		t.Errorf("%+v", failure)
	}
}

// With compaction off nothing is left out, and a Task that is short asks the host for nothing more.
func TestOffAndShort(t *testing.T) {
	m := &narrow{reads: 26_000, turns: 60}
	h := reading(m, 4_000)
	h.Config = map[string]any{"max_turns": 0, "context_tokens": 8_000, "compaction": map[string]any{"strategy": "off"}}
	if failure := h.Text(handle, "go").Failure; failure == nil || failure.Code != "context_length_exceeded" || len(h.Told) != 0 && h.Told[0].Kind == wharf.TranscriptCompacted {
		t.Errorf("%+v", failure)
	}
	h, _ = office(says("ok"))
	h.Text(handle, "hello")
	if want := 7; len(slices.DeleteFunc(slices.Clone(h.Calls), func(c string) bool { return c != "config.get" })) != want || slices.Contains(h.Calls, "agent.event") {
		t.Errorf("%v", h.Calls)
	}
}
