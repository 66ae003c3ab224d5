package mcp_test

import (
	"context"
	"encoding/base64"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/gateway"
	"github.com/wharf-dev/wharf/gateway/mcp"
	"github.com/wharf-dev/wharf/runtime/desk"
	"github.com/wharf-dev/wharf/runtime/enginetest"
	"github.com/wharf-dev/wharf/runtime/sandbox"
	"github.com/wharf-dev/wharf/storage/pebble/crashtest"
)

// asks is a guest that makes a call which waits, and says what it was answered.
func asks(call, request string) enginetest.Guest {
	return func(ctx context.Context, h sandbox.Host) error {
		status, answer, err := h.Call(ctx, call, []byte(request))
		if err != nil {
			return err
		}
		text, _ := json.Marshal(fmt.Sprintf("%d %s", status, answer))
		return enginetest.Call(ctx, h, abi.CallMessageAppend, fmt.Sprintf(`{"role":"assistant","parts":[{"type":"text","text":%s}]}`, text)+"")
	}
}

const (
	askPort    = `{"call_id":"c","prompt":"Which port?","schema":{"type":"object","properties":{"port":{"type":"integer"}},"required":["port"]}}`
	askSeveral = `{"call_id":"c","requests":[{"key":"port","prompt":"Which port?","schema":{"type":"object","properties":{"port":{"type":"integer"}},"required":["port"]}},` +
		`{"key":"pay","kind":"approval","action":"pay","arguments":{"eur":10},"prompt":"May it pay?"}]}`
)

var asking = enginetest.Guests{
	"port":     asks(abi.CallInputRequest, askPort),
	"several":  asks(abi.CallInputRequest, askSeveral),
	"approval": asks(abi.CallApprovalRequest, `{"call_id":"c","action":"pay","arguments":{"eur":10}}`),
	"login":    asks(abi.CallAuthRequest, `{"call_id":"c","provider":"github","url":"https://github.example/device","prompt":"Log in"}`),
}

func startAsking(t *testing.T, disk *crashtest.Disk, configure ...enginetest.Configure) *node {
	t.Helper()
	return startNode(t, disk, asking, gateway.Config{}, mcp.Node{}, configure...)
}

func offerAsking(t *testing.T, n *node) {
	t.Helper()
	for name := range asking {
		n.skill(t, name, abi.CreateSkillRequest{Name: name + "-it"})
	}
}

// answering is a client that answers what it is asked.
func answering(asked chan<- *sdk.ElicitParams) *sdk.ClientOptions {
	return &sdk.ClientOptions{
		Capabilities: &sdk.ClientCapabilities{Elicitation: &sdk.ElicitationCapabilities{Form: &sdk.FormElicitationCapabilities{}, URL: &sdk.URLElicitationCapabilities{}}},
		ElicitationHandler: func(_ context.Context, r *sdk.ElicitRequest) (*sdk.ElicitResult, error) {
			asked <- r.Params
			switch {
			case strings.Contains(r.Params.Message, "port"):
				return &sdk.ElicitResult{Action: "accept", Content: map[string]any{"port": 8080}}, nil
			case strings.Contains(r.Params.Message, "pay"):
				return &sdk.ElicitResult{Action: "accept", Content: map[string]any{"decision": "approved", "reason": "why not"}}, nil
			}
			return &sdk.ElicitResult{Action: "accept"}, nil
		},
	}
}

func TestTasksAskTheClient(t *testing.T) {
	both(t, func(t *testing.T, revision string) {
		n := startAsking(t, crashtest.NewDisk())
		offerAsking(t, n)
		for tool, want := range map[string][]string{
			"port-it": {"8080"}, "approval-it": {`"approved"`, "why not"}, "login-it": {"done"}, "several-it": {"8080", `"status":"approved"`},
		} {
			asked := make(chan *sdk.ElicitParams, 10)
			s := n.connect(t, enginetest.RootKey, revision, answering(asked))
			r, err := s.CallTool(t.Context(), &sdk.CallToolParams{Name: tool})
			if err != nil {
				t.Fatal(tool, err)
			}
			got := text(t, r)
			for _, part := range want {
				if !strings.Contains(got, part) || r.IsError {
					t.Errorf("%s gave %s, want %s in it", tool, got, part)
				}
			}
			if first := receive(t, asked); tool == "login-it" && (first.Mode != "url" || first.URL != "https://github.example/device") {
				t.Errorf("the login was asked for by %+v", first)
			}
		}
	})
}

func TestClientsThatCannotBeAskedAreToldWhoAnswers(t *testing.T) {
	both(t, func(t *testing.T, revision string) {
		n := startAsking(t, crashtest.NewDisk())
		offerAsking(t, n)
		s := n.connect(t, enginetest.RootKey, revision, nil)
		r, err := s.CallTool(t.Context(), &sdk.CallToolParams{Name: "port-it"})
		if err != nil {
			t.Fatal(err)
		}
		if got := text(t, r); !r.IsError || !strings.Contains(got, "wharf inbox") || !strings.Contains(got, "Which port?") {
			t.Errorf("the client was told %q", got)
		}
		task, _ := r.Meta["wharf.dev/taskId"].(string)
		if got := n.status(t, task); got != abi.TaskInputRequired {
			t.Errorf("the task is %s: it is to wait for somebody else", got)
		}
	})
}

// status reads how a Task is.
func (n *node) status(t testing.TB, id string) abi.TaskStatus {
	t.Helper()
	doc, err := n.Get(t.Context(), n.Root, abi.ObjectTask, id)
	if err != nil {
		t.Fatal(err)
	}
	return enginetest.As[abi.Task](t, doc).Status
}

func TestOnlyTheCapabilitiesDeclaredAreAsked(t *testing.T) {
	n := startAsking(t, crashtest.NewDisk())
	n.skill(t, "port", abi.CreateSkillRequest{Name: "port-it", Metadata: []byte(`{"mcp":{"requires":["sampling"]}}`)})
	s := n.connect(t, enginetest.RootKey, stateless, nil)
	if _, err := s.CallTool(t.Context(), &sdk.CallToolParams{Name: "port-it"}); code(err) != sdk.CodeMissingRequiredClientCapabilities {
		t.Errorf("a tool that needs what the client cannot: %v", err)
	}
	if left, _, err := n.Events(t.Context(), n.Root, desk.Filter{}, 0, 1000); err != nil || slices.ContainsFunc(left, func(ev desk.Event) bool { return ev.Record().Kind == abi.EventTaskSubmitted }) {
		t.Errorf("a task was begun: %v", err)
	}
}

// rounds is a client that goes on by itself.
func (n *node) rounds(t testing.TB, key string) *sdk.ClientSession {
	t.Helper()
	o := answering(make(chan *sdk.ElicitParams, 10))
	o.MultiRoundTrip = &sdk.MultiRoundTripOptions{Disabled: true}
	return n.connect(t, key, stateless, o)
}

func begin(t testing.TB, s *sdk.ClientSession, tool string) *sdk.CallToolResult {
	t.Helper()
	r, err := s.CallTool(t.Context(), &sdk.CallToolParams{Name: tool, Arguments: map[string]any{"a": 1}})
	if err != nil {
		t.Fatal(err)
	}
	if !r.NeedsInput() || r.RequestState == "" {
		t.Fatalf("the call gave %+v, want a question", r)
	}
	return r
}

var port = sdk.InputResponseMap{"input": &sdk.ElicitResult{Action: "accept", Content: map[string]any{"port": 8080}}}

func TestTaskIsParkedBetweenRoundsAndRestarts(t *testing.T) {
	disk, keys := crashtest.NewDisk(), sameKeys(t)
	n := startAsking(t, disk, keys)
	offerAsking(t, n)
	r := begin(t, n.rounds(t, enginetest.RootKey), "port-it")
	n.end()
	n = startAsking(t, disk, keys)
	s := n.rounds(t, enginetest.RootKey)
	again, err := s.CallTool(t.Context(), &sdk.CallToolParams{Name: "port-it", Arguments: map[string]any{"a": 1}, RequestState: r.RequestState, InputResponses: port})
	if err != nil {
		t.Fatal(err)
	}
	if got := text(t, again); !strings.Contains(got, "8080") {
		t.Errorf("the call gave %s", got)
	}
	// The same once more, as of a client that has lost the answer: it is the same answer.
	once, err := s.CallTool(t.Context(), &sdk.CallToolParams{Name: "port-it", Arguments: map[string]any{"a": 1}, RequestState: r.RequestState, InputResponses: port})
	if err != nil || text(t, once) != text(t, again) || once.Meta["wharf.dev/taskId"] != again.Meta["wharf.dev/taskId"] {
		t.Errorf("the same round gave %+v, %v", once, err)
	}
}

func TestMissingAndWrongAnswersAreAskedForAgain(t *testing.T) {
	n := startAsking(t, crashtest.NewDisk())
	offerAsking(t, n)
	s := n.rounds(t, enginetest.RootKey)
	r := begin(t, s, "several-it")
	if len(r.InputRequests) != 2 || r.InputRequests["port"] == nil || r.InputRequests["pay"] == nil {
		t.Fatalf("asked for %v", r.InputRequests)
	}
	round := func(answers sdk.InputResponseMap) *sdk.CallToolResult {
		t.Helper()
		next, err := s.CallTool(t.Context(), &sdk.CallToolParams{Name: "several-it", Arguments: map[string]any{"a": 1}, RequestState: r.RequestState, InputResponses: answers})
		if err != nil {
			t.Fatal(err)
		}
		return next
	}
	for what, answers := range map[string]sdk.InputResponseMap{
		"none": nil, "of another key": {"portt": port["input"]},
		"that does not fit": {"port": &sdk.ElicitResult{Action: "accept", Content: map[string]any{"port": "http"}}},
	} {
		if r = round(answers); len(r.InputRequests) != 2 {
			t.Errorf("after an answer %s, asked for %v", what, r.InputRequests)
		}
	}
	if r = round(sdk.InputResponseMap{"port": port["input"]}); len(r.InputRequests) != 1 || r.InputRequests["pay"] == nil {
		t.Fatalf("after one answer of two, asked for %v", r.InputRequests)
	}
	r = round(sdk.InputResponseMap{"pay": &sdk.ElicitResult{Action: "decline"}})
	if got := text(t, r); !strings.Contains(got, "8080") || !strings.Contains(got, "denied") {
		t.Errorf("the call gave %s", got)
	}
}

func TestRequestStateIsOfOneCallerAndOneCall(t *testing.T) {
	n := startAsking(t, crashtest.NewDisk())
	offerAsking(t, n)
	s := n.rounds(t, enginetest.RootKey)
	state := begin(t, s, "port-it").RequestState
	parts := strings.Split(state, ".")
	payload, err := base64.RawURLEncoding.DecodeString(parts[1])
	if err != nil {
		t.Fatal(err)
	}
	other := base64.RawURLEncoding.EncodeToString([]byte(strings.Replace(string(payload), `"exp":`, `"exp":9`, 1)))
	colleague := n.rounds(t, n.key(t, []string{abi.ScopeAll}))
	stranger := n.rounds(t, n.stranger(t))
	for what, of := range map[string]struct {
		s         *sdk.ClientSession
		state     string
		tool      string
		arguments map[string]any
	}{
		"tampered with":          {s, parts[0] + "." + other + "." + parts[2], "port-it", map[string]any{"a": 1}},
		"without a signature":    {s, parts[0] + "." + parts[1] + ".", "port-it", map[string]any{"a": 1}},
		"cut":                    {s, state[:len(state)-4], "port-it", map[string]any{"a": 1}},
		"nothing of the kind":    {s, "garbage", "port-it", map[string]any{"a": 1}},
		"of another tool":        {s, state, "approval-it", map[string]any{"a": 1}},
		"with other arguments":   {s, state, "port-it", map[string]any{"a": 2}},
		"of another key":         {colleague, state, "port-it", map[string]any{"a": 1}},
		"of another tenant's":    {stranger, state, "port-it", map[string]any{"a": 1}},
		"with a header of no ID": {s, base64.RawURLEncoding.EncodeToString([]byte(`{"alg":"none"}`)) + "." + parts[1] + "." + parts[2], "port-it", map[string]any{"a": 1}},
	} {
		_, err := of.s.CallTool(t.Context(), &sdk.CallToolParams{Name: of.tool, Arguments: of.arguments, RequestState: of.state, InputResponses: port})
		if code(err) != -32602 {
			t.Errorf("a state %s: %v", what, err)
		}
	}
	r, err := s.CallTool(t.Context(), &sdk.CallToolParams{Name: "port-it", Arguments: map[string]any{"a": 1}, RequestState: state, InputResponses: port})
	if err != nil || !strings.Contains(text(t, r), "8080") {
		t.Errorf("the caller's own: %+v, %v", r, err)
	}
}

// A client has a day for a round. What it says later does not count: the Task waits for somebody else.
func TestRequestStatesExpire(t *testing.T) {
	var late atomic.Int64
	n := startNode(t, crashtest.NewDisk(), asking, gateway.Config{}, mcp.Node{Now: func() time.Time { return time.Now().Add(time.Duration(late.Load())) }})
	offerAsking(t, n)
	s := n.rounds(t, enginetest.RootKey)
	state := begin(t, s, "port-it").RequestState
	again := func() error {
		_, err := s.CallTool(t.Context(), &sdk.CallToolParams{Name: "port-it", Arguments: map[string]any{"a": 1}, RequestState: state, InputResponses: port})
		return err
	}
	late.Store(int64(25 * time.Hour))
	if err := again(); code(err) != -32602 {
		t.Errorf("after a day: %v", err)
	}
	list, err := n.List(t.Context(), n.Root, abi.ObjectTask, desk.Filter{}, desk.Page{Limit: 10})
	if err != nil || len(list.Docs) != 1 || n.status(t, list.Docs[0].ID) != abi.TaskInputRequired {
		t.Errorf("the task waits no more: %d tasks, %v", len(list.Docs), err)
	}
	late.Store(int64(23 * time.Hour))
	if err := again(); err != nil {
		t.Errorf("within the day: %v", err)
	}
}
