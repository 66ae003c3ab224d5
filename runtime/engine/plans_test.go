package engine_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/desk"
	"github.com/wharf-dev/wharf/runtime/enginetest"
	"github.com/wharf-dev/wharf/storage/pebble/crashtest"
)

func hostTool(name, arguments string) op {
	return op{abi.CallToolCall, fmt.Sprintf(`{"server":"host","name":%q,"arguments":%s}`, name, arguments)}
}

// saidAs answers what a Task asks.
func (n *node) saidAs(t testing.TB, id, text string) {
	t.Helper()
	if _, err := n.AppendTaskMessage(t.Context(), n.Root, nil, id, abi.AppendTaskMessageRequest{Kind: abi.TaskMessageInput, Message: textMessage(text)}); err != nil {
		t.Fatal(err)
	}
}

func textMessage(text string) *abi.MessageInput {
	return &abi.MessageInput{Role: abi.RoleUser, Parts: []abi.Part{{Type: abi.PartText, Text: &text}}}
}

// The model sets a plan, a person changes it while the Task asks them something, the node dies, and
// the next turn sees both. A replay is told the same, and changes nothing.
func TestAPlanAndAnAnswerOutliveTheNode(t *testing.T) {
	p := newProgram(
		hostTool("plan_set", `{"tasks":[{"content":"look","status":"in_progress"}],"version":0}`),
		hostTool("ask", `{"prompt":"Which colour?"}`),
		op{abi.CallPlanGet, ``},
		hostTool("plan_set", `{"tasks":[],"version":1}`),
		op{abi.CallPlanSet, `{"steps":[{"id":"step_0_1","content":"look","status":"skipped"}],"version":2}`})
	g := enginetest.Guests{"program": p.run, "echo": enginetest.Echo}
	n := boot(t, crashtest.NewDisk(), g, withWorkshop(&workshop{}))
	id := n.Submit(t, n.Session(t), "persona_program")
	task := n.parked(t, id)
	if w := task.Waiting; task.Status != abi.TaskInputRequired || w.Prompt != "Which colour?" || w.PermissionID == "" || w.Call != abi.CallToolCall {
		t.Fatalf("%s waits for %+v", task.Status, w)
	}
	done := abi.StepCompleted
	if _, err := n.UpdatePlanStep(t.Context(), n.Root, nil, id, "step_0_1", abi.UpdatePlanStepRequest{Status: &done}); err != nil {
		t.Fatal(err)
	}
	n = boot(t, n.Disk.Crash(1, 0), g, withWorkshop(&workshop{}))
	defer n.Stop(t)
	n.saidAs(t, id, "blue")
	if task := n.Wait(t, id); task.Status != abi.TaskCompleted {
		t.Fatalf("%+v", task.Failure)
	}
	runs := p.runs()
	told := runs[len(runs)-1]
	for i, want := range []string{`0 {"content":[{"type":"text","text":"{\"version\":1,`, `0 {"content":[{"type":"text","text":"blue"}]}`,
		`0 {"version":2,"changed_by":"key:root","steps":[{"id":"step_0_1","content":"look","status":"completed"}]}`, `1 {"code":"plan_changed",`,
		`0 {"version":3,"changed_by":"persona_program","steps":[{"id":"step_0_1","content":"look","status":"skipped"}]}`} {
		if !strings.HasPrefix(told[i], want) {
			t.Errorf("call %d is answered %s, want %s", i, told[i], want)
		}
	}
	if _, err := n.UpdatePlan(t.Context(), n.Root, nil, id, abi.UpdatePlanRequest{}); err == nil {
		t.Error("the plan of a Task that has ended was changed")
	}
	changed := 0
	for _, kind := range n.Kinds(t, desk.Filter{TaskID: id}) {
		if kind == string(abi.EventPlanChanged) {
			changed++
		}
	}
	if changed != 3 {
		t.Errorf("the plan has changed %d times", changed)
	}
	n.wantReplay(t, id)
	doc, err := n.Plan(t.Context(), n.Root, id)
	if plan := enginetest.As[abi.Plan](t, doc); err != nil || plan.Version != 3 {
		t.Errorf("after the replays: %+v, %v", plan, err)
	}
	if again := p.runs(); strings.Join(again[len(again)-1], "\n") != strings.Join(told, "\n") {
		t.Errorf("the replay was told %v", again[len(again)-1])
	}
}

// What the user declines, and what is asked wrongly, the tool says.
func TestAskingIsRefused(t *testing.T) {
	p := newProgram(hostTool("ask", `{}`), hostTool("ask", `{"prompt":7}`), hostTool("plan_set", `{"tasks":[{"content":"","status":"pending"}]}`),
		hostTool("ask", `{"prompt":"A number?","schema":{"type":"integer"}}`), hostTool("ask", `{"prompt":"And now?"}`))
	n := newNode(t, enginetest.Guests{"program": p.run, "echo": enginetest.Echo}, withWorkshop(&workshop{}))
	id := n.Submit(t, n.Session(t), "persona_program")
	n.parked(t, id)
	_, err := n.AppendTaskMessage(t.Context(), n.Root, nil, id, abi.AppendTaskMessageRequest{Kind: abi.TaskMessageInput, Message: textMessage("none")})
	enginetest.WantCode(t, err, abi.CodeInvalidRequest)
	n.saidAs(t, id, "7")
	n.rested(id)
	task := n.task(t, id)
	if _, err := n.RespondPermission(t.Context(), n.Root, nil, task.Waiting.PermissionID, abi.RespondRequest{Decision: "denied", Reason: "no time"}); err != nil {
		t.Fatal(err)
	}
	if task := n.Wait(t, id); task.Status != abi.TaskCompleted {
		t.Fatalf("%+v", task.Failure)
	}
	runs := p.runs()
	for i, want := range []string{`missing required member \"prompt\"`, `"code":"invalid_request"`, "content is 1 to 2000 characters", `"text":"7"`, "no time"} {
		if got := runs[len(runs)-1][i]; !strings.Contains(got, want) {
			t.Errorf("call %d is answered %s, want %s", i, got, want)
		}
	}
	n.wantReplay(t, id)
}
