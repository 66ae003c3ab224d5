package a2a_test

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/gateway/a2a"
	"github.com/wharf-dev/wharf/runtime/enginetest"
	"github.com/wharf-dev/wharf/runtime/sandbox"
	"github.com/wharf-dev/wharf/storage/pebble/crashtest"
)

// A message is a Task in the Session that its context is, and the history gives back what was sent.
func TestMessageIsATask(t *testing.T) {
	n := newNode(t, enginetest.Guests{"busy": busy})
	m := with(says("m1", "hi"), object{"contextId": "c 1", "metadata": with(as("busy"), object{"of": "client"}), "extensions": []string{"urn:x"},
		"parts": []any{object{"text": "hi", "metadata": object{"p": 1}}, object{"data": jsonNumber("12345678901234567890")}, object{"url": "https://x.example/a.pdf", "mediaType": "application/pdf"},
			object{"raw": "AAEC", "mediaType": "image/png", "filename": "i.png"}}})
	a := n.rpc(t, "SendMessage", object{"message": m})
	id := a.text("result.task.id")
	if a.text("result.task.status.state") != "TASK_STATE_COMPLETED" || a.text("result.task.contextId") != "c 1" {
		t.Fatalf("%s", a.body)
	}
	h := "result.task.history.0."
	if a.text(h+"messageId") != "m1" || a.text(h+"role") != "ROLE_USER" || a.get(h+"metadata.of") != "client" || a.get(h+"extensions.0") != "urn:x" || a.get(h+"parts.0.metadata.p") != 1.0 ||
		!strings.Contains(string(a.body), "12345678901234567890") || a.text(h+"parts.2.url") != "https://x.example/a.pdf" {
		t.Errorf("the history is %s", a.body)
	}
	image := strings.TrimPrefix(a.text(h+"parts.3.url"), n.url+"/v1/artifacts/")
	if _, content, err := n.OpenArtifact(t.Context(), n.Root, strings.TrimSuffix(image, "/content")); err != nil || content.Size() != 3 {
		t.Errorf("the bytes are %v, %v", content, err)
	}
	if a.text("result.task.history.1.parts.0.text") != "hello" || a.text("result.task.history.1.role") != "ROLE_AGENT" {
		t.Errorf("the history is %s", a.body)
	}
	if a.text("result.task.artifacts.0.name") != "a.txt" || a.text("result.task.artifacts.0.parts.0.text") != "hello" ||
		a.text("result.task.artifacts.1.artifactId") != "outcome" || a.text("result.task.artifacts.1.parts.0.text") != "hello" {
		t.Errorf("the artifacts are %s", a.body)
	}
	if again := n.rpc(t, "SendMessage", object{"message": m}); again.text("result.task.id") != id {
		t.Errorf("a message that is sent again is %s", again.body)
	}
	n.rpc(t, "SendMessage", object{"message": with(m, object{"parts": []object{{"text": "other"}}})}).fails(-32602)
	next := n.rpc(t, "SendMessage", object{"message": with(says("m2", "hi"), object{"contextId": "c 1"})})
	if next.get("result.task.metadata.wharf.session_id") != a.get("result.task.metadata.wharf.session_id") || next.text("result.task.id") == id {
		t.Errorf("the context goes on as %s", next.body)
	}
}

// A message for a Skill is held against what the Skill takes, as everywhere.
func TestMessageForASkill(t *testing.T) {
	n := newNode(t, nil)
	made, err := n.CreateSkill(t.Context(), n.Root, nil, abi.CreateSkillRequest{PersonaID: "persona_echo", Name: "count", Description: "counts",
		InputSchema: jsontext.Value(`{"type":"object","required":["n"],"properties":{"n":{"type":"integer"}}}`)})
	if err != nil {
		t.Fatal(err)
	}
	call := func(id string, data any) answer {
		return n.rpc(t, "SendMessage", object{"message": object{"messageId": id, "role": "ROLE_USER", "parts": []object{{"data": data}},
			"metadata": object{"wharf": object{"skill_id": made.ID}}}})
	}
	call("bad", object{"n": "one"}).fails(-32602)
	good := call("good", object{"n": 1})
	if task := n.Wait(t, good.text("result.task.id")); !strings.Contains(string(task.Metadata), `"skill_id":"`+made.ID+`"`) {
		t.Errorf("the task is %s", task.Metadata)
	}
	if other := n.rpc(t, "ListTasks", object{}); len(other.get("result.tasks").([]any)) != 1 {
		t.Errorf("a message that is refused leaves %s", other.body)
	}
}

type jsonNumber string

func (n jsonNumber) MarshalJSON() ([]byte, error) { return []byte(n), nil }

// Of messages that are first in a context at once, one makes its Session.
func TestManyBeginAContext(t *testing.T) {
	n := newNode(t, nil)
	var all sync.WaitGroup
	sessions := make([]any, 8)
	for i := range sessions {
		all.Go(func() {
			sessions[i] = n.rpc(t, "SendMessage", object{"message": with(says("m"+string(rune('a'+i)), "hi"), object{"contextId": "one"})}).get("result.task.metadata.wharf.session_id")
		})
	}
	all.Wait()
	slices.SortFunc(sessions, func(a, b any) int { return strings.Compare(a.(string), b.(string)) })
	if got := slices.Compact(sessions); len(got) != 1 {
		t.Errorf("the context is the sessions %v", got)
	}
}

// A context that the node has named is found by that name.
func TestNodeNamesAContext(t *testing.T) {
	n := newNode(t, nil)
	first := n.rpc(t, "SendMessage", object{"message": says("m1", "hi")})
	context := first.text("result.task.contextId")
	next := n.rpc(t, "SendMessage", object{"message": with(says("m2", "hi"), object{"contextId": context})})
	if next.text("result.task.contextId") != context || next.get("result.task.metadata.wharf.session_id") != context {
		t.Errorf("%s", next.body)
	}
}

// A Task that asks is answered by the next message to it, in either version.
func TestAskedAndAnswered(t *testing.T) {
	n := newNode(t, enginetest.Guests{"ask": asking})
	a := n.rpc(t, "SendMessage", object{"message": with(says("m1", "hi"), object{"metadata": as("ask")})})
	id := a.text("result.task.id")
	if a.text("result.task.status.state") != "TASK_STATE_INPUT_REQUIRED" || a.text("result.task.status.message.parts.0.text") != "Which port?" ||
		a.get("result.task.status.message.parts.1.data.requests.0.kind") != "input" {
		t.Fatalf("%s", a.body)
	}
	n.rpc(t, "SendMessage", object{"message": with(says("m2", "eighty"), object{"taskId": id})}).fails(-32602)
	n.rpc(t, "SendMessage", object{"message": with(says("m3", "80"), object{"taskId": id, "contextId": "elsewhere"})}).fails(-32602)
	answer := object{"kind": "message", "messageId": "m4", "role": "user", "taskId": id, "parts": []object{{"kind": "text", "text": "80"}}}
	done := n.rpc(t, "message/send", object{"message": answer})
	if done.text("result.status.state") != "completed" || done.text("result.kind") != "task" {
		t.Fatalf("%s", done.body)
	}
	if again := n.rpc(t, "message/send", object{"message": answer}); again.text("result.status.state") != "completed" {
		t.Errorf("an answer that is sent again is %s", again.body)
	}
	n.rpc(t, "SendMessage", object{"message": with(says("m5", "81"), object{"taskId": id})}).fails(-32004)
}

// Several questions are answered by their keys, some now and the rest later.
func TestSeveralQuestions(t *testing.T) {
	n := newNode(t, enginetest.Guests{"ask": func(ctx context.Context, h sandbox.Host) error {
		if err := call(ctx, h, abi.CallInputRequest, `{"call_id":"n","requests":[{"key":"port","prompt":"Which port?"},{"key":"pay","kind":"approval","action":"pay","arguments":{"eur":1},"prompt":"May it?"}]}`); err != nil {
			return err
		}
		return enginetest.Echo(ctx, h)
	}})
	a := n.rpc(t, "SendMessage", object{"message": with(says("m1", "hi"), object{"metadata": as("ask")})})
	id := a.text("result.task.id")
	said := n.rpc(t, "SendMessage", object{"message": with(says("m2", "80"), object{"taskId": id})}).fails(-32602)
	if !strings.Contains(said, "port, pay") {
		t.Errorf("the error says %q", said)
	}
	answers := func(message string, to object) answer {
		return n.rpc(t, "SendMessage", object{"message": with(says(message, ""), object{"taskId": id, "parts": []object{{"data": object{"answers": to}}}})})
	}
	answers("m3", object{"color": "red"}).fails(-32602)
	answers("m4", object{"pay": "perhaps", "port": "80"}).fails(-32602)
	half := answers("m5", object{"pay": true})
	if half.text("result.task.status.state") != "TASK_STATE_INPUT_REQUIRED" || half.get("result.task.status.message.parts.1.data.requests.0.key") != "port" ||
		half.get("result.task.status.message.parts.1.data.requests.1") != nil {
		t.Fatalf("%s", half.body)
	}
	if done := answers("m6", object{"port": "80"}); done.text("result.task.status.state") != "TASK_STATE_COMPLETED" {
		t.Errorf("%s", done.body)
	}
	if again := answers("m5", object{"pay": true}); again.text("result.task.status.state") != "TASK_STATE_COMPLETED" {
		t.Errorf("answers that are sent again are %s", again.body)
	}
}

// Whoever does not wait is answered at once; a message to a Task that works is told to it.
func TestTellsOneThatWorks(t *testing.T) {
	guest, entered, leave := enginetest.Holding()
	n := newNode(t, enginetest.Guests{"hold": guest})
	a := n.rpc(t, "SendMessage", object{"message": with(says("m1", "hi"), object{"metadata": as("hold")}), "configuration": object{"returnImmediately": true}})
	id := a.text("result.task.id")
	<-entered
	told := n.rpc(t, "SendMessage", object{"message": with(says("m2", "faster"), object{"taskId": id}), "configuration": object{"returnImmediately": true, "historyLength": 1}})
	if told.text("result.task.status.state") != "TASK_STATE_WORKING" || told.text("result.task.history.0.messageId") != "m2" || told.get("result.task.history.1") != nil {
		t.Errorf("%s", told.body)
	}
	close(leave)
	if _, err := n.WaitTask(t.Context(), n.Root, id); err != nil {
		t.Fatal(err)
	}
	if none := n.rpc(t, "GetTask", object{"id": id, "historyLength": 0}); none.get("result.history") != nil || none.text("result.status.state") != "TASK_STATE_COMPLETED" {
		t.Errorf("%s", none.body)
	}
	n.rpc(t, "GetTask", object{"id": id, "historyLength": -1}).fails(-32602)
}

// A client waits no longer than the node has it wait.
func TestWaitHasABound(t *testing.T) {
	guest, _, leave := enginetest.Holding()
	n := startNode(t, crashtest.NewDisk(), t.TempDir(), enginetest.Guests{"hold": guest}, a2a.Node{Wait: time.Millisecond})
	defer close(leave)
	a := n.rpc(t, "SendMessage", object{"message": with(says("m1", "hi"), object{"metadata": as("hold")})})
	if state := a.text("result.task.status.state"); state != "TASK_STATE_WORKING" && state != "TASK_STATE_SUBMITTED" {
		t.Errorf("%s", a.body)
	}
}

func TestCancel(t *testing.T) {
	guest, entered, _ := enginetest.Holding()
	n := newNode(t, enginetest.Guests{"hold": guest})
	a := n.rpc(t, "SendMessage", object{"message": with(says("m1", "hi"), object{"metadata": as("hold")}), "configuration": object{"returnImmediately": true}})
	<-entered
	id := a.text("result.task.id")
	if got := n.do(t, "POST", "/a2a/v1/tasks/"+id+":cancel", nil).want(200); got.text("status.state") != "TASK_STATE_CANCELLED" {
		t.Errorf("%s", got.body)
	}
	n.rpc(t, "CancelTask", object{"id": id}).fails(-32002)
	if got := n.do(t, "POST", "/a2a/tasks/"+id+":cancel", nil).want(400); got.text("error.status") != "FAILED_PRECONDITION" || got.text("error.details.0.reason") != "TASK_NOT_CANCELABLE" {
		t.Errorf("%s", got.body)
	}
}

// What is wrong with a request is said by the code that the protocol has for it.
func TestBadRequests(t *testing.T) {
	n := newNode(t, nil)
	for body, code := range map[string]int{
		`{`: -32700, `[]`: -32600, `[{"jsonrpc":"2.0","id":1,"method":"GetTask"}]`: -32600, `{"jsonrpc":"1.0","id":1,"method":"GetTask"}`: -32600,
		`{"jsonrpc":"2.0","method":"GetTask","params":{"id":"x"}}`: -32600, `{"jsonrpc":"2.0","id":{},"method":"GetTask"}`: -32600,
		`{"jsonrpc":"2.0","id":1,"method":"Nothing"}`: -32601, `{"jsonrpc":"2.0","id":1,"method":"GetTask","params":[1]}`: -32602,
		`{"jsonrpc":"2.0","id":1,"method":"GetTask","params":{"id":7}}`: -32602, `{"jsonrpc":"2.0","id":1,"method":"GetTask"}`: -32602,
		`{"jsonrpc":"2.0","id":1,"method":"GetTask","params":{"id":"task_x"}}`: -32001, `{"jsonrpc":"2.0","id":1,"method":"GetTask","params":{"id":"a","id":"b"}}`: -32700,
		`{"jsonrpc":"2.0","id":1,"method":"GetTask","params":` + strings.Repeat(`{"a":`, 2000) + `1` + strings.Repeat(`}`, 2000) + `}`: -32700,
	} {
		n.do(t, "POST", "/a2a", body).want(200).fails(code)
	}
	for name, m := range map[string]object{
		"no id": with(says("", "x"), nil), "long id": says(strings.Repeat("x", 256), "x"), "agent": with(says("m", "x"), object{"role": "ROLE_AGENT"}), "no parts": with(says("m", "x"), object{"parts": []object{}}),
		"empty part": with(says("m", "x"), object{"parts": []object{{}}}), "two in one": with(says("m", "x"), object{"parts": []object{{"text": "a", "url": "b"}}}),
		"metadata": with(says("m", "x"), object{"metadata": "x"}), "part metadata": with(says("m", "x"), object{"parts": []object{{"text": "a", "metadata": 1}}}),
		"persona": with(says("m", "x"), object{"metadata": as("nobody")}), "workspace": with(says("m", "x"), object{"metadata": object{"wharf": object{"workspace_id": "ws_nowhere"}}}),
		"context": with(says("m", "x"), object{"contextId": "a\nb"}), "long context": with(says("m", "x"), object{"contextId": strings.Repeat("x", 3000)}),
	} {
		if a := n.rpc(t, "SendMessage", object{"message": m}); a.get("error.code") != -32602.0 {
			t.Errorf("%s: %s", name, a.body)
		}
	}
	n.rpc(t, "SendMessage", object{}).fails(-32602)
	n.rpc(t, "SendMessage", object{"message": with(says("m", "x"), object{"taskId": "task_x"})}).fails(-32001)
	n.rpc(t, "GetTask", object{"id": "x"}, header("A2A-Version", "2.0")).fails(-32009)
	n.rpc(t, "GetTask", object{"id": "x"}, header("A2A-Version", "0.3")).fails(-32601)
	n.rpc(t, "tasks/get", object{"id": "x"}, header("A2A-Version", "1.0")).fails(-32601)
	n.rpc(t, "tasks/get", object{"id": "x"}, header("A2A-Version", "0.3.0")).fails(-32001)
	if got := n.do(t, "GET", "/a2a/tasks/task_x", nil, header("A2A-Version", "1.0")).want(404); got.text("error.status") != "NOT_FOUND" || got.text("error.details.0.reason") != "TASK_NOT_FOUND" || got.get("code") != nil {
		t.Errorf("%s", got.body)
	}
	if got := n.do(t, "GET", "/a2a/v1/tasks/task_x", nil).want(404); got.get("code") != -32001.0 {
		t.Errorf("%s", got.body)
	}
	n.do(t, "GET", "/a2a/tasks/task_x:fly", nil).want(404)
	n.do(t, "GET", "/a2a/tasks/task_x?historyLength=many", nil).want(400)
	n.do(t, "POST", "/a2a/message:send", "{").want(400)
	n.do(t, "PUT", "/a2a/tasks/task_x", nil).want(405)
	n.do(t, "POST", "/a2a", "a=b", header("Content-Type", "application/x-www-form-urlencoded")).fails(-32005)
}
