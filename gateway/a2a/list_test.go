package a2a_test

import (
	"fmt"
	"net/url"
	"testing"
	"time"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/enginetest"
)

// Lists have pages, totals and filters, and never a null.
func TestLists(t *testing.T) {
	n := newNode(t, enginetest.Guests{"ask": asking})
	var ids []string
	for i := range 5 {
		m := with(says(fmt.Sprint("m", i), "hi"), object{"contextId": "c"})
		if i == 3 {
			m["metadata"], m["contextId"] = as("ask"), "other"
		}
		ids = append(ids, n.rpc(t, "SendMessage", object{"message": m}).text("result.task.id"))
	}
	list := func(query url.Values) answer { return n.do(t, "GET", "/a2a/tasks?"+query.Encode(), nil).want(200) }
	all := list(url.Values{"historyLength": {"0"}})
	if all.get("totalSize") != 5.0 || all.get("pageSize") != 5.0 || all.text("nextPageToken") != "" || all.text("tasks.0.id") != ids[4] || all.get("tasks.0.history") != nil || all.get("tasks.0.artifacts") != nil {
		t.Errorf("%s", all.body)
	}
	for _, query := range []url.Values{{"pageSize": {"2"}}, {"pageSize": {"2"}, "statusTimestampAfter": {"2020-01-01T00:00:00Z"}}} {
		var got []string
		for range 3 {
			page := list(query)
			for i := 0; page.get(fmt.Sprintf("tasks.%d", i)) != nil; i++ {
				got = append(got, page.text(fmt.Sprintf("tasks.%d.id", i)))
			}
			if page.get("totalSize") != 5.0 {
				t.Errorf("%s", page.body)
			}
			query.Set("pageToken", page.text("nextPageToken"))
		}
		wantTold(t, got, ids[4], ids[3], ids[2], ids[1], ids[0])
		if query.Get("pageToken") != "" {
			t.Errorf("a page follows the last")
		}
	}
	if got := list(url.Values{"status": {"TASK_STATE_INPUT_REQUIRED"}, "includeArtifacts": {"true"}}); got.get("totalSize") != 1.0 || got.text("tasks.0.id") != ids[3] || got.get("tasks.0.artifacts") == nil {
		t.Errorf("%s", got.body)
	}
	if got := list(url.Values{"contextId": {"other"}}); got.get("totalSize") != 1.0 || got.text("tasks.0.contextId") != "other" {
		t.Errorf("%s", got.body)
	}
	for _, none := range []url.Values{{"contextId": {"nowhere"}}, {"status": {"TASK_STATE_REJECTED"}}, {"statusTimestampAfter": {time.Now().Add(time.Hour).Format(time.RFC3339)}}} {
		if got := list(none); string(got.body) != `{"tasks":[],"totalSize":0,"pageSize":0,"nextPageToken":""}` {
			t.Errorf("%v: %s", none, got.body)
		}
	}
	for name, params := range map[string]object{
		"no page": {"pageSize": 0}, "large page": {"pageSize": 101}, "state": {"status": "DONE"}, "old state": {"status": "completed"}, "no state": {"status": ""}, "time": {"statusTimestampAfter": "yesterday"},
		"token": {"pageToken": "x"}, "token of another list": {"pageToken": list(url.Values{"pageSize": {"1"}}).text("nextPageToken"), "contextId": "c"}, "history": {"historyLength": -1}, "a text": {"pageSize": "2"},
	} {
		if a := n.rpc(t, "ListTasks", params); a.get("error.code") != -32602.0 {
			t.Errorf("%s: %s", name, a.body)
		}
	}
	n.do(t, "GET", "/a2a/tasks?pageSize=0", nil).want(400)
	n.do(t, "GET", "/a2a/tasks?includeArtifacts=perhaps", nil).want(400)
}

// Whoever may not read Tasks is refused a list, and the list of others has nothing of them, whatever it is
// asked by: their contexts and Workspaces are like those that are not there.
func TestListsOfOthers(t *testing.T) {
	n := newNode(t, nil)
	for _, id := range []string{"m1", "m2"} {
		n.rpc(t, "SendMessage", object{"message": with(says(id, "hi"), object{"contextId": "c"})})
	}
	page := n.do(t, "GET", "/a2a/tasks?pageSize=1", nil).want(200)
	token, session := page.text("nextPageToken"), n.rpc(t, "SendMessage", object{"message": says("m3", "hi")}).text("result.task.contextId")
	workspace := page.text("tasks.0.metadata.wharf.workspace_id")
	other, err := n.CreateWorkspace(t.Context(), n.Root, nil, abi.CreateWorkspaceRequest{Name: "other", Root: "wharf:///other"})
	if err != nil {
		t.Fatal(err)
	}
	asks := func(params object, o option) (rpc, rest answer) {
		query := url.Values{}
		for name, value := range params {
			query.Set(name, fmt.Sprint(value))
		}
		return n.rpc(t, "ListTasks", params, o), n.do(t, "GET", "/a2a/tasks?"+query.Encode(), nil, o)
	}
	for name, key := range map[string]string{"nobody": "", "a made up key": "a-key-that-is-none-at-all"} {
		if rpc, rest := asks(object{}, by(key)); rpc.status != 401 || rest.status != 401 {
			t.Errorf("%s: %d, %d", name, rpc.status, rest.status)
		}
	}
	for _, scope := range []string{"memories:read", "tasks:write", "sessions:read"} {
		if rpc, rest := asks(object{}, by(n.key(t, "", []string{scope}))); rpc.status != 403 || rest.status != 403 {
			t.Errorf("%s: %d, %d", scope, rpc.status, rest.status)
		}
	}
	for name, key := range map[string]string{"another tenant": n.key(t, "other", []string{abi.ScopeAll}), "another workspace": n.key(t, "", []string{abi.ScopeAll}, other.ID)} {
		for what, params := range map[string]object{"all": {}, "a page": {"pageToken": token}, "a context": {"contextId": "c"}, "a session": {"contextId": session}, "a state": {"status": "TASK_STATE_COMPLETED"},
			"a time": {"statusTimestampAfter": "2020-01-01T00:00:00Z"}, "a workspace": {"tenant": workspace}, "a context there": {"tenant": workspace, "contextId": "c"}} {
			rpc, rest := asks(params, by(key))
			unknown, _ := asks(with(params, object{"tenant": "ws_none"}), by(key))
			if params["tenant"] != nil && withoutRequest(string(rpc.body)) != withoutRequest(string(unknown.body)) {
				t.Errorf("%s by %s: %s, and of none %s", what, name, rpc.body, unknown.body)
			}
			for _, got := range []answer{rpc, rest} {
				if got.status == 200 && got.get("error") == nil && got.get("result.tasks.0") == nil && got.get("tasks.0") == nil && got.get("result.totalSize") != 1.0 {
					continue
				}
				if params["tenant"] == nil || got.get("result.tasks") != nil {
					t.Errorf("%s by %s: %s", what, name, got.body)
				}
			}
		}
	}
}
