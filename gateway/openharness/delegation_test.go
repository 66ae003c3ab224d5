package openharness_test

import (
	"strings"
	"testing"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/gateway/api"
	"github.com/wharf-dev/wharf/runtime/engine"
	"github.com/wharf-dev/wharf/runtime/enginetest"
	"github.com/wharf-dev/wharf/runtime/provider"
	"github.com/wharf-dev/wharf/runtime/provider/settings"
	"github.com/wharf-dev/wharf/runtime/provider/tool"
)

// delegating is a node whose models follow a script, and may delegate.
func delegating(s *script) enginetest.Configure {
	return func(c *engine.Config, p *engine.Parts) {
		p.AddedTools = tool.NewAdded()
		tools := tool.New(tool.Config{Added: p.AddedTools, Log: p.Log})
		p.Performers = map[string]provider.Performer{abi.CallToolCall: tools, abi.CallToolList: tools, abi.CallLLMComplete: s, abi.CallConfigGet: settings.Settings{}}
	}
}

// The model of an agent gives its subagent a task, both with the bundled plugin. What the subagent is
// told and says stays out of the conversation, in which its answer comes back.
func TestTheModelDelegates(t *testing.T) {
	s := &script{answers: []abi.ModelAnswer{
		modelCalls(`agents__Weather_Scout {"task":"How is the sky?","context":{"at":"Bern"}}`), modelSays("Blue."), modelSays("The sky is blue."), modelSays("It was blue."),
	}}
	n := newNode(t, enginetest.Guests{"agent": compiledAgent(t)}, delegating(s))
	lead := n.do(t, "POST", "/wharf/agents", `{"name":"Lead","description":"d","system_prompt":"Lead.","config":{"tools_access":{"allow":["Task"]}}}`).want(201).text("agent.id")
	n.do(t, "POST", "/wharf/agents/"+lead+"/subagents", `{"name":"Weather Scout","description":"Knows the weather.","system_prompt":"Look up."}`).want(201)
	session := n.do(t, "POST", "/wharf/sessions", map[string]any{"agent_id": lead}).want(201).text("session.id")
	at := "/wharf/sessions/" + session
	if got := n.do(t, "POST", at+"/message", `{"content":"Is it nice?"}`).want(200); got.text("response.content") != "The sky is blue." {
		t.Errorf("%s", got.body)
	}
	first, child := s.asked[0], s.asked[1]
	if len(first.Tools) != 1 || first.Tools[0].Name != "agents__Weather_Scout" || !strings.Contains(first.Tools[0].Description, "Knows the weather.") {
		t.Errorf("the model is offered %+v", first.Tools)
	}
	if len(child.Messages) != 1 || child.Messages[0].Text != "How is the sky?" || !strings.HasPrefix(child.System, "Look up.") || !strings.Contains(child.System, `{"at":"Bern"}`) || len(child.Tools) != 0 {
		t.Errorf("the subagent is told %+v", child)
	}
	if told := s.told(2); told.Text != "Blue." || told.IsError {
		t.Errorf("the model is told %+v", told)
	}
	history := n.do(t, "GET", at+"/history", nil).want(200)
	if strings.Contains(string(history.body), "Look up") || history.text("messages.1.tool_calls.0.name") != "agents__Weather_Scout" || history.text("messages.2.content") != "The sky is blue." {
		t.Errorf("%s", history.body)
	}
	n.do(t, "POST", at+"/message", `{"content":"And then?"}`).want(200)
	for _, m := range s.asked[3].Messages {
		if m.Text == "Blue." || m.Text == "How is the sky?" {
			t.Errorf("the next turn is told what was said to the subagent: %+v", s.asked[3].Messages)
		}
	}
	tasks, err := n.List(t.Context(), n.Root, abi.ObjectTask, api.Filter{SessionID: session}, api.Page{Limit: 10})
	if err != nil || len(tasks.Docs) != 2 {
		t.Fatalf("%d tasks, %v", len(tasks.Docs), err)
	}
	doc, err := n.ReplayTask(t.Context(), n.Root, nil, tasks.Docs[1].ID, abi.ReplayTaskRequest{})
	if err != nil {
		t.Fatal(err)
	}
	if again := n.Wait(t, doc.ID); again.Status != abi.TaskCompleted || s.turns() != 4 {
		t.Errorf("the replay has asked a model: %d turns, %+v", s.turns(), again.Failure)
	}
}
