package a2a_test

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/gateway/a2a"
	"github.com/wharf-dev/wharf/gateway/api"
	"github.com/wharf-dev/wharf/runtime/enginetest"
	"github.com/wharf-dev/wharf/runtime/sandbox"
	"github.com/wharf-dev/wharf/storage/pebble/crashtest"
)

// writing writes a Memory, if it may, and says hello.
func writing(ctx context.Context, h sandbox.Host) error {
	if _, _, err := h.Call(ctx, abi.CallMemoryWrite, []byte(`{"scope":"tenant","content":"high water at nine"}`)); err != nil {
		return err
	}
	return enginetest.Echo(ctx, h)
}

// work is what somebody asks to plan, or to do.
func work(key string, more object) object {
	return with(object{"task": "write down the tides", "budget": object{"seconds": 60}, "idempotency_key": key, "metadata": as("write")}, more)
}

// approved is work whose plan was approved.
func approved(key, checkpoint string, more object) object {
	return with(work(key, more), object{"checkpoint": object{"approved": true, "checkpoint_id": checkpoint}})
}

func (n *node) plan(t testing.TB, params object, options ...option) answer {
	t.Helper()
	return n.rpc(t, abi.MethodExternalPlan, params, options...)
}

func (n *node) dispatch(t testing.TB, params object, options ...option) answer {
	t.Helper()
	return n.rpc(t, abi.MethodExternalDispatch, params, options...)
}

// writes returns how often a Memory was written.
func (n *node) writes(t testing.TB) int {
	t.Helper()
	kinds := n.Kinds(t, api.Filter{})
	return len(kinds) - len(slices.DeleteFunc(kinds, func(k string) bool { return k == string(abi.EventAgentMemoryWrite) }))
}

// A plan is a dry run: it says what would be done, and nothing is. What was approved is done once, however
// often it is asked for, over a restart too.
func TestExternalWork(t *testing.T) {
	disk, dir := crashtest.NewDisk(), t.TempDir()
	guests := enginetest.Guests{"write": writing}
	n := startNode(t, disk, dir, guests, a2a.Node{})
	plan := n.plan(t, work("k", nil))
	checkpoint := plan.text("result.checkpoint_id")
	if plan.text("result.plan.says") != "hello" || plan.text("result.plan.proposals.0.call") != abi.CallMemoryWrite || plan.get("result.plan.proposals.0.arguments.content") != "high water at nine" {
		t.Errorf("the plan is %s", plan.body)
	}
	if again := n.plan(t, work("k", nil)).text("result.checkpoint_id"); again != checkpoint {
		t.Errorf("it is planned again, as %s", again)
	}
	if n.writes(t) != 0 {
		t.Error("the plan has done what it plans")
	}
	if task := n.rpc(t, "GetTask", object{"id": checkpoint}); task.text("result.status.state") != "TASK_STATE_COMPLETED" {
		t.Errorf("%s", task.body)
	}
	done := n.dispatch(t, approved("k", checkpoint, nil))
	if done.text("result.status") != "completed" || done.text("result.idempotency_key") != "k" || done.text("result.checkpoint_id") != checkpoint ||
		done.text("result.handoff.says") != "hello" || done.get("result.budget_used") == nil || done.get("result.artifacts") == nil {
		t.Errorf("the work is %s", done.body)
	}
	if n.writes(t) != 1 {
		t.Error("the work has not done what was planned")
	}
	n.stop()
	n = startNode(t, disk, dir, guests, a2a.Node{})
	again := n.dispatch(t, approved("k", checkpoint, nil))
	if again.text("result.status") != "replayed" || again.text("result.task_id") != done.text("result.task_id") || again.text("result.handoff.says") != "hello" || n.writes(t) != 1 {
		t.Errorf("asked again: %s", again.body)
	}
}

// A key stands for one piece of work: another body by it is refused, and nothing is done. To whoever sees
// another Workspace, or another tenant, it is free, and a checkpoint of others is none.
func TestExternalKeys(t *testing.T) {
	n := newNode(t, enginetest.Guests{"write": writing})
	other, err := n.CreateWorkspace(t.Context(), n.Root, nil, abi.CreateWorkspaceRequest{Name: "other", Root: "wharf:///other"})
	if err != nil {
		t.Fatal(err)
	}
	checkpoint := n.plan(t, work("k", nil)).text("result.checkpoint_id")
	task := n.dispatch(t, approved("k", checkpoint, nil)).text("result.task_id")
	for name, more := range map[string]object{"task": {"task": "something else"}, "scope": {"expected_scope": "all of it"}, "context": {"context": object{"a": 1}}, "persona": {"metadata": as("echo")}} {
		n.plan(t, work("k", more)).fails(-32602)
		n.dispatch(t, approved("k", checkpoint, more)).fails(-32602)
		mine := n.plan(t, work("k of "+name, more)).text("result.checkpoint_id")
		if why := n.dispatch(t, approved("k", mine, more)).fails(-32602); !strings.Contains(why, "this key stands for other work") {
			t.Errorf("%s: %s", name, why)
		}
	}
	if got := n.dispatch(t, approved("k", checkpoint, object{"budget": object{"seconds": 30}})); got.text("result.status") != "replayed" {
		t.Errorf("with another budget: %s", got.body)
	}
	for name, key := range map[string]string{"another workspace": n.key(t, "", []string{abi.ScopeAll}, other.ID), "another tenant": n.key(t, "other", []string{abi.ScopeAll})} {
		foreign := n.dispatch(t, approved("k", checkpoint, nil), by(key)).fails(-32602)
		if unknown := n.dispatch(t, approved("k", "task_unknown", nil), by(key)).fails(-32602); foreign != unknown {
			t.Errorf("%s is told %q of a checkpoint of others, and %q of none", name, foreign, unknown)
		}
		plain := object{"metadata": object{}}
		mine := n.plan(t, work("k", plain), by(key)).text("result.checkpoint_id")
		got := n.dispatch(t, approved("k", mine, plain), by(key))
		if got.text("result.status") != "completed" || got.text("result.task_id") == task {
			t.Errorf("%s: %s", name, got.body)
		}
	}
}

// Who may not give work may neither plan nor dispatch, and nothing is made.
func TestExternalPrincipals(t *testing.T) {
	n := newNode(t, enginetest.Guests{"write": writing})
	checkpoint := n.plan(t, work("k", nil)).text("result.checkpoint_id")
	before := n.rpc(t, "ListTasks", object{}).get("result.totalSize")
	for method, params := range map[string]object{abi.MethodExternalPlan: work("new", nil), abi.MethodExternalDispatch: approved("new", checkpoint, nil)} {
		for name, key := range map[string]string{"nobody": "", "a made up key": "a-key-that-is-none-at-all"} {
			if got := n.rpc(t, method, params, by(key)); got.status != 401 {
				t.Errorf("%s by %s: %d %s", method, name, got.status, got.body)
			}
		}
		for name, scopes := range map[string][]string{"no scope": {"memories:read"}, "reads alone": {"tasks:read", "sessions:write"}, "no sessions": {"tasks:read", "tasks:write"}} {
			if got := n.rpc(t, method, params, by(n.key(t, "", scopes))); got.status != 403 || got.get("error.code") != -31403.0 {
				t.Errorf("%s with %s: %d %s", method, name, got.status, got.body)
			}
		}
	}
	if after := n.rpc(t, "ListTasks", object{}).get("result.totalSize"); after != before {
		t.Errorf("there were %v tasks, and are %v", before, after)
	}
}

// What cannot be meant is refused by the name of what is wrong, and makes nothing.
func TestExternalParams(t *testing.T) {
	n := newNode(t, enginetest.Guests{"write": writing})
	checkpoint := n.plan(t, work("k", nil)).text("result.checkpoint_id")
	done := n.dispatch(t, approved("k", checkpoint, nil)).text("result.task_id")
	plain := n.rpc(t, "SendMessage", object{"message": says("m1", "hi")}).text("result.task.id")
	before := n.rpc(t, "ListTasks", object{}).get("result.totalSize")
	for name, more := range map[string]object{
		"no task": {"task": " "}, "a number": {"task": 1}, "a long task": {"task": strings.Repeat("x", 256<<10+1)}, "no key": {"idempotency_key": ""}, "a long key": {"idempotency_key": strings.Repeat("k", 257)},
		"a list": {"context": []int{1}}, "no budget": {"budget": object{}}, "nothing": {"budget": object{"usd": 0}}, "less than nothing": {"budget": object{"usd": -1, "tokens": 5}},
		"less time": {"budget": object{"seconds": -1, "tokens": 5}}, "less tokens": {"budget": object{"seconds": 1, "tokens": -5}}, "less calls": {"budget": object{"seconds": 1, "tool_calls": -5}},
		"for ever": {"budget": object{"seconds": 1e300}}, "a text": {"budget": object{"usd": "2"}}, "an unknown persona's type": {"metadata": object{"wharf": object{"persona_id": 1}}},
	} {
		for method, params := range map[string]object{abi.MethodExternalPlan: work("new", more), abi.MethodExternalDispatch: approved("new", checkpoint, more)} {
			if got := n.rpc(t, method, params); got.get("error.code") != -32602.0 {
				t.Errorf("%s with %s: %s", method, name, got.body)
			}
		}
	}
	for name, c := range map[string]any{
		"none": nil, "not approved": object{"approved": false, "checkpoint_id": checkpoint}, "unknown": object{"approved": true, "checkpoint_id": "task_unknown"}, "no id": object{"approved": true},
		"a task that is none": object{"approved": true, "checkpoint_id": plain}, "work": object{"approved": true, "checkpoint_id": done}, "a text": "yes",
	} {
		if got := n.dispatch(t, work("new", object{"checkpoint": c})); got.get("error.code") != -32602.0 {
			t.Errorf("the checkpoint %s: %s", name, got.body)
		}
	}
	if after := n.rpc(t, "ListTasks", object{}).get("result.totalSize"); after != before {
		t.Errorf("there were %v tasks, and are %v", before, after)
	}
}

// Work that is asked for twice at once is done once; one that takes longer than a client may wait is told
// to be under way, and what came of it when the client asks again.
func TestExternalWorkTakesItsTime(t *testing.T) {
	guest, entered, leave := enginetest.Holding()
	n := startNode(t, crashtest.NewDisk(), t.TempDir(), enginetest.Guests{"hold": guest}, a2a.Node{Wait: 50 * time.Millisecond})
	hold := object{"metadata": as("hold")}
	n.plan(t, work("k", hold)).fails(-32000)
	<-entered
	leave <- struct{}{}
	checkpoint := ""
	for checkpoint == "" {
		checkpoint, _ = n.plan(t, work("k", hold)).get("result.checkpoint_id").(string)
	}
	answers := make([]answer, 4)
	var all sync.WaitGroup
	for i := range answers {
		all.Go(func() { answers[i] = n.dispatch(t, approved("k", checkpoint, hold)) })
	}
	all.Wait()
	for _, a := range answers {
		if a.text("result.status") != "working" || a.text("result.task_id") != answers[0].text("result.task_id") {
			t.Errorf("%s", a.body)
		}
	}
	close(leave)
	for range 1000 {
		if got := n.dispatch(t, approved("k", checkpoint, hold)); got.text("result.status") != "working" {
			if got.text("result.handoff.says") != "hello" || len(entered) != 1 {
				t.Errorf("%s, after %d runs", got.body, len(entered)+1)
			}
			return
		}
	}
	t.Error("the work does not end")
}
