package a2a_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"

	"github.com/wharf-dev/wharf/gateway/a2a"
	"github.com/wharf-dev/wharf/runtime/enginetest"
	"github.com/wharf-dev/wharf/storage/pebble/crashtest"
)

// receiver takes notifications, and refuses those that it is told to.
type receiver struct {
	*httptest.Server
	mu     sync.Mutex
	refuse int
	told   []string
	header []http.Header
	ended  chan struct{} // is sent on with each last notification
}

func newReceiver(t testing.TB, refuse int) *receiver {
	r := &receiver{refuse: refuse, ended: make(chan struct{}, 10)}
	r.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		text, _ := io.ReadAll(q.Body)
		r.mu.Lock()
		defer r.mu.Unlock()
		if r.refuse > 0 {
			r.refuse--
			w.WriteHeader(500)
			return
		}
		f := frame{data: answer{t: t, body: text}}
		r.told, r.header = append(r.told, f.told()), append(r.header, q.Header)
		switch f.told() {
		case "statusUpdate COMPLETED", "task completed", "statusUpdate CANCELED":
			r.ended <- struct{}{}
		}
	}))
	t.Cleanup(r.Close)
	return r
}

// all returns what was told when the end was.
func (r *receiver) all() []string {
	<-r.ended
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.told)
}

// Whoever sends a message with a config is told of its Task from the beginning, in the order of the
// log, also by a receiver that refuses at first. Then the config is gone.
func TestPushInOrder(t *testing.T) {
	n := newNode(t, enginetest.Guests{"busy": busy})
	r := newReceiver(t, 3)
	push := object{"id": "p", "url": r.URL, "token": "the token", "authentication": object{"scheme": "Bearer", "credentials": "the secret"}}
	m := object{"message": with(says("m1", "hi"), object{"metadata": as("busy")}), "configuration": object{"taskPushNotificationConfig": push, "returnImmediately": true}}
	id := n.rpc(t, "SendMessage", m).text("result.task.id")
	got := r.all()
	if len(got) != 5 {
		t.Fatalf("told %q", got)
	}
	wantTold(t, got, "statusUpdate WORKING", got[1], "statusUpdate WORKING", "artifact outcome", "statusUpdate COMPLETED")
	for _, h := range r.header {
		if h.Get("X-A2A-Notification-Token") != "the token" || h.Get("A2A-Notification-Token") != "the token" || h.Get("Authorization") != "Bearer the secret" || h.Get("Content-Type") != "application/json" {
			t.Errorf("the headers are %v", h)
		}
	}
	n.wantConfigs(t, id, 0)
}

// wantConfigs waits until a Task has so many configs.
func (n *node) wantConfigs(t testing.TB, id string, want int) {
	t.Helper()
	for range 1000 {
		all, _ := n.rpc(t, "ListTaskPushNotificationConfigs", object{"taskId": id}).get("result.configs").([]any)
		if len(all) == want {
			return
		}
	}
	t.Errorf("the task has other configs than %d", want)
}

// Configs and what they are still to be told outlive the node. A client of 0.3 is told tasks.
func TestPushAfterARestart(t *testing.T) {
	disk, dir := crashtest.NewDisk(), t.TempDir()
	guests := enginetest.Guests{"ask": asking}
	n := startNode(t, disk, dir, guests, a2a.Node{})
	r := newReceiver(t, 0)
	id := n.rpc(t, "SendMessage", object{"message": with(says("m1", "hi"), object{"metadata": as("ask")})}).text("result.task.id")
	made := n.rpc(t, "tasks/pushNotificationConfig/set", object{"taskId": id, "pushNotificationConfig": object{"url": r.URL}})
	config := made.text("result.pushNotificationConfig.id")
	n.stop()
	n = startNode(t, disk, dir, guests, a2a.Node{})
	if got := n.rpc(t, "tasks/pushNotificationConfig/get", object{"id": id}); got.text("result.pushNotificationConfig.id") != config || got.text("result.taskId") != id {
		t.Errorf("%s", got.body)
	}
	n.rpc(t, "SendMessage", object{"message": with(says("m2", "80"), object{"taskId": id})})
	got := r.all()
	if got[len(got)-1] != "task completed" || got[0] != "task working" {
		t.Errorf("told %q", got)
	}
	n.wantConfigs(t, id, 0)
}

// A Task has ten configs at most; one with an id that there is takes its place.
func TestConfigsOfATask(t *testing.T) {
	n := newNode(t, enginetest.Guests{"ask": asking})
	id := n.rpc(t, "SendMessage", object{"message": with(says("m1", "hi"), object{"metadata": as("ask")})}).text("result.task.id")
	set := func(config string, url string) answer {
		return n.rpc(t, "CreateTaskPushNotificationConfig", object{"taskId": id, "id": config, "url": url})
	}
	for i := range 10 {
		set(fmt.Sprint("p", i), "http://127.0.0.1:1/a").text("result.id")
	}
	set("p10", "http://127.0.0.1:1/").fails(-32602)
	set("p3", "http://127.0.0.1:1/b").text("result.id")
	n.wantConfigs(t, id, 10)
	if got := n.rpc(t, "GetTaskPushNotificationConfig", object{"taskId": id, "id": "p3"}); got.text("result.url") != "http://127.0.0.1:1/b" {
		t.Errorf("%s", got.body)
	}
	n.rpc(t, "GetTaskPushNotificationConfig", object{"taskId": id, "id": "other"}).fails(-32001)
	n.rpc(t, "DeleteTaskPushNotificationConfig", object{"taskId": id, "id": "p3"})
	n.wantConfigs(t, id, 9)
	for _, url := range []string{"", "ftp://x", "file:///etc/passwd", "http://", "%"} {
		set("bad", url).fails(-32602)
	}
	bad := n.rpc(t, "SendMessage", object{"message": says("m9", "hi"), "configuration": object{"taskPushNotificationConfig": object{"url": "ftp://x"}}})
	if bad.fails(-32602); n.rpc(t, "ListTasks", object{}).get("result.totalSize") != 1.0 {
		t.Errorf("a message with a bad config has made a task")
	}
}
