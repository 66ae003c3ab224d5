package hosts

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/abi/plainly"
	"github.com/wharf-dev/wharf/runtime/provider"
	"github.com/wharf-dev/wharf/runtime/provider/program"
	"github.com/wharf-dev/wharf/runtime/provider/tool"
)

// ProcessConfig says what the server process answers by itself.
type ProcessConfig struct {
	System  func() *System // that the node runs on, as it is now
	Exec    bool           // run commands on the node
	Timeout time.Duration  // of a command; default 1 min
}

// The most Sessions whose default shell is remembered, and commands of a tenant that run at one time.
const (
	maxChosen   = 10_000
	maxCommands = 8
)

// Process is the server of tools process: what is known of shells, and what runs commands. A client of
// the Session that answers for shells is asked, and the node's own system where there is none. It is
// safe for concurrent use.
type Process struct {
	hosts *Hosts
	cfg   ProcessConfig
	lanes *provider.Lanes

	mu     sync.Mutex
	chosen map[session]string // the shells that Sessions have chosen
	order  []session          // in which they have, oldest first
}

var (
	_ tool.Server  = (*Process)(nil)
	_ tool.PerCall = (*Process)(nil)
	_ tool.Limited = (*Process)(nil)
)

// NewProcess returns the server.
func NewProcess(hs *Hosts, c ProcessConfig) *Process {
	if c.Timeout == 0 {
		c.Timeout = time.Minute
	}
	return &Process{hosts: hs, cfg: c, lanes: provider.NewLanes(maxCommands), chosen: map[session]string{}}
}

// Limits implements [tool.Limited]: a command that is over its own time answers with what it wrote.
func (p *Process) Limits() tool.Limits {
	return tool.Limits{Timeout: p.cfg.Timeout + 10*time.Second, Answer: 4 << 20}
}

// fact is a tool of the server.
type fact struct {
	tool abi.Tool
	read func(answer jsontext.Value) (any, error) // a client's answer
	node func(p *Process, ctx context.Context, c *provider.Call, arguments jsontext.Value) (*abi.CallToolCallAnswer, error)
}

// facts are the server's tools.
func facts() []fact {
	shell := `"shell_id":{"type":"string"},"shell":{"type":"object"}`
	return []fact{
		{abi.Tool{Name: "list_shells", ReadOnly: true, Idempotent: true, Description: "Lists the shells that commands can be run with, and which of them is the default.",
			InputSchema: jsontext.Value(`{"type":"object","properties":{},"additionalProperties":false}`)}, readShells, (*Process).listShells},
		{abi.Tool{Name: "get_default_shell", ReadOnly: true, Idempotent: true, Description: "Returns the shell that the session uses; null for none.",
			InputSchema: jsontext.Value(`{"type":"object","properties":{},"additionalProperties":false}`)}, readShell, (*Process).defaultShell},
		{abi.Tool{Name: "set_default_shell", Idempotent: true, Description: "Has the session use another shell, and returns that.",
			InputSchema: jsontext.Value(`{"type":"object","required":["shell_id"],"properties":{"shell_id":{"type":"string"}},"additionalProperties":false}`)}, readShell, (*Process).setShell},
		{abi.Tool{Name: "shell_invocation", ReadOnly: true, Idempotent: true, Description: "Returns the program and the arguments by which a shell runs a command.",
			InputSchema: jsontext.Value(`{"type":"object","properties":{` + shell + `,"command":{"type":"string"},"login":{"type":"boolean"},"interactive":{"type":"boolean"}},` +
				`"anyOf":[{"required":["shell_id"]},{"required":["shell"]}],"additionalProperties":false}`)}, readInvocation, (*Process).invocation},
		{abi.Tool{Name: abi.ToolExec, Destructive: true, OpenWorld: true, Description: "Runs a program (argv), or a command in a shell (command), and waits for its end.",
			InputSchema: jsontext.Value(`{"type":"object","properties":{"argv":{"type":"array","items":{"type":"string"},"minItems":1},"command":{"type":"string"},` + shell + `,"login":{"type":"boolean"},` +
				`"cwd":{"type":"string"},"env":{"type":"object","additionalProperties":{"type":"string"}},"stdin":{"type":"string"},"timeout_seconds":{"type":"number"},` +
				`"output_byte_limit":{"type":"integer","minimum":1}},"additionalProperties":false}`)}, readAnything, (*Process).exec},
	}
}

// readAnything takes an object as it is.
func readAnything(answer jsontext.Value) (any, error) {
	if answer.Kind() != '{' {
		return nil, fmt.Errorf("it is no object")
	}
	return answer, nil
}

// answering is who answers for shells: a client, and which operations it serves, or the node.
type answering struct {
	host *Host // nil: the node
	all  bool
	some []string
}

// answers returns who answers for shells: the first client that serves any of it, or the node.
func (p *Process) answers(ctx context.Context, c *provider.Call) answering {
	for _, h := range p.hosts.of(c.Tenant, c.SessionID) {
		if some, all := h.operations(ctx); all || len(some) > 0 {
			return answering{h, all, some}
		}
	}
	return answering{}
}

// has reports whether there is a tool: of a client that names its operations those, and of the node
// all but what the operator has to allow.
func (p *Process) has(by answering, name string) bool {
	if by.host == nil {
		return name != abi.ToolExec || p.cfg.Exec
	}
	return by.all || slices.Contains(by.some, name)
}

// List implements [tool.Server].
func (p *Process) List(ctx context.Context) ([]abi.Tool, error) {
	return p.ListFor(ctx, &provider.Call{})
}

// ListFor implements [tool.PerCall].
func (p *Process) ListFor(ctx context.Context, c *provider.Call) (tools []abi.Tool, err error) {
	by := p.answers(ctx, c)
	for _, f := range facts() {
		if p.has(by, f.tool.Name) {
			tools = append(tools, f.tool)
		}
	}
	return tools, nil
}

// Find implements [tool.PerCall].
func (p *Process) Find(ctx context.Context, c *provider.Call, name string) (*tool.Found, error) {
	by, all := p.answers(ctx, c), facts()
	h := by.host
	i := slices.IndexFunc(all, func(f fact) bool { return f.tool.Name == name })
	switch {
	case i < 0:
		return nil, provider.Refuse(abi.CallNotFound, tool.CodeUnknown, fmt.Sprintf("%q has no tool %q", abi.ToolServerProcess, name))
	case !p.has(by, name) && h == nil:
		return nil, provider.Refuse(abi.CallDenied, tool.CodeDenied, "this node runs no commands for tasks: process.exec is not on, and no client of the session runs them")
	case !p.has(by, name):
		return nil, provider.Refuse(abi.CallNotFound, tool.CodeUnknown, "the client of this session does not serve process."+name)
	case h != nil:
		return &tool.Found{Tool: all[i].tool, By: h.client.Actor, Call: func(ctx context.Context, arguments jsontext.Value) (*abi.CallToolCallAnswer, error) {
			return h.callProcess(ctx, &all[i], arguments)
		}}, nil
	}
	return &tool.Found{Tool: all[i].tool, Call: func(ctx context.Context, arguments jsontext.Value) (*abi.CallToolCallAnswer, error) {
		return all[i].node(p, ctx, c, arguments)
	}}, nil
}

// Call implements [tool.Server].
func (p *Process) Call(ctx context.Context, c *provider.Call, name string, arguments jsontext.Value) (*abi.CallToolCallAnswer, error) {
	found, err := p.Find(ctx, c, name)
	if err != nil {
		return nil, err
	}
	return found.Call(ctx, arguments)
}

// hostCall are the params of host/call.
type hostCall struct {
	SessionID string         `json:"sessionId"`
	Name      string         `json:"name"`
	Args      jsontext.Value `json:"args"`
}

// callProcess asks the client in the place of the node.
func (h *Host) callProcess(ctx context.Context, f *fact, arguments jsontext.Value) (*abi.CallToolCallAnswer, error) {
	name := MethodProcess + "." + f.tool.Name
	result, err := h.askHarn(ctx, MethodCall, hostCall{h.client.SessionID, name, arguments})
	if err != nil {
		return failed(ctx, err, name, f.tool.ReadOnly)
	}
	answer, err := f.read(result)
	if err != nil {
		return failed(ctx, &unreadable{name, err}, name, f.tool.ReadOnly)
	}
	return inJSON(answer)
}

// inJSON is an answer whose words are what programs read.
func inJSON(v any) (*abi.CallToolCallAnswer, error) {
	answer, err := structured(v, "")
	if answer != nil {
		answer.Content[0].Text = string(answer.Structured)
	}
	return answer, err
}

// shells returns those of the node, with the Session's choice as the default.
func (p *Process) shells(c *provider.Call) Shells {
	list := Discover(p.cfg.System())
	p.mu.Lock()
	defer p.mu.Unlock()
	if s := list.find(p.chosen[session{c.Tenant, c.SessionID}]); s != nil {
		list.Default = &s.ID
	}
	return list
}

func (p *Process) listShells(_ context.Context, c *provider.Call, arguments jsontext.Value) (*abi.CallToolCallAnswer, error) {
	if _, err := read[struct{}](arguments); err != nil {
		return nil, err
	}
	return inJSON(p.shells(c))
}

func (p *Process) defaultShell(_ context.Context, c *provider.Call, arguments jsontext.Value) (*abi.CallToolCallAnswer, error) {
	if _, err := read[struct{}](arguments); err != nil {
		return nil, err
	}
	list := p.shells(c)
	if list.Default == nil {
		return inJSON(nil)
	}
	return inJSON(list.find(*list.Default))
}

// setShell has the Session use a shell for as long as the node runs.
func (p *Process) setShell(_ context.Context, c *provider.Call, arguments jsontext.Value) (*abi.CallToolCallAnswer, error) {
	a, err := read[struct {
		ID string `json:"shell_id"`
	}](arguments)
	if err != nil {
		return nil, err
	}
	list := p.shells(c)
	s := list.find(a.ID)
	if s == nil {
		return wrong(noShell(&list, a.ID)), nil
	}
	p.choose(session{c.Tenant, c.SessionID}, s.ID)
	return inJSON(s)
}

// choose remembers a choice, and forgets the oldest when there are too many.
func (p *Process) choose(of session, id string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if _, known := p.chosen[of]; !known {
		p.order = append(p.order, of)
	}
	p.chosen[of] = id
	if len(p.order) > maxChosen {
		delete(p.chosen, p.order[0])
		p.order = slices.Delete(p.order, 0, 1)
	}
}

func noShell(list *Shells, id string) string {
	ids := []string{}
	for i := range list.Shells {
		ids = append(ids, list.Shells[i].ID)
	}
	return fmt.Sprintf("there is no shell %q; there is %s", id, plainly.List(ids, "and"))
}

func (p *Process) invocation(_ context.Context, c *provider.Call, arguments jsontext.Value) (*abi.CallToolCallAnswer, error) {
	r, err := read[invocationRequest](arguments)
	if err != nil {
		return nil, err
	}
	if r.Shell == nil && r.ShellID == "" {
		return nil, invalid("shell_invocation takes a shell_id or a shell")
	}
	list := p.shells(c)
	i, err := list.resolve(&r)
	if err != nil {
		return wrong(err.Error()), nil
	}
	return inJSON(i)
}

// resolve returns how the shell that is asked for, or the default, runs the command.
func (l *Shells) resolve(r *invocationRequest) (Invocation, error) {
	s, id := r.Shell, r.ShellID
	if s == nil && id == "" && l.Default != nil {
		id = *l.Default
	}
	if s == nil {
		s = l.find(id)
	}
	switch {
	case s == nil && id == "":
		return Invocation{}, fmt.Errorf("this system has no shell")
	case s == nil:
		return Invocation{}, fmt.Errorf("%s", noShell(l, id))
	case s.Path == "":
		return Invocation{}, fmt.Errorf("the shell has no path")
	}
	if s.Args == nil {
		s.Args = []string{}
	}
	if s.LoginArgs == nil {
		s.LoginArgs = []string{}
	}
	return invoke(s, r)
}

// execRequest is what exec takes.
type execRequest struct {
	Argv    []string          `json:"argv,omitzero"`
	Command *string           `json:"command,omitzero"`
	ShellID string            `json:"shell_id,omitzero"`
	Shell   *Shell            `json:"shell,omitzero"`
	Login   bool              `json:"login,omitzero"`
	Cwd     string            `json:"cwd,omitzero"`
	Env     map[string]string `json:"env,omitzero"`
	Stdin   string            `json:"stdin,omitzero"`
	Seconds float64           `json:"timeout_seconds,omitzero"`
	Limit   int               `json:"output_byte_limit,omitzero"`
}

// execAnswer is what exec answers.
type execAnswer struct {
	ExitCode  *int    `json:"exit_code"` // null when it was ended by a signal
	Signal    *string `json:"signal"`
	Stdout    string  `json:"stdout"`
	Stderr    string  `json:"stderr"`
	Truncated bool    `json:"truncated"`
	TimedOut  bool    `json:"timed_out"`
}

func (r *execRequest) check() error {
	switch {
	case (r.Command == nil) == (len(r.Argv) == 0):
		return invalid("exec takes a command or an argv")
	case r.Command == nil && (r.Shell != nil || r.ShellID != "" || r.Login):
		return invalid("a shell runs a command, and no argv")
	case r.Seconds < 0 || r.Limit < 0:
		return invalid("timeout_seconds and output_byte_limit are above 0")
	case r.Cwd != "":
		return checkPath("cwd", r.Cwd)
	}
	return nil
}

// exec runs a command on the node, with nothing of the node's environment that may be secret.
func (p *Process) exec(ctx context.Context, c *provider.Call, arguments jsontext.Value) (*abi.CallToolCallAnswer, error) {
	r, err := read[execRequest](arguments)
	if err == nil {
		err = r.check()
	}
	if err != nil {
		return nil, err
	}
	argv := r.Argv
	if r.Command != nil {
		list := p.shells(c)
		i, err := list.resolve(&invocationRequest{ShellID: r.ShellID, Shell: r.Shell, Login: r.Login, Command: r.Command})
		if err != nil {
			return wrong(err.Error()), nil
		}
		argv = append([]string{i.Program}, i.Args...)
	}
	timeout := p.cfg.Timeout
	if r.Seconds > 0 {
		timeout = min(timeout, time.Duration(r.Seconds*float64(time.Second)))
	}
	limit := defaultOutput
	if r.Limit > 0 {
		limit = min(r.Limit, maxOutput)
	}
	leave, err := p.lanes.Enter(ctx, c.Tenant)
	if err != nil {
		return nil, err
	}
	defer leave()
	ended, err := program.Exec(ctx, &program.Command{Argv: argv, Dir: r.Cwd, Env: r.Env, Stdin: r.Stdin, Timeout: timeout, Most: limit})
	if err != nil {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		return wrong(short(err.Error())), nil
	}
	a := execAnswer{Stdout: ended.Stdout, Stderr: ended.Stderr, Truncated: ended.Truncated, TimedOut: ended.TimedOut}
	if ended.Signal != "" {
		a.Signal = &ended.Signal
	} else {
		a.ExitCode = &ended.ExitCode
	}
	return inJSON(a)
}
