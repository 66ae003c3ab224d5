package engine_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	json "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/desk"
	"github.com/wharf-dev/wharf/runtime/engine"
	"github.com/wharf-dev/wharf/runtime/enginetest"
	"github.com/wharf-dev/wharf/runtime/provider"
)

// toolbox is a tool server that counts what reaches it. Its tools whose names begin
// with get are read-only.
type toolbox struct {
	mu       sync.Mutex
	requests []string
	by       string // whose client it is
}

// belongTo makes the tools those of an actor's client.
func (b *toolbox) belongTo(actor string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.by = actor
}

func (b *toolbox) Prepare(_ context.Context, c *provider.Call) (provider.Plan, error) {
	var req abi.CallToolCallRequest
	if err := json.Unmarshal(c.Request, &req); err != nil {
		return provider.Plan{}, provider.Malformed(err)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	plan := provider.Plan{Effect: abi.EffectWrite, By: b.by, Do: func(context.Context, func(string)) ([]byte, error) {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.requests = append(b.requests, req.Name+" "+string(req.Arguments))
		return []byte(`{"content":[{"type":"text","text":"done"}]}`), nil
	}}
	if strings.HasPrefix(req.Name, "get") {
		plan.Effect = abi.EffectRead
	}
	return plan, nil
}

func (b *toolbox) reached() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return strings.Join(b.requests, "; ")
}

// asPersona gives every Persona of a node what change says.
func asPersona(change func(*abi.Persona)) enginetest.Configure {
	return func(_ *engine.Config, p *engine.Parts) {
		p.Personas = slices.Clone(p.Personas)
		for i := range p.Personas {
			if p.Personas[i].ID != "persona_echo" {
				change(&p.Personas[i])
			}
		}
	}
}

func atTier(tier abi.AutonomyTier) enginetest.Configure {
	return asPersona(func(p *abi.Persona) { p.AutonomyTier = tier })
}

func withTools(b *toolbox) enginetest.Configure {
	return func(_ *engine.Config, p *engine.Parts) {
		p.Performers = map[string]provider.Performer{abi.CallToolCall: b}
	}
}

// decide answers a Task that waits for a decision.
func (n *node) decide(t testing.TB, id, decision string) {
	t.Helper()
	part := jsontext.Value(decision)
	_, err := n.AppendTaskMessage(context.Background(), n.Root, nil, id, abi.AppendTaskMessageRequest{Kind: abi.TaskMessageToolConfirmation,
		Message: &abi.MessageInput{Role: abi.RoleUser, Parts: []abi.Part{{Type: abi.PartJSON, Value: part}}}})
	if err != nil {
		t.Fatal(err)
	}
}

func writeTool(arguments string) op {
	return op{abi.CallToolCall, `{"server":"fs","name":"write","arguments":` + arguments + `}`}
}

// What an approver decides is what happens, also when the node dies meanwhile; what
// was decided is in the receipt, and a replay is exact.
func TestGate(t *testing.T) {
	for name, try := range map[string]struct {
		decision string
		reached  string // by the tool
		told     string // to the plugin
	}{
		"approved": {`{"decision":"approved"}`, `write {"path": "a"}`, `"done"`},
		"modified": {`{"decision":"approved","arguments":{"path":"b"}}`, `write {"path":"b"}`, `"done"`},
		"denied":   {`{"decision":"denied","reason":"not today"}`, ``, `"code":"approval_denied","message":"this call was denied: not today"`},
	} {
		for _, crash := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, crash %v", name, crash), func(t *testing.T) {
				box := &toolbox{}
				p := newProgram(say("before"), writeTool(`{"path": "a"}`), say("after"))
				g := enginetest.Guests{"program": p.run, "echo": enginetest.Echo}
				configure := []enginetest.Configure{withTools(box), atTier(abi.TierActWithApproval)}
				n := newNode(t, g, configure...)
				session := n.Session(t)
				id := n.Submit(t, session, "persona_program")
				parked := n.parked(t, id)
				w := parked.Waiting
				if !w.Gate || w.Call != abi.CallToolCall || w.Action != "tool.call fs:write" || string(w.Arguments) != `{"path":"a"}` || w.Quorum != 1 {
					t.Fatalf("it waits for %+v", w)
				}
				if parked.Status != abi.TaskInputRequired {
					t.Fatalf("it is %s", parked.Status)
				}
				if crash {
					n = boot(t, n.Disk.Crash(1, 0), g, configure...)
					defer n.Stop(t)
				}
				if box.reached() != "" {
					t.Fatalf("before anybody approved, the tool was called: %s", box.reached())
				}
				n.decide(t, id, try.decision)
				task := n.Wait(t, id)
				if task.Status != abi.TaskCompleted {
					t.Fatalf("%s %+v", task.Status, task.Failure)
				}
				if got := box.reached(); got != try.reached {
					t.Errorf("the tool got %q, want %q", got, try.reached)
				}
				runs := p.runs()
				if last := runs[len(runs)-1]; !strings.Contains(last[1], try.told) {
					t.Errorf("the plugin was told %s", last[1])
				}
				wire, err := n.ReceiptWire(context.Background(), n.Root, task.ReceiptID)
				if err != nil || !strings.Contains(string(wire), `"action":"tool.call fs:write"`) {
					t.Errorf("%v: the receipt does not list the approval: %s", err, wire)
				}
				n.wantReplay(t, id)
			})
		}
	}
}

// What was approved for one client's tool does not go to another client that has taken
// its name meanwhile, also not when the node has died in between.
func TestAnApprovalIsForOneClient(t *testing.T) {
	for _, crash := range []bool{false, true} {
		for then, reached := range map[string]string{"key:a": `write {"eur":1000}`, "key:b": ""} {
			t.Run(fmt.Sprintf("%s, crash %v", then, crash), func(t *testing.T) {
				box := &toolbox{by: "key:a"}
				p := newProgram(writeTool(`{"eur":1000}`))
				g := enginetest.Guests{"program": p.run, "echo": enginetest.Echo}
				configure := []enginetest.Configure{withTools(box), atTier(abi.TierActWithApproval)}
				n := newNode(t, g, configure...)
				id := n.Submit(t, n.Session(t), "persona_program")
				if w := n.parked(t, id).Waiting; w.Action != "tool.call fs:write of key:a" {
					t.Errorf("the approver is shown %q", w.Action)
				}
				if crash {
					n = boot(t, n.Disk.Crash(1, 0), g, configure...)
					defer n.Stop(t)
				}
				box.belongTo(then)
				n.decide(t, id, `{"decision":"approved"}`)
				if task := n.Wait(t, id); task.Status != abi.TaskCompleted {
					t.Fatalf("%s %+v", task.Status, task.Failure)
				}
				if got := box.reached(); got != reached {
					t.Errorf("the tool got %q, want %q", got, reached)
				}
				runs := p.runs()
				if told := runs[len(runs)-1][0]; (reached == "") != strings.Contains(told, "approval_elsewhere") {
					t.Errorf("the plugin was told %s", told)
				}
				n.wantReplay(t, id)
			})
		}
	}
}

// writes are the calls that change something beyond the Session, one of each kind.
func writes() []op {
	return []op{
		writeTool(`{"path":"a"}`),
		{abi.CallHTTPFetch, `{"method":"POST","url":"http://example.com/x?secret=1"}`},
		{abi.CallHandoff, `{"persona_id":"persona_echo","input":{"x":1}}`},
		{abi.CallTaskSpawn, `{"persona_id":"persona_echo","input":{"x":1}}`},
		{abi.CallMemoryWrite, `{"scope":"tenant","content":"for all"}`},
	}
}

// harmless are calls that no tier holds back.
func harmless() []op {
	return []op{
		{abi.CallClock, ""}, say("hello"), {abi.CallToolCall, `{"server":"fs","name":"get","arguments":{}}`},
		{abi.CallMemoryWrite, `{"scope":"session","content":"mine"}`}, {abi.CallStateSet, `{"key":"n","value":1}`},
		{abi.CallArtifactPut, "{\"kind\":\"file\",\"mime_type\":\"text/plain\"}\ncontent"},
	}
}

// outside is all that a Task can change, and how often it was.
func (n *node) outside(t testing.TB, id string, box *toolbox, web *target) string {
	t.Helper()
	tenant, children := 0, 0
	memories, err := n.List(context.Background(), n.Root, abi.ObjectMemory, desk.Filter{}, desk.Page{Limit: 100})
	if err != nil {
		t.Fatal(err)
	}
	for _, doc := range memories.Docs {
		if enginetest.As[abi.Memory](t, doc).Scope == abi.MemoryTenant {
			tenant++
		}
	}
	tasks, err := n.List(context.Background(), n.Root, abi.ObjectTask, desk.Filter{}, desk.Page{Limit: 100})
	if err != nil {
		t.Fatal(err)
	}
	for _, doc := range tasks.Docs {
		if enginetest.As[abi.Task](t, doc).ParentTaskID == id {
			children++
		}
	}
	return fmt.Sprintf("%d tools, %d requests, %d children, %d memories", strings.Count(box.reached(), "write"), len(web.calls()), children, tenant)
}

// On each tier the world is changed as far as the tier goes, and the rest is told.
func TestTiers(t *testing.T) {
	const all, none = "1 tools, 1 requests, 2 children, 1 memories", "0 tools, 0 requests, 0 children, 0 memories"
	for tier, want := range map[abi.AutonomyTier]struct {
		outside string
		told    string // of each write
		event   abi.EventKind
		asked   int
	}{
		abi.TierShadow:          {none, `"code":"shadow"`, abi.EventShadowWrite, 0},
		abi.TierSuggest:         {none, `"code":"proposed"`, abi.EventProposal, 0},
		abi.TierActWithApproval: {all, "0 ", "", len(writes())},
		abi.TierActAuto:         {all, "0 ", "", 0},
	} {
		t.Run(string(tier), func(t *testing.T) {
			box, web := &toolbox{}, &target{}
			p := newProgram(append(harmless(), writes()...)...)
			n := newNode(t, enginetest.Guests{"program": p.run, "echo": enginetest.Echo}, atTier(tier), func(_ *engine.Config, parts *engine.Parts) {
				parts.Performers = map[string]provider.Performer{abi.CallToolCall: box, abi.CallHTTPFetch: web}
			})
			id := n.Submit(t, n.Session(t), "persona_program")
			for range want.asked {
				n.parked(t, id)
				n.decide(t, id, `{"decision":"approved"}`)
			}
			task := n.Wait(t, id)
			if task.Status != abi.TaskCompleted {
				t.Fatalf("%+v", task.Failure)
			}
			if got := n.outside(t, id, box, web); got != want.outside {
				t.Errorf("it changed %s, want %s", got, want.outside)
			}
			runs := p.runs()
			for i, told := range runs[len(runs)-1] {
				if i < len(harmless()) && !strings.HasPrefix(told, "0 ") || i >= len(harmless()) && !strings.Contains(told, want.told) {
					t.Errorf("call %d, %s, was answered %s", i, p.ops[i].call, told)
				}
			}
			n.wantHeldBack(t, &task, want.event)
			n.wantReplay(t, id)
		})
	}
}

// wantHeldBack wants every write told by an event of a kind and in the Outcome; ""
// for none.
func (n *node) wantHeldBack(t testing.TB, task *abi.Task, kind abi.EventKind) {
	t.Helper()
	events, _, err := n.Events(context.Background(), n.Root, desk.Filter{TaskID: task.ID}, 0, 1000)
	if err != nil {
		t.Fatal(err)
	}
	var told []abi.WithheldCall
	for _, ev := range events {
		if k := ev.Record().Kind; k != abi.EventShadowWrite && k != abi.EventProposal {
			continue
		} else if k != kind {
			t.Errorf("a %s", k)
		}
		var call abi.WithheldCall
		if err := json.Unmarshal(ev.Record().Payload, &call); err != nil {
			t.Fatal(err)
		}
		told = append(told, call)
	}
	doc, err := n.Get(context.Background(), n.Root, abi.ObjectOutcome, task.OutcomeID)
	if err != nil {
		t.Fatal(err)
	}
	var held struct {
		Proposals    []abi.WithheldCall `json:"proposals"`
		ShadowWrites []abi.WithheldCall `json:"shadow_writes"`
	}
	if err := json.Unmarshal(enginetest.As[abi.Outcome](t, doc).Metrics, &held); err != nil {
		t.Fatal(err)
	}
	if got := append(held.Proposals, held.ShadowWrites...); fmt.Sprint(got) != fmt.Sprint(told) {
		t.Errorf("the outcome tells %v, and the events %v", got, told)
	}
	if kind == "" {
		if len(told) != 0 {
			t.Errorf("it held back %v", told)
		}
		return
	}
	for i, want := range []string{`tool.call fs:write {"path":"a"}`, `http.fetch POST http://example.com/x`, `handoff persona_echo`, `task.spawn persona_echo`, `memory.write tenant`} {
		if len(told) <= i || !strings.HasPrefix(told[i].Action+" "+string(told[i].Arguments), want) {
			t.Errorf("%d: it told %v, want %s", i, told, want)
		}
	}
}

// lister lists three tools.
type lister struct{}

func (lister) Prepare(context.Context, *provider.Call) (provider.Plan, error) {
	return provider.Plan{Effect: abi.EffectRead, Do: func(context.Context, func(string)) ([]byte, error) {
		return []byte(`{"tools":[{"server":"fs","name":"read"},{"server":"mail","name":"send"},{"server":"skills","name":"persona_echo"}]}`), nil
	}}, nil
}

// A plugin is shown the tools that its Persona may call.
func TestToolsThatAreShown(t *testing.T) {
	for name, try := range map[string]struct {
		tools, handoffs, denied []string
		want                    string
	}{
		"denied":   {nil, nil, []string{"fs:*", "skills:*"}, `[{"server":"mail","name":"send"}]`},
		"all":      {nil, nil, nil, `[{"server":"fs","name":"read"},{"server":"mail","name":"send"},{"server":"skills","name":"persona_echo"}]`},
		"tools":    {[]string{"fs:*"}, nil, nil, `[{"server":"fs","name":"read"}]`},
		"handoffs": {[]string{"*"}, []string{}, nil, `[{"server":"fs","name":"read"},{"server":"mail","name":"send"}]`},
	} {
		t.Run(name, func(t *testing.T) {
			p := newProgram(op{abi.CallToolList, `{}`})
			n := newNode(t, enginetest.Guests{"program": p.run, "echo": enginetest.Echo}, asPersona(func(p *abi.Persona) { p.Tools, p.Handoffs, p.ToolsDenied = try.tools, try.handoffs, try.denied }),
				func(_ *engine.Config, parts *engine.Parts) {
					parts.Performers = map[string]provider.Performer{abi.CallToolList: lister{}}
				})
			id := n.Submit(t, n.Session(t), "persona_program")
			n.Wait(t, id)
			if got := p.runs()[0][0]; got != `0 {"tools":`+try.want+`}` {
				t.Errorf("it was shown %s", got)
			}
			n.wantReplay(t, id)
		})
	}
}
