package mcp_test

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/enginetest"
)

const withTasks = `{"elicitation":{},"extensions":{"io.modelcontextprotocol/tasks":{}}}`

// asked is what a request of the revision without sessions is answered with.
type asked struct {
	http   int
	Result struct {
		Type     string `json:"resultType"`
		ID       string `json:"taskId"`
		Status   string `json:"status"`
		Message  string `json:"statusMessage"`
		State    string `json:"requestState"`
		Requests map[string]struct {
			Method string `json:"method"`
		} `json:"inputRequests"`
		Result struct {
			IsError bool `json:"isError"`
		} `json:"result"`
		Error struct {
			Code int64 `json:"code"`
		} `json:"error"`
	} `json:"result"`
	Error struct {
		Code int64          `json:"code"`
		Data jsontext.Value `json:"data"`
	} `json:"error"`
}

// stateless sends a request with what the client can, and with other headers than those that fit.
func (n *node) stateless(t *testing.T, key, method, capabilities string, params map[string]any, other ...string) (a asked) {
	t.Helper()
	all := map[string]any{"_meta": map[string]any{"io.modelcontextprotocol/protocolVersion": stateless,
		"io.modelcontextprotocol/clientCapabilities": jsontext.Value(capabilities)}}
	header := map[string]string{"Mcp-Protocol-Version": stateless, "Mcp-Method": method}
	for name, value := range params {
		if all[name] = value; name == "name" || name == "taskId" {
			header["Mcp-Name"] = value.(string)
		}
	}
	for i := 0; i < len(other); i += 2 {
		header[other[i]] = other[i+1]
	}
	answer := n.post(t, t.Context(), key, string(mustJSON(map[string]any{"jsonrpc": "2.0", "id": 1, "method": method, "params": all})), header)
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) { // a stream, or the answer alone
		data := strings.TrimPrefix(strings.TrimSpace(line), "data: ")
		if strings.HasPrefix(data, "{") && json.Unmarshal([]byte(data), &a) != nil {
			t.Fatalf("%s is answered with %s", method, text)
		}
	}
	a.http = answer.StatusCode
	return a
}

func (n *node) tasked(t *testing.T, key, method, id string, more ...any) asked {
	t.Helper()
	params := map[string]any{"taskId": id}
	if len(more) > 0 {
		params["inputResponses"] = more[0]
	}
	return n.stateless(t, key, method, withTasks, params)
}

// await asks for a task until it has a status.
func (n *node) await(t *testing.T, key, id, status string) asked {
	t.Helper()
	for {
		a := n.tasked(t, key, "tasks/get", id)
		if a.Error.Code != 0 || a.Result.Status == status {
			return a
		}
		if t.Context().Err() != nil || a.Result.Status != "working" {
			t.Fatalf("the task is %s, want %s", a.Result.Status, status)
		}
	}
}

// tasksNode is a node with a tool that asks two things at once, and one that fails.
func tasksNode(t *testing.T) *node {
	n := newNode(t, enginetest.Guests{
		"asks": speaks(abi.CallInputRequest, `{"requests":[{"key":"name","prompt":"Your name?"},{"key":"color","prompt":"Your color?"}]}`),
	})
	for _, support := range []string{"", "forbidden", "optional", "required"} {
		metadata := jsontext.Value(`{"mcp":{"task_support":"` + support + `"}}`)
		n.skill(t, "asks", abi.CreateSkillRequest{Name: "asks-" + support, Metadata: metadata})
		n.skill(t, "echo", abi.CreateSkillRequest{Name: "echo-" + support, Metadata: metadata})
	}
	n.skill(t, "asks", abi.CreateSkillRequest{Name: "asks-first", Metadata: jsontext.Value(`{"mcp":{"task_support":"required","task_after":"input"}}`)})
	return n
}

func answerTo(text string) map[string]any {
	return map[string]any{"action": "accept", "content": map[string]any{"answer": text}}
}

func TestCallsThatAreTasks(t *testing.T) {
	n := tasksNode(t)
	for _, of := range []struct {
		tool, capabilities, result string
		code                       int64
	}{
		{"echo-", withTasks, "complete", 0}, {"echo-forbidden", withTasks, "complete", 0},
		{"echo-optional", withTasks, "task", 0}, {"echo-optional", `{}`, "complete", 0},
		{"echo-required", withTasks, "task", 0}, {"echo-required", `{}`, "", -32021},
	} {
		a := n.stateless(t, enginetest.RootKey, "tools/call", of.capabilities, map[string]any{"name": of.tool, "arguments": map[string]any{}})
		if a.Result.Type != of.result || a.Error.Code != of.code || (a.Result.ID != "") != (of.result == "task") {
			t.Errorf("%s of a client that can %s: %q with %d, task %q", of.tool, of.capabilities, a.Result.Type, a.Error.Code, a.Result.ID)
		}
		if of.code != 0 && (a.http != http.StatusBadRequest || !strings.Contains(string(a.Error.Data), `"requiredCapabilities":{"extensions":{"io.modelcontextprotocol/tasks":{}}}`)) {
			t.Errorf("%s is refused with %d and %s", of.tool, a.http, a.Error.Data)
		}
		if of.result == "task" {
			if got := n.await(t, enginetest.RootKey, a.Result.ID, "completed"); got.Result.Result.IsError {
				t.Errorf("%s has failed", of.tool)
			}
		}
	}
}

// A client answers what a task asks one by one; what it answers again, or is not asked, changes nothing.
func TestTasksAreAnswered(t *testing.T) {
	n := tasksNode(t)
	const key = enginetest.RootKey
	id := n.stateless(t, key, "tools/call", withTasks, map[string]any{"name": "asks-required", "arguments": map[string]any{}}).Result.ID
	asks := n.await(t, key, id, "input_required").Result.Requests
	if len(asks) != 2 {
		t.Fatalf("it asks %v", asks)
	}
	if blind := n.stateless(t, key, "tasks/get", `{"extensions":{"io.modelcontextprotocol/tasks":{}}}`, map[string]any{"taskId": id}); blind.Result.Status != "working" ||
		!strings.Contains(blind.Result.Message, "wharf inbox") {
		t.Errorf("to a client that cannot be asked it is %q: %q", blind.Result.Status, blind.Result.Message)
	}
	var first, second string
	for request := range asks {
		first, second = second, request
	}
	for _, responses := range []map[string]any{
		{"no-such-key": map[string]any{"x": 1}}, {first: answerTo("Ada")}, {first: answerTo("Bob")},
	} {
		if a := n.tasked(t, key, "tasks/update", id, responses); a.Result.Type != "complete" || a.Error.Code != 0 {
			t.Fatalf("%v is answered with %+v", responses, a)
		}
	}
	now := n.tasked(t, key, "tasks/get", id).Result
	if _, left := now.Requests[second]; now.Status != "input_required" || len(now.Requests) != 1 || !left {
		t.Fatalf("it is %s and asks %v", now.Status, now.Requests)
	}
	for _, bad := range []any{12, nil, map[string]any{second: 12}, map[string]any{second: map[string]any{"x": 1}}} {
		if a := n.tasked(t, key, "tasks/update", id, bad); a.Error.Code != -32602 {
			t.Errorf("%v is answered with %+v", bad, a)
		}
	}
	n.tasked(t, key, "tasks/update", id, map[string]any{second: answerTo("red")})
	if done := n.await(t, key, id, "completed"); done.Result.Result.IsError {
		t.Error("it has failed")
	}
	if a := n.tasked(t, key, "tasks/cancel", id); a.Result.Type != "complete" {
		t.Errorf("to cancel what has ended is answered with %+v", a)
	}
}

// A call whose questions come first is a task once they are answered, and asks again for what is missing.
func TestTasksAfterInput(t *testing.T) {
	n := tasksNode(t)
	const key = enginetest.RootKey
	params := map[string]any{"name": "asks-first", "arguments": map[string]any{}}
	for _, responses := range []map[string]any{{}, {"name": answerTo("Ada")}} {
		params["inputResponses"] = responses
		a := n.stateless(t, key, "tools/call", withTasks, params)
		if a.Result.Type != "input_required" || a.Result.ID != "" || a.Result.State == "" {
			t.Fatalf("%v: %+v", responses, a)
		}
		params["requestState"] = a.Result.State
	}
	params["inputResponses"] = map[string]any{"color": answerTo("red")}
	a := n.stateless(t, key, "tools/call", withTasks, params)
	if a.Result.Type != "task" || a.Result.State != "" {
		t.Fatalf("%+v", a)
	}
	n.await(t, key, a.Result.ID, "completed")
}

func TestTasksAreCanceled(t *testing.T) {
	n := tasksNode(t)
	const key = enginetest.RootKey
	id := n.stateless(t, key, "tools/call", withTasks, map[string]any{"name": "asks-optional", "arguments": map[string]any{}}).Result.ID
	n.await(t, key, id, "input_required")
	for range 2 {
		if a := n.tasked(t, key, "tasks/cancel", id); a.Result.Type != "complete" || a.Result.Status != "" {
			t.Errorf("%+v", a)
		}
	}
	if got := n.tasked(t, key, "tasks/get", id).Result.Status; got != "cancelled" {
		t.Errorf("it is %s", got)
	}
}

// Another tenant's task is one that is not there, and what needs a scope needs it here.
func TestTasksOfOthers(t *testing.T) {
	n := tasksNode(t)
	id := n.stateless(t, enginetest.RootKey, "tools/call", withTasks, map[string]any{"name": "asks-required", "arguments": map[string]any{}}).Result.ID
	stranger, reader := n.stranger(t), n.key(t, []string{"tasks:read"})
	for _, method := range []string{"tasks/get", "tasks/update", "tasks/cancel"} {
		foreign := n.tasked(t, stranger, method, id, map[string]any{})
		unknown := n.tasked(t, stranger, method, "task_01M8CTFZ5VTEKYRPP1QWYE7J5Q", map[string]any{})
		if foreign.Error.Code != -32602 || foreign.http != unknown.http || string(foreign.Error.Data) != string(unknown.Error.Data) || unknown.Error.Code != -32602 {
			t.Errorf("%s of a foreign task: %+v, of an unknown one: %+v", method, foreign, unknown)
		}
		if a := n.stateless(t, enginetest.RootKey, method, `{}`, map[string]any{"taskId": id}); a.Error.Code != -32021 {
			t.Errorf("%s of a client without the extension: %+v", method, a)
		}
		if a := n.tasked(t, reader, method, id, map[string]any{}); (a.Error.Code == 0) != (method == "tasks/get") {
			t.Errorf("%s of who may only read: %+v", method, a)
		}
	}
	for _, method := range []string{"tasks/result", "tasks/list"} {
		if a := n.tasked(t, enginetest.RootKey, method, id); a.Error.Code != -32601 || a.http != http.StatusNotFound {
			t.Errorf("%s: %+v", method, a)
		}
	}
	if got := n.await(t, enginetest.RootKey, id, "input_required"); len(got.Result.Requests) != 2 {
		t.Errorf("%+v", got)
	}
}

// What a header repeats is what the message says.
func TestHeadersThatContradict(t *testing.T) {
	n := tasksNode(t)
	n.skill(t, "echo", abi.CreateSkillRequest{Name: "placed", InputSchema: jsontext.Value(
		`{"type":"object","properties":{"region":{"type":"string","x-mcp-header":"Region"},"count":{"type":"integer","x-mcp-header":"Count"}}}`)})
	const key = enginetest.RootKey
	id := n.stateless(t, key, "tools/call", withTasks, map[string]any{"name": "asks-required", "arguments": map[string]any{}}).Result.ID
	for _, method := range []string{"tasks/get", "tasks/update", "tasks/cancel"} {
		for _, other := range [][]string{{"Mcp-Name", "task_other"}, {"Mcp-Name", ""}, {"Mcp-Method", "tools/call"}} {
			if a := n.stateless(t, key, method, withTasks, map[string]any{"taskId": id, "inputResponses": map[string]any{}}, other...); a.Error.Code != -32020 || a.http != http.StatusBadRequest {
				t.Errorf("%s with %q: %+v", method, other, a)
			}
		}
	}
	for _, of := range []struct {
		arguments string
		header    []string
		ok        bool
	}{
		{`{}`, nil, true}, {`{"region":"eu"}`, []string{"Mcp-Param-Region", "eu"}, true}, {`{"region":null}`, []string{"Mcp-Param-Region", "eu"}, false},
		{`{"region":"eu"}`, nil, false}, {`{"region":"eu"}`, []string{"Mcp-Param-Region", "us"}, false}, {`{}`, []string{"Mcp-Param-Region", "eu"}, false},
		{`{"region":"é"}`, []string{"Mcp-Param-Region", "=?base64?w6k=?="}, true}, {`{"region":"é"}`, []string{"Mcp-Param-Region", "=?base64?w6k?="}, false},
		{`{"region":"=?base64?w6k="}`, []string{"Mcp-Param-Region", "=?base64?w6k="}, true},
		{`{"count":3}`, []string{"Mcp-Param-Count", "3"}, true}, {`{"count":3}`, []string{"Mcp-Param-Count", "3.0"}, true}, {`{"count":3}`, []string{"Mcp-Param-Count", "4"}, false},
		{`{"count":"3"}`, []string{"Mcp-Param-Count", "NaN"}, false},
	} {
		a := n.stateless(t, key, "tools/call", `{}`, map[string]any{"name": "placed", "arguments": jsontext.Value(of.arguments)}, of.header...)
		if (a.Error.Code == 0) != of.ok || !of.ok && (a.Error.Code != -32020 || a.http != http.StatusBadRequest) {
			t.Errorf("%s with %q: %+v", of.arguments, of.header, a)
		}
	}
}
