package engine_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/desk"
	"github.com/wharf-dev/wharf/runtime/enginetest"
	"github.com/wharf-dev/wharf/runtime/ledger"
	"github.com/wharf-dev/wharf/runtime/sandbox"
	"github.com/wharf-dev/wharf/storage"
	"github.com/wharf-dev/wharf/storage/pebble/crashtest"
)

// restate writes what no door lets in: a resource as it was last stated, with its text
// changed.
func (n *node) restate(t testing.TB, tenant storage.Tenant, o abi.Object, id string, change func(string) string) {
	t.Helper()
	ctx := context.Background()
	res, err := n.Store.Get(ctx, tenant, o, id)
	if err != nil {
		t.Fatal(err)
	}
	ev, err := n.Store.Event(ctx, tenant, res.Position)
	if err != nil {
		t.Fatal(err)
	}
	seq, _, err := n.Store.Sequence(ctx, tenant, abi.ResourcePointer{Object: o, ID: id})
	if err != nil {
		t.Fatal(err)
	}
	f := *ev.Frame
	rec := *ev.Record()
	rec.Created, rec.Sequence, rec.IdempotencyKey = false, seq+1, ""
	rec.Transcript, rec.Intake = storage.TranscriptOp{}, storage.IntakeOp{}
	rec.State = []byte(change(string(res.State)))
	f.First, f.Records = 0, []storage.Record{rec}
	if _, err := n.Store.Append(&storage.Batch{Frame: f}).Wait(ctx); err != nil {
		t.Fatal(err)
	}
}

// nested returns a list in a list, and so on: deeper than JSON is read.
func nested(levels int) string { return strings.Repeat("[", levels) + strings.Repeat("]", levels) }

// with puts a member in front of those of a JSON object.
func with(member, value string) func(string) string {
	return func(state string) string { return `{"` + member + `":` + value + `,` + state[1:] }
}

func replace1(old, by string) func(string) string {
	return func(state string) string { return strings.Replace(state, old, by, 1) }
}

var tooDeep = with("deep", nested(10_000))

// A Task whose stored form cannot be read fails, and says why. The node starts, and what
// else there is goes on.
func TestUnreadableTask(t *testing.T) {
	for _, test := range []struct {
		name, reason string
		change       func(string) string
	}{
		{"too deep", "nested too deeply", tooDeep},
		{"a wrong type", "not of the type that it must have in attempt", replace1(`"attempt":1`, `"attempt":{}`)},
		{"null", "not a JSON object", func(string) string { return "null" }},
		{"empty", "it says that it is", func(string) string { return "{}" }},
		{"of another", "it says that it is", replace1(`"id":"task_`, `"id":"task_X`)},
		{"a status that does not fit", "does not fit what it waits for", replace1(`"INPUT_REQUIRED"`, `"SUBMITTED"`)},
		{"an end that was not told", "no event has told its end", replace1(`"INPUT_REQUIRED"`, `"COMPLETED"`)},
		{"a negative attempt", "attempt is -1", replace1(`"attempt":1`, `"attempt":-1`)},
		{"a negative call", "call -1", replace1(`"index":0`, `"index":-1`)},
		{"a request that is not there", "permission_none", replace1(`"permission_id":"`, `"permission_id":"permission_none","was":"`)},
	} {
		t.Run(test.name, func(t *testing.T) {
			p := newProgram(op{abi.CallInputRequest, `{"prompt":"who?"}`})
			g := enginetest.Guests{"program": p.run, "echo": enginetest.Echo}
			n := boot(t, crashtest.NewDisk(), g)
			session := n.Session(t)
			id, other := n.Submit(t, session, "persona_program"), n.Submit(t, session, "persona_program")
			n.parked(t, id)
			n.parked(t, other)
			n.restate(t, n.Root.Tenant, abi.ObjectTask, id, test.change)
			n.Stop(t)

			n = boot(t, n.Disk, g)
			defer n.Stop(t)
			task := n.task(t, id)
			if task.Status != abi.TaskFailed || task.Failure.Code != abi.FailureUnreadable || !strings.Contains(task.Failure.Message, test.reason) {
				t.Errorf("the task is %s, %+v", task.Status, task.Failure)
			}
			if n.Stats().SetAside[abi.ObjectTask] != 1 {
				t.Errorf("set aside: %v", n.Stats().SetAside)
			}
			if r := n.request(t, id); r.Status != abi.PermissionCanceled {
				t.Errorf("what it asked for is %s", r.Status)
			}
			list, err := n.List(t.Context(), n.Root, abi.ObjectTask, desk.Filter{}, desk.Page{Limit: 10})
			if err != nil || len(list.Docs) != 2 || len(list.Unreadable) != 0 {
				t.Errorf("%d tasks, %v, %v", len(list.Docs), list.Unreadable, err)
			}
			n.answer(t, other)
			if task := n.Wait(t, other); task.Status != abi.TaskCompleted {
				t.Errorf("the other task: %s %+v", task.Status, task.Failure)
			}
			n.wantSound(t)
		})
	}
}

// What a newer build may have written, and what is damaged, is left as it is: only a
// cancel ends it.
func TestForeignTask(t *testing.T) {
	for name, change := range map[string]func(string) string{
		"a status": replace1(`"INPUT_REQUIRED"`, `"REVIEW_REQUIRED"`),
		"a call":   replace1(`"call":"input.request"`, `"call":"review.request"`),
	} {
		t.Run(name, func(t *testing.T) {
			p := newProgram(op{abi.CallInputRequest, `{"prompt":"who?"}`})
			g := enginetest.Guests{"program": p.run, "echo": enginetest.Echo}
			n := boot(t, crashtest.NewDisk(), g)
			session := n.Session(t)
			id := n.Submit(t, session, "persona_program")
			n.parked(t, id)
			n.restate(t, n.Root.Tenant, abi.ObjectTask, id, change)
			for range 2 {
				n.Stop(t)
				n = boot(t, n.Disk, g)
				if task := n.task(t, id); task.Status.Terminal() || n.Stats().SetAside[abi.ObjectTask] != 1 {
					t.Fatalf("it is %s; set aside: %v", task.Status, n.Stats().SetAside)
				}
			}
			doc, err := n.CancelTask(t.Context(), n.Root, nil, id, abi.CancelTaskRequest{Reason: "enough"})
			if err != nil || enginetest.As[abi.Task](t, doc).Status != abi.TaskCanceled {
				t.Fatalf("%v %s", err, doc.JSON)
			}
			_, err = n.CancelTask(t.Context(), n.Root, nil, id, abi.CancelTaskRequest{})
			enginetest.WantCode(t, err, abi.CodeConflict)
			n.Stop(t)
			n = boot(t, n.Disk, g)
			defer n.Stop(t)
			if len(n.Stats().SetAside) != 0 {
				t.Errorf("set aside: %v", n.Stats().SetAside)
			}
		})
	}
}

// A Task that turns unreadable while the node runs can be canceled, and does not keep
// the others from being listed.
func TestUnreadableWhileRunning(t *testing.T) {
	p := newProgram(op{abi.CallInputRequest, `{"prompt":"who?"}`})
	n := newNode(t, enginetest.Guests{"program": p.run})
	session := n.Session(t)
	id, other := n.Submit(t, session, "persona_program"), n.Submit(t, session, "persona_echo")
	n.parked(t, id)
	n.Wait(t, other)
	n.restate(t, n.Root.Tenant, abi.ObjectTask, id, tooDeep)
	list, err := n.List(t.Context(), n.Root, abi.ObjectTask, desk.Filter{SessionID: session}, desk.Page{Limit: 10})
	if err != nil || len(list.Docs) != 1 || fmt.Sprint(list.Unreadable) != "["+id+"]" {
		t.Errorf("%d tasks, %v, %v", len(list.Docs), list.Unreadable, err)
	}
	_, err = n.Get(t.Context(), n.Root, abi.ObjectTask, id)
	if !ledger.IsUnreadable(err) || !strings.Contains(err.Error(), id) {
		t.Errorf("reading it: %v", err)
	}
	doc, err := n.CancelTask(t.Context(), n.Root, nil, id, abi.CancelTaskRequest{})
	if err != nil || enginetest.As[abi.Task](t, doc).Status != abi.TaskCanceled {
		t.Fatalf("%v %s", err, doc.JSON)
	}
	if r := n.request(t, id); r.Status != abi.PermissionCanceled {
		t.Errorf("what it asked for is %s", r.Status)
	}
	_, err = n.CancelTask(t.Context(), n.Root, nil, id, abi.CancelTaskRequest{})
	enginetest.WantCode(t, err, abi.CodeConflict)
}

// Who may see some Workspaces only learns nothing of what cannot be read elsewhere.
func TestUnreadableElsewhere(t *testing.T) {
	p := newProgram(op{abi.CallInputRequest, `{"prompt":"who?"}`})
	n := newNode(t, enginetest.Guests{"program": p.run})
	id := n.Submit(t, n.Session(t), "persona_program")
	n.parked(t, id)
	n.restate(t, n.Root.Tenant, abi.ObjectTask, id, tooDeep)
	doc, err := n.CreateWorkspace(t.Context(), n.Root, nil, abi.CreateWorkspaceRequest{Name: "b", Root: "wharf:///b"})
	if err != nil {
		t.Fatal(err)
	}
	bound, _ := n.newKey(t, abi.CreateKeyRequest{Name: "b", Scopes: []string{abi.ScopeAll}, WorkspaceIDs: []string{doc.ID}})
	_, err = n.CancelTask(t.Context(), bound, nil, id, abi.CancelTaskRequest{})
	enginetest.WantCode(t, err, abi.CodeResourceNotFound)
	list, err := n.List(t.Context(), bound, abi.ObjectTask, desk.Filter{}, desk.Page{Limit: 10})
	if err != nil || len(list.Docs)+len(list.Unreadable) != 0 {
		t.Errorf("%d tasks, %v, %v", len(list.Docs), list.Unreadable, err)
	}
}

// A parent that awaits a child that cannot be read is told, whatever becomes of the child.
func TestParentOfUnreadable(t *testing.T) {
	for name, change := range map[string]func(string) string{
		"fails": tooDeep, "is left": replace1(`"INPUT_REQUIRED"`, `"REVIEW_REQUIRED"`),
	} {
		t.Run(name, func(t *testing.T) {
			child := newProgram(op{abi.CallInputRequest, `{"prompt":"who?"}`})
			g := enginetest.Guests{"child": child.run, "echo": enginetest.Echo, "parent": awaitChild}
			n := boot(t, crashtest.NewDisk(), g)
			id := n.Submit(t, n.Session(t), "persona_parent")
			waits := n.parked(t, id)
			n.parked(t, waits.Waiting.TaskID)
			n.restate(t, n.Root.Tenant, abi.ObjectTask, waits.Waiting.TaskID, change)
			n.Stop(t)
			n = boot(t, n.Disk, g)
			defer n.Stop(t)
			if task := n.Wait(t, id); task.Status != abi.TaskCompleted {
				t.Errorf("the parent is %s, %+v", task.Status, task.Failure)
			}
		})
	}
}

// awaitChild spawns a Task of persona_child, and waits for it.
func awaitChild(ctx context.Context, h sandbox.Host) error {
	_, answer, err := h.Call(ctx, abi.CallTaskSpawn, []byte(`{"persona_id":"persona_child","input":{"x":1}}`))
	if err == nil {
		_, _, err = h.Call(ctx, abi.CallTaskAwait, answer)
	}
	return err
}

// A damaged Quota lets nothing through that it may bound, until its limits are stated
// anew.
func TestUnreadableQuota(t *testing.T) {
	for name, test := range map[string]struct{ latest, origin func(string) string }{
		"as it was made": {tooDeep, nil},
		"not at all":     {nil, nil},
	} {
		t.Run(name, func(t *testing.T) {
			g := enginetest.Guests{"echo": enginetest.Echo}
			n := boot(t, crashtest.NewDisk(), g)
			session := n.Session(t)
			q := n.quota(t, abi.CreateQuotaRequest{Scope: abi.QuotaTenant, Limits: limits("tasks", 5)})
			other := n.quota(t, abi.CreateQuotaRequest{Scope: abi.QuotaTenant, Limits: limits("tasks", 100)})
			n.Wait(t, n.Submit(t, session, ""))
			change := test.latest
			if change == nil {
				change = func(string) string { return `{"scope":7}` }
			}
			n.restate(t, n.Root.Tenant, abi.ObjectQuota, q.ID, change)
			n.Stop(t)
			n = boot(t, n.Disk, g)
			defer func() { n.Stop(t) }()
			_, err := n.SubmitTask(t.Context(), n.Root, nil, abi.SubmitTaskRequest{SessionID: session, Input: enginetest.Text("hi")})
			enginetest.WantCode(t, err, abi.CodePolicyViolation)
			if n.usage(t, other.ID).Usage["tasks"] != 1 {
				t.Error("the other quota counts anew")
			}
			if _, err := n.UpdateQuota(t.Context(), n.Root, nil, q.ID, abi.UpdateQuotaRequest{Limits: limits("tasks", 7)}); err != nil {
				t.Fatal(err)
			}
			n.Wait(t, n.Submit(t, session, ""))
			n.Stop(t)
			n = boot(t, n.Disk, g)
			if n.Stats().SetAside != nil && len(n.Stats().SetAside) != 0 {
				t.Errorf("set aside: %v", n.Stats().SetAside)
			}
			n.Wait(t, n.Submit(t, session, ""))
			_, err = n.SubmitTask(t.Context(), n.Root, nil, abi.SubmitTaskRequest{SessionID: session, Input: enginetest.Text("hi")})
			enginetest.WantCode(t, err, abi.CodePolicyViolation)
		})
	}
}
