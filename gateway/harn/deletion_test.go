package harn_test

import (
	"errors"
	"testing"
	"time"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/deletion"
	"github.com/wharf-dev/wharf/storage"
	"github.com/wharf-dev/wharf/storage/pebble/crashtest"
)

// erase erases what was deleted, and wants the log to be whole afterwards.
func (n *node) erase(t *testing.T, want int) {
	t.Helper()
	erased, err := n.Erase(t.Context())
	if err != nil || erased != want {
		t.Fatalf("%d were erased, want %d: %v", erased, want, err)
	}
	n.wantSound(t)
}

func (n *node) wantSound(t *testing.T) {
	t.Helper()
	check, err := n.Store.Check(t.Context(), nil)
	rebuild, err2 := n.Store.Rebuild(t.Context(), nil)
	if err := errors.Join(err, err2); err != nil || !check.OK() || !rebuild.OK() {
		t.Fatalf("%v, %q, %q", err, check.Problems, rebuild.Problems)
	}
}

// ended submits a Task and returns it once it has ended.
func (n *node) ended(t *testing.T, session, persona string) string {
	t.Helper()
	id := n.do(t, "POST", "/v1/sessions/"+session+"/tasks", object{"persona_id": persona, "input": object{"text": "a secret"}}).want(202).id()
	n.waitEnded(t, id)
	return id
}

// A Task that is deleted is nowhere any more, and leaves its receipt and its Session as they are; a retry is answered
// as at first, also when all is erased.
func TestDeletedTask(t *testing.T) {
	disk, dir := crashtest.NewDisk(), t.TempDir()
	n := bootWhole(t, disk, dir)
	session := n.session(t)
	task, other := n.ended(t, session, "persona_make"), n.ended(t, session, "persona_make")
	shown := n.do(t, "GET", "/v1/tasks/"+task, nil).want(200)
	receipt, outcome := shown.get("receipt_id").(string), shown.get("outcome_id").(string)
	messages := len(n.do(t, "GET", "/v1/sessions/"+session+"/messages", nil).want(200).ids())
	running := n.do(t, "POST", "/v1/sessions/"+session+"/tasks", object{"persona_id": "persona_hold", "input": object{}}).want(202).id()
	n.do(t, "DELETE", "/wharf/v1/tasks/"+running, nil).want(400)
	key := header("Idempotency-Key", "delete it")
	for range 2 {
		n.do(t, "DELETE", "/wharf/v1/tasks/"+task, nil, key).want(204)
		n.do(t, "DELETE", "/wharf/v1/tasks/"+task, nil).want(404)
		for _, path := range []string{"/v1/tasks/" + task, "/v1/tasks/" + task + "/events", "/wharf/v1/tasks/" + task + "/record"} {
			n.do(t, "GET", path, nil).want(404)
		}
		n.do(t, "POST", "/v1/tasks/"+task+"/replay", object{}).want(404)
		if ids := n.do(t, "GET", "/v1/tasks?session_id="+session, nil).want(200).ids(); len(ids) != 2 {
			t.Errorf("the list has %q", ids)
		}
		n.do(t, "GET", "/v1/receipts/"+receipt, nil).want(200)
		n.do(t, "POST", "/v1/receipts/"+receipt+"/verify", nil).want(200)
		if now := len(n.do(t, "GET", "/v1/sessions/"+session+"/messages", nil).want(200).ids()); now != messages {
			t.Errorf("%d Messages were left of %d", now, messages)
		}
		n.do(t, "GET", "/v1/tasks/"+other, nil).want(200)
		if _, err := n.Erase(t.Context()); err != nil {
			t.Fatal(err)
		}
		n.wantSound(t)
	}
	n.do(t, "GET", "/v1/outcomes/"+outcome, nil).want(404)
	if events, _, err := n.Store.Events(t.Context(), 1, storage.Scope{Object: abi.ObjectTask, ID: task}, 0, 9); len(events) > 0 || err != nil {
		t.Errorf("%d events are left, %v", len(events), err)
	}
}

// What a fork or a replay shares with a Task that is deleted stays until they are gone.
func TestDeletedSource(t *testing.T) {
	n := bootWhole(t, crashtest.NewDisk(), t.TempDir())
	task := n.ended(t, n.session(t), "persona_make")
	fork := n.do(t, "POST", "/wharf/v1/tasks/"+task+"/fork", object{}).want(202).id()
	n.waitEnded(t, fork)
	replay := n.do(t, "POST", "/v1/tasks/"+task+"/replay", object{}).want(202).id()
	n.waitEnded(t, replay)
	n.do(t, "DELETE", "/wharf/v1/tasks/"+task, nil).want(204)
	n.erase(t, 0)
	n.do(t, "GET", "/v1/tasks/"+task, nil).want(404)
	again := n.do(t, "POST", "/v1/tasks/"+fork+"/replay", object{}).want(202).id()
	n.waitEnded(t, again)
	if status := n.do(t, "GET", "/v1/tasks/"+again, nil).want(200).get("status"); status != "COMPLETED" {
		t.Errorf("the replay of a fork of what was deleted is %v", status)
	}
	for _, id := range []string{again, replay, fork} {
		n.do(t, "DELETE", "/wharf/v1/tasks/"+id, nil).want(204)
	}
	for range 3 { // each lets the next go
		if _, err := n.Erase(t.Context()); err != nil {
			t.Fatal(err)
		}
		n.wantSound(t)
	}
	n.erase(t, 0)
	for _, id := range []string{task, fork, replay, again} {
		if _, err := n.Store.Get(t.Context(), 1, abi.ObjectTask, id); !errors.Is(err, storage.ErrNotFound) {
			t.Errorf("%s: %v", id, err)
		}
	}
}

// The Tasks of a Session are shown no more from the moment on in which it is deleted; their receipts are, also once they are
// erased.
func TestDeletedSession(t *testing.T) {
	n := bootWhole(t, crashtest.NewDisk(), t.TempDir())
	session := n.session(t)
	task := n.ended(t, session, "persona_echo")
	receipt := n.do(t, "GET", "/v1/tasks/"+task+"/receipts", nil).want(200).ids()[0]
	n.do(t, "DELETE", "/wharf/v1/sessions/"+session, nil).want(204)
	for _, erases := range []bool{false, true} {
		if erases {
			if _, err := n.Erase(t.Context()); err != nil {
				t.Fatal(err)
			}
			n.wantSound(t)
		}
		for _, path := range []string{"/v1/sessions/" + session, "/v1/tasks/" + task, "/v1/tasks/" + task + "/receipts", "/v1/tasks/" + task + "/events"} {
			n.do(t, "GET", path, nil).want(404)
		}
		n.do(t, "GET", "/v1/receipts/"+receipt, nil).want(200)
		n.do(t, "POST", "/v1/receipts/"+receipt+"/verify", nil).want(200)
	}
}

// A Session goes with its Tasks and Messages, and nothing that a Hold is on goes at all.
func TestHolds(t *testing.T) {
	n := bootWhole(t, crashtest.NewDisk(), t.TempDir())
	session := n.session(t)
	task := n.ended(t, session, "persona_echo")
	artifact := n.do(t, "POST", "/v1/artifacts", object{"kind": "file", "mime_type": "text/plain", "visibility": "internal", "content": "aGk=", "session_id": session}).want(201).id()
	workspace := n.do(t, "GET", "/v1/tasks/"+task, nil).want(200).get("workspace_id").(string)
	deletes := []string{"/wharf/v1/tasks/" + task, "/wharf/v1/artifacts/" + artifact, "/wharf/v1/sessions/" + session}
	for held, refused := range map[string][]string{workspace: deletes, session: deletes, task: {deletes[0], deletes[2]}, artifact: {deletes[1], deletes[2]}} {
		hold := n.do(t, "POST", "/wharf/v1/holds", object{"resource_id": held, "reason": "case 4711"}).want(201).id()
		for _, path := range refused {
			n.do(t, "DELETE", path, nil).want(423)
		}
		if removed, err := n.Expire(t.Context(), deletion.Limits{Tasks: 1, Sessions: 1, Artifacts: 1}); err != nil || held == workspace && removed.Total() > 0 {
			t.Errorf("with a hold on %s retention has removed %+v, %v", held, removed, err)
		}
		n.do(t, "GET", "/v1/sessions/"+session, nil).want(200)
		if held == task || held == session || held == workspace {
			n.do(t, "GET", "/v1/tasks/"+task, nil).want(200)
		}
		n.do(t, "POST", "/wharf/v1/holds/"+hold+"/release", nil).want(200)
		n.do(t, "POST", "/wharf/v1/holds/"+hold+"/release", nil).want(400)
		task = n.ended(t, session, "persona_echo")
		artifact = n.do(t, "POST", "/v1/artifacts", object{"kind": "file", "mime_type": "text/plain", "visibility": "internal", "content": "aGk=", "session_id": session}).want(201).id()
		deletes[0], deletes[1] = "/wharf/v1/tasks/"+task, "/wharf/v1/artifacts/"+artifact
		break
	}
	n.do(t, "DELETE", deletes[1], nil).want(204)
	n.do(t, "DELETE", deletes[2], nil).want(204)
	n.erase(t, 1) // the Artifact goes with its Session
	for _, r := range []abi.ResourcePointer{{Object: abi.ObjectTask, ID: task}, {Object: abi.ObjectArtifact, ID: artifact}, {Object: abi.ObjectSession, ID: session}} {
		if _, err := n.Store.Get(t.Context(), 1, r.Object, r.ID); !errors.Is(err, storage.ErrNotFound) {
			t.Errorf("%s: %v", r.ID, err)
		}
	}
}

// Retention removes what is too old, and nothing else: not what runs, what a Workspace keeps longer, or what is young.
func TestRetention(t *testing.T) {
	n := bootWhole(t, crashtest.NewDisk(), t.TempDir())
	keeps := n.do(t, "POST", "/v1/workspaces", object{"name": "keeps", "root": "/k"}).want(201).id()
	n.do(t, "PATCH", "/v1/workspaces/"+keeps, object{"retention": object{"task_days": 0}}).want(200)
	n.do(t, "PATCH", "/v1/workspaces/"+keeps, object{"retention": object{"task_days": -1}}).want(400)
	var old []string
	for range 40 {
		old = append(old, n.ended(t, n.session(t), "persona_echo"))
	}
	kept := n.do(t, "POST", "/v1/tasks", object{"persona_id": "persona_echo", "input": object{}, "session": object{"workspace_id": keeps}}).want(202).id()
	n.waitEnded(t, kept)
	alone := n.do(t, "POST", "/v1/tasks", object{"persona_id": "persona_echo", "input": object{}, "session": object{"workspace_id": "ws_default"}}).want(202).id()
	n.waitEnded(t, alone)
	running := n.do(t, "POST", "/v1/sessions/"+n.session(t)+"/tasks", object{"persona_id": "persona_hold", "input": object{}}).want(202).id()
	if removed, err := n.Expire(t.Context(), deletion.Limits{Tasks: time.Hour}); err != nil || removed.Total() != 0 {
		t.Fatalf("of what is young it has removed %+v, %v", removed, err)
	}
	removed, err := n.Expire(t.Context(), deletion.Limits{Tasks: time.Nanosecond})
	if err != nil || removed.Tasks != len(old)+1 {
		t.Fatalf("%+v were removed, %v", removed, err)
	}
	n.wantSound(t)
	for _, id := range append(old, alone) {
		n.do(t, "GET", "/v1/tasks/"+id, nil).want(404)
	}
	for _, id := range []string{kept, running} {
		n.do(t, "GET", "/v1/tasks/"+id, nil).want(200)
	}
}
