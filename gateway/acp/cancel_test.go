package acp_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/engine"
	"github.com/wharf-dev/wharf/runtime/enginetest"
	"github.com/wharf-dev/wharf/runtime/provider"
	"github.com/wharf-dev/wharf/runtime/provider/tool"
	"github.com/wharf-dev/wharf/runtime/sandbox"
)

// desk is a server of tools: "look" answers, "stall" waits until it is called off.
type toolDesk struct{ entered chan struct{} }

func (toolDesk) List(context.Context) ([]abi.Tool, error) {
	yes := true
	return []abi.Tool{{Name: "look", ReadOnly: yes}, {Name: "stall", ReadOnly: yes}}, nil
}

func (d toolDesk) Call(ctx context.Context, _ *provider.Call, name string, _ jsontext.Value) (*abi.CallToolCallAnswer, error) {
	if name == "stall" {
		d.entered <- struct{}{}
		<-ctx.Done()
		return nil, context.Cause(ctx)
	}
	return &abi.CallToolCallAnswer{Content: []abi.ToolContent{{Type: "text", Text: "seen"}}}, nil
}

// calls is a guest that calls a tool, and says what it was answered.
func calls(name string) enginetest.Guest {
	return func(ctx context.Context, h sandbox.Host) error {
		if err := enginetest.Call(ctx, h, abi.CallToolCall, `{"call_id":"t1","server":"desk","name":"`+name+`","arguments":{"at":"sea"}}`); err != nil {
			return err
		}
		return say(ctx, h, "done")
	}
}

func withTools(d toolDesk) enginetest.Configure {
	return func(_ *engine.Config, p *engine.Parts) {
		tools := tool.New(tool.Config{Servers: map[string]tool.Server{"desk": d}, Grants: map[string][]string{"look": {"desk:*"}, "stall": {"desk:*"}}})
		p.Performers = map[string]provider.Performer{abi.CallToolCall: tools, abi.CallToolList: tools}
	}
}

// toolsOf returns how the tools that were told of have gone.
func (e *editor) toolsOf() string {
	var b strings.Builder
	for _, u := range e.updates() {
		if u.kind == "tool_call" || u.kind == "tool_call_update" {
			_, rest, _ := strings.Cut(string(u.raw), `"status":"`)
			status, _, _ := strings.Cut(rest, `"`)
			fmt.Fprintf(&b, "%s:%s ", u.kind, status)
		}
	}
	return b.String()
}

func TestTools(t *testing.T) {
	n := newNode(t, enginetest.Guests{"look": calls("look")}, withTools(toolDesk{}))
	e := n.connect(t, enginetest.RootKey, stock)
	s := e.open("look")
	if got := e.prompt(s, "go"); got != "end_turn" || !strings.HasPrefix(e.toolsOf(), "tool_call:") || !strings.HasSuffix(e.toolsOf(), "tool_call_update:completed ") {
		t.Fatalf("%s: %s", got, e.toolsOf())
	}
	other := n.connect(t, enginetest.RootKey, stock)
	other.ok("session/load", `{"sessionId":"`+s+`","cwd":"/x","mcpServers":[]}`)
	if other.toolsOf() != e.toolsOf() {
		t.Errorf("loaded: %s; live: %s", other.toolsOf(), e.toolsOf())
	}
}

// A turn that is called off is answered so, once all of it was told: also the end of the tool that ran.
func TestCancel(t *testing.T) {
	holding, entered, _ := enginetest.Holding()
	d := toolDesk{make(chan struct{}, 10)}
	n := newNode(t, enginetest.Guests{"hold": holding, "stall": calls("stall")}, withTools(d))
	for name, cancel := range map[string]func(e *editor, session, id string){
		"session/cancel":   func(e *editor, s, _ string) { e.notify("session/cancel", `{"sessionId":"`+s+`"}`) },
		"$/cancel_request": func(e *editor, _, id string) { e.notify("$/cancel_request", `{"requestId":`+id+`}`) },
	} {
		t.Run(name, func(t *testing.T) {
			e := n.connect(t, enginetest.RootKey, stock)
			s := e.open("hold")
			turn := e.askAs("77", "session/prompt", promptOf(s, "go"))
			receive(t, entered)
			cancel(e, s, "77")
			if got := stopOf(t, receive(t, turn).Result); got != "cancelled" {
				t.Errorf("the turn: %s", got)
			}
			s = e.open("stall")
			turn = e.askAs("78", "session/prompt", promptOf(s, "go"))
			receive(t, d.entered)
			cancel(e, s, "78")
			if got := stopOf(t, receive(t, turn).Result); got != "cancelled" || !strings.HasSuffix(e.toolsOf(), "tool_call_update:failed ") {
				t.Errorf("the turn: %s, tools: %s", got, e.toolsOf())
			}
			// In one breath: what cancels comes before anything was done.
			for i := range 20 {
				id := fmt.Sprint(100 + i)
				turn = e.askAs(id, "session/prompt", promptOf(s, "go"))
				cancel(e, s, id)
				if got := stopOf(t, receive(t, turn).Result); got != "cancelled" {
					t.Errorf("the turn: %s", got)
				}
			}
			for _, task := range n.tasksOf(t, s) {
				if !task.Status.Terminal() {
					t.Errorf("task %s is %s", task.ID, task.Status)
				}
			}
			for len(d.entered) > 0 {
				<-d.entered
			}
		})
	}
}

// What asks for permission is called off with its turn, and the late answer goes nowhere.
func TestCancelWhileAsked(t *testing.T) {
	n := newNode(t, asking)
	e := n.connect(t, enginetest.RootKey, stock)
	asked, late := make(chan struct{}, 1), make(chan struct{})
	e.answer = func(string, jsontext.Value) (any, *rpcError) {
		asked <- struct{}{}
		<-late
		return jsontext.Value(`{"outcome":{"outcome":"cancelled"}}`), nil
	}
	s := e.open("pay")
	turn := e.ask("session/prompt", promptOf(s, "go"))
	receive(t, asked)
	e.notify("session/cancel", `{"sessionId":"`+s+`"}`)
	if got := stopOf(t, receive(t, turn).Result); got != "cancelled" {
		t.Errorf("the turn: %s", got)
	}
	close(late)
	if got := n.tasksOf(t, s); len(got) != 1 || got[0].Status != abi.TaskCanceled || len(n.pending(t)) != 0 {
		t.Errorf("tasks: %+v", got)
	}
}

// Who has taken a session over can call off the turn of others too, and who looks on cannot; and it is
// one turn at a time for all.
func TestCancelOfOthers(t *testing.T) {
	holding, entered, _ := enginetest.Holding()
	n := newNode(t, enginetest.Guests{"hold": holding})
	e := n.connect(t, enginetest.RootKey, stock)
	s := e.open("hold")
	turn := e.ask("session/prompt", promptOf(s, "go"))
	receive(t, entered)
	e.refused(-32600, "session/prompt", promptOf(s, "more"))
	other := n.connect(t, enginetest.RootKey, stock)
	other.ok("session/load", `{"sessionId":"`+s+`","cwd":"/x","mcpServers":[]}`)
	other.refused(-32600, "session/prompt", promptOf(s, "more"))
	other.notify("session/cancel", `{"sessionId":"`+s+`"}`)
	other.refused(-32600, "session/close", `{"sessionId":"`+s+`"}`)
	if got := n.tasksOf(t, s)[0].Status; got.Terminal() {
		t.Errorf("one who looks on has called off the turn: %s", got)
	}
	other.ok("_harn/session/takeover", `{"sessionId":"`+s+`","clientId":"other"}`)
	other.refused(-32600, "session/prompt", promptOf(s, "more"))
	other.notify("session/cancel", `{"sessionId":"`+s+`"}`)
	if got := stopOf(t, receive(t, turn).Result); got != "cancelled" {
		t.Errorf("the turn: %s", got)
	}
	e.ok("_harn/session/takeover", `{"sessionId":"`+s+`","clientId":"one"}`)
	// So is one that was begun elsewhere.
	n.Submit(t, s, "persona_hold")
	receive(t, entered)
	e.notify("session/cancel", `{"sessionId":"`+s+`"}`)
	n.Wait(t, n.tasksOf(t, s)[0].ID)
}

// The Tasks that a Task has begun end with it.
func TestCancelReachesChildren(t *testing.T) {
	holding, entered, _ := enginetest.Holding()
	spawns := func(ctx context.Context, h sandbox.Host) error {
		_, answer, err := h.Call(ctx, abi.CallTaskSpawn, []byte(`{"persona_id":"persona_hold","input":{}}`))
		if err != nil {
			return err
		}
		return enginetest.Call(ctx, h, abi.CallTaskAwait, string(answer))
	}
	n := newNode(t, enginetest.Guests{"hold": holding, "spawn": spawns})
	e := n.connect(t, enginetest.RootKey, stock)
	s := e.open("spawn")
	turn := e.ask("session/prompt", promptOf(s, "go"))
	receive(t, entered)
	e.notify("session/cancel", `{"sessionId":"`+s+`"}`)
	if got := stopOf(t, receive(t, turn).Result); got != "cancelled" {
		t.Errorf("the turn: %s", got)
	}
	for _, task := range n.tasksOf(t, s) {
		if got := n.Wait(t, task.ID); got.Status != abi.TaskCanceled {
			t.Errorf("task %s is %s", task.ID, got.Status)
		}
	}
}

// A turn whose Task fails is an error, but for what the protocol has a word for.
func TestStops(t *testing.T) {
	outputs := func(output string) enginetest.Guest {
		return func(ctx context.Context, h sandbox.Host) error {
			return enginetest.Call(ctx, h, abi.CallOutput, output)
		}
	}
	fails := func(code, message, details string) enginetest.Guest {
		return outputs(`{"summary":"s","failure":{"code":"` + code + `","message":"` + message + `"` + details + `}}`)
	}
	const spent = "the agent was not done when its budget was spent (%s is 3)"
	n := newNode(t, enginetest.Guests{
		"turns":  fails("budget_exhausted", "that was all", `,"details":{"limit":"max_turns","max":3}`),
		"calls":  fails("budget_exhausted", "that was all", `,"details":{"limit":"max_tool_calls","max":3}`),
		"tokens": fails("budget_exhausted", "that was all (max_turns is 3)", `,"details":{"limit":"max_tokens","max":3}`),
		"cut":    outputs(`{"summary":"so","stop_reason":"length"}`), "whole": outputs(`{"summary":"(cut off) is a word","stop_reason":"end"}`),
		"refuses": fails("model_refused", "no", ""), "breaks": fails("broken", "it broke", ""),
		"old_turns": fails("budget_exhausted", fmt.Sprintf(spent, "max_turns"), ""), "old_calls": fails("budget_exhausted", fmt.Sprintf(spent, "max_tool_calls"), ""),
		"old_tokens": fails("budget_exhausted", fmt.Sprintf(spent, "max_tokens"), ""), "old_cut": outputs(`{"summary":"(cut off) so"}`),
	})
	e := n.connect(t, enginetest.RootKey, stock)
	for guest, want := range map[string]string{"turns": "max_turn_requests", "calls": "max_turn_requests", "tokens": "max_tokens", "cut": "max_tokens", "whole": "end_turn",
		"refuses": "refusal", "old_turns": "max_turn_requests", "old_calls": "max_turn_requests", "old_tokens": "max_tokens", "old_cut": "max_tokens"} {
		if got := e.prompt(e.open(guest), "go"); got != want {
			t.Errorf("%s has stopped: %s, want %s", guest, got, want)
		}
	}
	failed := e.refused(-32603, "session/prompt", promptOf(e.open("breaks"), "go"))
	if failed.Message != "it broke" || !strings.Contains(string(failed.Data), `"code":"broken"`) {
		t.Errorf("the failure: %+v %s", failed, failed.Data)
	}
	if said := e.said(); strings.Contains(said, "it broke") {
		t.Errorf("what the answer says was told as well: %s", said)
	}
}
