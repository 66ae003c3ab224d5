package engine_test

import (
	"os"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/engine"
	"github.com/wharf-dev/wharf/runtime/enginetest"
	"github.com/wharf-dev/wharf/runtime/provider"
	models "github.com/wharf-dev/wharf/runtime/provider/model"
	"github.com/wharf-dev/wharf/runtime/provider/tool"
	"github.com/wharf-dev/wharf/runtime/receipt"
	"github.com/wharf-dev/wharf/storage/pebble/crashtest"
)

// factsOfClient reads all that a plugin is told of the client.
func factsOfClient() (ops []op) {
	for _, name := range []string{"protocol", "name", "version", "capabilities"} {
		ops = append(ops, op{abi.CallHostFact, `{"name":"client.` + name + `"}`})
	}
	return ops
}

// A plugin knows what its client can, asks it several things at once, and is told what was answered and
// what the client cannot answer: over power cuts, and the same in a replay, which asks nobody.
func TestAskingTheClient(t *testing.T) {
	const asks = `{"call_id":"client","requests":[{"key":"model","kind":"sampling","params":{"messages":[{"role":"user","content":{"type":"text","text":"2+2?"}}],"maxTokens":10}},
		{"key":"where","kind":"roots"},{"key":"who","prompt":"Your name?"}]}`
	p := newProgram(append(factsOfClient(), op{abi.CallInputRequest, asks})...)
	g := enginetest.Guests{"program": p.run, "echo": enginetest.Echo}
	n := boot(t, crashtest.NewDisk(), g)
	client := &abi.TaskClient{Protocol: "mcp/2025-11-25", Name: "editor", Version: "3", Capabilities: []string{abi.ClientSamples, abi.ClientHasRoots}}
	doc, err := n.SubmitTask(t.Context(), n.Root, nil, abi.SubmitTaskRequest{SessionID: n.Session(t), PersonaID: "persona_program", Input: enginetest.Text("x"), Client: client})
	if err != nil {
		t.Fatal(err)
	}
	id := doc.ID
	if parked := n.parked(t, id); parked.Status != abi.TaskInputRequired || parked.Client == nil || parked.Client.Name != "editor" {
		t.Fatalf("%s, %+v", parked.Status, parked.Client)
	}
	said := jsontext.Value(`{"role":"assistant","model":"m","content":{"type":"text","text":"four"}}`)
	asked := n.questions(t, id)
	for i, answer := range []struct {
		key string
		req abi.RespondRequest
	}{
		{"who", abi.RespondRequest{Decision: "denied", Code: abi.Unsupported, Reason: "no form"}},
		{"model", abi.RespondRequest{Message: &abi.MessageInput{Role: abi.RoleUser, Parts: []abi.Part{{Type: abi.PartJSON, Value: said}}}}},
		{"where", abi.RespondRequest{Decision: "denied", Code: abi.Dismissed}},
	} {
		if _, err := n.RespondPermission(t.Context(), n.actor("client"), nil, asked[answer.key].ID, answer.req); err != nil {
			t.Fatal(err)
		}
		n = boot(t, n.Disk.Crash(uint64(i), 0), g)
	}
	defer n.Stop(t)
	if task := n.Wait(t, id); task.Status != abi.TaskCompleted {
		t.Fatalf("%s %+v", task.Status, task.Failure)
	}
	answers, short := p.toldAnswers(t, 4)
	if short != "model answered, where denied, who denied" || string(answers[0].Message.Parts[0].Value) != string(said) ||
		answers[1].Code != abi.Dismissed || answers[2].Code != abi.Unsupported || answers[2].Reason != "no form" {
		t.Fatalf("%s: %+v", short, answers)
	}
	told := func() string { runs := p.runs(); return strings.Join(runs[len(runs)-1][:4], " ") }
	if got := told(); got != `0 {"value":"mcp/2025-11-25"} 0 {"value":"editor"} 0 {"value":"3"} 0 {"value":"sampling,roots"}` {
		t.Error(got)
	}
	n.wantReplay(t, id)
}

// A Task whose client has said nothing of itself knows of none; what makes no sense is refused.
func TestTasksWithoutAClient(t *testing.T) {
	p := newProgram(factsOfClient()...)
	n := newNode(t, enginetest.Guests{"program": p.run})
	session := n.Session(t)
	n.Wait(t, n.Submit(t, session, "persona_program"))
	if got := strings.Join(p.runs()[0], " "); strings.Count(got, `0 {"value":""}`) != 4 {
		t.Error(got)
	}
	_, err := n.SubmitTask(t.Context(), n.Root, nil, abi.SubmitTaskRequest{SessionID: session, PersonaID: "persona_program", Input: enginetest.Text("x"),
		Client: &abi.TaskClient{Capabilities: []string{"a,b"}}})
	if own, refused := err.(*abi.Error); !refused || own.Param != "client.capabilities" {
		t.Error(err)
	}
}

// aClientsModel gives a node a model that is the client's, with another to ask where there is none, and
// the tools of clients.
func aClientsModel(t *testing.T) enginetest.Configure {
	t.Helper()
	script := t.TempDir() + "/script.json"
	if err := os.WriteFile(script, []byte(`[{"answer":{"text":"from the script"},"times":-1}]`), 0o600); err != nil {
		t.Fatal(err)
	}
	asked, err := models.New(models.Config{Default: "own", Script: script, Models: map[string]models.Model{"own": {Provider: models.ProviderClient, Model: "large"},
		"canned": {Provider: models.ProviderScript}, "either": {Provider: models.ProviderClient, Fallbacks: []string{"canned"}}}})
	if err != nil {
		t.Fatal(err)
	}
	tools := tool.New(tool.Config{Servers: map[string]tool.Server{tool.ServerClient: tool.NewClients(tool.Limits{}, tool.Hints{})}, Grants: map[string][]string{"program": {"client:*"}}})
	return func(_ *engine.Config, p *engine.Parts) {
		p.Performers = map[string]provider.Performer{abi.CallLLMComplete: asked, abi.CallToolCall: tools, abi.CallToolList: tools}
	}
}

// A model call to the client's model and a call of its tool park the Task as questions. The plugin is told
// what was answered in the form of models and tools, over power cuts, the same in a replay, which asks
// nobody, and the receipt proves it.
func TestTheClientsModel(t *testing.T) {
	const asks = `{"call_id":"m","system":"s","messages":[{"role":"user","text":"2+2?"},{"role":"assistant","tool_calls":[{"id":"1","name":"a:b","arguments":{}}]},
		{"role":"tool","tool_call_id":"1","text":"x"},{"role":"tool","tool_call_id":"2","text":"y","is_error":true}],"tools":[{"name":"a:b"}],"stream":true}`
	p := newProgram(op{abi.CallToolList, `{"server":"client"}`}, op{abi.CallLLMComplete, asks}, op{abi.CallToolCall, `{"server":"client","name":"roots"}`}, op{abi.CallMessageAppend, `{"role":"assistant","parts":[{"type":"text","text":"four"}]}`})
	g := enginetest.Guests{"program": p.run, "echo": enginetest.Echo}
	configure := aClientsModel(t)
	n := boot(t, crashtest.NewDisk(), g, configure)
	client := &abi.TaskClient{Capabilities: []string{abi.ClientSamples, abi.ClientSamplesTools, abi.ClientHasRoots}}
	doc, err := n.SubmitTask(t.Context(), n.Root, nil, abi.SubmitTaskRequest{SessionID: n.Session(t), PersonaID: "persona_program", Input: enginetest.Text("x"), Client: client})
	if err != nil {
		t.Fatal(err)
	}
	for i, step := range []struct{ key, params, answer string }{
		{"model", `{"maxTokens":4096,"messages":[{"content":[{"text":"2+2?","type":"text"}],"role":"user"},{"content":[{"id":"1","input":{},"name":"a_b","type":"tool_use"}],"role":"assistant"},` +
			`{"content":[{"content":[{"text":"x","type":"text"}],"toolUseId":"1","type":"tool_result"},{"content":[{"text":"y","type":"text"}],"isError":true,"toolUseId":"2","type":"tool_result"}],"role":"user"}],` +
			`"modelPreferences":{"hints":[{"name":"large"}]},"systemPrompt":"s","tools":[{"_meta":{"wharf/name":"a:b"},"inputSchema":{"properties":{},"type":"object"},"name":"a_b"}]}`,
			`{"role":"assistant","model":"m-1","stopReason":"toolUse","content":[{"type":"text","text":"four"},{"type":"tool_use","id":"7","name":"a_b","input":{"x":1}}]}`},
		{"roots", "", `{"roots":[{"uri":"file:///a","name":"a"},{"uri":"file:///b"}]}`},
	} {
		if parked := n.parked(t, doc.ID); parked.Status != abi.TaskInputRequired || len(parked.Waiting.Requests) != 1 {
			t.Fatalf("%s, %+v", parked.Status, parked.Waiting)
		}
		asked := n.questions(t, doc.ID)[step.key]
		got := asked.Params
		if got.Canonicalize(); string(got) != step.params {
			t.Errorf("%s asks %s", step.key, got)
		}
		n = boot(t, n.Disk.Crash(uint64(i), 0), g, configure)
		value := &abi.MessageInput{Role: abi.RoleUser, Parts: []abi.Part{{Type: abi.PartJSON, Value: jsontext.Value(step.answer)}}}
		if _, err := n.RespondPermission(t.Context(), n.actor("client"), nil, asked.ID, abi.RespondRequest{Message: value}); err != nil {
			t.Fatal(err)
		}
		n = boot(t, n.Disk.Crash(uint64(i), 1), g, configure)
	}
	defer n.Stop(t)
	if task := n.Wait(t, doc.ID); task.Status != abi.TaskCompleted {
		t.Fatalf("%s %+v", task.Status, task.Failure)
	}
	runs := p.runs()
	told := runs[len(runs)-1]
	if !strings.Contains(told[0], `"name":"roots"`) {
		t.Errorf("the tools are %s", told[0])
	}
	for i, want := range map[int]string{
		1: `0 {"provider":"client","model":"m-1","text":"four","tool_calls":[{"id":"7","name":"a:b","arguments":{"x":1}}],"stop_reason":"tools","usage":{"input_tokens":0,"output_tokens":0},"cost":0,"currency":"USD","route":"the client that gave the task"}`,
		2: `0 {"content":[{"type":"text","text":"file:///a a\nfile:///b"}],"structured":{"roots":[{"uri":"file:///a","name":"a"},{"uri":"file:///b"}]}}`,
	} {
		if told[i] != want {
			t.Errorf("call %d was told %s", i, told[i])
		}
	}
	r := n.wire(t, n.task(t, doc.ID))
	if r.ModelRoute.ChosenModel.Provider != "client" || r.ModelRoute.ChosenModel.Model != "m-1" {
		t.Errorf("the receipt names %+v", r.ModelRoute)
	}
	if err := receipt.CheckRecord(&r, n.recordOf(t, doc.ID)); err != nil {
		t.Error(err)
	}
	n.wantReplay(t, doc.ID)
}

// Where the client has no model that takes the request, the call is refused or its fallbacks are asked; the
// tool is not there. What is not answered is told in the way of the call.
func TestNoModelOfTheClient(t *testing.T) {
	ask := func(name, more string) op {
		return op{abi.CallLLMComplete, `{"model":"` + name + `","messages":[{"role":"user","text":"x"}]` + more + `}`}
	}
	samples := &abi.TaskClient{Capabilities: []string{abi.ClientSamples, abi.ClientHasRoots}}
	roots := op{abi.CallToolCall, `{"server":"client","name":"roots"}`}
	for _, c := range []struct {
		name   string
		client *abi.TaskClient
		call   op
		deny   abi.DeclineCode // "" where nobody is asked
		want   []string
	}{
		{"no client", nil, ask("own", ""), "", []string{"5 ", "model_no_client"}},
		{"no capability", &abi.TaskClient{Name: "x"}, ask("own", ""), "", []string{"5 ", "model_no_client"}},
		{"no tools", samples, ask("own", `,"tools":[{"name":"t"}]`), "", []string{"5 ", "takes no tools"}},
		{"a fallback", nil, ask("either", ""), "", []string{"0 ", "from the script", `"considered":[{"provider":"client"`}},
		{"no roots", nil, roots, "", []string{"3 ", "tool_unknown"}},
		{"declined", samples, ask("own", ""), abi.Declined, []string{"2 ", "model_declined"}},
		{"not a fallback", samples, ask("either", ""), abi.Unsupported, []string{"5 ", "unsupported"}},
		{"roots declined", samples, roots, abi.Dismissed, []string{"2 ", "tool_declined"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := newProgram(c.call)
			n := newNode(t, enginetest.Guests{"program": p.run}, aClientsModel(t))
			doc, err := n.SubmitTask(t.Context(), n.Root, nil, abi.SubmitTaskRequest{SessionID: n.Session(t), PersonaID: "persona_program", Input: enginetest.Text("x"), Client: c.client})
			if err != nil {
				t.Fatal(err)
			}
			if c.deny != "" {
				n.parked(t, doc.ID)
				for _, asked := range n.questions(t, doc.ID) {
					if _, err := n.RespondPermission(t.Context(), n.Root, nil, asked.ID, abi.RespondRequest{Decision: "denied", Code: c.deny}); err != nil {
						t.Fatal(err)
					}
				}
			}
			n.Wait(t, doc.ID)
			runs := p.runs()
			for _, want := range c.want {
				if got := runs[len(runs)-1][0]; !strings.Contains(got, want) {
					t.Errorf("%s, want %s", got, want)
				}
			}
			n.wantReplay(t, doc.ID)
		})
	}
}
