package a2a_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/enginetest"
	"github.com/wharf-dev/wharf/runtime/sandbox"
	"github.com/wharf-dev/wharf/storage"
)

// leads has two subagents work: one that does it, and one that cannot. It ends when it was told of them.
func leads(told <-chan struct{}) enginetest.Guest {
	return func(ctx context.Context, h sandbox.Host) error {
		if err := delegates(ctx, h); err != nil {
			return err
		}
		select {
		case <-told:
			return enginetest.Echo(ctx, h)
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

func delegates(ctx context.Context, h sandbox.Host) error {
	for _, name := range []string{"Scout", "Broken"} {
		request := fmt.Sprintf(`{"server":"agents","name":%q,"arguments":{"task":"look"}}`, name)
		if _, _, err := h.Call(ctx, abi.CallToolCall, []byte(request)); err != nil {
			return err // the Task is parked, until the subagent has answered
		}
	}
	return nil
}

func breaks(ctx context.Context, h sandbox.Host) error {
	return call(ctx, h, abi.CallOutput, `{"summary":"","failure":{"code":"lost","message":"no way"}}`)
}

// agent makes an agent, below another or not.
func (n *node) agent(t testing.TB, name, guest, parent string) string {
	t.Helper()
	description := name
	made, err := n.CreatePersona(t.Context(), n.Root, nil, abi.CreatePersonaRequest{Name: name, Version: "1", EntryWorkflow: guest, Description: &description, AutonomyTier: abi.TierActAuto,
		ReceiptPolicy: abi.ReceiptRequired, WorkspaceID: n.DefaultWorkspace(n.Root.Tenant), Agent: &abi.Agent{ParentID: parent}})
	if err != nil {
		t.Fatal(err)
	}
	return made.ID
}

// Each subagent that works for a Task is told of when it begins and when it ends: in metadata that stock
// clients of both versions take, and at the root to those that have asked for the extension.
func TestWorkers(t *testing.T) {
	all := make(chan struct{})
	n := newNode(t, enginetest.Guests{"leads": leads(all), "breaks": breaks})
	lead := n.agent(t, "Lead", "leads", "")
	n.agent(t, "Scout", "echo", lead)
	n.agent(t, "Broken", "breaks", lead)
	wharf := object{"wharf": object{"persona_id": lead}}
	rpc := func(method string, m object) object {
		return object{"jsonrpc": "2.0", "id": 7, "method": method, "params": object{"message": with(m, object{"metadata": wharf})}}
	}
	old := object{"kind": "message", "messageId": "m2", "role": "user", "parts": []object{{"kind": "text", "text": "hi"}}}
	for way, c := range map[string]struct {
		body    object
		at      string // where an update of the status is
		options []option
	}{
		"1.0":                    {rpc("SendStreamingMessage", says("m1", "hi")), "result.statusUpdate.", nil},
		"0.3":                    {rpc("message/stream", old), "result.", nil},
		"1.0 with the extension": {rpc("SendStreamingMessage", says("m3", "hi")), "", []option{header("A2A-Extensions", extension)}},
	} {
		t.Run(way, func(t *testing.T) {
			var told []string
			ids := map[string]string{}
			frames(t, n.open(t, "POST", "/a2a", c.body, c.options...), func(f frame) bool {
				if !strings.Contains(string(f.data.body), "worker_update") {
					return true
				}
				is, _ := f.data.get("result").(object)
				if c.at != "" {
					meta, _ := f.data.get(c.at + "metadata").(object)
					is, _ = meta[extension].(object)
					if state := f.data.text(c.at + "status.state"); state != "TASK_STATE_WORKING" && state != "working" {
						t.Errorf("the state is %s", state)
					}
				} else if is["taskId"] == nil || is["contextId"] == nil {
					t.Errorf("of which task is %s?", f.data.body)
				}
				name, _ := is["workerName"].(string)
				id, _ := is["workerId"].(string)
				if ids[name] == "" {
					ids[name] = id
				}
				if id == "" || ids[name] != id || is["workerMode"] != "sub_agent" || is["workerTask"] == "" || is["type"] != "worker_update" {
					t.Errorf("%s", f.data.body)
				}
				if told = append(told, fmt.Sprint(name, " ", is["event"], " ", is["status"], " ", is["terminal"])); len(told) == 4 {
					all <- struct{}{}
				}
				return true
			})
			wantTold(t, told, "Scout WorkerSpawned running false", "Scout WorkerCompleted completed true", "Broken WorkerSpawned running false", "Broken WorkerFailed failed true")
		})
	}
}

// A child that was made without a tool, and that waits for its user, is told of too. What its parent is told of it
// after the parent's own end is told nobody: streams end with that, also for those that come back.
func TestWorkersOfTheEnded(t *testing.T) {
	told := make(chan struct{})
	n := newNode(t, enginetest.Guests{"ask": asking, "spawns": func(ctx context.Context, h sandbox.Host) error {
		if err := call(ctx, h, abi.CallTaskSpawn, `{"persona_id":"persona_ask","input":{"role":"user","parts":[{"type":"text","text":"look"}]}}`); err != nil {
			return err
		}
		select {
		case <-told:
			return enginetest.Echo(ctx, h)
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}})
	var got, ids []string
	child, id := "", ""
	frames(t, n.open(t, "POST", "/a2a/message:stream", object{"message": with(says("m1", "hi"), object{"metadata": as("spawns")})}, header("A2A-Extensions", extension)), func(f frame) bool {
		ids = append(ids, f.id)
		if id == "" {
			id = f.data.text("task.id")
		}
		if f.data.get("type") != "worker_update" {
			got = append(got, f.told())
			return true
		}
		child = f.data.text("workerId")
		if got = append(got, f.data.text("event")); got[len(got)-1] == string(abi.WorkerWaitingForInput) {
			told <- struct{}{}
		}
		return true
	})
	wantTold(t, got, "task SUBMITTED", "statusUpdate WORKING", "WorkerSpawned", "WorkerWaitingForInput", "statusUpdate WORKING", "artifact outcome", "statusUpdate COMPLETED")
	n.rpc(t, "SendMessage", object{"message": with(says("m2", "80"), object{"taskId": child})})
	n.toldOfEnd(t, id, child)
	again := states(t, n.open(t, "GET", "/a2a/v1/tasks/"+id+":subscribe", nil, header("Last-Event-ID", ids[len(ids)-2])))
	wantTold(t, again, "statusUpdate COMPLETED")
	n.rpc(t, "SubscribeToTask", object{"id": id}, header("Last-Event-ID", ids[len(ids)-1])).fails(-32004)
}

// toldOfEnd waits until a Task is told of the end of a child.
func (n *node) toldOfEnd(t testing.TB, task, child string) {
	t.Helper()
	n.Until(t, task, func(rec *storage.Record) bool {
		var w abi.Worker
		return rec.Kind == abi.EventWorker && json.Unmarshal(rec.Payload, &w) == nil && w.WorkerID == child && w.Terminal
	})
}
