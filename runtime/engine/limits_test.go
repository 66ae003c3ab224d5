package engine_test

import (
	"context"
	"fmt"
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

// repeats makes half of what a limit allows, asks whether to go on, and makes half and
// some more. It writes down the status of each call.
type repeats struct {
	op     op
	half   int
	more   int
	parks  bool
	there  chan struct{} // gets a value before the second half, when it is set
	status []abi.CallStatus
}

func (p *repeats) run(ctx context.Context, h sandbox.Host) error {
	p.status = nil
	for i := range p.half + p.more {
		if i == p.half && p.parks {
			if _, _, err := h.Call(ctx, abi.CallInputRequest, []byte(`{"prompt":"go on?"}`)); err != nil {
				return err
			}
		}
		if i == p.half && p.there != nil {
			p.there <- struct{}{}
			<-ctx.Done()
			return context.Cause(ctx)
		}
		status, _, err := h.Call(ctx, p.op.call, []byte(p.op.request))
		if err != nil {
			return err
		}
		p.status = append(p.status, status)
	}
	return nil
}

// limited are the limits that a Task's own calls use up.
var limited = map[string]struct {
	op         op
	half, more int
	refused    abi.CallStatus
	budget     *abi.Budget
}{
	"children":      {op{abi.CallTaskSpawn, `{"persona_id":"persona_echo","input":{"x":1}}`}, engine.MaxChildren / 2, engine.MaxChildren/2 + 2, abi.CallTooLarge, nil},
	"handoffs":      {op{abi.CallHandoff, `{"persona_id":"persona_echo","input":{"x":1}}`}, engine.MaxChildren / 2, engine.MaxChildren/2 + 2, abi.CallTooLarge, nil},
	"tool calls":    {op{abi.CallToolCall, `{"server":"x","name":"y"}`}, 3, 5, abi.CallDenied, &abi.Budget{ToolCalls: 6}},
	"skills":        {op{abi.CallToolCall, `{"server":"skills","name":"persona_echo","arguments":{"text":"x"}}`}, 2, 4, abi.CallDenied, &abi.Budget{ToolCalls: 4}},
	"model tokens":  {op{abi.CallLLMComplete, `{"messages":[]}`}, 2, 3, abi.CallDenied, &abi.Budget{OutputTokens: 8}},
	"model's costs": {op{abi.CallLLMComplete, `{"messages":[]}`}, 2, 3, abi.CallDenied, &abi.Budget{USD: 2}},
}

// A limit is used up by the same call, whether the Task was interrupted before or not.
func TestLimitsCountOverInterruptions(t *testing.T) {
	if testing.Short() {
		t.Skip("runs thousands of Tasks: not with -short")
	}
	for name, l := range limited {
		t.Run(name, func(t *testing.T) {
			outside := func(_ *engine.Config, parts *engine.Parts) {
				parts.Performers = map[string]provider.Performer{abi.CallLLMComplete: model{make(chan struct{}, 100)},
					abi.CallToolCall: &target{repeatable: true}}
				for i := range parts.Personas {
					if parts.Personas[i].Name == "repeats" {
						parts.Personas[i].Budget = l.budget
					}
				}
			}
			want := func(p *repeats, how string) {
				t.Helper()
				refused := -1
				for i, status := range p.status {
					if status == l.refused && refused < 0 {
						refused = i
					}
				}
				if limit := 2 * l.half; refused != limit || len(p.status) != l.half+l.more {
					t.Errorf("%s: call %d of %d was the first refused, want %d", how, refused, len(p.status), limit)
				}
			}
			p := &repeats{op: l.op, half: l.half, more: l.more}
			g := enginetest.Guests{"repeats": p.run, "echo": enginetest.Echo}
			n := boot(t, crashtest.NewDisk(), g, outside)
			defer func() { n.Stop(t) }()
			n.Wait(t, n.Submit(t, n.Session(t), "persona_repeats"))
			want(p, "at once")

			p.parks = true
			id := n.Submit(t, n.Session(t), "persona_repeats")
			for task := n.waiting(t, id); task.Waiting.Call != abi.CallInputRequest; task = n.task(t, id) { // a Skill is waited for, too
				n.waitsFor(t, id, abi.CallInputRequest)
			}
			goOn(t, n, id)
			want(p, "parked")

			p.parks = false
			rec := n.recordOf(t, id)
			at := rec.Entries[l.half-1].EventID
			doc, err := n.ForkTask(t.Context(), n.Root, nil, id, abi.ForkTaskRequest{AtEventID: at})
			if err != nil {
				t.Fatal(err)
			}
			n.Wait(t, doc.ID)
			want(p, "forked")

			p.there = make(chan struct{}, 2)
			id = n.Submit(t, n.Session(t), "persona_repeats")
			<-p.there
			disk := n.Disk.Crash(1, 1)
			n.abandon()
			p.there = nil
			n = boot(t, disk, g, outside)
			n.Wait(t, id)
			want(p, "after a crash")
		})
	}
}

// waitsFor waits until the log says that a Task waits within a call.
func (n *node) waitsFor(t *testing.T, id, call string) {
	n.eachEvent(t, id, func(int) bool {
		w := n.task(t, id).Waiting
		return w == nil || w.Call != call
	})
}

func goOn(t *testing.T, n *node, id string) {
	t.Helper()
	if _, err := n.AppendTaskMessage(t.Context(), n.Root, nil, id, waits[0].answer); err != nil {
		t.Fatal(err)
	}
	if task := n.Wait(t, id); task.Status != abi.TaskCompleted {
		t.Fatalf("%s %+v", task.Status, task.Failure)
	}
}

// Hints are bounded over a wait as they are without one.
func TestHintsAreBoundedOverAWait(t *testing.T) {
	p := &repeats{op: op{abi.CallLog, `{"level":"info","message":"x"}`}, half: engine.MaxHints - 5, more: 50, parks: true}
	n := newNode(t, enginetest.Guests{"repeats": p.run})
	id := n.Submit(t, n.Session(t), "persona_repeats")
	n.waiting(t, id)
	goOn(t, n, id)
	told := 0
	for after, more := desk.Position(0), true; more; {
		var events []desk.Event
		var err error
		if events, more, err = n.Events(t.Context(), n.Root, desk.Filter{TaskID: id}, after, 1000); err != nil {
			t.Fatal(err)
		}
		for _, ev := range events {
			if after = ev.Position(); ev.Record().Kind == abi.EventLog {
				told++
			}
		}
	}
	if told != engine.MaxHints {
		t.Errorf("%d hints were told, want %d", told, engine.MaxHints)
	}
}

// Forks are of the generation of their source: only children are counted.
func TestForksAreNoGeneration(t *testing.T) {
	spawn := &repeats{op: op{abi.CallTaskSpawn, `{"persona_id":"persona_echo","input":{"x":1}}`}, more: 1}
	n := newNode(t, enginetest.Guests{"repeats": spawn.run})
	id := n.Submit(t, n.Session(t), "persona_repeats")
	n.Wait(t, id)
	for range engine.MaxGenerations {
		doc, err := n.ForkTask(t.Context(), n.Root, nil, id, abi.ForkTaskRequest{AtEventID: "0"})
		if err != nil {
			t.Fatal(err)
		}
		if n.Wait(t, doc.ID); fmt.Sprint(spawn.status) != "[0]" {
			t.Fatalf("a fork's child is refused: %v", spawn.status)
		}
		id = doc.ID
	}
}

// Children are counted: the last generation spawns nothing.
func TestGenerations(t *testing.T) {
	n := newNode(t, enginetest.Guests{"deeper": func(ctx context.Context, h sandbox.Host) error {
		_, answer, err := h.Call(ctx, abi.CallTaskSpawn, []byte(`{"persona_id":"persona_deeper","input":{"x":1}}`))
		var child abi.CallTaskSpawnAnswer
		if err != nil || json.Unmarshal(answer, &child) != nil || child.TaskID == "" {
			return err
		}
		_, _, err = h.Call(ctx, abi.CallTaskAwait, []byte(`{"task_id":"`+child.TaskID+`"}`))
		return err
	}})
	n.Wait(t, n.Submit(t, n.Session(t), "persona_deeper"))
	list, err := n.List(t.Context(), n.Root, abi.ObjectTask, desk.Filter{}, desk.Page{Limit: 100})
	if err != nil || len(list.Docs) != engine.MaxGenerations {
		t.Errorf("%d generations, %v, want %d", len(list.Docs), err, engine.MaxGenerations)
	}
}
