package engine_test

import (
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/desk"
	"github.com/wharf-dev/wharf/runtime/engine"
	"github.com/wharf-dev/wharf/runtime/enginetest"
	"github.com/wharf-dev/wharf/runtime/provider"
)

// A Skill that is called as a tool is held to its schemas, in a replay as well.
func TestSkillsAsTools(t *testing.T) {
	p := newProgram()
	n := newNode(t, enginetest.Guests{"program": p.run, "echo": enginetest.Echo}, func(_ *engine.Config, p *engine.Parts) {
		p.Performers = map[string]provider.Performer{abi.CallToolCall: open{}}
	})
	skill := func(input, output string) string {
		doc, err := n.CreateSkill(t.Context(), n.Root, nil, abi.CreateSkillRequest{PersonaID: "persona_echo", Name: "s", Description: "d",
			InputSchema: jsontext.Value(input), OutputSchema: jsontext.Value(output)})
		if err != nil {
			t.Fatal(err)
		}
		return doc.ID
	}
	call := func(name, arguments string) {
		p.ops = append(p.ops, op{abi.CallToolCall, `{"server":"skills","name":"` + name + `","arguments":` + arguments + `}`})
	}
	good := skill(`{"type":"object","required":["text"]}`, `{"type":"string"}`)
	call(good, `{"text":"x"}`)
	call(good, `{}`)
	call(skill(``, `{"type":"integer"}`), `{"text":"x"}`)
	call("skill_none", `{}`)
	call("persona_echo", `{"n":1}`)
	id := n.Submit(t, n.Session(t), "persona_program")
	n.Wait(t, id)
	runs := p.runs()
	for i, want := range []string{"hello", "not what skill", `"is_error":true`, "3 ", "not what skill"} {
		if got := runs[len(runs)-1][i]; !strings.Contains(got, want) {
			t.Errorf("call %d was told %s, want %q", i, got, want)
		}
	}
	n.wantReplay(t, id)
}

// A Skill that needs an approval is not called before there is one.
func TestSkillNeedsApproval(t *testing.T) {
	p := newProgram()
	n := newNode(t, enginetest.Guests{"program": p.run, "echo": enginetest.Echo}, func(_ *engine.Config, p *engine.Parts) {
		p.Performers = map[string]provider.Performer{abi.CallToolCall: open{}}
	})
	doc, err := n.CreateSkill(t.Context(), n.Root, nil, abi.CreateSkillRequest{PersonaID: "persona_echo", Name: "s", Description: "d", RequiresApproval: true})
	if err != nil {
		t.Fatal(err)
	}
	p.ops = []op{{abi.CallToolCall, `{"server":"skills","name":"` + doc.ID + `","arguments":{"text":"x"}}`}}
	id := n.Submit(t, n.Session(t), "persona_program")
	n.parked(t, id)
	list, err := n.List(t.Context(), n.Root, abi.ObjectTask, desk.Filter{}, desk.Page{Limit: 10})
	if err != nil || len(list.Docs) != 1 {
		t.Fatalf("before the approval there are %d tasks (%v)", len(list.Docs), err)
	}
	n.decide(t, id, `{"decision":"approved"}`)
	if task := n.Wait(t, id); task.Status != abi.TaskCompleted {
		t.Errorf("%+v", task)
	}
	runs := p.runs()
	if told := runs[len(runs)-1][0]; !strings.Contains(told, "hello") {
		t.Errorf("the caller was told %s", told)
	}
	n.wantReplay(t, id)
}
