package harn_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/enginetest"
	"github.com/wharf-dev/wharf/runtime/sandbox"
	"github.com/wharf-dev/wharf/runtime/tenancy"
	"github.com/wharf-dev/wharf/storage/pebble/crashtest"
)

// making leaves a Message and an Artifact.
func making(ctx context.Context, h sandbox.Host) error {
	if err := enginetest.Call(ctx, h, abi.CallArtifactPut, "{\"kind\":\"file\",\"mime_type\":\"text/plain\"}\ncontent"); err != nil {
		return err
	}
	return echo(ctx, h)
}

// each walks over every object in a JSON value.
func each(v any, f func(object)) {
	switch v := v.(type) {
	case object:
		f(v)
		for _, member := range v {
			each(member, f)
		}
	case []any:
		for _, element := range v {
			each(element, f)
		}
	}
}

// TestResourcesSayWhereTheyBelong holds that each Message and Outcome names its
// Workspace (docs/protocol.md, 3.3) and that what a receipt is about names the receipt
// (docs/protocol.md, 3.4), wherever they are shown: in answers to writes and retries,
// in other resources, in lists and in events.
func TestResourcesSayWhereTheyBelong(t *testing.T) {
	n := bootWhole(t, crashtest.NewDisk(), t.TempDir())
	session := n.session(t)
	at := "/v1/sessions/" + session
	once, wait := header("Idempotency-Key", "once"), header("Prefer", "wait=30")
	submit := object{"input": message("hi"), "persona_id": "persona_make"}
	answers := []*answer{
		n.do(t, "POST", at+"/tasks", submit, once).want(202),
		n.do(t, "POST", at+"/tasks", submit, once, wait).want(200),
		n.do(t, "POST", at+"/messages", object{"message": message("hi")}, header("Idempotency-Key", "m")).want(201),
		n.do(t, "POST", at+"/messages", object{"message": message("hi")}, header("Idempotency-Key", "m")).want(201),
	}
	task := answers[0].id()
	ended := n.do(t, "GET", "/v1/tasks/"+task, nil)
	receipt := ended.get("receipt_id").(string)
	asked := n.waiting(t, n.do(t, "POST", at+"/tasks", object{"input": message("?"), "persona_id": "persona_ask"}).want(202).id())
	answers = append(answers, ended,
		n.do(t, "POST", "/v1/tasks/"+asked+"/messages", object{"kind": "input", "message": message("!")}).want(201),
		n.do(t, "GET", "/v1/messages/"+answers[2].id(), nil), n.do(t, "GET", at+"/messages", nil), n.do(t, "GET", at+"/tasks", nil),
		n.do(t, "GET", "/v1/outcomes/"+ended.get("outcome_id").(string), nil), n.do(t, "GET", "/v1/outcomes?task_id="+task, nil),
		n.do(t, "GET", "/v1/artifacts?task_id="+task, nil), n.do(t, "GET", "/v1/tasks/"+task+"/events", nil))
	made := answers[len(answers)-2].ids()[0]
	answers = append(answers, n.do(t, "GET", "/v1/artifacts/"+made, nil))
	seen := map[string]int{}
	for _, a := range answers {
		var v any
		a.into(&v)
		each(v, func(resource object) {
			kind, _ := resource["object"].(string)
			if kind == "" || resource["created_at"] == nil {
				return // it is no resource, or points to one
			}
			seen[kind]++
			if kind != "receipt" && resource["workspace_id"] != tenancy.DefaultWorkspace {
				t.Errorf("no workspace_id in %v", resource)
			}
			if kind == "outcome" && resource["session_id"] != session {
				t.Errorf("no session_id in %v", resource)
			}
		})
	}
	for _, kind := range []string{"task", "message", "outcome", "artifact", "event"} {
		if seen[kind] == 0 {
			t.Errorf("there was no %s", kind)
		}
	}

	// An Artifact that is added afterwards is in no receipt.
	late := n.do(t, "POST", "/v1/artifacts", object{"kind": "file", "mime_type": "text/plain", "visibility": "public", "content": "aGk=", "task_id": task}).want(201)
	if late = n.do(t, "GET", "/v1/artifacts/"+late.id(), nil); late.get("receipt_id") != nil {
		t.Errorf("an artifact of after the end: %s", late.body)
	}
	if got := n.do(t, "GET", "/v1/artifacts/"+made, nil).get("receipt_id"); got != receipt {
		t.Errorf("receipt_id %v of the artifact, want %s", got, receipt)
	}
	outcome := n.do(t, "GET", "/v1/outcomes/"+ended.get("outcome_id").(string), nil)
	if got := outcome.get("artifacts").([]any)[0].(object)["receipt_id"]; got != receipt || outcome.get("receipt_id") != receipt {
		t.Errorf("the outcome is %s, want the receipt %s", outcome.body, receipt)
	}
	told := map[string]string{}
	each(n.do(t, "GET", "/v1/tasks/"+task+"/events", nil).get("data"), func(v object) {
		if kind, is := v["event"].(string); is {
			told[kind] = fmt.Sprint(v["receipt_id"])
		}
	})
	for kind, want := range map[string]string{
		"task.completed": receipt, "receipt.issued": receipt, "vendor.wharf.outcome_created": receipt, "task.started": "<nil>", "artifact.created": "<nil>",
	} {
		if told[kind] != want {
			t.Errorf("%s has the receipt_id %s, want %s", kind, told[kind], want)
		}
	}
}

// TestATasksStreamEndsWithItsEnd holds it for a Task that a Quota bounds, whose usage is
// stated together with the Task's end: that is an event of the Workspace.
func TestATasksStreamEndsWithItsEnd(t *testing.T) {
	n := bootWhole(t, crashtest.NewDisk(), t.TempDir())
	quota := n.do(t, "POST", "/wharf/v1/quotas", object{"scope": "workspace", "owner_id": tenancy.DefaultWorkspace, "limits": object{"tasks": 100}}).want(201).id()
	session := n.session(t)
	task := n.finished(t, session)
	stream := string(n.do(t, "GET", "/v1/tasks/"+task+"/stream", nil).want(200).body)
	for _, path := range []string{"/v1/tasks/" + task + "/events?limit=200", "/v1/sessions/" + session + "/events?limit=200"} {
		all := n.do(t, "GET", path, nil).get("data").([]any)
		last := all[len(all)-1].(object)
		if last["event"] != string(abi.EventTaskCompleted) || !strings.Contains(stream, "\nid: "+last["id"].(string)+"\nevent: task.completed\n") {
			t.Errorf("%s ends with %v, the stream is %s", path, last["event"], stream)
		}
		if path = strings.TrimSuffix(path, "/events?limit=200"); strings.HasPrefix(path, "/v1/sessions") {
			if got := n.do(t, "GET", path, nil).get("last_event_id"); got != last["id"] {
				t.Errorf("last_event_id %v, want %v", got, last["id"])
			}
		}
	}
	if strings.Contains(stream, quota) && strings.Contains(stream, "quota_updated") {
		t.Errorf("the stream tells of the quota: %s", stream)
	}
	told := false
	for _, e := range n.do(t, "GET", "/v1/events?limit=200", nil).get("data").([]any) {
		if e := e.(object); e["event"] == string(abi.EventQuotaUpdated) {
			told = true
			if e["task_id"] != nil || e["session_id"] != nil || e["workspace_id"] != tenancy.DefaultWorkspace {
				t.Errorf("the quota's event belongs to %v, %v, %v", e["task_id"], e["session_id"], e["workspace_id"])
			}
		}
	}
	if !told {
		t.Error("nobody was told of the quota")
	}
}
