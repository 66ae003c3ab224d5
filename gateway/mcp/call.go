package mcp

import (
	"context"
	"fmt"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/gateway/jsonrpc"
)

// callTool runs a Skill as a Task.
func (a *Adapter) callTool(ctx context.Context, q *request) (sdk.Result, error) {
	p, ok := q.params.(*sdk.CallToolParamsRaw)
	if !ok || p == nil || p.Name == "" {
		return nil, refuse(jsonrpc.CodeInvalidParams, "a call names its tool", nil)
	}
	s, err := a.skillNamed(ctx, q, p.Name)
	if err != nil {
		return nil, err
	}
	workspace := s.WorkspaceID
	if workspace == "" {
		workspace = q.workspace
	}
	if workspace == "" {
		workspace = a.core.DefaultWorkspaceOf(q.caller)
	}
	input := jsontext.Value(p.Arguments)
	if len(input) == 0 {
		input = jsontext.Value("{}")
	}
	if err := q.may("tasks:write"); err != nil {
		return nil, err
	}
	metadata, err := json.Marshal(map[string]string{"skill_id": s.ID}, json.Deterministic(true))
	if err != nil {
		return nil, err
	}
	made, err := a.core.SubmitTask(ctx, q.caller, nil, abi.SubmitTaskRequest{Input: input, Metadata: metadata,
		Session: &abi.TaskSession{CreateSessionRequest: abi.CreateSessionRequest{WorkspaceID: workspace, PersonaID: s.PersonaID}, Hidden: true}})
	if err != nil {
		return nil, err
	}
	view, err := a.core.WaitTask(ctx, q.caller, made.ID)
	if err != nil {
		return nil, err
	}
	var t abi.Task
	if err := json.Unmarshal(view.JSON, &t); err != nil {
		return nil, fmt.Errorf("reading task %s: %w", made.ID, err)
	}
	return a.result(ctx, q, &t)
}

// skillNamed returns the tool of a name.
func (a *Adapter) skillNamed(ctx context.Context, q *request, name string) (*offered, error) {
	all, err := a.skills(ctx, q, "")
	if err != nil {
		return nil, err
	}
	for _, s := range all {
		if s.tool == name {
			return s, nil
		}
	}
	return nil, refuse(jsonrpc.CodeInvalidParams, fmt.Sprintf("unknown tool %q", name), nil)
}

// content is one piece of what a tool gives out.
type content struct {
	Type string `json:"type"`
	Text string `json:"text"`
}

// callResult is what a call resulted in.
type callResult struct {
	Content    []content      `json:"content"`
	Structured jsontext.Value `json:"structuredContent,omitempty"`
	IsError    bool           `json:"isError,omitzero"`
}

// result returns what a Task has resulted in.
func (a *Adapter) result(ctx context.Context, q *request, t *abi.Task) (sdk.Result, error) {
	res := callResult{Content: []content{}}
	if t.Failure != nil {
		res.IsError = true
		res.Content = append(res.Content, content{"text", t.Failure.Message})
		return q.reply(res)
	}
	view, err := a.core.Get(ctx, q.caller, abi.ObjectOutcome, t.OutcomeID)
	if err != nil {
		return nil, err
	}
	var out abi.Outcome
	if err := json.Unmarshal(view.JSON, &out); err != nil {
		return nil, fmt.Errorf("reading outcome %s: %w", t.OutcomeID, err)
	}
	res.Content = append(res.Content, content{"text", out.Summary})
	return q.reply(res)
}
