package engine_test

import (
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/enginetest"
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
