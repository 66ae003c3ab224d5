package engine_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/desk"
	"github.com/wharf-dev/wharf/runtime/engine"
	"github.com/wharf-dev/wharf/runtime/enginetest"
	"github.com/wharf-dev/wharf/runtime/provider"
	"github.com/wharf-dev/wharf/runtime/waiting"
	"github.com/wharf-dev/wharf/storage/pebble/crashtest"
)

// drawOps draws a program of host calls.
func drawOps(t *rapid.T) []op {
	pool := append(everyKind(),
		op{abi.CallSleep, `{"ms":1}`}, op{abi.CallInputRequest, `{"prompt":"who?"}`},
		op{abi.CallApprovalRequest, `{"action":"a","prompt":"?"}`}, op{abi.CallHTTPFetch, `{"method":"POST","url":"http://x/"}`},
		op{abi.CallTaskSpawn, `{"persona_id":"persona_echo","input":{"x":1}}`}, op{abi.CallLLMComplete, `{"messages":[]}`},
		op{abi.CallConfigGet, `{"name":"x"}`}, op{abi.CallPlan, `{"steps":[]}`})
	return rapid.SliceOfN(rapid.SampledFrom(pool), 1, 8).Draw(t, "program")
}

// A random program, killed at random calls by power cuts that keep a random part
// of what was not synced, resumed, answered, replayed and forked: it ends well,
// nothing that it made is doubled, and its record has one receipt.
func TestRandomPrograms(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		ops := drawOps(rt)
		p := newProgram(ops...)
		defer func() {
			if t.Failed() {
				t.Logf("the program: %q", ops)
				runs := p.runs()
				t.Logf("the grounds: %q", p.ground)
				for i, answer := range runs[len(runs)-1] {
					for j, other := range runs {
						if i < len(other) && other[i] != answer {
							t.Logf("run %d of %d was told by call %d: %s, the last %s", j, len(runs), i, other[i], answer)
						}
					}
				}
			}
		}()
		g := enginetest.Guests{"program": p.run, "echo": enginetest.Echo}
		outside := func(_ *engine.Config, parts *engine.Parts) {
			parts.Performers = map[string]provider.Performer{
				abi.CallHTTPFetch: &target{repeatable: rapid.Bool().Draw(rt, "repeatable")}, abi.CallLLMComplete: model{make(chan struct{}, 10_000)},
			}
		}
		n := boot(t, crashtest.NewDisk(), g, outside)
		defer func() { n.Stop(t) }()
		session := n.Session(t)
		cuts := rapid.SliceOfN(rapid.IntRange(0, len(ops)), 0, 2).Draw(rt, "cuts")
		id := ""
		for i, cut := range cuts {
			p.stopBefore(cut)
			if i == 0 {
				id = n.Submit(t, session, "persona_program")
			}
			n.until(t, id, p)
			disk := n.Disk.Crash(rapid.Uint64().Draw(rt, "seed"), rapid.Float64Range(0, 1).Draw(rt, "kept"))
			n.abandon()
			p.stopBefore(-1)
			n = boot(t, disk, g, outside)
		}
		if id == "" {
			id = n.Submit(t, session, "persona_program")
		}
		n.until(t, id, p)
		task := n.Wait(t, id)
		if task.Status != abi.TaskCompleted || task.ReceiptID == "" {
			rt.Fatalf("%s %+v", task.Status, task.Failure)
		}
		said := 0
		for _, o := range ops {
			if o.call == abi.CallMessageAppend {
				said++
			}
		}
		doc, err := n.Get(context.Background(), n.Root, abi.ObjectOutcome, task.OutcomeID)
		if err != nil {
			rt.Fatal(err)
		}
		if got := len(enginetest.As[abi.Outcome](t, doc).MessageIDs); got != said {
			rt.Fatalf("%d messages, want %d", got, said)
		}
		n.wantReplay(t, id)
		rec := n.recordOf(t, id)
		at := rec.Entries[rapid.IntRange(0, len(rec.Entries)-1).Draw(rt, "fork")].EventID
		forked, err := n.ForkTask(context.Background(), n.Root, nil, id, abi.ForkTaskRequest{AtEventID: at})
		if err != nil {
			rt.Fatal(err)
		}
		n.until(t, forked.ID, p)
		if fork := n.Wait(t, forked.ID); fork.Status != abi.TaskCompleted {
			rt.Fatalf("the fork: %s %+v", fork.Status, fork.Failure)
		}
		n.wantReplay(t, forked.ID)
	})
}

// until answers what a Task waits for until it has ended, or its program stands
// where it is to be cut.
func (n *node) until(t testing.TB, id string, p *program) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	sub, err := n.Subscribe(ctx, n.Root, desk.Filter{TaskID: id}, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer sub.Close()
	reached := make(chan struct{})
	go func() {
		select {
		case <-p.there:
			close(reached)
			cancel()
		case <-ctx.Done():
		}
	}()
	for {
		if done := n.answer(t, id); done {
			return
		}
		if _, err := sub.Next(ctx); err != nil {
			select {
			case <-reached:
				return
			default:
				t.Fatal(fmt.Errorf("waiting for task %s: %w", id, err))
			}
		}
	}
}

// answer gives a Task what it waits for; it reports whether it has ended.
func (n *node) answer(t testing.TB, id string) bool {
	t.Helper()
	task := n.task(t, id)
	if task.Status.Terminal() {
		return true
	}
	if task.Waiting == nil {
		return false
	}
	for _, w := range waits {
		if w.op.call == waiting.RecordedAs(task.Waiting) || task.Waiting.Gate && w.op.call == abi.CallApprovalRequest {
			_, _ = n.AppendTaskMessage(context.Background(), n.Root, nil, id, w.answer) // it may have been answered by now
		}
	}
	return false
}

// abandon ends a node as a power cut does: nobody looks at it any more.
func (n *node) abandon() {
	n.StopAtOnce()
	_ = n.Store.Close()
}
