package prove_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/wharf-dev/wharf/conformance/internal/nodetest"
)

// small is a server of a model that takes no more than so many bytes, as providers do, and no call of a
// tool without its result. It reads a file for so many turns, searches a tool and calls it, and says then
// that it is done.
type small struct {
	*httptest.Server
	takes, turns int

	mu      sync.Mutex
	asked   []chatRequest // but for summaries
	refused []string      // why
	summed  int
	at      int // the turn before which it stops; 0 for none
	stopped chan struct{}
	leave   chan struct{}
}

type chatRequest struct {
	Stream   bool          `json:"stream"`
	Messages []chatMessage `json:"messages"`
	Tools    []struct {
		Function struct {
			Name string `json:"name"`
		} `json:"function"`
	} `json:"tools"`
}

type chatMessage struct {
	Role       string `json:"role"`
	Content    any    `json:"content"`
	ToolCallID string `json:"tool_call_id"`
	ToolCalls  []struct {
		ID string `json:"id"`
	} `json:"tool_calls"`
}

func newSmall(t *testing.T, takes, turns int) *small {
	t.Helper()
	s := &small{takes: takes, turns: turns, stopped: make(chan struct{}), leave: make(chan struct{})}
	s.Server = serve(t, http.HandlerFunc(s.answer))
	return s
}

// unfit says what a provider has against a request; "" for nothing.
func (s *small) unfit(body []byte, r *chatRequest) string {
	if len(body) > s.takes {
		return fmt.Sprintf("This model's maximum context length is %d tokens", s.takes/4)
	}
	open := map[string]bool{}
	for _, m := range r.Messages {
		switch {
		case m.Role == "tool" && !open[m.ToolCallID]:
			return "a result without its call"
		case m.Role == "tool":
			delete(open, m.ToolCallID)
		case len(open) > 0:
			return "calls without results"
		}
		for _, c := range m.ToolCalls {
			open[c.ID] = true
		}
	}
	return ""
}

func (s *small) answer(rw http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	var req chatRequest
	if err := json.Unmarshal(body, &req); err != nil {
		http.Error(rw, err.Error(), http.StatusBadRequest)
		return
	}
	s.mu.Lock()
	if why := s.unfit(body, &req); why != "" {
		s.refused = append(s.refused, why)
		s.mu.Unlock()
		http.Error(rw, fmt.Sprintf(`{"error":{"message":%q,"type":"invalid_request_error"}}`, why), http.StatusBadRequest)
		return
	}
	if strings.Contains(fmt.Sprint(req.Messages[0].Content), "You make the summary") {
		s.summed++
		s.mu.Unlock()
		_, _ = fmt.Fprintf(rw, `{"id":"c","model":"small","choices":[{"index":0,"message":{"role":"assistant","content":"The file was read."},"finish_reason":"stop"}],"usage":{"prompt_tokens":%d,"completion_tokens":5}}`, len(body)/4)
		return
	}
	turn := len(s.asked) + 1
	stops := turn == s.at
	if stops {
		s.at = 0 // the question is asked again
	} else {
		s.asked = append(s.asked, req)
	}
	s.mu.Unlock()
	if stops {
		close(s.stopped)
		select {
		case <-s.leave:
		case <-r.Context().Done():
		}
		return
	}
	s.say(rw, turn, len(body)/4)
}

func (s *small) say(rw http.ResponseWriter, turn, tokens int) {
	chat, end := newChat(rw), "tool_calls"
	call := func(name, arguments string) {
		chat.delta(`{"tool_calls":[{"index":0,"id":"t%d","type":"function","function":{"name":%q,"arguments":%q}}]}`, turn, name, arguments)
	}
	switch {
	case turn <= s.turns:
		call("host__file_read", `{"path":"notes/long.txt"}`)
	case turn == s.turns+1:
		call("tool_search", `{"query":"weather of tomorrow"}`)
	case turn == s.turns+2:
		call("desk__forecast", `{}`)
	default:
		chat.delta(`{"content":"Done."}`)
		end = "stop"
	}
	chat.end(end, tokens)
}

// manyTools is a server of 80 tools, one of which is of use.
func manyTools(t *testing.T) (server *httptest.Server, calls func() int) {
	t.Helper()
	tools := mcp.NewServer(&mcp.Implementation{Name: "desk", Version: "1"}, nil)
	var mu sync.Mutex
	called := 0
	add := func(name, description string) {
		mcp.AddTool(tools, &mcp.Tool{Name: name, Description: description, Annotations: &mcp.ToolAnnotations{ReadOnlyHint: true}},
			func(context.Context, *mcp.CallToolRequest, struct{}) (*mcp.CallToolResult, any, error) {
				mu.Lock()
				defer mu.Unlock()
				called++
				return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "Rain."}}}, nil, nil
			})
	}
	for i := range 79 {
		add(fmt.Sprintf("drawer_%d", i), fmt.Sprintf("Opens drawer %d.", i))
	}
	add("forecast", "Tells the weather of tomorrow.")
	return serve(t, mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return tools }, nil)), func() int {
		mu.Lock()
		defer mu.Unlock()
		return called
	}
}

// TestALongTask has the bundled agent read far more than its model takes in, with a skill that fits and more
// tools than it is shown. The node is killed on the way. The model refuses nothing, what was left out
// is kept, and replays are the same byte for byte and ask nobody.
func TestALongTask(t *testing.T) {
	model := newSmall(t, 36_000, 24)
	desk, called := manyTools(t)
	node := builder.StartWith(t, nodetest.Options{Args: agentArgs(t, model.Server, desk,
		"approve: never, max_turns: 0, context_tokens: 9000, skill_match: {strategy: metadata}", "openharness: {private: true}")})
	c := newClient(node)
	const harness = "/v1/harnesses/wharf"
	c.post(t, harness+"/skills", object{"display_title": "Tides", "category": "organization", "files": object{
		"tides/SKILL.md": "---\nname: tides\ndescription: Tells the tides.\nwhen_to_use: Somebody asks for a tide.\n---\nAsk the moon.\n"}})
	c.ask(t, "PUT", harness+"/files/notes/long.txt", object{"content": strings.Repeat("High at six. ", 400)})

	model.at = 12
	source := text(c.post(t, harness+"/execute", object{"message": "Read of the tide, and nothing else.", "skills": []string{"tides"}}), "execution_id")
	<-model.stopped
	node.Kill(t)
	close(model.leave)
	node.Run(t)
	if task := c.settled(t, source); text(task, "status") != "COMPLETED" {
		t.Fatalf("%v %v, refused %v", task["status"], task["failure"], model.refused)
	}
	model.wantAsked(t)
	if called() != 1 {
		t.Errorf("the tool that was found was called %d times", called())
	}
	told := map[string]int{}
	for _, ev := range c.all(t, "/v1/tasks/"+source+"/events") {
		if text(ev, "event") != "vendor.wharf.agent_event" {
			continue
		}
		payload, _ := ev["payload"].(object)
		kind := text(payload, "kind")
		told[kind]++
		if kind != "transcript_compacted" {
			continue
		}
		kept := c.get(t, "/v1/artifacts/"+text(payload, "data", "snapshot_asset_id"))
		if text(kept, "kind") != "snapshot" || text(kept, "visibility") != "internal" {
			t.Errorf("the artifact is %v", kept)
		}
	}
	for _, kind := range []string{"skill_activated", "tool_search_query", "tool_search_result", "transcript_compacted", "transcript_projected", "turn_started", "turn_ended"} {
		if told[kind] == 0 {
			t.Errorf("no %s is told: %v", kind, told)
		}
	}

	asked, summed := len(model.asked), model.summed
	receipts := replays{}
	for place, how := range map[string]object{"as it was": nil, "exact": {"mode": "exact"}} {
		replayed := c.replayed(t, source, how)
		if text(replayed, "status") != "COMPLETED" {
			t.Fatalf("%s: %v", place, replayed["failure"])
		}
		receipts[place], _ = c.unsigned(t, text(replayed, "id"))
	}
	c.wantProved(t, source)
	receipts.wantEqual(t, "the long task")
	node.Stop(t)
	if len(model.asked) != asked || model.summed != summed || called() != 1 {
		t.Error("a replay has asked somebody")
	}
}

// wantAsked holds that the model has refused nothing, has known in each turn what the user wants, and was shown
// the tools that it was to be shown.
func (s *small) wantAsked(t *testing.T) {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.refused) > 0 || len(s.asked) != s.turns+3 || s.summed == 0 {
		t.Fatalf("%d questions, %d summaries, refused %v", len(s.asked), s.summed, s.refused)
	}
	for i, r := range s.asked {
		whole := fmt.Sprint(r.Messages)
		if !strings.Contains(whole, "Read of the tide, and nothing else.") || !strings.Contains(whole, "Ask the moon.") {
			t.Fatalf("question %d is %s", i+1, whole)
		}
		tools := fmt.Sprint(r.Tools)
		if strings.Contains(tools, "desk__forecast") != (i >= s.turns+1) || !strings.Contains(tools, "tool_search") || i < s.turns && strings.Contains(tools, "drawer") {
			t.Errorf("in question %d the tools are %s", i+1, tools)
		}
	}
}
