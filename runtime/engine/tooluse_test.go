package engine_test

import (
	"context"
	"fmt"
	goruntime "runtime"
	"strings"
	"testing"

	json "github.com/go-json-experiment/json"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/desk"
	"github.com/wharf-dev/wharf/runtime/engine"
	"github.com/wharf-dev/wharf/runtime/enginetest"
	"github.com/wharf-dev/wharf/runtime/provider"
)

// workshop has tools whose names say what they do: get reads, err says that it failed, gone gives
// no answer, bad takes no arguments, and hang waits until the node dies.
type workshop struct{ hangs chan struct{} }

func (w *workshop) Prepare(_ context.Context, c *provider.Call) (provider.Plan, error) {
	var req abi.CallToolCallRequest
	if err := json.Unmarshal(c.Request, &req); err != nil {
		return provider.Plan{}, provider.Malformed(err)
	}
	if req.Name == "bad" {
		return provider.Plan{}, provider.Refuse(abi.CallInvalid, "bad", "no")
	}
	plan := provider.Plan{Effect: abi.EffectWrite, Tool: &abi.Tool{Server: req.Server, Name: req.Name, Destructive: true}}
	if strings.HasPrefix(req.Name, "get") || req.Server == "host" {
		plan.Effect, plan.Tool.ReadOnly = abi.EffectRead, true
	}
	if req.Name == "memory_save" {
		plan.Tool.ReadOnly, plan.Tool.Destructive = false, false
	}
	plan.Do = func(ctx context.Context, _ func(string)) ([]byte, error) { return w.do(ctx, req.Name) }
	return plan, nil
}

func (w *workshop) do(ctx context.Context, name string) ([]byte, error) {
	switch {
	case strings.HasSuffix(name, "hang"):
		w.hangs <- struct{}{}
		<-ctx.Done()
		return nil, context.Cause(ctx)
	case strings.HasSuffix(name, "gone"):
		return nil, provider.Refuse(abi.CallUnavailable, "tool_unavailable", "gone")
	case strings.HasSuffix(name, "late"):
		return nil, provider.Refuse(abi.CallTimeout, "timeout", "late")
	}
	return json.Marshal(&abi.CallToolCallAnswer{IsError: strings.HasSuffix(name, "err"), Content: []abi.ToolContent{{Type: "text", Text: "done"}}})
}

func withWorkshop(w *workshop) enginetest.Configure {
	return func(_ *engine.Config, p *engine.Parts) {
		p.Performers = map[string]provider.Performer{abi.CallToolCall: w}
	}
}

// used is a tool call as an event tells it.
type used struct {
	id    string
	kind  abi.EventKind
	tool  abi.ToolUse
	index int
}

// tools returns what the events of a Task tell of its tool calls.
func (n *node) tools(t testing.TB, task string) (all []used) {
	t.Helper()
	events, more, err := n.Events(t.Context(), n.Root, desk.Filter{TaskID: task}, 0, 1000)
	if err != nil || more {
		t.Fatal(err, more)
	}
	for _, ev := range events {
		var told struct {
			Index int          `json:"index"`
			Tool  *abi.ToolUse `json:"tool"`
		}
		if json.Unmarshal(ev.Record().Payload, &told) != nil || told.Tool == nil {
			continue
		}
		all = append(all, used{fmt.Sprint(ev.Position()), ev.Record().Kind, *told.Tool, told.Index})
	}
	return all
}

// String leaves out what differs between two runs.
func (u used) String() string {
	text := fmt.Sprintf("%s %s %s:%s %s", u.kind, u.tool.CallID, u.tool.Server, u.tool.Name, u.tool.Executor)
	for _, is := range []struct {
		what string
		so   bool
	}{{" " + string(u.tool.Kind), u.tool.Kind != ""}, {" read-only", u.tool.ReadOnly}, {" destructive", u.tool.Destructive},
		{" took", u.tool.DurationUs > 0}, {" " + string(u.tool.ErrorCategory), u.tool.ErrorCategory != ""}, {" " + string(u.tool.Visibility), u.tool.Visibility != ""}} {
		if is.so {
			text += is.what
		}
	}
	return text
}

func toolCall(server, name string) op {
	return op{abi.CallToolCall, fmt.Sprintf(`{"server":%q,"name":%q,"arguments":{"text":"x","query":"x"}}`, server, name)}
}

// Every tool call is told when it begins and when it ends, whoever runs it and however it ends.
func TestToolCallsAreTold(t *testing.T) {
	p := newProgram(
		op{abi.CallToolCall, `{"call_id":"mine","server":"fs","name":"write"}`},
		toolCall("fs", "get"), toolCall("fs", "get_err"), toolCall("fs", "gone"), toolCall("fs", "get_late"), toolCall("fs", "bad"),
		toolCall("client", "gone"), toolCall("host", "time_now"), toolCall("host", "memory_save"), toolCall("host", "nothing"),
		toolCall("skills", "persona_echo"), op{abi.CallToolCall, `{"server":5}`})
	n := newNode(t, enginetest.Guests{"program": p.run, "echo": enginetest.Echo}, withWorkshop(&workshop{}))
	id := n.Submit(t, n.Session(t), "persona_program")
	if task := n.Wait(t, id); task.Status != abi.TaskCompleted {
		t.Fatalf("%+v", task.Failure)
	}
	want := []string{
		"tool.requested mine fs:write mcp_server destructive", "tool.completed mine fs:write mcp_server destructive took",
		"tool.requested call-1 fs:get mcp_server read read-only", "tool.completed call-1 fs:get mcp_server read read-only took",
		"tool.requested call-2 fs:get_err mcp_server read read-only", "tool.completed call-2 fs:get_err mcp_server read read-only took tool_error",
		"tool.requested call-3 fs:gone mcp_server destructive", "tool.failed call-3 fs:gone mcp_server destructive took mcp_server_error",
		"tool.requested call-4 fs:get_late mcp_server read read-only", "tool.failed call-4 fs:get_late mcp_server read read-only took timeout",
		"tool.failed call-5 fs:bad mcp_server took schema_validation",
		"tool.requested call-6 client:gone host_bridge destructive", "tool.failed call-6 client:gone host_bridge destructive took host_bridge_error",
		"tool.requested call-7 host:time_now harn_builtin other read-only", "tool.completed call-7 host:time_now harn_builtin other read-only took",
		"tool.requested call-8 host:memory_save harn_builtin edit", "tool.completed call-8 host:memory_save harn_builtin edit took",
		"tool.failed call-9 host:nothing harn_builtin read read-only took schema_validation",
		"tool.requested call-10 skills:persona_echo harn_builtin destructive", "tool.completed call-10 skills:persona_echo harn_builtin destructive took",
		"tool.failed call-11 : harn_builtin took schema_validation",
	}
	told := n.tools(t, id)
	for i := range max(len(told), len(want)) {
		switch {
		case i >= len(told):
			t.Errorf("missing: %s", want[i])
		case i >= len(want) || told[i].String() != want[i]:
			t.Errorf("event %d is %s, want %s", i, told[i], want[min(i, len(want)-1)])
		}
	}
	for i, u := range told {
		if begun := u.tool.StartedEventID; begun != "" && begun != told[i-1].id {
			t.Errorf("%s names %s as its beginning, not %s", u, begun, told[i-1].id)
		} else if begun == "" && u.tool.Server == "fs" && u.kind != abi.EventToolRequested && u.tool.Name != "bad" {
			t.Errorf("%s names no beginning", u)
		}
	}
	if n := strings.Count(fmt.Sprint(n.Kinds(t, desk.Filter{TaskID: id})), string(abi.EventAgentMemoryWrite)); n != 1 {
		t.Errorf("%d memories are told of, want 1", n)
	}
	n.wantReplay(t, id)
}

// What began before the node died is told once, and its end says how long it took in all. What
// only reads is asked, and told, again.
func TestToolCallsOverACrash(t *testing.T) {
	for name, want := range map[string]string{
		"hang":     "tool.requested call-0 fs:hang mcp_server destructive, tool.failed call-0 fs:hang mcp_server destructive took unknown",
		"get_hang": "tool.requested call-0 fs:get_hang mcp_server read read-only, tool.requested call-0 fs:get_hang mcp_server read read-only, tool.completed call-0 fs:get_hang mcp_server read read-only took",
	} {
		t.Run(name, func(t *testing.T) {
			p, w := newProgram(toolCall("fs", name)), &workshop{hangs: make(chan struct{}, 9)}
			n := newNode(t, enginetest.Guests{"program": p.run}, withWorkshop(w))
			id := n.Submit(t, n.Session(t), "persona_program")
			<-w.hangs
			for len(n.tools(t, id)) == 0 { // what is not on the disk is not shown
				goruntime.Gosched()
			}
			n = boot(t, n.Disk.Crash(1, 0), enginetest.Guests{"program": p.run}, func(_ *engine.Config, parts *engine.Parts) {
				parts.Performers = map[string]provider.Performer{abi.CallToolCall: answering{w}}
			})
			defer n.Stop(t)
			n.Wait(t, id)
			var told []string
			for _, u := range n.tools(t, id) {
				told = append(told, u.String())
			}
			if got := strings.Join(told, ", "); got != want {
				t.Errorf("told is %s, want %s", got, want)
			}
			n.wantReplay(t, id)
		})
	}
}

// A tool call ends with its Task, whether its server is asked just then or a Skill is waited for,
// before and after a crash; what has ended is told once.
func TestToolCallsEndWithTheirTask(t *testing.T) {
	held, entered, leave := enginetest.Holding()
	defer close(leave)
	w := &workshop{hangs: make(chan struct{}, 9)}
	for name, c := range map[string]struct {
		ops   []op
		there chan struct{}
		want  string
	}{
		"a write":  {[]op{toolCall("fs", "hang")}, w.hangs, "tool.requested call-0 fs:hang mcp_server destructive, tool.failed call-0 fs:hang mcp_server destructive took cancelled"},
		"a read":   {[]op{toolCall("fs", "get_hang")}, w.hangs, "tool.requested call-0 fs:get_hang mcp_server read read-only, tool.failed call-0 fs:get_hang mcp_server read read-only took cancelled"},
		"a skill":  {[]op{toolCall("skills", "persona_held")}, entered, "tool.requested call-0 skills:persona_held harn_builtin destructive, tool.failed call-0 skills:persona_held harn_builtin destructive took cancelled"},
		"the next": {[]op{toolCall("fs", "get"), {abi.CallInputRequest, `{"prompt":"?"}`}}, nil, "tool.requested call-0 fs:get mcp_server read read-only, tool.completed call-0 fs:get mcp_server read read-only took"},
	} {
		for _, crash := range []bool{false, true} {
			if crash && c.there == w.hangs {
				continue // it is called anew, or was cut off by the crash
			}
			t.Run(fmt.Sprintf("%s, crash %v", name, crash), func(t *testing.T) {
				p := newProgram(c.ops...)
				g := enginetest.Guests{"program": p.run, "held": held}
				n := newNode(t, g, withWorkshop(w))
				id := n.Submit(t, n.Session(t), "persona_program")
				if c.there != nil {
					<-c.there
				}
				if c.there != w.hangs {
					n.waiting(t, id)
				}
				if crash {
					n = boot(t, n.Disk.Crash(1, 0), g, withWorkshop(w))
					defer n.Stop(t)
				}
				if _, err := n.CancelTask(t.Context(), n.Root, nil, id, abi.CancelTaskRequest{}); err != nil {
					t.Fatal(err)
				}
				n.Wait(t, id)
				var told []string
				for _, u := range n.tools(t, id) {
					told = append(told, u.String())
				}
				if got := strings.Join(told, ", "); got != c.want {
					t.Errorf("told is %s, want %s", got, c.want)
				}
			})
		}
	}
}

// answering is a workshop none of whose tools hangs.
type answering struct{ *workshop }

func (a answering) Prepare(ctx context.Context, c *provider.Call) (provider.Plan, error) {
	plan, err := a.workshop.Prepare(ctx, c)
	plan.Do = func(ctx context.Context, _ func(string)) ([]byte, error) { return a.do(ctx, "get") }
	return plan, err
}

// The Persona says how much of its tool calls everybody may know, when it makes them.
func TestPersonasSayWhoSeesTools(t *testing.T) {
	for _, shown := range []abi.ToolsVisibility{"", abi.ToolsInternal, abi.ToolsNamed, abi.ToolsPublic} {
		p := newProgram(toolCall("fs", "write"), toolCall("skills", "persona_held"))
		held, entered, leave := enginetest.Holding()
		n := newNode(t, enginetest.Guests{"program": p.run, "held": held}, withWorkshop(&workshop{}),
			asPersona(func(p *abi.Persona) { p.ToolsVisibility = shown }))
		id := n.Submit(t, n.Session(t), "persona_program")
		<-entered
		waits := n.waiting(t, id).Waiting
		if (waits.Tool == nil) != (shown == abi.ToolsInternal) {
			t.Errorf("%q: the task waits for %+v", shown, waits.Tool)
		}
		close(leave)
		n.Wait(t, id)
		want := shown
		if want == abi.ToolsNamed {
			want = ""
		}
		for _, u := range n.tools(t, id) {
			if u.tool.Visibility != want {
				t.Errorf("%q: %s", shown, u)
			}
		}
	}
}
