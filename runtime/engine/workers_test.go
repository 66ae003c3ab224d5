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
	"github.com/wharf-dev/wharf/runtime/enginetest"
	"github.com/wharf-dev/wharf/runtime/sandbox"
	"github.com/wharf-dev/wharf/storage"
	"github.com/wharf-dev/wharf/storage/pebble/crashtest"
)

// workersUntil returns what a Task is told of its children, ticks left out, once so many workers have ended.
func (n *node) workersUntil(t testing.TB, task string, ended int) (told []abi.Worker) {
	t.Helper()
	sub, err := n.Subscribe(t.Context(), n.Root, desk.Filter{TaskID: task}, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer sub.Close()
	for ended > 0 {
		events, err := sub.Next(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, ev := range events {
			if ev.Record().Kind != abi.EventWorker || ev.Record().Hint {
				continue
			}
			var w abi.Worker
			if err := json.Unmarshal(ev.Record().Payload, &w); err != nil {
				t.Fatal(err)
			}
			if told = append(told, w); w.Terminal {
				ended--
			}
		}
	}
	return told
}

// asks waits until a Task asks something.
func (n *node) asks(t testing.TB, task, prompt string) {
	t.Helper()
	n.Until(t, task, func(rec *storage.Record) bool {
		var told abi.Task
		return rec.Kind == abi.EventTaskInputRequired && json.Unmarshal(rec.State, &told) == nil && told.Waiting.Prompt == prompt
	})
}

func lifeOf(told []abi.Worker, worker string) string {
	var steps []string
	for i := range told {
		if w := &told[i]; w.WorkerID == worker {
			steps = append(steps, strings.TrimPrefix(string(w.Event), "Worker"))
		}
	}
	return strings.Join(steps, " ")
}

func spawn(persona, input string) op {
	return op{abi.CallTaskSpawn, fmt.Sprintf(`{"persona_id":%q,"input":%s}`, persona, input)}
}

// Each end of a child is told to its parent, once and last, with what the child was asked.
func TestWorkersEnd(t *testing.T) {
	stops := func(ctx context.Context, h sandbox.Host) error {
		return enginetest.Call(ctx, h, abi.CallOutput, `{"summary":"enough","stopped":true,"handoff":{"next":["b"]}}`)
	}
	fails := func(ctx context.Context, h sandbox.Host) error {
		return enginetest.Call(ctx, h, abi.CallOutput, `{"summary":"","failure":{"code":"lost","message":"no way"}}`)
	}
	holds, entered, _ := enginetest.Holding()
	parent := newProgram(spawn("persona_echo", string(enginetest.Text("Say hello"))), spawn("persona_stops", `{"a":1}`), spawn("persona_fails", `{}`),
		spawn("persona_holds", `{"role":"user","parts":[{"type":"text","text":"Open"},{"type":"text","text":"hush","visibility":"internal"}]}`))
	n := newNode(t, enginetest.Guests{"parent": parent.run, "stops": stops, "fails": fails, "holds": holds})
	id := n.Submit(t, n.Session(t), "persona_parent")
	n.Wait(t, id)
	<-entered
	children := map[string]string{}
	for _, c := range n.childrenOf(t, id) {
		children[c.PersonaID] = c.ID
	}
	if _, err := n.CancelTask(t.Context(), n.Root, nil, children["persona_holds"], abi.CancelTaskRequest{}); err != nil {
		t.Fatal(err)
	}
	told := n.workersUntil(t, id, 4)
	for persona, want := range map[string]string{"persona_echo": "Spawned Completed", "persona_stops": "Spawned Stopped", "persona_fails": "Spawned Failed",
		"persona_holds": "Spawned Cancelled"} {
		if got := lifeOf(told, children[persona]); got != want {
			t.Errorf("%s: %s, want %s", persona, got, want)
		}
	}
	for _, w := range told {
		task := map[string]string{"echo": "Say hello", "stops": `{"a":1}`, "fails": `{}`, "holds": "Open"}[w.WorkerName]
		if w.WorkerTask != task || w.Metadata.Task != task || (w.Internal != nil) != (w.WorkerName == "holds") || w.WorkerMode != abi.WorkerDelegatedStage {
			t.Errorf("%+v", w)
		}
		if (w.Metadata.FinishedAt != nil) != w.Terminal || w.Terminal && w.Metadata.StartedAt == nil || w.Audit == nil || w.Audit.WorkerID != w.WorkerID {
			t.Errorf("%s of %s: %+v, %+v", w.Event, w.WorkerName, w.Metadata, w.Audit)
		}
		if w.Event == abi.WorkerFailed && (w.Metadata.Error == nil || w.Metadata.Error.Message != "no way") || w.Event == abi.WorkerStopped && string(w.Metadata.Handoff) != `{"next":["b"]}` {
			t.Errorf("%+v", w.Metadata)
		}
	}
	if kinds := n.Kinds(t, desk.Filter{TaskID: children["persona_echo"]}); slices.Contains(kinds, string(abi.EventWorker)) {
		t.Error("a child is told of itself")
	}
	n.wantReplay(t, children["persona_stops"])
	n.wantReplay(t, id)
	if again := n.workersUntil(t, id, 4); len(again) != len(told) {
		t.Errorf("replays have told %d more", len(again)-len(told))
	}
}

// A child waits, the node dies at any moment from then on, somebody answers, and the parent, which has ended, is told
// each step once. The child's own child is told of to the child alone.
func TestWorkersOutliveTheNode(t *testing.T) {
	for keep := range 6 {
		parent := newProgram(spawn("persona_asks", `{}`))
		asks := newProgram(spawn("persona_echo", `{}`), hostTool("ask", `{"prompt":"Which?"}`), op{abi.CallSleep, `{"ms":1}`}, hostTool("ask", `{"prompt":"Sure?"}`))
		g := enginetest.Guests{"parent": parent.run, "asks": asks.run, "echo": enginetest.Echo}
		disk := crashtest.NewDisk()
		n := boot(t, disk, g, withWorkshop(&workshop{}))
		id := n.Submit(t, n.Session(t), "persona_parent")
		n.Wait(t, id)
		child := n.childrenOf(t, id)[0].ID
		n.parked(t, child)
		crash := func() {
			n = boot(t, n.Disk.Crash(uint64(keep), float64(keep)/5), g, withWorkshop(&workshop{}))
		}
		crash()
		n.saidAs(t, child, "this")
		n.asks(t, child, "Sure?")
		crash()
		n.saidAs(t, child, "yes")
		n.Wait(t, child)
		crash()
		told := n.workersUntil(t, id, 1)
		if got, want := lifeOf(told, child), "Spawned WaitingForInput Progressed Spawned WaitingForInput Progressed Spawned Completed"; got != want || len(told) != 8 {
			t.Errorf("%d: the parent was told %s, want %s", keep, got, want)
		}
		below := n.workersUntil(t, child, 1)
		if got := lifeOf(below, n.childrenOf(t, child)[0].ID); got != "Spawned Completed" || len(below) != 2 {
			t.Errorf("%d: the child was told %s", keep, got)
		}
		n.Stop(t)
	}
}
