package engine_test

import (
	"strings"
	"testing"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/enginetest"
)

// A Task is told what its agent was when it began, also when it is repeated after the agent has
// changed.
func TestATaskKeepsItsAgent(t *testing.T) {
	p := newProgram(op{abi.CallInput, `{}`})
	n := newNode(t, enginetest.Guests{"program": p.run})
	description := ""
	made, err := n.CreatePersona(t.Context(), n.Root, nil, abi.CreatePersonaRequest{Name: "a", Version: "1", EntryWorkflow: "program", Description: &description,
		AutonomyTier: abi.TierActAuto, ReceiptPolicy: abi.ReceiptOptional, WorkspaceID: n.DefaultWorkspace(n.Root.Tenant), Agent: &abi.Agent{Instructions: "Be kind."}})
	if err != nil {
		t.Fatal(err)
	}
	session := n.Session(t)
	id := n.Submit(t, session, made.ID)
	n.Wait(t, id)
	if _, err := n.UpdatePersona(t.Context(), n.Root, nil, made.ID, abi.UpdatePersonaRequest{Agent: &abi.Agent{Instructions: "Be quick."}}); err != nil {
		t.Fatal(err)
	}
	n.wantReplay(t, id)
	n.Wait(t, n.Submit(t, session, made.ID))
	runs := p.runs()
	for i, run := range runs {
		want := "Be kind."
		if i == len(runs)-1 {
			want = "Be quick."
		}
		if !strings.Contains(run[0], `"agent":{"instructions":"`+want+`"`) {
			t.Errorf("run %d was told %s, want %s", i, run[0], want)
		}
	}
}
