package waiting

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	json "github.com/go-json-experiment/json"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/provider"
)

// sampled asks a model of the client's with these params.
func sampled(params string) string {
	return `{"requests":[{"key":"a","kind":"sampling","params":` + params + `}]}`
}

const aSampling = `{"messages":[{"role":"user","content":{"type":"text","text":"hi"}}],"maxTokens":10}`

// What a model of the client's is asked has the shape of MCP's sampling/createMessage, and what has not
// is refused before anybody is asked: the error says the place.
func TestSamplingsAreChecked(t *testing.T) {
	for params, want := range map[string]string{
		aSampling: "",
		`{"messages":[{"role":"assistant","content":[{"type":"image","data":"AA==","mimeType":"image/png"},{"type":"audio","data":"AA==","mimeType":"audio/wav"}]}],"maxTokens":1,"systemPrompt":"s",
			"temperature":0.5,"stopSequences":["x"],"includeContext":"none","metadata":{},"modelPreferences":{"hints":[{"name":"a"}],"costPriority":1},"tools":[{"name":"t","inputSchema":{}}],"toolChoice":{"mode":"auto"},"later":1}`: "",
		`{"messages":[{"role":"assistant","content":{"type":"tool_use","id":"1","name":"t","input":{}}},{"role":"user","content":[{"type":"tool_result","toolUseId":"1","content":[]}]}],"maxTokens":1}`: "",
		`null`: "want object", `[]`: "want object", `{}`: "messages",
		`{"messages":[],"maxTokens":1}`:                                                                                            "/messages",
		`{"messages":[{"role":"user","content":{"type":"text","text":"hi"}}]}`:                                                     "maxTokens",
		`{"messages":[{"role":"user","content":{"type":"text","text":"hi"}}],"maxTokens":0}`:                                       "/maxTokens",
		`{"messages":[{"role":"system","content":{"type":"text","text":"hi"}}],"maxTokens":1}`:                                     "/messages/0/role",
		`{"messages":[{"role":"user","content":"hi"}],"maxTokens":1}`:                                                              "/messages/0/content",
		`{"messages":[{"role":"user","content":{"type":"text"}}],"maxTokens":1}`:                                                   "text",
		`{"messages":[{"role":"user","content":{"type":"video"}}],"maxTokens":1}`:                                                  "/messages/0/content/type",
		`{"messages":[{"role":"user","content":[{"type":"image","data":"AA=="}]}],"maxTokens":1}`:                                  "mimeType",
		`{"messages":[{"role":"user","content":{"type":"text","text":"hi"}}],"maxTokens":1,"modelPreferences":{"costPriority":2}}`: "/modelPreferences/costPriority",
	} {
		_, as, err := For(&Call{Name: abi.CallInputRequest, RequestID: "r", Request: []byte(sampled(params)), Now: noon})
		if want == "" {
			if err != nil || as != abi.TaskInputRequired {
				t.Errorf("%s: %s, %v", params, as, err)
			}
			continue
		}
		refusal, refused := errors.AsType[*provider.Refusal](err)
		if !refused || refusal.Status != abi.CallInvalid || !strings.Contains(refusal.Message, want) || !strings.Contains(refusal.Message, "params") {
			t.Errorf("%s: %v, want %q", params, err, want)
		}
	}
}

// The answers to samplings and roots are held against the shapes of MCP's results, however they are
// brought; what does not fit leaves the question open.
func TestClientsAnswersAreChecked(t *testing.T) {
	const said = `{"role":"assistant","model":"m","stopReason":"endTurn","content":{"type":"text","text":"four"}}`
	for _, test := range []struct {
		question string
		answer   *abi.MessageInput
		wrong    string
	}{
		{sampled(aSampling), saysJSON(said), ""}, {sampled(aSampling), says(said), ""}, {sampled(aSampling), says("four"), "want object"},
		{sampled(aSampling), saysJSON(strings.Replace(said, `"model":"m",`, "", 1)), "model"},
		{sampled(aSampling), saysJSON(strings.Replace(said, `"text":"four"`, `"text":4`, 1)), "/content/text"},
		{sampled(aSampling), saysJSON(strings.Replace(said, `{"type":"text","text":"four"}`, `[{"type":"tool_use","id":"1","name":"t","input":{}}]`, 1)), ""},
		{sampled(aSampling), saysJSON(strings.Replace(said, `{"type":"text","text":"four"}`, `[{"type":"tool_use","id":"1","name":"t","input":7}]`, 1)), "/content/0/input"},
		{rootsQuestion, saysJSON(`{"roots":[{"uri":"file:///a","name":"a"},{"uri":"file:///b"}]}`), ""}, {rootsQuestion, saysJSON(`{"roots":[]}`), ""},
		{rootsQuestion, saysJSON(`{"roots":[{"name":"a"}]}`), "uri"}, {rootsQuestion, saysJSON(`{"roots":[{"uri":"/a"}]}`), "/roots/0/uri"},
		{rootsQuestion, saysJSON(`["file:///a"]`), "want object"}, {rootsQuestion, &abi.MessageInput{Role: abi.RoleUser, Parts: []abi.Part{}}, "it needs a json part"},
	} {
		n := newNode(t)
		p := n.park(t, abi.CallInputRequest, test.question, Terms{})
		if p.Prompt == "" || p.Schema == nil || (p.Params != nil) != (p.Kind == abi.PermissionSampling) {
			t.Errorf("%+v", p.PermissionRequest)
		}
		for way, answer := range map[string]func() error{
			"respond": func() error {
				_, err := n.RespondPermission(t.Context(), n.as("bob"), nil, p.ID, abi.RespondRequest{Message: test.answer})
				return err
			},
			"message": func() error {
				_, err := n.AppendTaskMessage(t.Context(), n.as("bob"), nil, p.TaskID, abi.AppendTaskMessageRequest{Kind: abi.TaskMessageInput, Message: test.answer})
				return err
			},
		} {
			err := answer()
			if test.wrong != "" {
				wantError(t, err, abi.CodeInvalidRequest, test.wrong)
				continue
			}
			if err != nil {
				t.Errorf("%s %s: %v", way, test.question, err)
			}
			break // it is answered
		}
	}
}

const rootsQuestion = `{"requests":[{"key":"a","kind":"roots"}]}`

// A plugin is told in which way a question was not answered, whether it was asked by itself or among
// others.
func TestWaysNotToAnswer(t *testing.T) {
	for _, code := range []abi.DeclineCode{"", abi.Declined, abi.Dismissed, abi.Unsupported} {
		for _, question := range []string{sampled(aSampling), rootsQuestion, `{"requests":[{"key":"a","prompt":"?"}]}`, `{"prompt":"?"}`} {
			n := newNode(t)
			p := n.park(t, abi.CallInputRequest, question, Terms{})
			if _, err := n.RespondPermission(t.Context(), n.as("bob"), nil, p.ID, abi.RespondRequest{Decision: "denied", Code: code, Reason: "why"}); err != nil {
				t.Fatal(err)
			}
			want := code
			if want == "" {
				want = abi.Declined
			}
			var told abi.CallInputRequestAnswer
			if p.Key != "" && (json.Unmarshal([]byte(n.replies[0]), &told) != nil || len(told.Answers) != 1 || told.Answers[0].Code != want || told.Answers[0].Status != abi.PermissionDenied || told.Answers[0].Reason != "why") {
				t.Errorf("%s %q: %s", question, code, n.replies[0])
			}
			if p.Key == "" && !strings.Contains(n.replies[0], fmt.Sprintf("%q", want)) {
				t.Errorf("%s %q: %s", question, code, n.replies[0])
			}
		}
	}
	n := newNode(t)
	p := n.park(t, abi.CallInputRequest, rootsQuestion, Terms{})
	approval := n.park(t, abi.CallApprovalRequest, `{"action":"pay"}`, Terms{})
	for id, req := range map[string]abi.RespondRequest{
		p.ID:        {Decision: "denied", Code: "never"},
		approval.ID: {Decision: "denied", Code: abi.Unsupported},
	} {
		_, err := n.RespondPermission(t.Context(), n.as("bob"), nil, id, req)
		wantError(t, err, abi.CodeInvalidRequest, "code")
	}
	_, err := n.RespondPermission(t.Context(), n.as("bob"), nil, p.ID, abi.RespondRequest{Code: abi.Unsupported, Message: saysJSON(`{"roots":[]}`)})
	wantError(t, err, abi.CodeInvalidRequest, "code")
}

// What a client says of itself is bounded, and can be told as one line.
func TestClientsAreChecked(t *testing.T) {
	good := &abi.TaskClient{Protocol: "mcp/2025-11-25", Name: "Ada's editor, the best", Version: "1", Capabilities: []string{abi.ClientSamples, abi.ClientHasRoots}}
	for _, c := range []*abi.TaskClient{nil, {}, good} {
		if err := CheckClient(c); err != nil {
			t.Errorf("%+v: %v", c, err)
		}
	}
	long := strings.Repeat("x", 300)
	for _, c := range []*abi.TaskClient{{Protocol: long}, {Name: "a\nb"}, {Version: "\xff"}, {Capabilities: make([]string, 33)}, {Capabilities: []string{""}},
		{Capabilities: []string{"a,b"}}, {Capabilities: []string{"a b"}}, {Capabilities: []string{long}}} {
		wantError(t, CheckClient(c), abi.CodeInvalidRequest, "client.")
	}
}
