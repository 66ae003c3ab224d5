package engine_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/desk"
	"github.com/wharf-dev/wharf/runtime/enginetest"
	"github.com/wharf-dev/wharf/runtime/sandbox"
	"github.com/wharf-dev/wharf/storage/pebble/crashtest"
)

func ptr[T any](v T) *T { return &v }

func aPersona() abi.CreatePersonaRequest {
	return abi.CreatePersonaRequest{Name: "scribe", Version: "1.0.9", EntryWorkflow: "echo", Description: ptr(""),
		AutonomyTier: abi.TierActAuto, ReceiptPolicy: abi.ReceiptOptional}
}

func (n *node) createPersona(t testing.TB, req abi.CreatePersonaRequest) abi.Persona {
	t.Helper()
	doc, err := n.CreatePersona(context.Background(), n.Root, nil, req)
	if err != nil {
		t.Fatal(err)
	}
	return enginetest.As[abi.Persona](t, doc)
}

func (n *node) updatePersona(t testing.TB, id string, req abi.UpdatePersonaRequest) abi.Persona {
	t.Helper()
	doc, err := n.UpdatePersona(context.Background(), n.Root, nil, id, req)
	if err != nil {
		t.Fatal(err)
	}
	return enginetest.As[abi.Persona](t, doc)
}

// versions lists the versions of a Persona, by pages of the given size.
func (n *node) versions(t testing.TB, id string, limit int) (list []string) {
	t.Helper()
	page := desk.Page{Limit: limit}
	for {
		docs, err := n.PersonaVersions(context.Background(), n.Root, id, page)
		if err != nil {
			t.Fatal(err)
		}
		for _, doc := range docs.Docs {
			p := enginetest.As[abi.Persona](t, doc)
			list = append(list, p.Version+" "+string(p.AutonomyTier)+" "+p.Description)
		}
		if !docs.More {
			return list
		}
		page.After = docs.Next
	}
}

// A Persona that is made runs a plugin that the node has, and an export that the plugin has.
func TestPersonaRequestsThatAreRefused(t *testing.T) {
	n := newNode(t, enginetest.Guests{})
	for want, change := range map[string]func(*abi.CreatePersonaRequest){
		"no plugin nobody":  func(r *abi.CreatePersonaRequest) { r.EntryWorkflow = "nobody" },
		`no export "other"`: func(r *abi.CreatePersonaRequest) { r.EntryWorkflow, r.ModuleRef = "other", "echo" },
	} {
		req := aPersona()
		change(&req)
		_, err := n.CreatePersona(t.Context(), n.Root, nil, req)
		if own := enginetest.WantCode(t, err, abi.CodeInvalidRequest); own.Param != "entry_workflow" || !strings.Contains(own.Message, want) {
			t.Errorf("%v, want %s", own, want)
		}
	}
}

// A Task keeps the version that it began with, over a restart and into its replays
// and forks; the next one gets the new version at once.
func TestTaskKeepsItsVersion(t *testing.T) {
	p := newProgram(op{abi.CallInput, ""}, op{abi.CallInputRequest, `{"prompt":"go on?"}`}, op{abi.CallInput, ""}, writeTool(`{}`))
	box := &toolbox{}
	g := enginetest.Guests{"program": p.run, "echo": enginetest.Echo}
	n := boot(t, crashtest.NewDisk(), g, withTools(box))
	session := n.Session(t)
	id := n.Submit(t, session, "persona_program")
	n.parked(t, id)
	n.updatePersona(t, "persona_program", abi.UpdatePersonaRequest{AutonomyTier: ptr(abi.TierShadow), Description: ptr("later")})
	n = boot(t, n.Disk.Crash(1, 0), g, withTools(box))
	defer n.Stop(t)
	n.answer(t, id)
	task := n.Wait(t, id)
	if task.Status != abi.TaskCompleted || task.PersonaVersion != "1" || box.reached() == "" {
		t.Fatalf("%s %+v, version %q, the tool got %q", task.Status, task.Failure, task.PersonaVersion, box.reached())
	}
	if wire := n.wantReplay(t, id); !strings.Contains(wire, `"persona_ref":"persona_program@1"`) || !strings.Contains(wire, `"policy_ref":"persona_program@1"`) {
		t.Errorf("the replay's receipt names another version: %s", wire)
	}
	runs := p.runs()
	if last := runs[len(runs)-1]; last[0] != last[2] || !strings.Contains(last[0], `"version":"1"`) {
		t.Errorf("the plugin was told of another persona: %s", last[2])
	}
	rec := n.recordOf(t, id)
	doc, err := n.ForkTask(context.Background(), n.Root, nil, id, abi.ForkTaskRequest{AtEventID: rec.Entries[0].EventID})
	if err != nil {
		t.Fatal(err)
	}
	if fork := n.Wait(t, doc.ID); fork.PersonaVersion != "1" || fork.Status != abi.TaskCompleted {
		t.Errorf("the fork: %s %+v, version %q", fork.Status, fork.Failure, fork.PersonaVersion)
	}
	before := box.reached()
	next := n.Submit(t, session, "persona_program")
	n.parked(t, next)
	n.answer(t, next)
	if task = n.Wait(t, next); task.PersonaVersion != "2" || box.reached() != before {
		t.Errorf("the next task: version %q, and the tool got %q", task.PersonaVersion, strings.TrimPrefix(box.reached(), before))
	}
}

// Whatever order readers and changes come in, who looks after a change sees it.
func TestPersonaChangesAreSeen(t *testing.T) {
	n := newNode(t, enginetest.Guests{"look": func(ctx context.Context, h sandbox.Host) error { return nil }})
	for i := range 50 {
		p := n.createPersona(t, aPersona())
		done := make(chan struct{})
		go func() {
			defer close(done)
			_, _ = n.Persona(context.Background(), n.Root.Tenant, p.ID)
		}()
		want := fmt.Sprint("change ", i)
		n.updatePersona(t, p.ID, abi.UpdatePersonaRequest{Description: &want})
		<-done
		if got, err := n.Persona(context.Background(), n.Root.Tenant, p.ID); err != nil || got.Description != want {
			t.Fatalf("%v: after a change, the persona is still %q", err, got.Description)
		}
	}
}
