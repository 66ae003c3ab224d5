package engine_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"pgregory.net/rapid"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/engine"
	"github.com/wharf-dev/wharf/runtime/enginetest"
	"github.com/wharf-dev/wharf/runtime/provider"
	"github.com/wharf-dev/wharf/storage/pebble/crashtest"
)

// drawPolicy draws what a Persona may do.
func drawPolicy(t *rapid.T) func(*abi.Persona) {
	tier := rapid.SampledFrom([]abi.AutonomyTier{abi.TierShadow, abi.TierSuggest, abi.TierActWithApproval, abi.TierActAuto}).Draw(t, "tier")
	tools := rapid.SampledFrom([][]string{nil, {"fs:*"}, {"fs:get"}, {"other:*"}}).Draw(t, "tools")
	handoffs := rapid.SampledFrom([][]string{nil, {}, {"persona_echo"}}).Draw(t, "handoffs")
	without := rapid.SampledFrom([][]string{nil, {"fs:*"}, {"handoff", "memory.*"}}).Draw(t, "without")
	budget := rapid.SampledFrom([]*abi.Budget{nil, {ToolCalls: 1}, {HostCalls: 3}}).Draw(t, "budget")
	return func(p *abi.Persona) {
		p.AutonomyTier, p.Tools, p.Handoffs, p.Budget = tier, tools, handoffs, budget
		p.Approvals = &abi.ApprovalPolicy{SelfApproval: true, Without: without}
	}
}

// A random program under a random policy, killed at random calls, resumed, approved,
// replayed and forked: nothing is done that the tier holds back, nothing is done
// without its approval or twice, and its record has one receipt.
func TestRandomPolicies(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		ops := rapid.SliceOfN(rapid.SampledFrom(append(harmless(), writes()...)), 1, 6).Draw(rt, "program")
		p := newProgram(ops...)
		box, web := &toolbox{}, &target{repeatable: true}
		set := drawPolicy(rt)
		var persona abi.Persona
		set(&persona)
		g := enginetest.Guests{"program": p.run, "echo": enginetest.Echo}
		configure := []enginetest.Configure{asPersona(set), func(_ *engine.Config, parts *engine.Parts) {
			parts.Performers = map[string]provider.Performer{abi.CallToolCall: box, abi.CallHTTPFetch: web}
		}}
		n := boot(t, crashtest.NewDisk(), g, configure...)
		defer func() { n.Stop(t) }()
		session, id := n.Session(t), ""
		for i, cut := range rapid.SliceOfN(rapid.IntRange(0, len(ops)), 0, 2).Draw(rt, "cuts") {
			p.stopBefore(cut)
			if i == 0 {
				id = n.Submit(t, session, "persona_program")
			}
			n.until(t, id, p)
			disk := n.Disk.Crash(rapid.Uint64().Draw(rt, "seed"), rapid.Float64Range(0, 1).Draw(rt, "kept"))
			n.abandon()
			p.stopBefore(-1)
			n = boot(t, disk, g, configure...)
		}
		if id == "" {
			id = n.Submit(t, session, "persona_program")
		}
		n.until(t, id, p)
		task := n.Wait(t, id)
		if task.Status != abi.TaskCompleted || task.ReceiptID == "" {
			rt.Fatalf("%s %+v", task.Status, task.Failure)
		}
		rec := n.recordOf(t, id)
		gates, done := 0, 0
		for i, e := range rec.Entries {
			if e.Call == abi.CallGate {
				gates++
				if i+1 == len(rec.Entries) || rec.Entries[i+1].Call == abi.CallGate {
					rt.Fatalf("the gate %d has no call", i)
				}
			}
			if e.Call == abi.CallToolCall && e.Status == abi.CallOK && strings.Contains(string(e.Request), "write") {
				done++
			}
		}
		if got := strings.Count(box.reached(), "write"); got < done || got > done+2 { // a call that was cut has reached it, and is indeterminate
			rt.Fatalf("%d writes are recorded as done, and %d reached the tool", done, got)
		}
		switch {
		case persona.AutonomyTier == abi.TierActWithApproval:
		case gates > 0:
			rt.Fatalf("somebody was asked %d times on the tier %s", gates, persona.AutonomyTier)
		case persona.AutonomyTier != abi.TierActAuto:
			if got := n.outside(t, id, box, web); got != "0 tools, 0 requests, 0 children, 0 memories" {
				rt.Fatalf("on the tier %s it changed %s", persona.AutonomyTier, got)
			}
		}
		n.wantReplay(t, id)
		before := strings.Count(box.reached(), "write")
		at := rapid.IntRange(0, len(rec.Entries)-1).Draw(rt, "fork")
		forked, err := n.ForkTask(context.Background(), n.Root, nil, id, abi.ForkTaskRequest{AtEventID: rec.Entries[at].EventID})
		if err != nil {
			rt.Fatal(err)
		}
		n.until(t, forked.ID, p)
		if fork := n.Wait(t, forked.ID); fork.Status != abi.TaskCompleted {
			rt.Fatalf("the fork: %s %+v", fork.Status, fork.Failure)
		}
		n.wantReplay(t, forked.ID)
		if persona.AutonomyTier == abi.TierShadow && strings.Count(box.reached(), "write") != before {
			rt.Fatal("a fork wrote in the shadow")
		}
	})
}

// A fork that begins between an approval and its call asks again: an approval is for
// one call of one Task.
func TestForkAsksAgain(t *testing.T) {
	box := &toolbox{}
	p := newProgram(say("before"), writeTool(`{"path":"a"}`), say("after"))
	n := newNode(t, enginetest.Guests{"program": p.run, "echo": enginetest.Echo}, withTools(box), atTier(abi.TierActWithApproval))
	id := n.Submit(t, n.Session(t), "persona_program")
	n.parked(t, id)
	n.decide(t, id, `{"decision":"approved"}`)
	n.Wait(t, id)
	rec := n.recordOf(t, id)
	for i, want := range []string{`write {"path":"a"}; write {"path":"b"}`, `write {"path":"a"}; write {"path":"b"}; write {"path":"b"}`} {
		doc, err := n.ForkTask(context.Background(), n.Root, nil, id, abi.ForkTaskRequest{AtEventID: rec.Entries[i].EventID})
		if err != nil {
			t.Fatal(err)
		}
		if w := n.parked(t, doc.ID).Waiting; !w.Gate {
			t.Fatalf("the fork waits for %+v", w)
		}
		n.decide(t, doc.ID, `{"decision":"approved","arguments":{"path":"b"}}`)
		if fork := n.Wait(t, doc.ID); fork.Status != abi.TaskCompleted || box.reached() != want {
			t.Errorf("%s %+v, the tool got %q", fork.Status, fork.Failure, box.reached())
		}
		n.wantReplay(t, doc.ID)
	}
	doc, err := n.ForkTask(context.Background(), n.Root, nil, id, abi.ForkTaskRequest{AtEventID: rec.Entries[2].EventID})
	if err != nil {
		t.Fatal(err)
	}
	before := box.reached()
	if fork := n.Wait(t, doc.ID); fork.Status != abi.TaskCompleted || box.reached() != before {
		t.Errorf("a fork behind the call made it again: %s, the tool got %q", fork.Status, box.reached())
	}
}

// Replays that change something, or begin at a boundary, go over approvals too.
func TestGatesInOtherReplays(t *testing.T) {
	p := newProgram(op{abi.CallClock, ""}, op{abi.CallToolCall, `{"call_id":"w","server":"fs","name":"write","arguments":{"path":"a"}}`}, op{abi.CallClock, ""})
	n := newNode(t, enginetest.Guests{"program": p.run, "echo": enginetest.Echo}, withTools(&toolbox{}), atTier(abi.TierActWithApproval))
	id := n.Submit(t, n.Session(t), "persona_program")
	n.parked(t, id)
	n.decide(t, id, `{"decision":"approved","arguments":{"path":"b"}}`)
	n.Wait(t, id)
	rec := n.recordOf(t, id)
	for i := range len(rec.Entries) + 1 {
		n.replayed(t, id, abi.ReplayTaskRequest{Mode: abi.ReplayFromCheckpoint, CheckpointID: fmt.Sprintf("call:%d", i)})
	}
	for key, value := range map[string]string{"mcp:fs:w": `{"content":[{"type":"text","text":"other"}]}`, "time:2": `"2030-01-01T00:00:00Z"`} {
		n.replayed(t, id, abi.ReplayTaskRequest{Mode: abi.ReplayWithOverrides, Override: map[string]abi.ReplayOverride{
			key: {Kind: abi.OverridePayload, Value: jsontext.Value(value)}}})
	}
}

// replayed wants a replay to end well.
func (n *node) replayed(t testing.TB, id string, req abi.ReplayTaskRequest) {
	t.Helper()
	doc, err := n.ReplayTask(context.Background(), n.Root, nil, id, req)
	if err != nil {
		t.Fatal(err)
	}
	if again := n.Wait(t, doc.ID); again.Status != abi.TaskCompleted || again.ReceiptID == "" {
		t.Errorf("%+v: %s %+v", req, again.Status, again.Failure)
	}
}

// A Task that is canceled, or whose node dies, while somebody is asked has a record
// that can be replayed.
func TestCanceledAtAGate(t *testing.T) {
	p := newProgram(say("before"), writeTool(`{"path":"a"}`))
	g := enginetest.Guests{"program": p.run, "echo": enginetest.Echo}
	box := &toolbox{}
	configure := []enginetest.Configure{withTools(box), atTier(abi.TierActWithApproval)}
	n := newNode(t, g, configure...)
	id := n.Submit(t, n.Session(t), "persona_program")
	n.parked(t, id)
	n = boot(t, n.Disk.Crash(1, 0), g, configure...)
	defer n.Stop(t)
	if _, err := n.CancelTask(t.Context(), n.Root, nil, id, abi.CancelTaskRequest{}); err != nil {
		t.Fatal(err)
	}
	if task := n.Wait(t, id); task.Status != abi.TaskCanceled || box.reached() != "" {
		t.Fatalf("%s, the tool got %q", task.Status, box.reached())
	}
	doc, err := n.ReplayTask(context.Background(), n.Root, nil, id, abi.ReplayTaskRequest{})
	if err != nil {
		t.Fatal(err)
	}
	if again := n.Wait(t, doc.ID); again.ReceiptID == "" || again.Failure != nil {
		t.Errorf("the replay: %s %+v", again.Status, again.Failure)
	}
}

// noting is a target that keeps the requests that it was prepared for.
type noting struct {
	target
	requests []string
}

func (w *noting) Prepare(ctx context.Context, c *provider.Call) (provider.Plan, error) {
	w.mu.Lock()
	w.requests = append(w.requests, string(c.Request))
	w.mu.Unlock()
	return w.target.Prepare(ctx, c)
}

// A write that an approver changed, and that the node died in, is repeated as it was
// changed, and not as the plugin asked.
func TestChangedWriteInterrupted(t *testing.T) {
	w := &noting{target: target{repeatable: true, hold: make(chan struct{}), entered: make(chan struct{}, 1)}}
	p := newProgram(op{abi.CallHTTPFetch, `{"method":"POST","url":"http://example.com/theirs"}`})
	g := enginetest.Guests{"program": p.run, "echo": enginetest.Echo}
	configure := []enginetest.Configure{atTier(abi.TierActWithApproval), func(_ *engine.Config, parts *engine.Parts) {
		parts.Performers = map[string]provider.Performer{abi.CallHTTPFetch: w}
	}}
	n := newNode(t, g, configure...)
	id := n.Submit(t, n.Session(t), "persona_program")
	n.parked(t, id)
	const changed = `{"method":"POST","url":"http://example.com/ours"}`
	n.decide(t, id, `{"decision":"approved","arguments":`+changed+`}`)
	<-w.entered
	disk := n.Disk.Crash(1, 0)
	w.mu.Lock()
	w.hold = nil
	w.mu.Unlock()
	n = boot(t, disk, g, configure...)
	defer n.Stop(t)
	if task := n.Wait(t, id); task.Status != abi.TaskCompleted {
		t.Fatalf("%+v", task.Failure)
	}
	if keys := w.calls(); len(keys) != 2 || keys[0] != keys[1] {
		t.Errorf("it was done with the keys %q", keys)
	}
	for _, request := range w.requests[1:] { // the first was before anybody was asked
		if request != changed {
			t.Errorf("it was done as %s", request)
		}
	}
	if entry := n.recordOf(t, id).Entries[1]; string(entry.Request) != changed || entry.Status != abi.CallOK {
		t.Errorf("the record tells %d %s", entry.Status, entry.Request)
	}
	n.wantReplay(t, id)
}
