package a2a_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/wharf-dev/wharf/gateway/a2a"
	"github.com/wharf-dev/wharf/runtime/enginetest"
	"github.com/wharf-dev/wharf/storage/pebble/crashtest"
)

const extension = "https://harnlang.com/spec/harn-extensions/v1"

// A stream tells the Task first, then what happens to it in the order of the log, in each way of asking.
func TestStreams(t *testing.T) {
	n := newNode(t, enginetest.Guests{"busy": busy})
	m := func(id string) object { return with(says(id, "hi"), object{"metadata": as("busy")}) }
	old := with(m("m3"), object{"role": "user", "kind": "message", "parts": []object{{"kind": "text", "text": "hi"}}})
	proto := object{"messageId": "m4", "role": "ROLE_USER", "metadata": as("busy"), "content": []object{{"text": "hi"}}}
	rpc := func(method string, m object) object {
		return object{"jsonrpc": "2.0", "id": 7, "method": method, "params": object{"message": m}}
	}
	art := func(told []string) string {
		i := slices.IndexFunc(told, func(s string) bool { return strings.HasPrefix(s, "artifact art_") })
		return told[max(i, 0)]
	}
	got := states(t, n.open(t, "POST", "/a2a", rpc("SendStreamingMessage", m("m1"))))
	want := func(got []string) []string {
		return []string{"task SUBMITTED", "statusUpdate WORKING", "statusUpdate WORKING", "statusUpdate WORKING", art(got), "statusUpdate WORKING", "artifact outcome", "statusUpdate COMPLETED"}
	}
	wantTold(t, got, want(got)...)
	got = states(t, n.open(t, "POST", "/a2a/message:stream", object{"message": m("m2")}))
	wantTold(t, got, want(got)...)
	wantTold(t, states(t, n.open(t, "POST", "/a2a", rpc("message/stream", old))), "task submitted", "status-update working", "status-update working", "status-update working",
		"artifact-update", "status-update working", "artifact-update", "status-update completed")
	got = states(t, n.open(t, "POST", "/a2a/v1/message:stream", object{"message": proto}))
	wantTold(t, got, want(got)...)
}

// What the protocol has no words for is metadata of an update, and an entry of its own for those that
// have asked for the extension.
func TestExtension(t *testing.T) {
	n := newNode(t, enginetest.Guests{"busy": busy})
	send := func(id string, options ...option) (plan, progress answer) {
		res := n.open(t, "POST", "/a2a/message:stream", object{"message": with(says(id, "hi"), object{"metadata": as("busy")})}, options...)
		if len(options) > 0 && res.Header.Get("A2A-Extensions") != extension {
			t.Errorf("the answer names the extensions %q", res.Header.Get("A2A-Extensions"))
		}
		frames(t, res, func(f frame) bool {
			switch {
			case strings.Contains(string(f.data.body), "harn_plan"):
				plan = f.data
			case strings.Contains(string(f.data.body), "half way"):
				progress = f.data
			}
			return true
		})
		return plan, progress
	}
	meta := func(a answer) any {
		all, _ := a.get("statusUpdate.metadata").(object)
		return all[extension]
	}
	plan, progress := send("m1")
	is, _ := meta(plan).(object)
	if is["type"] != "harn_plan" || len(is["entries"].([]any)) != 2 || plan.text("statusUpdate.status.message.parts.0.text") != "- [x] look\n- [ ] leap" {
		t.Errorf("the plan is %s", plan.body)
	}
	if is, _ := meta(progress).(object); is["progress"] != 50.0 || progress.text("statusUpdate.status.message.parts.0.text") != "half way" {
		t.Errorf("the progress is %s", progress.body)
	}
	plan, progress = send("m2", header("A2A-Extensions", "urn:other, "+extension))
	if plan.get("type") != "harn_plan" || plan.get("entries.0.status") != "completed" || plan.get("entries.0.priority") != "medium" || plan.get("statusUpdate") != nil {
		t.Errorf("the plan is %s", plan.body)
	}
	if progress.get("statusUpdate.status.state") != "TASK_STATE_WORKING" {
		t.Errorf("the progress is %s", progress.body)
	}
}

// A client that leaves comes back and is told the rest: of a Task that works, of one that waits, after
// a restart, and of one that has ended meanwhile.
func TestLeaveAndComeBack(t *testing.T) {
	disk, dir := crashtest.NewDisk(), t.TempDir()
	guests := enginetest.Guests{"ask": asking}
	n := startNode(t, disk, dir, guests, a2a.Node{})
	id, last := "", ""
	got := []string{}
	frames(t, n.open(t, "POST", "/a2a/message:stream", object{"message": with(says("m1", "hi"), object{"metadata": as("ask")})}), func(f frame) bool {
		if got = append(got, f.told()); id == "" {
			id, last = f.data.text("task.id"), f.id
		}
		return true
	})
	wantTold(t, got, "task SUBMITTED", "statusUpdate WORKING", "statusUpdate INPUT_REQUIRED")
	n.stop()
	n = startNode(t, disk, dir, guests, a2a.Node{})
	res := n.open(t, "POST", "/a2a/tasks/"+id+":subscribe", nil)
	n.rpc(t, "SendMessage", object{"message": with(says("m2", "80"), object{"taskId": id})})
	got = states(t, res)
	if got[0] != "task INPUT_REQUIRED" || got[len(got)-1] != "statusUpdate COMPLETED" || slices.Index(got, "artifact outcome") != len(got)-2 {
		t.Errorf("told %q", got)
	}
	if rest := states(t, n.open(t, "GET", "/a2a/v1/tasks/"+id+":subscribe", nil, header("Last-Event-ID", last))); rest[0] != "statusUpdate WORKING" || rest[1] != "statusUpdate INPUT_REQUIRED" || len(rest) != 2 {
		t.Errorf("the rest is %q", rest)
	}
	n.rpc(t, "SubscribeToTask", object{"id": id}).fails(-32004)
	n.rpc(t, "SubscribeToTask", object{"id": id}, header("Last-Event-ID", "99999999")).fails(-32004)
	n.rpc(t, "SubscribeToTask", object{"id": id}, header("Last-Event-ID", "x")).fails(-32602)
	n.rpc(t, "tasks/resubscribe", object{"id": "task_x"}).fails(-32001)
}

// A message that is streamed again goes on with its Task.
func TestStreamedAgain(t *testing.T) {
	guest, entered, leave := enginetest.Holding()
	n := newNode(t, enginetest.Guests{"hold": guest})
	send := object{"message": with(says("m1", "hi"), object{"metadata": as("hold")})}
	id := ""
	frames(t, n.open(t, "POST", "/a2a/message:stream", send), func(f frame) bool {
		id = f.data.text("task.id")
		return false
	})
	<-entered
	res := n.open(t, "POST", "/a2a/message:stream", send)
	close(leave)
	got := []string{}
	frames(t, res, func(f frame) bool {
		if got = append(got, f.told()); len(got) == 1 && f.data.text("task.id") != id {
			t.Errorf("another task: %s", f.data.body)
		}
		return true
	})
	wantTold(t, got, "task WORKING", "statusUpdate WORKING", "artifact outcome", "statusUpdate COMPLETED")
	wantTold(t, states(t, n.open(t, "POST", "/a2a/message:stream", send)), "task COMPLETED")
}
