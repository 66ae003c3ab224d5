package engine_test

import (
	"strings"
	"testing"

	json "github.com/go-json-experiment/json"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/enginetest"
	"github.com/wharf-dev/wharf/storage/pebble/crashtest"
)

// A Task's own options are told to its plugin and shown; their bounds hold, also after a restart
// and in a fork; and they widen nothing.
func TestATaskHasOptionsOfItsOwn(t *testing.T) {
	llm, ask := op{abi.CallLLMComplete, `{"model":"m","messages":[]}`}, op{abi.CallInputRequest, `{"prompt":"?"}`}
	p := newProgram(op{abi.CallInput, ""}, llm, ask, llm, llm)
	m := &till{}
	g := enginetest.Guests{"program": p.run, "echo": enginetest.Echo}
	persona := asPersona(func(p *abi.Persona) { p.ModelPolicy = &abi.ModelPolicy{MaxTokens: 50} })
	n := boot(t, crashtest.NewDisk(), g, spending(m, &toolbox{}), persona)
	heat := 0.5
	run := &abi.RunOptions{Model: "m", Instructions: "be \"brief\"", Temperature: &heat, MaxTokens: 40, Budget: &abi.Budget{OutputTokens: 70}}
	doc, err := n.SubmitTask(t.Context(), n.Root, nil, abi.SubmitTaskRequest{SessionID: n.Session(t), PersonaID: "persona_program", Input: enginetest.Text("hi"), Run: run})
	if err != nil {
		t.Fatal(err)
	}
	n.parked(t, doc.ID)
	n = boot(t, n.Disk.Crash(1, 0), g, spending(m, &toolbox{}), persona)
	defer n.Stop(t)
	n.answer(t, doc.ID)
	task := n.Wait(t, doc.ID)
	shown, _ := json.Marshal(task.Run, json.Deterministic(true))
	want, _ := json.Marshal(run, json.Deterministic(true))
	if task.Status != abi.TaskCompleted || string(shown) != string(want) {
		t.Errorf("%s, %+v, %s", task.Status, task.Failure, shown)
	}
	if got := m.calls(); got != "[40 30]" {
		t.Errorf("the model was asked for %s tokens", got)
	}
	last := p.runs()[1]
	if !strings.Contains(last[0], `"run":`+string(want)) || !strings.HasPrefix(last[4], "2 ") || !strings.Contains(last[4], "output_tokens, 70") {
		t.Errorf("the plugin was told %s, and last %s", last[0], last[4])
	}
	n.wantReplay(t, doc.ID)
	forked, err := n.ForkTask(t.Context(), n.Root, nil, doc.ID, abi.ForkTaskRequest{AtEventID: "0"})
	if err != nil {
		t.Fatal(err)
	}
	if of := enginetest.As[abi.Task](t, forked); of.Run == nil || of.Run.MaxTokens != 40 {
		t.Errorf("its fork has %+v", of.Run)
	}
	n.parked(t, forked.ID)
	if got := m.calls(); got != "[40 30 40]" {
		t.Errorf("with the fork the model was asked for %s tokens", got)
	}
	_, err = n.SubmitTask(t.Context(), n.Root, nil, abi.SubmitTaskRequest{SessionID: n.Session(t), Input: enginetest.Text("hi"), Run: &abi.RunOptions{MaxTokens: -1}})
	if refused := enginetest.WantCode(t, err, abi.CodeInvalidRequest); refused.Param != "run.max_tokens" {
		t.Errorf("%+v", refused)
	}
}
