package openharness_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	json "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/plugins"
	"github.com/wharf-dev/wharf/runtime/engine"
	"github.com/wharf-dev/wharf/runtime/enginetest"
	"github.com/wharf-dev/wharf/runtime/provider"
	"github.com/wharf-dev/wharf/runtime/provider/settings"
	"github.com/wharf-dev/wharf/runtime/sandbox"
)

// compiledAgent returns the bundled plugin that runs agents, as it is.
func compiledAgent(t testing.TB) enginetest.Guest {
	t.Helper()
	r, err := sandbox.New(t.Context(), sandbox.Config{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := r.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	p, ok := plugins.Lookup("agent")
	if !ok {
		t.Fatal("there is no plugin agent")
	}
	m, err := r.Compile(t.Context(), p.Wasm())
	if err != nil {
		t.Fatal(err)
	}
	return func(ctx context.Context, h sandbox.Host) error {
		_, err := m.Run(ctx, abi.DefaultExport, h, sandbox.Limits{})
		return err
	}
}

// script is a model that gives the answers in their order, and keeps what it was asked.
type script struct {
	mu      sync.Mutex
	answers []abi.ModelAnswer
	asked   []abi.ModelRequest
	waits   func(turn int) // before each answer; nil for nothing
}

// Prepare implements [provider.Performer].
func (s *script) Prepare(_ context.Context, c *provider.Call) (provider.Plan, error) {
	var req abi.ModelRequest
	if err := json.Unmarshal(c.Request, &req); err != nil {
		return provider.Plan{}, provider.Malformed(err)
	}
	return provider.Plan{Effect: abi.EffectRead, Do: func(context.Context, func(string)) ([]byte, error) { return s.answer(req) }}, nil
}

func (s *script) answer(req abi.ModelRequest) ([]byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	turn := len(s.asked)
	if s.asked = append(s.asked, req); turn >= len(s.answers) {
		return nil, errors.New("the script is over")
	}
	if s.waits != nil {
		s.waits(turn)
	}
	return json.Marshal(&s.answers[turn])
}

// prompt returns what the model was told before the conversation.
func (s *script) prompt(turn int) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.asked[turn].System
}

// told returns what a tool has answered at the end of a conversation.
func (s *script) told(turn int) abi.ModelMessage {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.asked[turn].Messages[len(s.asked[turn].Messages)-1]
}

func (s *script) turns() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.asked)
}

func (s *script) install(c *engine.Config, p *engine.Parts) {
	hostTools(c, p)
	p.Performers[abi.CallLLMComplete], p.Performers[abi.CallConfigGet] = s, settings.Settings{}
}

func modelSays(text string) abi.ModelAnswer {
	return abi.ModelAnswer{Provider: "script", Model: "m", Text: text, StopReason: "end"}
}

func modelCalls(calls ...string) abi.ModelAnswer {
	a := abi.ModelAnswer{Provider: "script", Model: "m", StopReason: "tools"}
	for i, call := range calls {
		name, arguments, _ := strings.Cut(call, " ")
		a.ToolCalls = append(a.ToolCalls, abi.ModelToolCall{ID: fmt.Sprint("c", i), Name: name, Arguments: jsontext.Value(arguments)})
	}
	return a
}

// executes runs an agent, or none, and waits for the end.
func (n *node) executes(t testing.TB, agent, message string) (task string) {
	t.Helper()
	body := map[string]any{"message": message}
	if agent != "" {
		body["agent_id"] = strings.TrimPrefix(agent, "/wharf/agents/")
	}
	task = n.do(t, "POST", "/wharf/execute", body).want(202).text("execution_id")
	if ended := n.Wait(t, task); ended.Status != abi.TaskCompleted {
		t.Fatalf("%s %+v", ended.Status, ended.Failure)
	}
	return task
}

// The memory of an agent, with the bundled plugin and a model that follows a script.
func TestMemoryOfTheBundledAgent(t *testing.T) {
	compiled := compiledAgent(t)
	for name, test := range map[string]func(*testing.T, enginetest.Guest){
		"its model has it": theModelHasIt, "a person is faster": aPersonIsFaster, "no agent has none": noAgentHasNone,
	} {
		t.Run(name, func(t *testing.T) { test(t, compiled) })
	}
}

// What people have put into the memory of an agent its model sees, and changes; people see that, and so
// do later executions. A replay asks no model, is told the same and changes nothing.
func theModelHasIt(t *testing.T, compiled enginetest.Guest) {
	model := &script{answers: []abi.ModelAnswer{
		modelCalls(`host__memory_replace {"label":"user","value":"Likes coffee."}`, `host__memory_append {"label":"log","text":"Met ada."}`, `host__memory_append {"label":"law","text":"x"}`),
		modelSays("Noted."), modelSays("Hello again."),
	}}
	n := newNode(t, enginetest.Guests{"agent": compiled}, model.install)
	agent := n.agent(t)
	memory := agent + "/memory"
	user := n.do(t, "POST", memory+"/blocks", `{"label":"user","value":"Likes tea."}`).want(201)
	n.do(t, "POST", memory+"/blocks", `{"label":"law","value":"Be kind.","read_only":true}`).want(201)
	id := n.executes(t, agent, "I prefer coffee now.")
	if got := model.prompt(0); !strings.Contains(got, "<block label=\"law\" read-only>\nBe kind.\n</block>\n\n<block label=\"user\">\nLikes tea.\n</block>") || !strings.Contains(got, "host__memory_replace") {
		t.Errorf("the model is told %q", got)
	}
	want := "<block label=\"law\" read-only>\nBe kind.\n</block>\n\n<block label=\"log\">\nMet ada.\n</block>\n\n<block label=\"user\">\nLikes coffee.\n</block>"
	if got := model.prompt(1); !strings.Contains(got, want) {
		t.Errorf("in its next turn it is told %q", got)
	}
	if refused := model.told(1); !refused.IsError || !strings.Contains(refused.Text, `the block "law" is read-only`) {
		t.Errorf("of the block that is read-only it is told %+v", refused)
	}
	now := n.do(t, "GET", memory+"/blocks/user", nil).want(200)
	if now.text("block.value") != "Likes coffee." || now.get("block.version").(float64) <= user.get("block.version").(float64) {
		t.Errorf("%s", now.body)
	}
	n.executes(t, agent, "Hello.")
	if got := model.prompt(2); !strings.Contains(got, want) {
		t.Errorf("the next execution is told %q", got)
	}
	n.do(t, "PUT", memory+"/blocks/user", `{"value":"Hers."}`).want(200)
	before := n.do(t, "GET", memory, nil).want(200)
	var receipts []string
	for range 2 {
		doc, err := n.ReplayTask(t.Context(), n.Root, nil, id, abi.ReplayTaskRequest{})
		if err != nil {
			t.Fatal(err)
		}
		again := n.Wait(t, doc.ID)
		if again.Status != abi.TaskCompleted {
			t.Fatalf("%+v", again.Failure)
		}
		wire, err := n.ReceiptWire(t.Context(), n.Root, again.ReceiptID)
		if err != nil {
			t.Fatal(err)
		}
		receipts = append(receipts, string(wire))
	}
	if receipts[0] != receipts[1] || model.turns() != 3 {
		t.Errorf("the replays differ, or have asked the model: %d turns", model.turns())
	}
	if after := n.do(t, "GET", memory, nil).want(200); string(after.body) != string(before.body) {
		t.Errorf("the replays have made\n%s of\n%s", after.body, before.body)
	}
}

// What a person changes while the model works is not overwritten unseen: the model is told, and shown it.
func aPersonIsFaster(t *testing.T, compiled enginetest.Guest) {
	model := &script{answers: []abi.ModelAnswer{modelCalls(`host__memory_replace {"label":"user","value":"mine"}`), modelCalls(`host__memory_replace {"label":"user","value":"both"}`), modelSays("Done.")}}
	n := newNode(t, enginetest.Guests{"agent": compiled}, model.install)
	agent := n.agent(t)
	n.do(t, "POST", agent+"/memory/blocks", `{"label":"user","value":"old"}`).want(201)
	model.waits = func(turn int) {
		if turn == 0 {
			n.do(t, "PUT", agent+"/memory/blocks/user", `{"value":"hers"}`).want(200)
		}
	}
	n.executes(t, agent, "go")
	if told := model.told(1); !told.IsError || !strings.Contains(told.Text, "has changed meanwhile") || !strings.Contains(model.prompt(1), "\nhers\n") {
		t.Errorf("the model is told %+v and %q", told, model.prompt(1))
	}
	if got := n.do(t, "GET", agent+"/memory/blocks/user", nil).want(200); got.text("block.value") != "both" {
		t.Errorf("%s", got.body)
	}
}

// An execution without an agent has no memory, and is offered no tools for it.
func noAgentHasNone(t *testing.T, compiled enginetest.Guest) {
	model := &script{answers: []abi.ModelAnswer{modelSays("Done.")}}
	n := newNode(t, enginetest.Guests{"agent": compiled}, model.install)
	n.executes(t, "", "go")
	for _, tool := range model.asked[0].Tools {
		if strings.HasPrefix(tool.Name, "host__memory_replace") || strings.HasPrefix(tool.Name, "host__memory_append") {
			t.Errorf("it is offered %s", tool.Name)
		}
	}
	if len(model.asked[0].Tools) == 0 || strings.Contains(model.prompt(0), "memory") {
		t.Errorf("it is told %q", model.prompt(0))
	}
}
