package mcp

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/gateway"
	"github.com/wharf-dev/wharf/gateway/api"
	"github.com/wharf-dev/wharf/gateway/jsonrpc"
)

// callTool runs a Skill as a Task, or goes on with one that has asked the client something.
func (a *Adapter) callTool(ctx context.Context, q *request) (sdk.Result, error) {
	p, ok := q.params.(*sdk.CallToolParamsRaw)
	if !ok || p == nil || p.Name == "" {
		return nil, refuse(jsonrpc.CodeInvalidParams, "a call names its tool", nil)
	}
	if abi.TooDeep(p.Arguments, abi.MaxDepth) >= 0 {
		return nil, refuse(jsonrpc.CodeInvalidParams, fmt.Sprintf("the arguments nest deeper than %d levels", abi.MaxDepth), nil)
	}
	if err := q.may("tasks:write"); err != nil {
		return nil, err
	}
	if p.RequestState != "" {
		return a.resumeCall(ctx, q, p, nil)
	}
	s, err := a.skillNamed(ctx, q, p.Name)
	if err == nil {
		err = q.has(s.told.Requires)
	}
	if err != nil {
		return nil, err
	}
	asTask, err := q.asTask(s)
	if err != nil {
		return nil, err
	}
	c, err := a.submit(ctx, q, s, p)
	if err != nil {
		return q.refusedCall(err)
	}
	if asTask {
		return c.finishAsTask(ctx, s)
	}
	return c.finish(ctx)
}

// skillNamed returns the tool of a name.
func (a *Adapter) skillNamed(ctx context.Context, q *request, name string) (*offered, error) {
	if q.posted != nil && q.posted.tool != nil && q.posted.tool.tool == name {
		return q.posted.tool, nil
	}
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

// callMetadata is the metadata of the Task of a call.
type callMetadata struct {
	SkillID string   `json:"skill_id"`
	MCP     calledBy `json:"mcp"`
}

// calledBy says which message a Task comes from: so that a stream is found again when the client
// comes back to another life of the node.
type calledBy struct {
	Tool      string         `json:"tool"`
	Session   string         `json:"session,omitzero"`
	Stream    string         `json:"stream,omitzero"`
	RequestID jsontext.Value `json:"request_id,omitzero"`
}

// submit accepts the Task of a call, and returns the call as one whose Task is followed from its beginning.
func (a *Adapter) submit(ctx context.Context, q *request, s *offered, p *sdk.CallToolParamsRaw) (*call, error) {
	input := jsontext.Value(p.Arguments)
	if len(input) == 0 || input.Kind() == 'n' {
		input = jsontext.Value("{}")
	}
	if input.Kind() != '{' {
		return nil, refuse(jsonrpc.CodeInvalidParams, "arguments are an object", nil)
	}
	by := callMetadata{SkillID: s.ID, MCP: calledBy{Tool: s.tool, Session: q.sessionID(), Stream: q.posted.streamID(), RequestID: q.posted.id}}
	metadata, err := json.Marshal(&by, json.Deterministic(true))
	if err != nil {
		return nil, fmt.Errorf("writing the metadata of a task: %w", err)
	}
	req := abi.SubmitTaskRequest{Input: input, Metadata: metadata, Client: q.client()}
	workspace := a.workspaceOf(q, s.WorkspaceID)
	if err := a.place(ctx, q, &req, workspace); err != nil {
		return nil, err
	}
	retry, err := q.retry(input)
	if err != nil {
		return nil, err
	}
	from := a.core.Now()
	made, err := a.core.SubmitTaskIn(ctx, q.caller, retry, req)
	if err != nil {
		return nil, err
	}
	return &call{adapter: a, q: q, params: p, id: made.ID, from: from, fresh: retry == nil, beyond: map[string]bool{}}, nil
}

// workspaceOf returns the Workspace of a call: that of the Skill, if it has one.
func (a *Adapter) workspaceOf(q *request, ofSkill string) string {
	if ofSkill != "" {
		return ofSkill
	}
	return a.home(q.posted)
}

// place puts a Task into the Session that the protocol's session stands for; one without a session
// gets a hidden Session of its own.
func (a *Adapter) place(ctx context.Context, q *request, req *abi.SubmitTaskRequest, workspace string) error {
	if q.sessionID() == "" {
		req.Session = &abi.TaskSession{CreateSessionRequest: abi.CreateSessionRequest{WorkspaceID: workspace}, Hidden: true}
		return nil
	}
	found, err := a.core.SessionsCalled(ctx, q.caller, workspace, refOf(q.sessionID()))
	if err != nil {
		return err
	}
	if len(found.Views) > 0 {
		req.SessionID = found.Views[0].ID
		return nil
	}
	made, err := a.sessionRequest(q, workspace)
	req.Session = &abi.TaskSession{CreateSessionRequest: made}
	return err
}

// keyMeta is the member of _meta that makes a call one that may be sent again.
const keyMeta = "wharf.dev/idempotencyKey"

// retry identifies a call that may be sent again: by the key that the client has given it, or by the
// session and the id of the message.
func (q *request) retry(input jsontext.Value) (*api.Write, error) {
	key := ""
	switch given := q.params.GetMeta()[keyMeta].(type) {
	case nil:
		if q.sessionID() == "" || len(q.posted.id) == 0 {
			return nil, nil
		}
		key = q.sessionID() + " " + string(q.posted.id)
	case string:
		key = given
	}
	if key == "" || len(key) > 255 {
		return nil, refuse(jsonrpc.CodeInvalidParams, keyMeta+" has 1 to 255 characters", nil)
	}
	p := q.params.(*sdk.CallToolParamsRaw)
	return &api.Write{Key: key, Scope: "mcp tools/call " + p.Name, Fingerprint: api.Fingerprint(input)}, nil
}

// refusedCall answers a call whose Task was not accepted. What the model can do something about is a
// result, as the protocol wants it: arguments that do not fit, and what policy refuses.
func (q *request) refusedCall(err error) (sdk.Result, error) {
	is, ok := errors.AsType[*abi.Error](err)
	if !ok {
		return nil, err
	}
	switch {
	case is.Code == abi.CodeInvalidRequest && is.Param == "input", is.Code == abi.CodePolicyViolation, is.Code == abi.CodeRateLimited,
		is.Code == abi.CodePermissionDenied && is.HTTPStatus() == http.StatusForbidden && q.may("tasks:write") == nil:
		return q.reply(failed(string(is.Code), is.Message))
	}
	return nil, err
}

// finish follows the Task of a call to its end and answers with what it has resulted in, or with what
// it asks the client.
func (c *call) finish(ctx context.Context) (sdk.Result, error) {
	ctx, release := c.adapter.during(ctx, c.q)
	defer release()
	t, err := c.followAnswered(ctx)
	if ctx.Err() != nil {
		return nil, c.adapter.leave(ctx, c.q, c.id)
	}
	if err != nil {
		return nil, err
	}
	if !t.Status.Terminal() {
		return c.waits(t)
	}
	if c.show != nil {
		return c.adapter.ended(ctx, c.q, t, c.show)
	}
	return c.adapter.result(ctx, c.q, t)
}

// leave ends a Task whose client has called it off, or has left where nobody can come back to it. A node
// that drains ends none: its next life goes on with them.
func (a *Adapter) leave(ctx context.Context, q *request, task string) error {
	if errors.Is(context.Cause(ctx), gateway.ErrDraining) || a.core.Stats().Draining {
		return refuse(jsonrpc.CodeInternal, "the node is draining: the task "+task+" goes on when it is back", nil)
	}
	_, err := a.core.CancelTask(context.WithoutCancel(ctx), q.caller, nil, task, abi.CancelTaskRequest{Reason: "the MCP client has called it off"})
	if is, ok := errors.AsType[*abi.Error](err); err != nil && (!ok || is.HTTPStatus() >= http.StatusInternalServerError) {
		return err
	}
	return refuse(jsonrpc.CodeInvalidRequest, "the call was called off", nil)
}
