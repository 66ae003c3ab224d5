package engine

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	json "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/provider"
)

// toolbox is a tool server that counts what reaches it. Its tools whose names begin
// with get are read-only.
type toolbox struct {
	mu       sync.Mutex
	requests []string
}

func (b *toolbox) Prepare(_ context.Context, c *provider.Call) (provider.Plan, error) {
	var req abi.CallToolCallRequest
	if err := json.Unmarshal(c.Request, &req); err != nil {
		return provider.Plan{}, provider.Malformed(err)
	}
	plan := provider.Plan{Effect: abi.EffectWrite, Do: func(context.Context, func(string)) ([]byte, error) {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.requests = append(b.requests, req.Name+" "+string(req.Arguments))
		return []byte(`{"content":[{"type":"text","text":"done"}]}`), nil
	}}
	if strings.HasPrefix(req.Name, "get") {
		plan.Effect = abi.EffectRead
	}
	return plan, nil
}

func (b *toolbox) reached() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return strings.Join(b.requests, "; ")
}

// asPersona gives every Persona of a node what change says.
func asPersona(change func(*abi.Persona)) func(*Config, *Parts) {
	return func(_ *Config, p *Parts) {
		p.Personas = slices.Clone(p.Personas)
		for i := range p.Personas {
			if p.Personas[i].ID != "persona_echo" {
				change(&p.Personas[i])
			}
		}
	}
}

func atTier(tier abi.AutonomyTier) func(*Config, *Parts) {
	return asPersona(func(p *abi.Persona) { p.AutonomyTier = tier })
}

func withTools(b *toolbox) func(*Config, *Parts) {
	return func(_ *Config, p *Parts) { p.Performers = map[string]provider.Performer{abi.CallToolCall: b} }
}

// decide answers a Task that waits for a decision.
func (n *node) decide(t testing.TB, id, decision string) {
	t.Helper()
	part := jsontext.Value(decision)
	_, err := n.AppendTaskMessage(context.Background(), n.root, nil, id, abi.AppendTaskMessageRequest{Kind: abi.TaskMessageToolConfirmation,
		Message: &abi.MessageInput{Role: abi.RoleUser, Parts: []abi.Part{{Type: abi.PartJSON, Value: part}}}})
	if err != nil {
		t.Fatal(err)
	}
}

func writeTool(arguments string) op {
	return op{abi.CallToolCall, `{"server":"fs","name":"write","arguments":` + arguments + `}`}
}

// What an approver decides is what happens, also when the node dies meanwhile; what
// was decided is in the receipt, and a replay is exact.
func TestGate(t *testing.T) {
	for name, try := range map[string]struct {
		decision string
		reached  string // by the tool
		told     string // to the plugin
	}{
		"approved": {`{"decision":"approved"}`, `write {"path": "a"}`, `"done"`},
		"modified": {`{"decision":"approved","arguments":{"path":"b"}}`, `write {"path":"b"}`, `"done"`},
		"denied":   {`{"decision":"denied","reason":"not today"}`, ``, `"code":"approval_denied","message":"this call was denied: not today"`},
	} {
		for _, crash := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, crash %v", name, crash), func(t *testing.T) {
				box := &toolbox{}
				p := newProgram(say("before"), writeTool(`{"path": "a"}`), say("after"))
				g := guests{"program": p.run, "echo": echo}
				configure := []func(*Config, *Parts){withTools(box), atTier(abi.TierActWithApproval)}
				n := newNode(t, g, configure...)
				session := n.session(t)
				id := n.submit(t, session, "persona_program")
				parked := n.parked(t, id)
				w := parked.Waiting
				if !w.Gate || w.Call != abi.CallToolCall || w.Action != "tool.call fs:write" || string(w.Arguments) != `{"path":"a"}` || w.Quorum != 1 {
					t.Fatalf("it waits for %+v", w)
				}
				if parked.Status != abi.TaskInputRequired {
					t.Fatalf("it is %s", parked.Status)
				}
				if crash {
					n = boot(t, n.disk.Crash(1, 0), g, configure...)
					defer n.stop(t)
				}
				if box.reached() != "" {
					t.Fatalf("before anybody approved, the tool was called: %s", box.reached())
				}
				n.decide(t, id, try.decision)
				task := n.wait(t, id)
				if task.Status != abi.TaskCompleted {
					t.Fatalf("%s %+v", task.Status, task.Failure)
				}
				if got := box.reached(); got != try.reached {
					t.Errorf("the tool got %q, want %q", got, try.reached)
				}
				runs := p.runs()
				if last := runs[len(runs)-1]; !strings.Contains(last[1], try.told) {
					t.Errorf("the plugin was told %s", last[1])
				}
				wire, err := n.ReceiptWire(context.Background(), n.root, task.ReceiptID)
				if err != nil || !strings.Contains(string(wire), `"action":"tool.call fs:write"`) {
					t.Errorf("%v: the receipt does not list the approval: %s", err, wire)
				}
				n.wantReplay(t, id)
			})
		}
	}
}
