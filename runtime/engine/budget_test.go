package engine_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	json "github.com/go-json-experiment/json"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/engine"
	"github.com/wharf-dev/wharf/runtime/enginetest"
	"github.com/wharf-dev/wharf/runtime/provider"
	"github.com/wharf-dev/wharf/storage/pebble/crashtest"
)

// till is a model that charges half a dollar, 10 tokens in and as many out as it
// may, at most 60.
type till struct {
	mu    sync.Mutex
	asked []int // the tokens that each call was allowed
}

func (m *till) Prepare(_ context.Context, c *provider.Call) (provider.Plan, error) {
	var req abi.ModelRequest
	if err := json.Unmarshal(c.Request, &req); err != nil {
		return provider.Plan{}, provider.Malformed(err)
	}
	if err := c.AllowModel(req.Model, "acme"); err != nil {
		return provider.Plan{}, err
	}
	return provider.Plan{Effect: abi.EffectRead, Do: func(context.Context, func(string)) ([]byte, error) {
		m.mu.Lock()
		defer m.mu.Unlock()
		m.asked = append(m.asked, req.MaxTokens)
		out := int64(60)
		if req.MaxTokens > 0 {
			out = min(out, int64(req.MaxTokens))
		}
		return json.Marshal(&abi.ModelAnswer{Provider: "acme", Model: "m", StopReason: abi.StopEnd, Text: "x", Cost: 0.5, Currency: "USD",
			Usage: abi.ModelUsage{InputTokens: 10, OutputTokens: out}})
	}}, nil
}

func (m *till) calls() string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return fmt.Sprint(m.asked)
}

func spending(m *till, box *toolbox) enginetest.Configure {
	return func(_ *engine.Config, p *engine.Parts) {
		p.Performers = map[string]provider.Performer{abi.CallLLMComplete: m, abi.CallToolCall: box}
	}
}

// What a budget leaves is what is done: the rest is denied, and the plugin is told
// which part was used up. A restart forgets nothing.
func TestBudgets(t *testing.T) {
	llm, tool := op{abi.CallLLMComplete, `{"model":"m","messages":[]}`}, op{abi.CallToolCall, `{"server":"fs","name":"get"}`}
	for name, try := range map[string]struct {
		budget abi.Budget
		policy *abi.ModelPolicy
		asked  string // of the model, in tokens
		tools  int
		denied string // the last call of the program was
	}{
		"usd":           {budget: abi.Budget{USD: 0.9}, asked: "[0 0]", tools: 3, denied: "usd, 0.9"},
		"input":         {budget: abi.Budget{InputTokens: 11}, asked: "[0 0]", tools: 3, denied: "input_tokens, 11"},
		"output":        {budget: abi.Budget{OutputTokens: 100}, asked: "[100 40]", tools: 3, denied: "output_tokens, 100"},
		"tools":         {budget: abi.Budget{ToolCalls: 1}, asked: "[0 0 0]", tools: 1},
		"calls":         {budget: abi.Budget{HostCalls: 2}, asked: "[0]", tools: 1, denied: "host_calls, 2"},
		"of one answer": {policy: &abi.ModelPolicy{MaxTokens: 7}, asked: "[7 7 7]", tools: 3},
		"other models":  {policy: &abi.ModelPolicy{Models: []string{"n*"}}, asked: "[]", tools: 3, denied: "model_denied"},
		"providers":     {policy: &abi.ModelPolicy{Providers: []string{"other"}}, asked: "[]", tools: 3, denied: "model_denied"},
		"this one":      {policy: &abi.ModelPolicy{Models: []string{"m"}, Providers: []string{"ac*"}}, asked: "[0 0 0]", tools: 3},
	} {
		t.Run(name, func(t *testing.T) {
			p := newProgram(tool, llm, tool, llm, tool, op{abi.CallInputRequest, `{"prompt":"?"}`}, llm)
			if name == "calls" {
				p.ops = append(p.ops[:5:5], say("I am out of budget"), llm)
			}
			m, box := &till{}, &toolbox{}
			g := enginetest.Guests{"program": p.run, "echo": enginetest.Echo}
			configure := []enginetest.Configure{spending(m, box), asPersona(func(p *abi.Persona) { p.Budget, p.ModelPolicy = &try.budget, try.policy })}
			n := boot(t, crashtest.NewDisk(), g, configure...)
			id := n.Submit(t, n.Session(t), "persona_program")
			if name != "calls" {
				n.parked(t, id)
				n = boot(t, n.Disk.Crash(1, 0), g, configure...)
				n.answer(t, id)
			}
			defer n.Stop(t)
			task := n.Wait(t, id)
			if task.Status != abi.TaskCompleted {
				t.Fatalf("%+v", task.Failure)
			}
			if got := m.calls(); got != try.asked {
				t.Errorf("the model was asked for %s tokens, want %s", got, try.asked)
			}
			if got := len(box.requests); got != try.tools {
				t.Errorf("%d tools were called, want %d", got, try.tools)
			}
			runs := p.runs()
			last := runs[len(runs)-1]
			if end := last[len(last)-1]; strings.HasPrefix(end, "2 ") != (try.denied != "") || !strings.Contains(end, try.denied) {
				t.Errorf("the last call was answered %s, want %q", end, try.denied)
			}
			if name == "calls" && !strings.HasPrefix(last[5], "0 ") {
				t.Errorf("the plugin could not say why it ended: %s", last[5])
			}
			wire, err := n.ReceiptWire(t.Context(), n.Root, task.ReceiptID)
			if err != nil || try.budget.ToolCalls == 1 && !strings.Contains(string(wire), `"limit":{"tool_calls":1}`) {
				t.Errorf("%v: the receipt does not tell the limit: %s", err, wire)
			}
			n.wantReplay(t, id)
		})
	}
}

// A Task whose time is up fails, whether it runs, waits, or was to be brought back.
func TestTimeIsUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hold, entered, leave := enginetest.Holding()
		defer close(leave)
		waiting := newProgram(op{abi.CallClock, ""}, op{abi.CallInputRequest, `{"prompt":"?"}`})
		g := enginetest.Guests{"hold": hold, "waiting": waiting.run, "echo": enginetest.Echo}
		configure := asPersona(func(p *abi.Persona) { p.Budget = &abi.Budget{WallTimeMS: 60_000} })
		n := boot(t, crashtest.NewDisk(), g, configure)
		defer n.Stop(t)
		session := n.Session(t)
		parked := n.Submit(t, session, "persona_waiting")
		w := n.parked(t, parked).Waiting
		running := n.Submit(t, session, "persona_hold")
		<-entered
		if left := time.Until(w.Until); left <= 0 || left > time.Minute {
			t.Errorf("the wait ends in %s", left)
		}
		time.Sleep(59 * time.Second)
		synctest.Wait()
		if task := n.task(t, running); task.Status.Terminal() {
			t.Fatalf("it ended too early: %+v", task.Failure)
		}
		time.Sleep(2 * time.Second)
		synctest.Wait()
		for _, id := range []string{running, parked} {
			task := n.Wait(t, id)
			if task.Status != abi.TaskFailed || task.Failure == nil || task.Failure.Code != abi.FailureBudget || task.ReceiptID == "" {
				t.Errorf("%s %+v", task.Status, task.Failure)
			}
		}
		n.wantReplay(t, parked)
	})
}
