package a2a_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/go-json-experiment/json"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/gateway/a2a"
	"github.com/wharf-dev/wharf/gateway/api"
	"github.com/wharf-dev/wharf/runtime/engine"
	"github.com/wharf-dev/wharf/runtime/enginetest"
	"github.com/wharf-dev/wharf/storage/pebble/crashtest"
)

// givesUp has a node try each notification twice.
func givesUp(c *engine.Config, _ *engine.Parts) { c.Webhooks.Attempts = 2 }

// public has a node send to public addresses alone, as it does unless it is configured otherwise.
func public(c *engine.Config, _ *engine.Parts) { c.Webhooks.Private, c.Webhooks.Attempts = false, 2 }

// dead waits until so many notifications of a config were given up, and returns them, oldest first.
func (n *node) dead(t testing.TB, webhook string, many int) []abi.WebhookDelivery {
	t.Helper()
	for range 10_000 {
		list, err := n.WebhookDeliveries(t.Context(), n.Root, webhook, abi.WebhookDeliveryDead, api.Page{Limit: 100})
		if err != nil {
			t.Fatal(err)
		}
		if len(list.Docs) < many {
			continue
		}
		all := make([]abi.WebhookDelivery, len(list.Docs))
		for i, doc := range list.Docs {
			if err := json.Unmarshal(doc.JSON, &all[len(all)-1-i]); err != nil {
				t.Fatal(err)
			}
		}
		return all
	}
	t.Fatalf("not even %d notifications were given up", many)
	return nil
}

// waiting makes a Task that waits for a number.
func (n *node) waiting(t testing.TB) string {
	t.Helper()
	return n.rpc(t, "SendMessage", object{"message": with(says("m1", "hi"), object{"metadata": as("ask")})}).text("result.task.id")
}

// A node that is not configured to sends nothing to its own network: an address of it is refused when the
// config is made, of either version and with a message, and a name that leads there when it is looked up.
func TestPushGuard(t *testing.T) {
	n := startNode(t, crashtest.NewDisk(), t.TempDir(), enginetest.Guests{"ask": asking}, a2a.Node{}, public)
	var asked atomic.Int32
	inside := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked.Add(1) }))
	t.Cleanup(inside.Close)
	id := n.waiting(t)
	for _, to := range []string{inside.URL, "http://[::1]/", "http://[::ffff:127.0.0.1]/", "https://10.0.0.1/", "https://192.168.1.1:8443/", "http://169.254.169.254/latest/meta-data", "http://0.0.0.0/",
		"ftp://example.com/", "file:///etc/passwd", "javascript:1", "//example.com", "example.com", "", "http://", "https://user:secret@example.com/"} {
		n.rpc(t, "CreateTaskPushNotificationConfig", object{"taskId": id, "url": to}).fails(-32602)
		n.rpc(t, "tasks/pushNotificationConfig/set", object{"taskId": id, "pushNotificationConfig": object{"url": to}}).fails(-32602)
		n.do(t, "POST", "/a2a/tasks/"+id+"/pushNotificationConfigs", object{"url": to}).want(400)
	}
	before := n.rpc(t, "ListTasks", object{}).get("result.totalSize")
	for i, to := range []string{"ftp://example.com/", inside.URL, "https://10.0.0.1/"} {
		n.rpc(t, "SendMessage", object{"message": says(fmt.Sprint("p", i), "hi"), "configuration": object{"taskPushNotificationConfig": object{"url": to}}}).fails(-32602)
	}
	if after := n.rpc(t, "ListTasks", object{}).get("result.totalSize"); after != before {
		t.Errorf("a message with a config that cannot be has made a task")
	}
	n.wantConfigs(t, id, 0)

	named := strings.Replace(inside.URL, "127.0.0.1", "localhost", 1)
	config := n.rpc(t, "CreateTaskPushNotificationConfig", object{"taskId": id, "url": named}).text("result.id")
	n.rpc(t, "SendMessage", object{"message": with(says("m3", "80"), object{"taskId": id})})
	for _, d := range n.dead(t, config, 1) {
		if d.Failure == nil || d.Failure.Code != abi.WebhookDenied || strings.Contains(d.Failure.Message, "127.0.0.1") {
			t.Errorf("given up for %+v", d.Failure)
		}
	}
	if asked.Load() != 0 {
		t.Error("something inside was asked")
	}
}

// A receiver that sends notifications elsewhere has them not taken: nothing goes there, and no credentials.
func TestPushFollowsNoRedirect(t *testing.T) {
	n := startNode(t, crashtest.NewDisk(), t.TempDir(), enginetest.Guests{"ask": asking}, a2a.Node{}, givesUp)
	var asked atomic.Int32
	inside := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked.Add(1) }))
	t.Cleanup(inside.Close)
	outside := httptest.NewServer(http.RedirectHandler(inside.URL, http.StatusTemporaryRedirect))
	t.Cleanup(outside.Close)
	id := n.waiting(t)
	push := object{"taskId": id, "url": outside.URL, "token": "t", "authentication": object{"scheme": "Bearer", "credentials": "the secret"}}
	config := n.rpc(t, "CreateTaskPushNotificationConfig", push).text("result.id")
	n.rpc(t, "SendMessage", object{"message": with(says("m2", "80"), object{"taskId": id})})
	if d := n.dead(t, config, 1)[0]; d.Failure == nil || d.Failure.Code != abi.WebhookRedirected || d.HTTPStatus != http.StatusTemporaryRedirect || asked.Load() != 0 {
		t.Errorf("given up for %+v after %d requests inside", d.Failure, asked.Load())
	}
}

// A notification that is not taken for too long is given up, and those behind it come in their order. The
// config stays, so that the dead letter can be driven again.
func TestPushDeadLetters(t *testing.T) {
	n := startNode(t, crashtest.NewDisk(), t.TempDir(), enginetest.Guests{"ask": asking}, a2a.Node{}, givesUp)
	r := newReceiver(t, 2)
	id := n.waiting(t)
	config := n.rpc(t, "CreateTaskPushNotificationConfig", object{"taskId": id, "url": r.URL}).text("result.id")
	n.rpc(t, "SendMessage", object{"message": with(says("m2", "80"), object{"taskId": id})})
	wantTold(t, r.all(), "statusUpdate WORKING", "artifact outcome", "statusUpdate COMPLETED")
	dead := n.dead(t, config, 1)
	if len(dead) != 1 || dead[0].Attempts != 2 || dead[0].HTTPStatus != 500 {
		t.Errorf("dead are %+v", dead)
	}
	n.wantConfigs(t, id, 1)
	if _, err := n.RedriveWebhookDelivery(t.Context(), n.Root, nil, config, dead[0].ID); err != nil {
		t.Fatal(err)
	}
}
