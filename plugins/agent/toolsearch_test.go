package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	wharf "github.com/wharf-dev/wharf/sdk/go"
	"github.com/wharf-dev/wharf/sdk/go/wharftest"
)

// workshop is an office with so many tools of servers, and one of the host.
func workshop(tools int, set any, answers ...wharf.ModelAnswer) (*wharftest.Host, *scripted) {
	h, model := office(answers...)
	h.Tools = []wharf.Tool{{Server: "host", Name: "time_now"}}
	for i := range tools {
		h.Tools = append(h.Tools, wharf.Tool{Server: fmt.Sprint("s", i%3), Name: fmt.Sprint("tool_", i), Description: fmt.Sprintf("Handles matter %d.", i), InputSchema: json.RawMessage(`{"type":"object"}`)})
	}
	h.Tools = append(h.Tools, wharf.Tool{Server: "github", Name: "create_issue", Description: "Opens an issue in a repository.", Destructive: true, InputSchema: json.RawMessage(`{"type":"object"}`)})
	if set != nil {
		h.Config = map[string]any{"tool_search": set}
	}
	return h, model
}

// Of many tools a model is shown few, and finds the others; what is found is offered from then on, and asks for
// approval as ever.
func TestToolsAreFound(t *testing.T) {
	for name, c := range map[string]struct {
		set   any
		query string
		found bool
	}{
		"by default":    {nil, "open an issue", true},
		"bm25":          {map[string]any{"strategy": "bm25"}, "creating issues in repositories: issue", true},
		"regex":         {map[string]any{"strategy": "regex"}, "^github__create_.*$", true},
		"hybrid, words": {map[string]any{"strategy": "hybrid"}, "issue (", true},
		"no regex":      {map[string]any{"strategy": "regex"}, "issue (", false},
		"nothing fits":  {map[string]any{"strategy": "bm25"}, "zebra", false},
	} {
		t.Run(name, func(t *testing.T) {
			query, _ := json.Marshal(map[string]string{"query": c.query})
			h, model := workshop(200, c.set, wants(toolCall("c1", "tool_search", string(query))), wants(toolCall("c2", "github__create_issue", `{}`)), says("ok"))
			asked := 0
			h.Approve = func(wharf.ApprovalRequest) (wharf.Approval, error) {
				asked++
				return wharf.Approval{Decision: wharf.DecisionApproved}, nil
			}
			if outcome := h.Text(handle, "go"); outcome.Failure != nil {
				t.Fatal(outcome.Failure)
			}
			if got := toolNames(model.asked[0]); got != "host__time_now tool_search" {
				t.Errorf("first it is offered %s", got)
			}
			want := "host__time_now tool_search"
			if c.found {
				want += " github__create_issue"
			}
			if got := toolNames(model.asked[1]); !strings.HasPrefix(got, want) {
				t.Errorf("then it is offered %s", got)
			}
			queries, results := told[wharf.ToolSearch](t, h, wharf.ToolSearchQuery), told[wharf.ToolSearch](t, h, wharf.ToolSearchResult)
			if len(queries) != 1 || queries[0].Query != c.query || queries[0].ToolUseID != "c1" || queries[0].Name != "tool_search" || queries[0].Mode != "client" ||
				len(results) != 1 || (len(results[0].Promoted) > 0) != c.found || results[0].Strategy != queries[0].Strategy {
				t.Errorf("told %+v, %+v", queries, results)
			}
			if asked != 1 {
				t.Errorf("approvers were asked %d times", asked)
			}
			for _, call := range h.Calls {
				if call == "tool.call" {
					return
				}
			}
			t.Error("the tool was not called")
		})
	}
}

// However much a model searches, twenty tools are new to it in a turn, and what it was offered before stays in front.
func TestFewAreFoundInATurn(t *testing.T) {
	search := func(id, query string) wharf.ModelToolCall {
		return toolCall(id, "tool_search", `{"limit":50,"query":"`+query+`"}`)
	}
	h, model := workshop(200, map[string]any{"strategy": "regex"}, wants(search("c1", "tool_1"), search("c2", "tool_5")), wants(search("c3", "tool_7")), says("ok"))
	h.Text(handle, "go")
	before, after := toolNames(model.asked[1]), toolNames(model.asked[2])
	if n := len(model.asked[1].Tools); n != 2+mostPerTurn {
		t.Errorf("%d tools are offered", n)
	}
	if !strings.HasPrefix(after, before) || len(model.asked[2].Tools) <= 2+mostPerTurn {
		t.Errorf("then %s, before %s", after, before)
	}
}

// Where there are few tools all are offered, and nothing is asked for.
func TestFewToolsAreNotSearched(t *testing.T) {
	for _, c := range []struct {
		tools int
		set   any
		want  bool
	}{{15, map[string]any{"strategy": "bm25"}, false}, {30, nil, false}, {30, map[string]any{"strategy": "bm25"}, true}, {200, map[string]any{"strategy": "off"}, false}, {200, nil, true}} {
		h, model := workshop(c.tools, c.set, says("ok"))
		h.Text(handle, "go")
		if got := strings.Contains(toolNames(model.asked[0]), "tool_search"); got != c.want {
			t.Errorf("%d tools, %v: %v", c.tools, c.set, got)
		}
	}
	h, _ := workshop(200, map[string]any{"strategy": "dowsing"})
	if failure := h.Text(handle, "go").Failure; failure == nil || failure.Code != codeSettings {
		t.Errorf("%+v", failure)
	}
	for _, arguments := range []string{`{}`, `[]`, `{"query":3}`, `{"query":"` + strings.Repeat("x", 1001) + `"}`} {
		h, model := workshop(200, nil, wants(toolCall("c1", "tool_search", arguments)), says("ok"))
		h.Text(handle, "go")
		if got := model.asked[1].Messages[2]; !got.IsError {
			t.Errorf("%.40s: %+v", arguments, got)
		}
	}
}
