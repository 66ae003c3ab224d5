package engine_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	json "github.com/go-json-experiment/json"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/desk"
	"github.com/wharf-dev/wharf/runtime/engine"
	"github.com/wharf-dev/wharf/runtime/enginetest"
	"github.com/wharf-dev/wharf/runtime/provider"
	"github.com/wharf-dev/wharf/runtime/sandbox"
	"github.com/wharf-dev/wharf/storage/pebble/crashtest"
)

// composing lets a guest name the composition that it has begun last by $composition.
func composing(g enginetest.Guest) enginetest.Guest {
	return func(ctx context.Context, h sandbox.Host) error { return g(ctx, &composer{Host: h}) }
}

type composer struct {
	sandbox.Host
	id string
}

func (c *composer) Call(ctx context.Context, call string, request []byte) (abi.CallStatus, []byte, error) {
	status, answer, err := c.Host.Call(ctx, call, []byte(strings.ReplaceAll(string(request), "$composition", c.id)))
	var begun abi.CallCompositionBeginAnswer
	if call == abi.CallCompositionBegin && status == abi.CallOK && json.Unmarshal(answer, &begun) == nil {
		c.id = begun.CompositionID
	}
	return status, answer, err
}

func begin(ceiling abi.SideEffectLevel) op {
	hash := strings.Repeat("ab", 32)
	return op{abi.CallCompositionBegin, fmt.Sprintf(`{"language":"javascript","snippet_hash":%q,"manifest_hash":%q,"side_effect_ceiling":%q}`, hash, hash, ceiling)}
}

// endOf ends a composition with further members.
func endOf(members string) op {
	return op{abi.CallCompositionEnd, `{"composition_id":"$composition"` + members + `}`}
}

// composed returns the steps of compositions that the events of a Task tell.
func (n *node) composed(t testing.TB, task string) (all []abi.CompositionEvent) {
	t.Helper()
	events, more, err := n.Events(t.Context(), n.Root, desk.Filter{TaskID: task}, 0, 1000)
	if err != nil || more {
		t.Fatal(err, more)
	}
	for _, ev := range events {
		if ev.Record().Kind != abi.EventComposition {
			continue
		}
		var told abi.CompositionEvent
		if err := json.Unmarshal(ev.Record().Payload, &told); err != nil || ev.Record().Hint || !ev.Record().Restricted {
			t.Fatalf("%s: %v", ev.Record().Payload, err)
		}
		all = append(all, told)
	}
	return all
}

// steps are what a Task tells of its compositions, without what differs between two runs.
func (n *node) steps(t testing.TB, task string) []string {
	t.Helper()
	runs := map[string]int{}
	var steps []string
	for _, ev := range n.composed(t, task) {
		if _, known := runs[ev.RunID]; !known {
			runs[ev.RunID] = len(runs) + 1
		}
		text := fmt.Sprintf("%d %s", runs[ev.RunID], strings.TrimPrefix(string(ev.Kind), "composition_"))
		for _, part := range []string{ev.CallID, string(ev.RequestedSideEffectLevel), string(ev.Status), string(ev.FailureCategory)} {
			if part != "" {
				text += " " + part
			}
		}
		if ev.Error != nil && ev.Error.Code != "" {
			text += " " + ev.Error.Code
		}
		if ev.ChildCalls != nil {
			text += fmt.Sprintf(" %d children", *ev.ChildCalls)
		}
		steps = append(steps, text)
	}
	return steps
}

// repeatable is a workshop whose tools may be called again.
type repeatable struct{ *workshop }

func (r repeatable) Prepare(ctx context.Context, c *provider.Call) (provider.Plan, error) {
	plan, err := r.workshop.Prepare(ctx, c)
	plan.Repeatable = true
	return plan, err
}

func withRepeatable(_ *engine.Config, p *engine.Parts) {
	p.Performers = map[string]provider.Performer{abi.CallToolCall: repeatable{&workshop{}}}
}

// composition is two compositions, one after the other, and calls around and between them.
func composition() []op {
	return []op{
		toolCall("fs", "write"), // outside of any
		endOf(``),
		begin(abi.LevelReadOnly),
		begin(abi.LevelNetwork),
		toolCall("fs", "get"),
		toolCall("fs", "write"),
		{abi.CallTaskSpawn, `{"persona_id":"persona_echo","input":"x"}`},
		{abi.CallStateSet, `{"key":"a","value":1}`},
		{abi.CallToolCall, `{"call_id":"mine","server":"fs","name":"get_err","composition_id":"$composition"}`},
		{abi.CallToolCall, `{"server":"fs","name":"get","composition_id":"other"}`},
		endOf(`,"stdout":"out","result":{"a":1}`),
		endOf(``),
		{abi.CallToolCall, `{"server":"fs","name":"get","composition_id":"$composition"}`},
		begin(abi.LevelWorkspaceWrite),
		toolCall("fs", "write"),
		toolCall("skills", "persona_echo"),
		endOf(`,"failure_category":"tool_error","message":"no"`),
		toolCall("skills", "persona_echo"),
	}
}

var compositionSteps = []string{
	"1 start", "1 child_call call-4 read_only", "1 child_result call-4 completed",
	"1 child_call call-5 workspace_write", "1 child_result call-5 failed composition_ceiling",
	"1 child_call mine read_only", "1 child_result mine failed",
	"1 child_call call-9 read_only", "1 child_result call-9 failed unknown_composition",
	"1 finish 4 children",
	"2 start", "2 child_call call-14 workspace_write", "2 child_result call-14 completed",
	"2 child_call call-15 network", "2 child_result call-15 failed composition_ceiling",
	"2 error tool_error 2 children",
}

// A composition is told by the calls that are recorded, each once, wherever the node dies; calls beyond its ceiling are
// not made, and a replay is told the same.
func TestACompositionIsTheRecordedCalls(t *testing.T) {
	ops := composition()
	for cut := -1; cut <= len(ops); cut++ {
		t.Run(fmt.Sprint("the power goes before call ", cut), func(t *testing.T) {
			p := newProgram(ops...)
			g := enginetest.Guests{"program": composing(p.run), "echo": enginetest.Echo}
			n := boot(t, crashtest.NewDisk(), g, withRepeatable)
			p.stopBefore(cut)
			id := n.Submit(t, n.Session(t), "persona_program")
			if cut >= 0 {
				<-p.there
				p.stopBefore(-1)
				n = boot(t, n.Disk.Crash(1, 0), g, withRepeatable)
			}
			defer n.Stop(t)
			if task := n.Wait(t, id); task.Status != abi.TaskCompleted {
				t.Fatalf("%+v", task.Failure)
			}
			if got := n.steps(t, id); !slices.Equal(got, compositionSteps) {
				t.Errorf("told is\n%s", strings.Join(got, "\n"))
			}
			runs := p.runs()
			told := runs[len(runs)-1]
			for i, want := range map[int]string{0: "0 ", 1: `3 {"code":"unknown_composition"`, 2: "0 ", 3: `1 {"code":"composition_open"`, 4: "0 ", 5: `2 {"code":"composition_ceiling"`,
				6: `2 {"code":"composition_ceiling"`, 7: "0 ", 8: "0 ", 9: `3 {"code":"unknown_composition"`, 10: "0 ", 11: `3 {"code":"unknown_composition"`,
				12: `3 {"code":"unknown_composition"`, 13: "0 ", 14: "0 ", 15: `2 {"code":"composition_ceiling"`, 16: "0 ", 17: "0 "} {
				if !strings.HasPrefix(told[i], want) {
					t.Errorf("call %d is answered %s, want %s", i, told[i], want)
				}
			}
			if cut > 0 && cut < len(ops) {
				return // replays of two are enough
			}
			n.wantReplay(t, id)
			again := p.runs()
			if strings.Join(again[len(again)-1], "\n") != strings.Join(told, "\n") {
				t.Errorf("the replay was told %v", again[len(again)-1])
			}
		})
	}
}

// What is told of a child has what policy looked at, and the call id of the tool's own events.
func TestWhatIsToldOfAChild(t *testing.T) {
	p := newProgram(begin(abi.LevelReadOnly), toolCall("fs", "get"), endOf(`,"stderr":"e","result":[1]`))
	n := newNode(t, enginetest.Guests{"program": composing(p.run)}, withWorkshop(&workshop{}))
	id := n.Submit(t, n.Session(t), "persona_program")
	n.Wait(t, id)
	told := n.composed(t, id)
	if len(told) != 4 {
		t.Fatalf("%+v", told)
	}
	call, result, end := told[1], told[2], told[3]
	if string(call.RawInput) != `{"text":"x","query":"x"}` || *call.PolicyContext != (abi.CompositionPolicy{ToolName: "fs:get", ToolKind: abi.ToolKindRead, SideEffect: "read_only", SideEffectCeiling: "read_only"}) ||
		call.ToolAnnotations == nil || !call.ToolAnnotations.ReadOnly || call.ToolAnnotations.Destructive {
		t.Errorf("%+v", call)
	}
	if result.Executor != abi.ExecutorServer || !strings.Contains(string(result.Output), `"done"`) || result.DurationMS == nil || *result.DurationMS <= 0 {
		t.Errorf("%+v", result)
	}
	if told[0].SideEffectCeiling != abi.LevelReadOnly || told[0].Language != "javascript" || end.Stderr != "e" || string(end.Result) != "[1]" || end.DurationMS == nil {
		t.Errorf("%+v, %+v", told[0], end)
	}
	for _, u := range n.tools(t, id) {
		if u.tool.CallID != call.CallID || u.tool.CallID != result.CallID {
			t.Errorf("%s is told as %s", u, call.CallID)
		}
	}
	task := n.task(t, id)
	if w := n.wire(t, task); len(w.SideEffects.ToolCalls) != 1 {
		t.Errorf("%+v", w.SideEffects)
	}
}

// Whoever ends a Task ends what it has open, once and with nothing after it: whether it runs, waits for a child or for
// somebody's approval, before and after a crash.
func TestACompositionEndsWithItsTask(t *testing.T) {
	held, entered, leave := enginetest.Holding()
	defer close(leave)
	w := &workshop{hangs: make(chan struct{}, 9)}
	open := func(then ...op) []op {
		return append([]op{begin(abi.LevelNetwork), toolCall("fs", "get")}, then...)
	}
	for name, c := range map[string]struct {
		ops     []op
		there   chan struct{}
		crashes bool
		cancel  bool
		want    string
	}{
		"a write under way": {open(toolCall("fs", "hang")), w.hangs, false, true, "1 child_call call-2 workspace_write, 1 child_result call-2 cancelled, 1 error task_canceled 2 children"},
		"a read under way":  {open(toolCall("fs", "get_hang")), w.hangs, false, true, "1 error task_canceled 1 children"},
		"a skill":           {open(toolCall("skills", "persona_held")), entered, true, true, "1 child_call call-2 network, 1 child_result call-2 cancelled, 1 error task_canceled 2 children"},
		"a question":        {open(hostTool("ask", `{"prompt":"?"}`)), nil, true, true, "1 child_call call-2 read_only, 1 child_result call-2 cancelled, 1 error task_canceled 2 children"},
		"a call that waits": {open(op{abi.CallInputRequest, `{"prompt":"?"}`}), nil, true, true, "1 error task_canceled 1 children"},
		"nobody ends it":    {open(), nil, false, false, "1 error not_ended 1 children"},
		"a failure":         {open(op{"trap", ""}), nil, false, false, "1 error task_failed 1 children"},
		"ended before":      {open(endOf(``), op{abi.CallInputRequest, `{"prompt":"?"}`}), nil, true, true, "1 finish 1 children"},
	} {
		for _, crash := range []bool{false, true} {
			if crash && !c.crashes {
				continue
			}
			t.Run(fmt.Sprintf("%s, crash %v", name, crash), func(t *testing.T) {
				p := newProgram(c.ops...)
				g := enginetest.Guests{"program": composing(thatTraps(p.run)), "held": held}
				n := boot(t, crashtest.NewDisk(), g, withWorkshop(w))
				id := n.Submit(t, n.Session(t), "persona_program")
				if c.there != nil {
					<-c.there
				}
				if c.cancel && c.there != w.hangs {
					n.waiting(t, id)
				}
				if crash {
					n = boot(t, n.Disk.Crash(1, 0), g, withWorkshop(w))
				}
				defer n.Stop(t)
				if c.cancel {
					if _, err := n.CancelTask(t.Context(), n.Root, nil, id, abi.CancelTaskRequest{}); err != nil {
						t.Fatal(err)
					}
				}
				n.Wait(t, id)
				want := "1 start, 1 child_call call-1 read_only, 1 child_result call-1 completed, " + c.want
				if got := strings.Join(n.steps(t, id), ", "); got != want {
					t.Errorf("told is %s, want %s", got, want)
				}
				if !c.cancel {
					n.wantReplay(t, id)
				}
			})
		}
	}
}

// thatTraps makes the call "trap" the end of a guest.
func thatTraps(g enginetest.Guest) enginetest.Guest {
	return func(ctx context.Context, h sandbox.Host) error { return g(ctx, trapped{h}) }
}

type trapped struct{ sandbox.Host }

func (t trapped) Call(ctx context.Context, call string, request []byte) (abi.CallStatus, []byte, error) {
	if call == "trap" {
		return 0, nil, &abi.Failure{Code: abi.FailurePluginTrap, Message: "it traps"}
	}
	return t.Host.Call(ctx, call, request)
}

// What a child has waited for is told once as its result, whoever brings it and whether the node died meanwhile; an approval is
// asked for within the composition, and not for what is beyond the ceiling.
func TestChildrenThatWait(t *testing.T) {
	for _, crash := range []bool{false, true} {
		p := newProgram(begin(abi.LevelWorkspaceWrite), hostTool("ask", `{"prompt":"?"}`), toolCall("fs", "write"), toolCall("skills", "persona_echo"), endOf(``))
		g := enginetest.Guests{"program": composing(p.run), "echo": enginetest.Echo}
		configure := []enginetest.Configure{withWorkshop(&workshop{}), atTier(abi.TierActWithApproval)}
		n := boot(t, crashtest.NewDisk(), g, configure...)
		again := func() {
			if crash {
				n = boot(t, n.Disk.Crash(1, 0), g, configure...)
			}
		}
		id := n.Submit(t, n.Session(t), "persona_program")
		if w := n.parked(t, id).Waiting; w.Composition == nil || w.Composition.CallID != "call-1" {
			t.Errorf("it waits for %+v", w.Composition)
		}
		again()
		n.saidAs(t, id, "blue")
		w := n.waitingAt(t, id, 2).Waiting
		n.rested(id)
		if !w.Gate || w.Composition != nil {
			t.Errorf("it waits for %+v", w)
		}
		again()
		if _, err := n.RespondPermission(t.Context(), n.Root, nil, w.PermissionID, abi.RespondRequest{Decision: "approved"}); err != nil {
			t.Fatal(err)
		}
		if task := n.Wait(t, id); task.Status != abi.TaskCompleted {
			t.Fatalf("%+v", task.Failure)
		}
		want := []string{"1 start", "1 child_call call-1 read_only", "1 child_result call-1 completed", "1 child_call call-3 workspace_write", "1 child_result call-3 completed",
			"1 child_call call-4 network", "1 child_result call-4 failed composition_ceiling", "1 finish 3 children"}
		if got := n.steps(t, id); !slices.Equal(got, want) {
			t.Errorf("crash %v: told is\n%s", crash, strings.Join(got, "\n"))
		}
		n.wantReplay(t, id)
		n.Stop(t)
	}
}
