package subagents

import (
	"context"
	"errors"
	"fmt"
	"strings"

	json "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/journal"
	"github.com/wharf-dev/wharf/runtime/ledger"
	"github.com/wharf-dev/wharf/runtime/personas"
	"github.com/wharf-dev/wharf/runtime/provider"
	"github.com/wharf-dev/wharf/runtime/provider/tool"
	"github.com/wharf-dev/wharf/storage"
)

const (
	// offered is how many subagents a model is offered: providers take some hundred tools.
	offered = 100
	// maxTask is how long what is delegated may be, in bytes.
	maxTask = 100_000
)

var inputSchema = jsontext.Value(`{"type":"object","properties":{` +
	`"task":{"type":"string","description":"what to do, with all that it needs to know: it sees nothing of this conversation"},` +
	`"context":{"type":"object","description":"data that comes with the task"}},"required":["task"]}`)

// Server offers subagents as tools. It is safe for concurrent use.
type Server struct {
	Personas interface {
		SubagentsServing(ctx context.Context, t storage.Tenant, workspace, parent string) ([]*personas.Persona, error)
		SubagentCalled(ctx context.Context, t storage.Tenant, workspace, parent, name string) (*personas.Persona, error)
	}
	TenantOf func(id string) (storage.Tenant, error)
}

var _ tool.Own = Server{}

// Limits implements tool.Limited.
func (Server) Limits() tool.Limits { return tool.Limits{} }

// List implements tool.Server: nobody has no subagents.
func (Server) List(context.Context) ([]abi.Tool, error) { return nil, nil }

// ListFor implements tool.PerCall: the subagents of the Persona that calls, the first hundred by
// name. Others are called as those are, by a model that knows their names.
func (s Server) ListFor(ctx context.Context, c *provider.Call) ([]abi.Tool, error) {
	tenant, err := s.TenantOf(c.Tenant)
	if err != nil {
		return nil, err
	}
	all, err := s.Personas.SubagentsServing(ctx, tenant, c.WorkspaceID, c.PersonaID)
	if err != nil {
		return nil, err
	}
	tools := make([]abi.Tool, 0, min(len(all), offered))
	for _, p := range all[:min(len(all), offered)] {
		tools = append(tools, described(p))
	}
	return tools, nil
}

func described(p *personas.Persona) abi.Tool {
	says := p.Description
	if p.Agent.Role != "" {
		says = strings.TrimSpace(p.Agent.Role + ": " + says)
	}
	return abi.Tool{Server: abi.ToolServerAgents, Name: p.Name, InputSchema: inputSchema,
		Description: "Gives a task to this agent, and waits for what it answers. " + says}
}

// Find implements tool.PerCall.
func (s Server) Find(ctx context.Context, c *provider.Call, name string) (*tool.Found, error) {
	tenant, err := s.TenantOf(c.Tenant)
	if err != nil {
		return nil, err
	}
	p, err := s.Personas.SubagentCalled(ctx, tenant, c.WorkspaceID, c.PersonaID, name)
	if ledger.IsNotFound(err) {
		return nil, provider.Refuse(abi.CallNotFound, tool.CodeUnknown, fmt.Sprintf("this agent has no subagent %.100q", name))
	}
	if err != nil {
		return nil, err
	}
	return &tool.Found{Tool: described(p), Delegate: func(arguments jsontext.Value) (*abi.SubmitTaskRequest, error) {
		return Submits(p, arguments)
	}}, nil
}

// Call implements tool.Server. It is never reached: the engine runs what is delegated.
func (Server) Call(context.Context, *provider.Call, string, jsontext.Value) (*abi.CallToolCallAnswer, error) {
	return nil, errors.New("what is delegated to a subagent is done by the engine")
}

// Submits returns what is submitted for a call with arguments: a Task of p in a Session of its own,
// which is for that Task alone. The error is a *provider.Refusal.
func Submits(p *personas.Persona, arguments jsontext.Value) (*abi.SubmitTaskRequest, error) {
	var a struct {
		Task    string         `json:"task"`
		Context jsontext.Value `json:"context"`
	}
	if err := json.Unmarshal(arguments, &a); err != nil {
		return nil, provider.Malformed(err)
	}
	if strings.TrimSpace(a.Task) == "" || len(a.Task) > maxTask {
		return nil, provider.Malformed(abi.InvalidParam("task", "task is what to do, in 1 to %d bytes", maxTask))
	}
	m := &abi.Message{Role: abi.RoleUser, Parts: []abi.Part{{Type: abi.PartText, Text: &a.Task, Visibility: abi.VisibilityPublic}}}
	run, err := abi.ComesWith(a.Context)
	if err != nil {
		return nil, provider.Malformed(err)
	}
	return &abi.SubmitTaskRequest{PersonaID: p.ID, Input: journal.CanonicalMessage(m), Run: run,
		Session: &abi.TaskSession{Hidden: true, CreateSessionRequest: abi.CreateSessionRequest{WorkspaceID: p.WorkspaceID, PersonaID: p.ID, Name: p.Name}}}, nil
}

// Answer tells the end of what was delegated as a tool's answer: what the subagent said last, or
// why it did not get there.
func Answer(a *abi.CallTaskAwaitAnswer) ([]byte, error) {
	answer := &abi.CallToolCallAnswer{IsError: a.Status != abi.OutcomeSucceeded}
	text := last(a.Messages)
	if answer.IsError {
		text = failed(a, text)
	}
	if text == "" {
		text = a.Summary
	}
	answer.Content = []abi.ToolContent{{Type: "text", Text: text}}
	return json.Marshal(answer)
}

// last returns the text of the last Message in which the subagent has said something.
func last(said []abi.Message) string {
	for i := len(said) - 1; i >= 0; i-- {
		if said[i].Role != abi.RoleAssistant && said[i].Role != abi.RoleAgent {
			continue
		}
		if text := textOf(&said[i]); text != "" {
			return text
		}
	}
	return ""
}

func textOf(m *abi.Message) string {
	var texts []string
	for _, p := range m.Parts {
		switch {
		case p.Type == abi.PartText && p.Text != nil:
			texts = append(texts, *p.Text)
		case p.Type == abi.PartJSON:
			texts = append(texts, string(p.Value))
		}
	}
	return strings.TrimSpace(strings.Join(texts, "\n\n"))
}

func failed(a *abi.CallTaskAwaitAnswer, said string) string {
	why := "the subagent was not done: its task " + a.TaskID + " has ended as " + string(a.Status)
	if a.Failure != nil {
		why = fmt.Sprintf("the subagent failed (%s): %s", a.Failure.Code, a.Failure.Message)
	}
	if said != "" {
		why += "\n\nWhat it said last: " + said
	}
	return why
}
