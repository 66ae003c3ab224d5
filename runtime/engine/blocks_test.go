package engine_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	json "github.com/go-json-experiment/json"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/desk"
	"github.com/wharf-dev/wharf/runtime/engine"
	"github.com/wharf-dev/wharf/runtime/enginetest"
	"github.com/wharf-dev/wharf/runtime/hosttools"
	"github.com/wharf-dev/wharf/runtime/provider"
	"github.com/wharf-dev/wharf/runtime/sandbox"
	"github.com/wharf-dev/wharf/runtime/tenancy"
)

// hostServer says what the host's tools are, as a node's own server of tools does.
type hostServer struct{}

func (hostServer) Prepare(_ context.Context, c *provider.Call) (provider.Plan, error) {
	var req abi.CallToolCallRequest
	if err := json.Unmarshal(c.Request, &req); err != nil {
		return provider.Plan{}, provider.Malformed(err)
	}
	plan := provider.Plan{Effect: abi.EffectWrite}
	if t := hosttools.Find(req.Name); t != nil {
		tool := t.Tool
		if plan.Tool = &tool; tool.ReadOnly {
			plan.Effect = abi.EffectRead
		}
	}
	return plan, nil
}

func withHostServer(_ *engine.Config, p *engine.Parts) {
	p.Performers = map[string]provider.Performer{abi.CallToolCall: hostServer{}}
}

// anAgent makes an agent of the default Workspace that runs a guest.
func (n *node) anAgent(t testing.TB, guest string, change ...func(*abi.CreatePersonaRequest)) string {
	t.Helper()
	req := aPersona()
	req.Name, req.EntryWorkflow, req.WorkspaceID, req.Agent = "agent of "+guest, guest, tenancy.DefaultWorkspace, &abi.Agent{}
	for _, c := range change {
		c(&req)
	}
	return n.createPersona(t, req).ID
}

// inMind says what an agent has in mind, in short.
func (n *node) inMind(t testing.TB, persona string) string {
	t.Helper()
	m, err := n.AgentMemory(t.Context(), n.Root, persona)
	if err != nil {
		t.Fatal(err)
	}
	text := fmt.Sprint(m.Version)
	for _, b := range m.Blocks {
		text += fmt.Sprintf(" %s=%s/%d", b.Label, b.Value, b.Version)
	}
	return text
}

// changes counts how often the memory of agents has changed by a Task.
func (n *node) changes(t testing.TB, task string) (count int) {
	t.Helper()
	for _, kind := range n.Kinds(t, desk.Filter{TaskID: task}) {
		if kind == string(abi.EventAgentMemoryChanged) {
			count++
		}
	}
	return count
}

// The program of a Task that reads and changes blocks, as calls and as tools.
func minds() []op {
	return []op{
		{abi.CallBlockList, `{}`},
		hostTool("memory_append", `{"label":"log","text":"first"}`),
		{abi.CallBlockWrite, `{"label":"log","value":"second","append":true}`},
		hostTool("memory_replace", `{"label":"user","value":"Likes tea.","version":0}`),
		{abi.CallBlockList, ``},
		hostTool("memory_replace", `{"label":"user","value":"Likes coffee."}`),
		hostTool("memory_append", `{"label":"law","text":"x"}`),
		hostTool("memory_append", `{"label":"log","text":"third"}`),
	}
}

// Whichever call the power is cut before or after, each change is made once. What is told of the blocks
// is recorded: a replay is told the same when they have changed since, and changes nothing.
func TestBlocksAreWrittenOnce(t *testing.T) {
	for cut := range len(minds()) + 1 {
		t.Run(fmt.Sprint(cut), func(t *testing.T) {
			p := newProgram(minds()...)
			g := enginetest.Guests{"program": p.run, "echo": enginetest.Echo}
			first := newNode(t, g, withHostServer)
			agent := first.anAgent(t, "program")
			if _, err := first.CreateBlock(t.Context(), first.Root, nil, agent, abi.CreateBlockRequest{Label: "law", Value: "Be kind.", ReadOnly: true}); err != nil {
				t.Fatal(err)
			}
			p.stopBefore(cut)
			id := first.Submit(t, first.Session(t), agent)
			<-p.there
			disk := first.Disk.Crash(uint64(cut), 0)
			p.stopBefore(-1)
			n := boot(t, disk, g, withHostServer)
			defer n.Stop(t)
			if task := n.Wait(t, id); task.Status != abi.TaskCompleted {
				t.Fatalf("%+v", task.Failure)
			}
			const want = "6 law=Be kind./1 log=first\nsecond\nthird/6 user=Likes coffee./5"
			if got := n.inMind(t, agent); got != want || n.changes(t, id) != 5 {
				t.Fatalf("%s after %d changes", got, n.changes(t, id))
			}
			runs := p.runs()
			told := runs[len(runs)-1]
			for i, want := range []string{`0 {"version":1,"blocks":[{"label":"law","value":"Be kind.","read_only":true,"version":1}]}`, `\"version\":2`, `0 {"label":"log","version":3,"characters":12}`,
				`\"version\":4`, `{"label":"user","value":"Likes tea.","read_only":false,"version":4}`, `\"version\":5`, `2 {"code":"block_read_only","message":"the block \"law\" is read-only`, `\"version\":6`} {
				if !strings.Contains(told[i], want) {
					t.Errorf("call %d is answered %s, want %s", i, told[i], want)
				}
			}
			if _, err := n.UpdateBlock(t.Context(), n.Root, nil, agent, "user", abi.UpdateBlockRequest{Value: "Hers."}); err != nil {
				t.Fatal(err)
			}
			n.wantReplay(t, id)
			n.wantProof(t, id)
			if again := p.runs(); strings.Join(again[len(again)-1], "\n") != strings.Join(told, "\n") {
				t.Errorf("the replay was told %v", again[len(again)-1])
			}
			if got := n.inMind(t, agent); got != strings.Replace(strings.Replace(want, "6 law", "7 law", 1), "Likes coffee./5", "Hers./7", 1) {
				t.Errorf("the replays have made it %s", got)
			}
		})
	}
}

// A fork has its record's answers and the agent's memory as it is: what it does after that changes the one memory
// that there is, and nothing of the shared record is done again.
func TestForksShareBlocks(t *testing.T) {
	p := newProgram(minds()...)
	n := newNode(t, enginetest.Guests{"program": p.run, "echo": enginetest.Echo}, withHostServer)
	agent := n.anAgent(t, "program")
	id := n.Submit(t, n.Session(t), agent)
	n.Wait(t, id)
	if got := n.inMind(t, agent); got != "6 law=x/5 log=first\nsecond\nthird/6 user=Likes coffee./4" {
		t.Fatal(got)
	}
	doc, err := n.ForkTask(t.Context(), n.Root, nil, id, abi.ForkTaskRequest{AtEventID: n.recordOf(t, id).Entries[3].EventID})
	if err != nil {
		t.Fatal(err)
	}
	if task := n.Wait(t, doc.ID); task.Status != abi.TaskCompleted {
		t.Fatalf("%+v", task.Failure)
	}
	runs := p.runs()
	if told := runs[len(runs)-1]; !strings.Contains(told[0], `"blocks":[]`) || !strings.Contains(told[4], "third") {
		t.Errorf("the fork is told %q", told)
	}
	if got := n.inMind(t, agent); got != "9 law=x\nx/8 log=first\nsecond\nthird\nthird/9 user=Likes coffee./7" || n.changes(t, doc.ID) != 3 {
		t.Errorf("the fork has made it %s", got)
	}
	n.wantReplay(t, doc.ID)
}

// Of what Tasks of one agent add at once nothing is lost, and no replay of one is told what another did.
func TestTasksOfAnAgentWriteAtOnce(t *testing.T) {
	const tasks, lines = 4, 5
	write := func(ctx context.Context, h sandbox.Host) error {
		_, input, err := h.Call(ctx, abi.CallInput, nil)
		if err != nil {
			return err
		}
		var in abi.CallInputAnswer
		if err := json.Unmarshal(input, &in); err != nil {
			return err
		}
		for i := range lines {
			if err := enginetest.Call(ctx, h, abi.CallBlockWrite, fmt.Sprintf(`{"label":"log","value":"%s-%d.","append":true}`, in.Task.ID, i)); err != nil {
				return err
			}
		}
		return enginetest.Call(ctx, h, abi.CallBlockList, ``)
	}
	n := newNode(t, enginetest.Guests{"writer": write})
	agent := n.anAgent(t, "writer")
	ids := make([]string, tasks)
	var all sync.WaitGroup
	for i := range ids {
		session := n.Session(t)
		all.Go(func() {
			ids[i] = n.Submit(t, session, agent)
			if task := n.Wait(t, ids[i]); task.Status != abi.TaskCompleted {
				t.Errorf("%+v", task.Failure)
			}
		})
	}
	all.Wait()
	got := n.inMind(t, agent)
	for _, id := range ids {
		for i := range lines {
			if line := fmt.Sprintf("%s-%d.", id, i); strings.Count(got, line) != 1 {
				t.Errorf("%s is there %d times", line, strings.Count(got, line))
			}
		}
		n.wantReplay(t, id)
	}
	if !strings.HasPrefix(got, fmt.Sprint(tasks*lines, " ")) {
		t.Error(got)
	}
}

// A block outlives the Session: the tier of a Persona holds its tools back as it does memory.write, and a
// list of host calls that does not name block.write names no tool that stands for it.
func TestPolicyHoldsBlocks(t *testing.T) {
	for name, test := range map[string]struct {
		change func(*abi.CreatePersonaRequest)
		told   string
	}{
		"shadow":     {func(r *abi.CreatePersonaRequest) { r.AutonomyTier = abi.TierShadow }, `"code":"shadow"`},
		"suggest":    {func(r *abi.CreatePersonaRequest) { r.AutonomyTier = abi.TierSuggest }, `"code":"proposed"`},
		"capability": {func(r *abi.CreatePersonaRequest) { r.Capabilities = []string{abi.CallToolCall} }, `"code":"capability_denied"`},
		"tools":      {func(r *abi.CreatePersonaRequest) { r.ToolsDenied = []string{"host:memory_*"} }, `"code":"tool_denied"`},
		"approvals": {func(r *abi.CreatePersonaRequest) {
			r.AutonomyTier, r.Approvals = abi.TierActWithApproval, &abi.ApprovalPolicy{Without: []string{abi.CallBlockWrite}}
		}, `\"version\":1`},
	} {
		p := newProgram(hostTool("memory_replace", `{"label":"a","value":"x"}`))
		n := newNode(t, enginetest.Guests{"program": p.run}, withHostServer)
		agent := n.anAgent(t, "program", test.change)
		if task := n.Wait(t, n.Submit(t, n.Session(t), agent)); task.Status != abi.TaskCompleted {
			t.Errorf("%s: %s %+v", name, task.Status, task.Failure)
		}
		if told := p.runs()[0][0]; !strings.Contains(told, test.told) {
			t.Errorf("%s: it is told %s", name, told)
		}
	}
	for action, o := range map[string]op{"tool.call host:memory_replace": hostTool("memory_replace", `{"label":"a","value":"x"}`),
		"block.write a": {abi.CallBlockWrite, `{"label":"a","value":"x"}`}} {
		p := newProgram(o)
		n := newNode(t, enginetest.Guests{"program": p.run}, withHostServer)
		agent := n.anAgent(t, "program", func(r *abi.CreatePersonaRequest) { r.AutonomyTier = abi.TierActWithApproval })
		id := n.Submit(t, n.Session(t), agent)
		task := n.parked(t, id)
		if w := task.Waiting; w == nil || !w.Gate || w.Action != action {
			t.Fatalf("it waits for %+v", w)
		}
		if _, err := n.RespondPermission(t.Context(), n.Root, nil, task.Waiting.PermissionID, abi.RespondRequest{Decision: "approved", Arguments: []byte(`{"label":"a","value":"y"}`)}); err != nil {
			t.Fatal(err)
		}
		if n.Wait(t, id); n.inMind(t, agent) != "1 a=y/1" {
			t.Errorf("approved with other arguments it is %s", n.inMind(t, agent))
		}
		n.wantReplay(t, id)
	}
}

// A child Task has the blocks of its own Persona, and none of its parent's.
func TestASubagentHasItsOwnBlocks(t *testing.T) {
	child := newProgram(op{abi.CallBlockList, ``}, hostTool("memory_append", `{"label":"note","text":"the child's"}`))
	var parent program
	n := newNode(t, enginetest.Guests{"child": child.run, "parent": func(ctx context.Context, h sandbox.Host) error { return parent.run(ctx, h) }}, withHostServer)
	helper := n.anAgent(t, "child")
	boss := n.anAgent(t, "parent")
	parent.stop, parent.ops = -1, []op{{abi.CallBlockWrite, `{"label":"note","value":"the parent's"}`},
		{abi.CallToolCall, fmt.Sprintf(`{"server":"skills","name":%q,"arguments":{"text":"go"}}`, helper)}}
	id := n.Submit(t, n.Session(t), boss)
	if task := n.Wait(t, id); task.Status != abi.TaskCompleted {
		t.Fatalf("%+v", task.Failure)
	}
	if told := child.runs()[0][0]; told != `0 {"version":0,"blocks":[]}` {
		t.Errorf("the child is told %s", told)
	}
	if a, b := n.inMind(t, boss), n.inMind(t, helper); a != "1 note=the parent's/1" || b != "1 note=the child's/1" {
		t.Errorf("%s and %s", a, b)
	}
}
