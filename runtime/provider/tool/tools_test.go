package tool

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/provider"
)

// fake is a server in this process.
type fake struct {
	tools  []abi.Tool
	fails  error
	limits Limits
	answer func(ctx context.Context, name string, arguments jsontext.Value) (*abi.CallToolCallAnswer, error)
}

func (f *fake) List(context.Context) ([]abi.Tool, error) { return f.tools, f.fails }
func (f *fake) Limits() Limits                           { return f.limits }
func (f *fake) Call(ctx context.Context, _ *provider.Call, name string, arguments jsontext.Value) (*abi.CallToolCallAnswer, error) {
	return f.answer(ctx, name, arguments)
}

// ask makes a host call for the plugin "p".
func ask(t *testing.T, tools *Tools, call string, request any) (plan provider.Plan, answer []byte, err error) {
	t.Helper()
	raw, ok := request.(string)
	if !ok {
		b, err := json.Marshal(request)
		if err != nil {
			t.Fatal(err)
		}
		raw = string(b)
	}
	plan, err = tools.Prepare(t.Context(), &provider.Call{Name: call, Plugin: "p", Request: []byte(raw)})
	if err != nil {
		return plan, nil, err
	}
	answer, err = plan.Do(t.Context(), func(string) {})
	return plan, answer, err
}

func call(t *testing.T, tools *Tools, server, name, arguments string) (answer abi.CallToolCallAnswer, err error) {
	t.Helper()
	_, raw, err := ask(t, tools, abi.CallToolCall, abi.CallToolCallRequest{Server: server, Name: name, Arguments: jsontext.Value(arguments)})
	if err == nil {
		if err := json.Unmarshal(raw, &answer); err != nil {
			t.Fatal(err)
		}
	}
	return answer, err
}

func list(t *testing.T, tools *Tools, server string) []abi.Tool {
	t.Helper()
	_, raw, err := ask(t, tools, abi.CallToolList, abi.CallToolListRequest{Server: server})
	if err != nil {
		t.Fatal(err)
	}
	var answer abi.CallToolListAnswer
	if err := json.Unmarshal(raw, &answer); err != nil {
		t.Fatal(err)
	}
	return answer.Tools
}

func names(tools []abi.Tool) string {
	var all []string
	for _, tool := range tools {
		all = append(all, tool.Server+":"+tool.Name)
	}
	return strings.Join(all, " ")
}

func refused(t *testing.T, err error, status abi.CallStatus, want string) {
	t.Helper()
	r, ok := errors.AsType[*provider.Refusal](err)
	if !ok || r.Status != status || !strings.Contains(r.Message, want) {
		t.Errorf("got %v, want status %d and %q", err, status, want)
	}
}

func TestGrantsSayWhichToolsThereAre(t *testing.T) {
	files := &fake{tools: []abi.Tool{{Name: "write_file"}, {Name: "read_file"}, {Name: "read_dir"}}}
	mail := &fake{tools: []abi.Tool{{Name: "send"}}}
	broken := &fake{fails: errors.New("gone")}
	_, log := newLogs()
	servers := map[string]Server{"files": files, "mail": mail, "broken": broken, "other": mail}
	tools := New(Config{Servers: servers, Log: log, Grants: map[string][]string{"p": {"files:read_*", "ma*:send", "broken:*", "absent:*"}}})
	if got := names(list(t, tools, "")); got != "files:read_dir files:read_file mail:send" {
		t.Errorf("all: %s", got)
	}
	if got := names(list(t, tools, "files")); got != "files:read_dir files:read_file" {
		t.Errorf("files: %s", got)
	}
	if got := names(list(t, New(Config{Servers: servers}), "")); got != "" {
		t.Errorf("without a grant: %s", got)
	}
	for _, test := range []struct {
		request abi.CallToolCallRequest
		status  abi.CallStatus
		want    string
	}{
		{abi.CallToolCallRequest{Server: "files", Name: "write_file"}, abi.CallDenied, "no entry of grants.p.tools covers files:write_file"},
		{abi.CallToolCallRequest{Server: "other", Name: "send"}, abi.CallDenied, "grants.p.tools begins with other:"},
		{abi.CallToolCallRequest{Server: "absent", Name: "x"}, abi.CallNotFound, "no server of tools"},
		{abi.CallToolCallRequest{Server: "files", Name: "read_mind"}, abi.CallNotFound, `no tool "read_mind"`},
		{abi.CallToolCallRequest{Server: "files", Name: "read_file", Arguments: jsontext.Value(`[1]`)}, abi.CallInvalid, "a JSON object"},
		{abi.CallToolCallRequest{Server: "files"}, abi.CallInvalid, "tool.call takes"},
	} {
		_, _, err := ask(t, tools, abi.CallToolCall, test.request)
		refused(t, err, test.status, test.want)
	}
	_, _, err := ask(t, tools, abi.CallToolList, abi.CallToolListRequest{Server: "other"})
	refused(t, err, abi.CallDenied, "grants.p.tools")
	_, _, err = ask(t, tools, abi.CallToolList, "{")
	refused(t, err, abi.CallInvalid, "cannot be read")
}

func TestWhatACallIs(t *testing.T) {
	f := &fake{tools: []abi.Tool{{Name: "r", ReadOnly: true, Idempotent: true}, {Name: "i", Idempotent: true}, {Name: "w"}},
		answer: func(_ context.Context, name string, arguments jsontext.Value) (*abi.CallToolCallAnswer, error) {
			return &abi.CallToolCallAnswer{Content: []abi.ToolContent{{Type: "text", Text: name + string(arguments)}}}, nil
		}}
	tools := New(Config{Servers: map[string]Server{"s": f}, Grants: map[string][]string{"p": {"*:*"}}})
	for name, want := range map[string]provider.Plan{
		"r": {Effect: abi.EffectRead}, "i": {Effect: abi.EffectWrite, Repeatable: true}, "w": {Effect: abi.EffectWrite},
	} {
		plan, raw, err := ask(t, tools, abi.CallToolCall, abi.CallToolCallRequest{Server: "s", Name: name})
		if err != nil || plan.Effect != want.Effect || plan.Repeatable != want.Repeatable ||
			string(raw) != `{"content":[{"text":"`+name+`{}","type":"text"}]}` && string(raw) != `{"content":[{"type":"text","text":"`+name+`{}"}]}` {
			t.Errorf("%s is %+v and answers %s, %v", name, plan, raw, err)
		}
	}
}

func TestLimitsOfACall(t *testing.T) {
	f := &fake{tools: []abi.Tool{{Name: "big"}, {Name: "slow"}}, limits: Limits{Timeout: 20 * time.Millisecond, Answer: 1000},
		answer: func(ctx context.Context, name string, _ jsontext.Value) (*abi.CallToolCallAnswer, error) {
			if name == "slow" {
				<-ctx.Done()
				return nil, ctx.Err()
			}
			return &abi.CallToolCallAnswer{Content: []abi.ToolContent{{Type: "text", Text: strings.Repeat("x", 1000)}}}, nil
		}}
	tools := New(Config{Servers: map[string]Server{"s": f}, Grants: map[string][]string{"p": {"s:*"}}})
	_, err := call(t, tools, "s", "big", "{}")
	refused(t, err, abi.CallTooLarge, "it may have 1000")
	_, err = call(t, tools, "s", "slow", "{}")
	refused(t, err, abi.CallTimeout, "s:slow was not done within 20ms")

	plan, err := tools.Prepare(t.Context(), &provider.Call{Name: abi.CallToolCall, Plugin: "p", Request: []byte(`{"server":"s","name":"slow"}`)})
	if err != nil {
		t.Fatal(err)
	}
	gone := errors.New("the task was canceled")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(gone)
	if _, err := plan.Do(ctx, nil); !errors.Is(err, gone) {
		t.Errorf("got %v", err)
	}
}

// What a tool answers or says of itself may nest so deep that a plugin can pass it on.
func TestDeepAnswers(t *testing.T) {
	nested := func(levels int) jsontext.Value {
		return jsontext.Value(`{"a":` + strings.Repeat("[", levels-1) + strings.Repeat("]", levels-1) + `}`)
	}
	levels := abi.MaxToldDepth
	f := &fake{tools: []abi.Tool{{Name: "t"}}, answer: func(context.Context, string, jsontext.Value) (*abi.CallToolCallAnswer, error) {
		return &abi.CallToolCallAnswer{Structured: nested(levels)}, nil
	}}
	tools := New(Config{Servers: map[string]Server{"s": f}, Grants: map[string][]string{"p": {"s:*"}}})
	if answer, err := call(t, tools, "s", "t", "{}"); err != nil || string(answer.Structured) != string(nested(levels)) {
		t.Errorf("at the bound: %s %v", answer.Structured, err)
	}
	for _, levels = range []int{abi.MaxToldDepth + 1, 9_990, 9_997, 10_001} {
		_, err := call(t, tools, "s", "t", "{}")
		refused(t, err, abi.CallTooLarge, "nests deeper than 184 levels")
	}
	f.tools = []abi.Tool{{Name: "deep", InputSchema: nested(9_998)}, {Name: "fits", InputSchema: nested(abi.MaxToldDepth)}}
	_, list, err := ask(t, tools, abi.CallToolList, "")
	if err != nil || strings.Contains(string(list), "deep") || !strings.Contains(string(list), "fits") {
		t.Errorf("%.100s %v", list, err)
	}
}
