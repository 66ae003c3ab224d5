package subagents_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	json "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/personas"
	"github.com/wharf-dev/wharf/runtime/provider"
	"github.com/wharf-dev/wharf/runtime/subagents"
	"github.com/wharf-dev/wharf/storage"
)

// many are the subagents of everybody.
type many []*personas.Persona

func (m many) SubagentsServing(context.Context, storage.Tenant, string, string) ([]*personas.Persona, error) {
	return m, nil
}

func (m many) SubagentCalled(_ context.Context, _ storage.Tenant, _, _, name string) (*personas.Persona, error) {
	for _, p := range m {
		if p.Name == name {
			return p, nil
		}
	}
	return nil, abi.NotFound(abi.ObjectPersona, name)
}

func server(n int) subagents.Server {
	var m many
	for i := range n {
		m = append(m, &personas.Persona{Persona: abi.Persona{Name: fmt.Sprintf("agent %03d", i), Description: "Does things.", WorkspaceID: "ws_a", Agent: &abi.Agent{Role: "helper"}}})
	}
	return subagents.Server{Personas: m, TenantOf: func(string) (storage.Tenant, error) { return 1, nil }}
}

// However many there are, a model is offered so many that it can take them; all can be called.
func TestManySubagents(t *testing.T) {
	s := server(150)
	tools, err := s.ListFor(t.Context(), &provider.Call{})
	if err != nil || len(tools) != 100 || tools[99].Name != "agent 099" || !strings.HasSuffix(tools[0].Description, "helper: Does things.") {
		t.Errorf("%d tools, %v", len(tools), err)
	}
	found, err := s.Find(t.Context(), &provider.Call{}, "agent 149")
	if err != nil {
		t.Fatal(err)
	}
	for arguments, wrong := range map[string]string{
		`{}`: "task is what to do", `{"task":""}`: "task is what to do", `{"task":"` + strings.Repeat("x", 100_001) + `"}`: "100000 bytes", `{"task":5}`: "has to be a text",
		`{"task":"go","context":"x"}`: "context is an object", `{"task":"go","context":{"x":"` + strings.Repeat("x", 17_000) + `"}}`: "at most",
		`{"task":"` + strings.Repeat("x", 100_000) + `"}`: "", `{"task":"go","context":null}`: "", `{"task":" go ","context":{},"more":1}`: "",
	} {
		submit, err := found.Delegate(jsontext.Value(arguments))
		if wrong == "" {
			if err != nil || !submit.Session.Hidden || submit.Session.WorkspaceID != "ws_a" {
				t.Errorf("%.60s: %+v, %v", arguments, submit, err)
			}
		} else if err == nil || !strings.Contains(err.Error(), wrong) {
			t.Errorf("%.60s: %v, want %q", arguments, err, wrong)
		}
	}
}

func message(role abi.Role, texts ...string) abi.Message {
	m := abi.Message{Role: role}
	for i := range texts {
		m.Parts = append(m.Parts, abi.Part{Type: abi.PartText, Text: &texts[i]})
	}
	return m
}

// The answer is what the subagent said last, and of one that failed why.
func TestWhatASubagentAnswers(t *testing.T) {
	said := []abi.Message{message(abi.RoleAssistant, "first"), message(abi.RoleAssistant, "last", "words"), message(abi.RoleTool, "a file"), message(abi.RoleAssistant, " ")}
	for name, c := range map[string]struct {
		a    abi.CallTaskAwaitAnswer
		want string
		bad  bool
	}{
		"said":         {abi.CallTaskAwaitAnswer{Status: abi.OutcomeSucceeded, Summary: "s", Messages: said}, "last\n\nwords", false},
		"said JSON":    {abi.CallTaskAwaitAnswer{Status: abi.OutcomeSucceeded, Messages: []abi.Message{{Role: abi.RoleAgent, Parts: []abi.Part{{Type: abi.PartJSON, Value: jsontext.Value(`{"n":1}`)}}}}}, `{"n":1}`, false},
		"said nothing": {abi.CallTaskAwaitAnswer{Status: abi.OutcomeSucceeded, Summary: "s", Messages: said[2:]}, "s", false},
		"failed":       {abi.CallTaskAwaitAnswer{Status: abi.OutcomeFailed, Failure: &abi.Failure{Code: "lost", Message: "no way"}, Messages: said}, "the subagent failed (lost): no way\n\nWhat it said last: last\n\nwords", true},
		"canceled":     {abi.CallTaskAwaitAnswer{TaskID: "task_x", Status: abi.OutcomeCanceled}, "the subagent was not done: its task task_x has ended as " + string(abi.OutcomeCanceled), true},
	} {
		raw, err := subagents.Answer(&c.a)
		var got abi.CallToolCallAnswer
		if err == nil {
			err = json.Unmarshal(raw, &got)
		}
		if err != nil || len(got.Content) != 1 || got.Content[0].Text != c.want || got.IsError != c.bad {
			t.Errorf("%s: %s, %v", name, raw, err)
		}
	}
}
