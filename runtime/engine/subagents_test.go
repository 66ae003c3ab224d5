package engine_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/engine"
	"github.com/wharf-dev/wharf/runtime/enginetest"
	"github.com/wharf-dev/wharf/runtime/provider"
	"github.com/wharf-dev/wharf/runtime/provider/tool"
	"github.com/wharf-dev/wharf/runtime/sandbox"
)

// delegates gives a node the tools that the engine serves by itself.
func delegates(_ *engine.Config, p *engine.Parts) {
	p.AddedTools = tool.NewAdded()
	tools := tool.New(tool.Config{Added: p.AddedTools, Log: p.Log})
	p.Performers = map[string]provider.Performer{abi.CallToolCall: tools, abi.CallToolList: tools}
}

// agent makes an agent that a plugin runs; with change, otherwise than it would be.
func (n *node) agent(t testing.TB, name, plugin, parent string, change func(*abi.CreatePersonaRequest)) string {
	t.Helper()
	description := "About " + name + "."
	req := abi.CreatePersonaRequest{Name: name, Version: "1", EntryWorkflow: plugin, Description: &description, AutonomyTier: abi.TierActAuto,
		ReceiptPolicy: abi.ReceiptRequired, WorkspaceID: n.DefaultWorkspace(n.Root.Tenant), Agent: &abi.Agent{ParentID: parent}}
	if change != nil {
		change(&req)
	}
	made, err := n.CreatePersona(t.Context(), n.Root, nil, req)
	if err != nil {
		t.Fatal(err)
	}
	return made.ID
}

func delegate(name, task string) op {
	return op{abi.CallToolCall, fmt.Sprintf(`{"server":"agents","name":%q,"arguments":{"task":%q,"context":{"n": 1}}}`, name, task)}
}

// childrenOf returns the Tasks that a Task has given work.
func (n *node) childrenOf(t testing.TB, id string) (list []abi.Task) {
	t.Helper()
	for _, task := range n.all(t) {
		if task.ParentTaskID == id && task.Replay == nil && task.Fork == nil {
			list = append(list, task)
		}
	}
	return list
}

// A model is offered the subagents of its agent and no others, and what it delegates is done in a
// Session of its own. It is told what the subagent said last. A replay asks nobody.
func TestSubagentsAsTools(t *testing.T) {
	parent := newProgram(op{abi.CallToolList, `{}`}, delegate("Scout", "look"), delegate("Stranger", "look"), delegate("Gone", "look"),
		op{abi.CallToolCall, `{"server":"agents","name":"Scout","arguments":{"task":" "}}`},
		op{abi.CallToolCall, `{"server":"agents","name":"Scout","arguments":{"task":"x","context":[]}}`}, delegate("Broken", "go"))
	scout := newProgram(op{abi.CallInput, `{}`}, op{abi.CallTranscriptRead, `{}`}, say("I go."), say("It is dry."))
	broken := func(ctx context.Context, h sandbox.Host) error {
		return enginetest.Call(ctx, h, abi.CallOutput, `{"summary":"","failure":{"code":"lost","message":"no way"}}`)
	}
	n := newNode(t, enginetest.Guests{"parent": parent.run, "scout": scout.run, "broken": broken}, delegates)
	id := n.agent(t, "Lead", "parent", "", nil)
	own := n.agent(t, "Scout", "scout", id, nil)
	n.agent(t, "Broken", "broken", id, nil)
	n.agent(t, "Below", "scout", own, nil)
	n.agent(t, "Stranger", "scout", n.agent(t, "Other", "parent", "", nil), nil)
	retired := true
	if _, err := n.UpdatePersona(t.Context(), n.Root, nil, n.agent(t, "Gone", "scout", id, nil), abi.UpdatePersonaRequest{Retired: &retired}); err != nil {
		t.Fatal(err)
	}
	session := n.Session(t)
	task := n.Submit(t, session, id)
	if done := n.Wait(t, task); done.Status != abi.TaskCompleted {
		t.Fatalf("%+v", done.Failure)
	}
	told := parent.runs()[len(parent.runs())-1]
	for i, want := range []string{`"server":"agents","name":"Broken"`, `0 {"content":[{"type":"text","text":"It is dry."}]}`, "3 ", "3 ", "task is what to do", "context is an object", "no way"} {
		if !strings.Contains(told[i], want) {
			t.Errorf("call %d was answered %s, want %q", i, told[i], want)
		}
	}
	for _, no := range []string{"Below", "Stranger", "Gone"} {
		if strings.Contains(told[0], no) {
			t.Errorf("%s is offered: %s", no, told[0])
		}
	}
	if !strings.Contains(told[0], "About Scout.") || !strings.Contains(told[6], `"is_error":true`) {
		t.Errorf("%s\n%s", told[0], told[6])
	}
	children := n.childrenOf(t, task)
	i := slices.IndexFunc(children, func(c abi.Task) bool { return c.PersonaID == own })
	if len(children) != 2 || i < 0 || children[i].SessionID == session || children[i].Run == nil || !strings.HasSuffix(children[i].Run.Context, `{"n":1}`) {
		t.Fatalf("%+v", children)
	}
	if saw := scout.runs()[0]; !strings.Contains(saw[0], `"text":"look"`) || strings.Count(saw[1], `"role"`) != 1 {
		t.Errorf("the subagent was told %s, and of the conversation %s", saw[0], saw[1])
	}
	if got := n.texts(t, session); slices.Contains(got, "It is dry.") {
		t.Errorf("the conversation has what was said elsewhere: %q", got)
	}
	if s, err := n.sessionState(t, children[i].SessionID); err != nil || s.State != abi.SessionClosed || s.OnlyTaskID != children[i].ID {
		t.Errorf("%+v, %v", s, err)
	}
	before := len(scout.runs())
	n.wantReplay(t, task)
	if len(scout.runs()) != before {
		t.Error("a replay has had the subagent work")
	}
	n.wantReplay(t, children[i].ID)
}

// sessionState returns a Session as it is.
func (n *node) sessionState(t testing.TB, id string) (abi.Session, error) {
	doc, err := n.Get(t.Context(), n.Root, abi.ObjectSession, id)
	if err != nil {
		return abi.Session{}, err
	}
	return enginetest.As[abi.Session](t, doc), nil
}

// Wherever the node dies, what is delegated is done once, also when the subagent was deleted in
// between, or nobody may delegate any more.
func TestDelegationOverCrashes(t *testing.T) {
	for seed := range uint64(8) {
		parent, entered, leave := newProgram(delegate("Scout", "look")), make(chan struct{}, 10), make(chan struct{})
		g := enginetest.Guests{"parent": parent.run, "scout": enginetest.Hold(entered, leave, newProgram(say("It is dry.")).run)}
		n := newNode(t, g, delegates)
		id := n.agent(t, "Lead", "parent", "", nil)
		scout := n.agent(t, "Scout", "scout", id, nil)
		task := n.Submit(t, n.Session(t), id)
		<-entered
		if seed%2 == 0 {
			if err := n.DeleteAgent(t.Context(), n.Root, nil, n.DefaultWorkspace(n.Root.Tenant), scout); err != nil {
				t.Fatal(err)
			}
		}
		kept := 0.0
		if seed > 3 {
			kept = 1
		}
		n = boot(t, n.Disk.Crash(seed, kept), g, func(c *engine.Config, p *engine.Parts) {
			if delegates(c, p); seed%4 == 3 {
				none := tool.New(tool.Config{Log: p.Log})
				p.Performers = map[string]provider.Performer{abi.CallToolCall: none, abi.CallToolList: none}
			}
		})
		close(leave)
		if done := n.Wait(t, task); done.Status != abi.TaskCompleted {
			t.Errorf("%d: %+v", seed, done.Failure)
		}
		if children := n.childrenOf(t, task); len(children) != 1 || children[0].Status != abi.TaskCompleted {
			t.Errorf("%d: %+v", seed, children)
		}
		if runs := parent.runs(); !strings.Contains(runs[len(runs)-1][0], "It is dry.") {
			t.Errorf("%d: %q", seed, runs)
		}
		n.wantSound(t)
		n.wantReplay(t, task)
		n.Stop(t)
	}
}

// A subagent may do no more than its parent, whoever gives it work, and as the parent is when the
// work begins. What bounds the Task of the parent bounds what it delegates.
func TestSubagentsMayDoNoMore(t *testing.T) {
	parent, scout := newProgram(delegate("Scout", "write")), newProgram(op{abi.CallMemoryWrite, `{"scope":"workspace","content":"x"}`}, delegate("Below", "x"))
	n := newNode(t, enginetest.Guests{"parent": parent.run, "scout": scout.run, "below": newProgram().run}, delegates)
	id := n.agent(t, "Lead", "parent", "", func(r *abi.CreatePersonaRequest) { r.Tools = []string{"agents:Scout"} })
	own := n.agent(t, "Scout", "scout", id, func(r *abi.CreatePersonaRequest) { r.Tools = []string{"*"} })
	n.agent(t, "Below", "below", own, nil)
	session := n.Session(t)
	last := func() []string { runs := scout.runs(); return runs[len(runs)-1] }
	check := func(who string, write bool) {
		t.Helper()
		if told := last(); strings.HasPrefix(told[0], "0 ") != write || !strings.Contains(told[1], "persona "+id+" may not call the tool agents:Below") {
			t.Errorf("%s: %q", who, told)
		}
	}
	task := n.Submit(t, session, id)
	n.Wait(t, task)
	check("by its parent", true)
	n.Wait(t, n.Submit(t, session, own))
	check("by a client", true)
	n.updatePersona(t, id, abi.UpdatePersonaRequest{AutonomyTier: new(abi.TierSuggest)})
	n.Wait(t, n.Submit(t, session, own))
	check("of a parent that only suggests", false)
	for _, child := range n.childrenOf(t, task) {
		n.wantReplay(t, child.ID)
		check("on a replay", true)
	}
	n.updatePersona(t, id, abi.UpdatePersonaRequest{AutonomyTier: new(abi.TierActAuto)})
	doc, err := n.SubmitTask(t.Context(), n.Root, nil, abi.SubmitTaskRequest{SessionID: session, PersonaID: id, Input: enginetest.Text("go"),
		Run: &abi.RunOptions{MaxTokens: 7, Budget: &abi.Budget{HostCalls: 5}}})
	if err != nil {
		t.Fatal(err)
	}
	n.Wait(t, doc.ID)
	if c := n.childrenOf(t, doc.ID); len(c) != 1 || c[0].Run == nil || c[0].Run.MaxTokens != 7 || c[0].Run.Budget.HostCalls != 5 {
		t.Errorf("%+v", c)
	}
}

// A tool that an approval is due for is asked for before there is a Task, and a parent that may not
// hand work on does not.
func TestDelegationIsGated(t *testing.T) {
	parent := newProgram(op{abi.CallToolList, `{}`}, delegate("Scout", "look"))
	n := newNode(t, enginetest.Guests{"parent": parent.run, "scout": newProgram(say("ok")).run}, delegates)
	careful := n.agent(t, "Careful", "parent", "", func(r *abi.CreatePersonaRequest) { r.AutonomyTier = abi.TierActWithApproval })
	n.agent(t, "Scout", "scout", careful, nil)
	id := n.Submit(t, n.Session(t), careful)
	n.parked(t, id)
	if c := n.childrenOf(t, id); len(c) != 0 {
		t.Errorf("before the approval: %+v", c)
	}
	n.decide(t, id, `{"decision":"approved"}`)
	n.Wait(t, id)
	if c := n.childrenOf(t, id); len(c) != 1 {
		t.Errorf("after it: %+v", c)
	}
	alone := n.agent(t, "Alone", "parent", "", func(r *abi.CreatePersonaRequest) { r.Handoffs = []string{} })
	n.agent(t, "Scout", "scout", alone, nil)
	id = n.Submit(t, n.Session(t), alone)
	n.Wait(t, id)
	if told := parent.runs()[len(parent.runs())-1]; strings.Contains(told[0], "Scout") || !strings.Contains(told[1], "may not hand work") {
		t.Errorf("%q", told)
	}
}

// Subagents come and go while their parent's Tasks run: each is offered from then on, and not after.
func TestSubagentsComeAndGo(t *testing.T) {
	parent := newProgram(op{abi.CallToolList, `{}`})
	n := newNode(t, enginetest.Guests{"parent": parent.run}, delegates)
	id := n.agent(t, "Lead", "parent", "", nil)
	session, workspace := n.Session(t), n.DefaultWorkspace(n.Root.Tenant)
	offered := func() string {
		n.Wait(t, n.Submit(t, session, id))
		return parent.runs()[len(parent.runs())-1][0]
	}
	if got := offered(); got != `0 {"tools":[]}` {
		t.Errorf("%s", got)
	}
	first := n.agent(t, "First", "parent", id, nil)
	n.updatePersona(t, n.agent(t, "Second", "parent", id, nil), abi.UpdatePersonaRequest{Name: new("Renamed")})
	if got := offered(); !strings.Contains(got, `"First"`) || !strings.Contains(got, `"Renamed"`) || strings.Contains(got, `"name":"Second"`) {
		t.Errorf("%s", got)
	}
	if err := n.DeleteAgent(t.Context(), n.Root, nil, workspace, first); err != nil {
		t.Fatal(err)
	}
	if got := offered(); strings.Contains(got, `"First"`) {
		t.Errorf("%s", got)
	}
}

// What is delegated ends with the Task that waits for it, also when the node dies between the two ends.
func TestWhatIsDelegatedEndsWithItsCaller(t *testing.T) {
	for name, asks := range map[string]bool{"runs": false, "is parked": true} {
		parent, entered, leave := newProgram(delegate("Scout", "look")), make(chan struct{}, 10), make(chan struct{})
		scout := enginetest.Hold(entered, leave, newProgram().run)
		if asks {
			scout = newProgram(op{abi.CallInputRequest, `{"prompt":"who?"}`}).run
		}
		g := enginetest.Guests{"parent": parent.run, "scout": scout}
		n := newNode(t, g, delegates)
		id := n.agent(t, "Lead", "parent", "", nil)
		n.agent(t, "Scout", "scout", id, nil)
		task := n.Submit(t, n.Session(t), id)
		n.waitsFor(t, task, abi.CallToolCall)
		child := n.childrenOf(t, task)[0].ID
		if asks {
			n.parked(t, child)
		} else {
			<-entered
		}
		if _, err := n.CancelTask(t.Context(), n.Root, nil, task, abi.CancelTaskRequest{}); err != nil {
			t.Fatal(err)
		}
		for seed, kept := range []float64{0, 0.5} {
			survivor := boot(t, n.Disk.Crash(uint64(seed), kept), g, delegates)
			if got := survivor.Wait(t, child); got.Status != abi.TaskCanceled || survivor.Wait(t, task).Status != abi.TaskCanceled {
				t.Errorf("%s: after a crash the child is %s", name, got.Status)
			}
			survivor.wantSound(t)
			survivor.Stop(t)
		}
		if got := n.Wait(t, child); got.Status != abi.TaskCanceled {
			t.Errorf("%s: the child is %s", name, got.Status)
		}
	}
}
