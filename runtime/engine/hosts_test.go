package engine_test

import (
	"context"
	"errors"
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
	"github.com/wharf-dev/wharf/runtime/provider/hosts"
	"github.com/wharf-dev/wharf/runtime/provider/tool"
	"github.com/wharf-dev/wharf/storage/pebble/crashtest"
)

// editor is a client that answers by method, and remembers what it was asked.
type editor struct {
	mu    sync.Mutex
	asked []string
	holds string // the method that it never answers
	held  chan struct{}
}

func (e *editor) Call(ctx context.Context, method string, params, result any) error {
	e.mu.Lock()
	e.asked = append(e.asked, method)
	e.mu.Unlock()
	if method == e.holds {
		close(e.held)
		<-ctx.Done()
		return context.Cause(ctx)
	}
	answer, known := map[string]string{
		hosts.MethodTools: `{"tools":[{"name":"open","short_description":"Opens","parameters":{"type":"object"}}]}`, hosts.MethodBuiltin: `{"opened":true}`,
		"fs/read_text_file": `{"content":"unsaved"}`, "fs/write_text_file": `null`,
		"terminal/create": `{"terminalId":"t"}`, "terminal/wait_for_exit": `{"exitCode":0}`, "terminal/output": `{"output":"ok","truncated":false}`, "terminal/release": `{}`,
		hosts.MethodSkills: `[{"id":"ship","description":"Ships it"}]`, hosts.MethodSkill: `{"name":"ship","body":"# Ship"}`, hosts.MethodMatchSkills: `[{"name":"ship"}]`,
	}[method]
	if !known {
		return errors.New("it was asked " + method)
	}
	return json.Unmarshal([]byte(answer), result.(*jsontext.Value))
}

func (e *editor) heard() string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return strings.Join(e.asked, " ")
}

// withHosts gives a node the tools that clients are asked for.
func withHosts(hs *hosts.Hosts) enginetest.Configure {
	tools := tool.New(tool.Config{Servers: map[string]tool.Server{tool.ServerClient: tool.NewClients(tool.Limits{}, tool.Hints{}).Beside(hs),
		abi.ToolServerProcess: hosts.NewProcess(hs, hosts.ProcessConfig{System: hosts.ThisSystem})}, Grants: map[string][]string{"program": {"client:*", "process:*"}}})
	return func(_ *engine.Config, p *engine.Parts) {
		p.Hosts, p.Performers = hs, map[string]provider.Performer{abi.CallToolCall: tools, abi.CallToolList: tools}
	}
}

func connectTo(hs *hosts.Hosts, tenant, session string, e *editor) *hosts.Host {
	return hs.Connect(hosts.Client{Tenant: tenant, Session: session, Actor: "key:editor", Caller: e, Declared: hosts.Declared{ReadsFiles: true, WritesFiles: true, Terminals: true,
		Methods: []string{hosts.MethodTools, hosts.MethodSkills, hosts.MethodSkill, hosts.MethodMatchSkills}}})
}

// usesHost asks the client for all that it has.
var usesHost = []op{
	{abi.CallToolList, `{"server":"client"}`},
	{abi.CallToolCall, `{"server":"client","name":"fs_read","arguments":{"path":"/a"}}`},
	{abi.CallToolCall, `{"server":"client","name":"fs_write","arguments":{"path":"/a","content":"x"}}`},
	{abi.CallToolCall, `{"server":"client","name":"open","arguments":{"path":"/a"}}`},
	{abi.CallToolCall, `{"server":"client","name":"terminal_run","arguments":{"command":"make"}}`},
	{abi.CallToolCall, `{"server":"process","name":"list_shells"}`},
	{abi.CallSkillMatch, `{"prompt":"ship it","strategy":"host"}`},
	{abi.CallSkillRead, `{"skill":"ship"}`},
}

// What a Session's client has is asked for while the Task runs, and goes on after a crash at any step with
// the client that is connected then: nothing is asked twice, and a replay asks nobody.
func TestATaskUsesItsClient(t *testing.T) {
	var ops []op
	for _, use := range usesHost {
		ops = append(ops, use, op{abi.CallStateSet, `{"key":"a","value":1}`}) // which has all before it on disk
	}
	for cut := range usesHost {
		p := newProgram(ops...)
		g := enginetest.Guests{"program": p.run, "echo": enginetest.Echo}
		before, after := hosts.New(hosts.Config{}), hosts.New(hosts.Config{})
		e := &editor{}
		first := boot(t, crashtest.NewDisk(), g, withHosts(before))
		session := first.Session(t)
		connectTo(before, first.Root.TenantID, session, e)
		p.stopBefore(2 * cut)
		id := first.Submit(t, session, "persona_program")
		<-p.there
		disk := first.Disk.Crash(uint64(cut), 0)
		p.stopBefore(-1)
		h := connectTo(after, first.Root.TenantID, session, e)
		n := boot(t, disk, g, withHosts(after))
		if task := n.Wait(t, id); task.Status != abi.TaskCompleted {
			t.Fatalf("cut %d: %s %+v", cut, task.Status, task.Failure)
		}
		runs := p.runs()
		told := runs[len(runs)-1]
		for i, want := range []string{`{"server":"client","name":"open","description":"Opens"`, `"text":"unsaved"`, `The file was written.`, `"structured":{"opened":true}`, `"exit_code":0`, `"shells":[`, `"by":"host"`, `"text":"# Ship"`} {
			if !strings.HasPrefix(told[2*i], "0 ") || !strings.Contains(told[2*i], want) {
				t.Errorf("cut %d: call %d was answered %s", cut, i, told[2*i])
			}
		}
		h.Close()
		heard := e.heard()
		for _, once := range []string{"fs/write_text_file", "builtin_call", "terminal/create", "terminal/release"} {
			if strings.Count(heard, once) != 1 {
				t.Errorf("cut %d: it was asked %s", cut, heard)
			}
		}
		n.wantProof(t, id)
		n.wantReplay(t, id)
		if e.heard() != heard {
			t.Errorf("cut %d: a replay asked the client", cut)
		}
		n.Stop(t)
	}
}

// A client that has got a call and whose node died may have done it: it is not asked again, and the plugin
// is told that nobody knows.
func TestACallOfAClientIsNotMadeTwice(t *testing.T) {
	p := newProgram(op{abi.CallToolCall, `{"server":"client","name":"open","arguments":{}}`})
	g := enginetest.Guests{"program": p.run, "echo": enginetest.Echo}
	before, after := hosts.New(hosts.Config{}), hosts.New(hosts.Config{})
	e := &editor{holds: hosts.MethodBuiltin, held: make(chan struct{})}
	first := boot(t, crashtest.NewDisk(), g, withHosts(before))
	session := first.Session(t)
	h := connectTo(before, first.Root.TenantID, session, e)
	id := first.Submit(t, session, "persona_program")
	<-e.held
	disk := first.Disk.Crash(1, 0)
	h.Close()
	again := &editor{}
	connectTo(after, first.Root.TenantID, session, again)
	n := boot(t, disk, g, withHosts(after))
	defer n.Stop(t)
	if task := n.Wait(t, id); task.Status != abi.TaskCompleted {
		t.Fatalf("%s %+v", task.Status, task.Failure)
	}
	runs := p.runs()
	if told := runs[len(runs)-1][0]; !strings.Contains(told, `"code":"indeterminate"`) {
		t.Errorf("it was told %s", told)
	}
	if heard := again.heard(); strings.Contains(heard, hosts.MethodBuiltin) {
		t.Errorf("it was asked %s", heard)
	}
	n.wantReplay(t, id)
}

// Whoever approves sees which file of the client's is written, and by whom; a read needs no approval. What
// people see of the calls says what they are.
func TestPolicyAndAClientsFiles(t *testing.T) {
	p := newProgram(usesHost[1], usesHost[2], usesHost[4])
	hs, e := hosts.New(hosts.Config{}), &editor{}
	n := newNode(t, enginetest.Guests{"program": p.run}, withHosts(hs), asPersona(func(p *abi.Persona) {
		p.AutonomyTier, p.Approvals = abi.TierActWithApproval, &abi.ApprovalPolicy{Without: []string{"client:terminal_run"}}
	}))
	session := n.Session(t)
	connectTo(hs, n.Root.TenantID, session, e)
	id := n.Submit(t, session, "persona_program")
	n.parked(t, id)
	asked := n.request(t, id)
	if len(asked.DeclaredPaths) != 1 || asked.DeclaredPaths[0] != "/a" || asked.Action != "tool.call client:fs_write of key:editor" || e.heard() != "fs/read_text_file" {
		t.Errorf("%+v; it was asked %s", asked, e.heard())
	}
	if _, err := n.RespondPermission(t.Context(), n.actor("boss"), nil, asked.ID, abi.RespondRequest{Decision: "approved"}); err != nil {
		t.Fatal(err)
	}
	if task := n.Wait(t, id); task.Status != abi.TaskCompleted {
		t.Fatalf("%s %+v", task.Status, task.Failure)
	}
	uses := map[string]abi.ToolUse{}
	events, _, err := n.Events(t.Context(), n.Root, desk.Filter{TaskID: id}, 0, 1000)
	if err != nil {
		t.Fatal(err)
	}
	for i := range events {
		var told struct {
			Tool *abi.ToolUse `json:"tool"`
		}
		if json.Unmarshal(events[i].Record().Payload, &told) == nil && told.Tool != nil {
			uses[told.Tool.Name] = *told.Tool
		}
	}
	for name, kind := range map[string]abi.ToolKind{"fs_write": abi.ToolKindEdit, "terminal_run": abi.ToolKindExecute} {
		if uses[name].Kind != kind || uses[name].Executor != abi.ExecutorClient {
			t.Errorf("%s: %+v", name, uses[name])
		}
	}
}
