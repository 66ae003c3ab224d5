package engine_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/desk"
	"github.com/wharf-dev/wharf/runtime/engine"
	"github.com/wharf-dev/wharf/runtime/enginetest"
	"github.com/wharf-dev/wharf/runtime/memories"
	"github.com/wharf-dev/wharf/runtime/provider"
	"github.com/wharf-dev/wharf/runtime/sandbox"
	"github.com/wharf-dev/wharf/runtime/tenancy"
)

// uses are all the ways to name a Persona, or the Skill that it is offered as, in a Workspace.
// Each returns what became of it: "" if it was used, or else why not.
var uses = map[string]func(w *workplace, persona, skill string) string{
	"submit":            func(w *workplace, persona, _ string) string { return w.submit(w.session, persona, "") },
	"submit by a skill": func(w *workplace, _, skill string) string { return w.submit(w.session, "", skill) },
	"session": func(w *workplace, persona, _ string) string {
		return w.newSession(abi.CreateSessionRequest{PersonaID: persona})
	},
	"session's skills": func(w *workplace, _, skill string) string {
		return w.newSession(abi.CreateSessionRequest{SkillIDs: []string{skill}})
	},
	"spawn":   func(w *workplace, persona, _ string) string { return w.call(abi.CallTaskSpawn, persona) },
	"handoff": func(w *workplace, persona, _ string) string { return w.call(abi.CallHandoff, persona) },
	"skill":   func(w *workplace, _, skill string) string { return w.callTool(skill) },
	"a persona as a skill": func(w *workplace, persona, _ string) string {
		return w.callTool(persona)
	},
	"connector": func(w *workplace, persona, _ string) string {
		_, err := w.n.CreateConnector(w.t.Context(), w.n.Root, nil, w.connector(persona))
		return why(err)
	},
	"connector's change": func(w *workplace, persona, _ string) string {
		doc, err := w.n.CreateConnector(w.t.Context(), w.n.Root, nil, w.connector(""))
		if err == nil {
			_, err = w.n.UpdateConnector(w.t.Context(), w.n.Root, nil, doc.ID, abi.UpdateConnectorRequest{TargetPersonaID: abi.ChangeTo(persona)})
		}
		return why(err)
	},
	"delivery": func(w *workplace, persona, _ string) string { return w.deliver(persona) },
	"clone": func(w *workplace, persona, _ string) string {
		_, err := w.n.ClonePersona(w.t.Context(), w.n.Root, nil, persona, abi.ClonePersonaRequest{Name: "c", WorkspaceID: w.id})
		return why(err)
	},
}

// workplace is a Workspace in which Personas are used, by one who sees all of them.
type workplace struct {
	t           testing.TB
	n           *node
	id, session string
	program     *program
}

func why(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

func (w *workplace) newSession(req abi.CreateSessionRequest) string {
	req.WorkspaceID = w.id
	_, err := w.n.CreateSession(w.t.Context(), w.n.Root, nil, req)
	return why(err)
}

func (w *workplace) submit(session, persona, skill string) string {
	req := abi.SubmitTaskRequest{SessionID: session, PersonaID: persona, Input: enginetest.Text("hi")}
	if skill != "" {
		req.Metadata = jsontext.Value(fmt.Sprintf(`{"skill_id":%q}`, skill))
	}
	doc, err := w.n.SubmitTask(w.t.Context(), w.n.Root, nil, req)
	if err == nil {
		w.n.Wait(w.t, doc.ID)
	}
	return why(err)
}

// run has a Task make a call, and returns the answer unless that is what was wanted.
func (w *workplace) run(call, request string) string {
	w.program.ops = []op{{call, request}}
	w.n.Wait(w.t, w.n.Submit(w.t, w.session, "persona_program"))
	runs := w.program.runs()
	if answer := runs[len(runs)-1][0]; !strings.HasPrefix(answer, "0 ") {
		return answer
	}
	return ""
}

func (w *workplace) call(call, persona string) string {
	return w.run(call, fmt.Sprintf(`{"persona_id":%q,"input":{"x":1}}`, persona))
}

func (w *workplace) callTool(name string) string {
	return w.run(abi.CallToolCall, fmt.Sprintf(`{"server":"skills","name":%q,"arguments":{"text":"x"}}`, name))
}

func (w *workplace) connector(persona string) abi.CreateConnectorRequest {
	return abi.CreateConnectorRequest{Provider: "generic", Plugin: "sorter#" + abi.DefaultExport, WorkspaceID: w.id, TargetPersonaID: persona}
}

// deliver has a Connector's plugin name a Persona, and returns what the delivery was put aside for.
func (w *workplace) deliver(persona string) string {
	doc, err := w.n.CreateConnector(w.t.Context(), w.n.Root, nil, w.connector(""))
	if err != nil {
		w.t.Fatal(err)
	}
	w.n.deliver(w.t, doc.ID, "one", persona)
	w.n.settled(w.t, doc.ID)
	letters, err := w.n.List(w.t.Context(), w.n.Root, abi.ObjectDeadLetter, desk.Filter{WorkspaceID: w.id}, desk.Page{Limit: 200})
	if err != nil {
		w.t.Fatal(err)
	}
	for _, doc := range letters.Docs {
		if why := enginetest.As[abi.DeadLetter](w.t, doc).Failure.Message; strings.Contains(why, persona) {
			return why
		}
	}
	return ""
}

// aPersonaTask makes a Task of each delivery, of the Persona that its text names.
func aPersonaTask(d *abi.Delivery) abi.NormalizedDelivery {
	return abi.NormalizedDelivery{Tasks: []abi.ConnectorTask{{Input: enginetest.Text("hi"), PersonaID: d.Text}}}
}

// newWorkplaces returns the default Workspace and another one of a node.
func newWorkplaces(t testing.TB, n *node, p *program) [2]*workplace {
	t.Helper()
	doc, err := n.CreateWorkspace(t.Context(), n.Root, nil, abi.CreateWorkspaceRequest{Name: "other", Root: "wharf:///other"})
	if err != nil {
		t.Fatal(err)
	}
	var both [2]*workplace
	for i, id := range []string{tenancy.DefaultWorkspace, doc.ID} {
		s, err := n.CreateSession(t.Context(), n.Root, nil, abi.CreateSessionRequest{WorkspaceID: id})
		if err != nil {
			t.Fatal(err)
		}
		both[i] = &workplace{t: t, n: n, id: id, session: s.ID, program: p}
	}
	return both
}

func (n *node) offeredPersona(t testing.TB, workspace string) (persona, skill string) {
	t.Helper()
	req := aPersona()
	req.WorkspaceID = workspace
	persona = n.createPersona(t, req).ID
	doc, err := n.CreateSkill(t.Context(), n.Root, nil, abi.CreateSkillRequest{PersonaID: persona, Name: "s", Description: "d"})
	if err != nil {
		t.Fatal(err)
	}
	return persona, doc.ID
}

// A Persona of a Workspace is used there. In any other one it is as a Persona that is not there,
// whoever asks and however it is named; one of the whole tenant is used in all.
func TestPersonasAreUsedInTheirWorkspace(t *testing.T) {
	p := newProgram()
	n := newNode(t, enginetest.Guests{"program": p.run, "sorter": normalizing(aPersonaTask)}, func(_ *engine.Config, p *engine.Parts) {
		p.Performers = map[string]provider.Performer{abi.CallToolCall: open{}}
	})
	both := newWorkplaces(t, n, p)
	home, away := both[0], both[1]
	own, ownSkill := n.offeredPersona(t, home.id)
	tenants, tenantsSkill := n.offeredPersona(t, "")
	for name, use := range uses {
		t.Run(name, func(t *testing.T) {
			for what, got := range map[string]string{
				"its own":             use(home, own, ownSkill),
				"the tenant's":        use(home, tenants, tenantsSkill),
				"the tenant's, there": use(away, tenants, tenantsSkill),
			} {
				if got != "" {
					t.Errorf("%s is refused: %s", what, got)
				}
			}
			const none, noSkill = "persona_01K0000000000000000000NONE", "skill_01K0000000000000000000NONE"
			got, want := use(away, own, ownSkill), use(away, none, noSkill)
			if got = strings.NewReplacer(own, none, ownSkill, noSkill).Replace(got); got == "" || got != want {
				t.Errorf("another workspace's: %q, one that is not there: %q", got, want)
			}
		})
	}
}

// What a Persona of a Workspace remembers is seen in its Workspace alone, whoever wrote it.
func TestMemoriesOfAWorkspacesPersona(t *testing.T) {
	write := func(ctx context.Context, h sandbox.Host) error {
		_, _, err := h.Call(ctx, abi.CallMemoryWrite, []byte(`{"scope":"persona","content":"from a task"}`))
		return err
	}
	n := newNode(t, enginetest.Guests{"writer": write})
	both := newWorkplaces(t, n, nil)
	req := aPersona()
	req.EntryWorkflow, req.WorkspaceID = "writer", both[0].id
	own := n.createPersona(t, req).ID
	n.Wait(t, n.Submit(t, both[0].session, own))
	memory := abi.CreateMemoryRequest{Scope: abi.MemoryPersona, OwnerID: own, Content: jsontext.Value(`"from a client"`), Provenance: jsontext.Value(`{}`)}
	if _, err := n.CreateMemory(t.Context(), n.bound(both[0].id), nil, memory); err != nil {
		t.Fatal(err)
	}
	_, err := n.CreateMemory(t.Context(), n.bound(both[1].id), nil, memory)
	enginetest.WantCode(t, err, abi.CodeResourceNotFound)
	for i, want := range []int{2, 0} {
		list, err := n.ListMemories(t.Context(), n.bound(both[i].id), memories.Filter{OwnerID: own}, desk.Page{Limit: 10})
		if err != nil || len(list.Docs) != want {
			t.Errorf("workspace %d sees %d, want %d, %v", i, len(list.Docs), want, err)
		}
	}
}

// bound returns a caller who may do everything in one Workspace.
func (n *node) bound(workspace string) *desk.Caller {
	c := *n.Root
	c.Actor, c.KeyID, c.Workspaces = "bound", "key_bound", []string{workspace}
	return &c
}

// What began with a Persona of its Workspace is replayed and forked there, over a restart too.
func TestReplaysOfAWorkspacesPersona(t *testing.T) {
	p := newProgram(say("x"))
	n := newNode(t, enginetest.Guests{"program": p.run})
	both := newWorkplaces(t, n, p)
	req := aPersona()
	req.EntryWorkflow, req.WorkspaceID, req.ReceiptPolicy = "program", both[1].id, abi.ReceiptRequired
	own := n.createPersona(t, req).ID
	id := n.Submit(t, both[1].session, own)
	n.Wait(t, id)
	n.updatePersona(t, own, abi.UpdatePersonaRequest{AutonomyTier: ptr(abi.TierShadow), Retired: ptr(true)})
	n.wantReplay(t, id)
	doc, err := n.ForkTask(t.Context(), n.bound(both[1].id), nil, id, abi.ForkTaskRequest{})
	if err != nil {
		t.Fatal(err)
	}
	if fork := n.Wait(t, doc.ID); fork.Status != abi.TaskCompleted || fork.PersonaID != own || fork.WorkspaceID != both[1].id {
		t.Errorf("the fork: %+v", fork)
	}
}
