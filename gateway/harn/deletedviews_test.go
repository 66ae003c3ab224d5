package harn_test

import (
	"fmt"
	"strings"
	"testing"

	json "github.com/go-json-experiment/json"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/storage"
	"github.com/wharf-dev/wharf/storage/pebble/crashtest"
)

// operations returns all that OpenAPI tells of: methods and paths.
func (n *node) operations(t *testing.T) (all []called) {
	t.Helper()
	var doc openAPI
	if err := json.Unmarshal(n.server.OpenAPI(), &doc, json.MatchCaseInsensitiveNames(true)); err != nil {
		t.Fatal(err)
	}
	for path, item := range doc.Paths {
		for method := range item {
			all = append(all, called{strings.ToUpper(method), path})
		}
	}
	return all
}

// called is a method of the API on a path.
type called struct{ method, path string }

// possessions are what a Task has, by the names of the parameters that name it.
type possessions map[string][]string

// possessionsOf returns what belongs to a Task that has a Session of its own.
func (n *node) possessionsOf(t *testing.T, task string) possessions {
	t.Helper()
	shown := n.do(t, "GET", "/v1/tasks/"+task, nil).want(200)
	session := shown.get("session_id").(string)
	has := possessions{
		"task_id": {task}, "session_id": {session}, "outcome_id": {shown.get("outcome_id").(string)},
		"artifact_id": n.do(t, "GET", "/v1/artifacts?task_id="+task, nil).want(200).ids(),
		"request_id":  n.do(t, "GET", "/v1/tasks/"+task+"/permission-requests", nil).want(200).ids(),
		"message_id":  n.do(t, "GET", "/v1/sessions/"+session+"/messages", nil).want(200).ids(),
	}
	for _, stream := range []storage.Scope{{Object: abi.ObjectTask, ID: task}, {Object: abi.ObjectSession, ID: session}} {
		events, _, err := n.Store.Events(t.Context(), 1, stream, 0, 1000)
		if err != nil {
			t.Fatal(err)
		}
		for _, ev := range events {
			has["event_id"] = append(has["event_id"], ev.Position().String())
		}
	}
	return has
}

// paths returns the paths of an operation that name what a Task has: none for other operations.
func (has possessions) paths(op called) (all []string) {
	for param, ids := range has {
		if before, after, found := strings.Cut(op.path, "{"+param+"}"); found {
			for _, id := range ids {
				all = append(all, before+id+after)
			}
		}
	}
	return all
}

// wantGone wants every operation on what a Task has to find nothing, and no list to have any of it.
func (n *node) wantGone(t *testing.T, has possessions) {
	t.Helper()
	for _, op := range n.operations(t) {
		if strings.HasSuffix(op.path, "/connect") { // it is no plain request
			continue
		}
		for _, path := range has.paths(op) {
			got := n.do(t, op.method, path, object{})
			if refused := got.status == 400 || got.status == 415 || got.status == 422; got.status != 404 && (op.method == "GET" || op.method == "DELETE" || !refused) {
				t.Errorf("%s %s: %d %s", op.method, path, got.status, got.body)
			}
		}
		if op.method != "GET" || strings.Contains(op.path, "{") || strings.HasSuffix(op.path, "stream") {
			continue
		}
		for _, query := range []string{"", "?workspace_id=ws_default"} {
			body := string(n.do(t, "GET", op.path+query, nil).body)
			for _, param := range []string{"outcome_id", "artifact_id", "request_id", "message_id"} {
				own := param == "artifact_id" || param == "message_id"
				if own && (strings.HasPrefix(op.path, "/v1/outcomes") || strings.HasPrefix(op.path, "/v1/events")) {
					continue // what the replay has come to names them, and is its own
				}
				for _, id := range has[param] {
					if strings.Contains(body, id) {
						t.Errorf("%s%s has %s: %s", op.path, query, id, body)
					}
				}
			}
			if strings.Contains(body, fmt.Sprintf(`"id":%q`, has["task_id"][0])) {
				t.Errorf("%s%s has the task: %s", op.path, query, body)
			}
		}
	}
}

// What belongs to a Task that is deleted is found in no way from then on, though a fork keeps it from being erased; nor is it
// after the node has died. Its Receipt is.
func TestDeletedTaskIsSeenNowhere(t *testing.T) {
	disk, dir := crashtest.NewDisk(), t.TempDir()
	n := bootWhole(t, disk, dir)
	alone := object{"input": object{"text": "a secret"}, "session": object{"workspace_id": "ws_default", "hidden": true}}
	var all []possessions
	for _, persona := range []string{"persona_make", "persona_approve"} {
		alone["persona_id"] = persona
		task := n.do(t, "POST", "/v1/tasks", alone).want(202).id()
		if persona == "persona_approve" {
			asked := n.do(t, "GET", "/v1/tasks/"+n.waiting(t, task)+"/permission-requests", nil).ids()[0]
			n.do(t, "POST", "/v1/permission-requests/"+asked+"/respond", object{"decision": "approved"}).want(200)
		}
		n.waitEnded(t, task)
		has := n.possessionsOf(t, task)
		if len(has["artifact_id"])+len(has["request_id"]) == 0 || len(has["event_id"]) == 0 {
			t.Fatalf("the test has nothing to look for: %v", has)
		}
		receipt := n.do(t, "GET", "/v1/tasks/"+task, nil).want(200).get("receipt_id").(string)
		replay := n.do(t, "POST", "/v1/tasks/"+task+"/replay", object{}).want(202).id()
		n.waitEnded(t, replay)
		start := n.Store.Watermark()
		n.do(t, "DELETE", "/wharf/v1/tasks/"+task, nil).want(204)
		n.erase(t, 0)
		n.wantGone(t, has)
		if _, err := n.Store.Get(t.Context(), 1, abi.ObjectTask, task); err != nil {
			t.Fatalf("it is erased already, and nothing was shown: %v", err)
		}
		if got := n.do(t, "GET", fmt.Sprintf("/v1/events/%s", start+1), nil); got.status != 404 {
			t.Errorf("what says that it is deleted, and what it was: %d", got.status)
		}
		n.do(t, "GET", "/v1/receipts/"+receipt, nil).want(200)
		n.do(t, "POST", "/v1/receipts/"+receipt+"/verify", nil).want(200)
		n.do(t, "GET", "/v1/tasks/"+replay, nil).want(200)
		all = append(all, has)
	}
	n = bootWhole(t, disk.Crash(0, 0), dir)
	for _, has := range all {
		n.wantGone(t, has)
	}
}
