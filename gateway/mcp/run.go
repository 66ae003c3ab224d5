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

// run is a Skill that is run for something else than a call of a tool: a prompt that is got, or a
// resource that is read.
type run struct {
	skill     *offered
	input     jsontext.Value
	responses sdk.InputResponseMap // to what was asked before
	state     string               // of the run that asked it
	show      shows
}

// shows makes a result of what a Task that has completed has left.
type shows func(ctx context.Context, q *request, t *abi.Task, out *abi.Outcome) (any, error)

// runs runs a Skill, or goes on with one that has asked the client something. It is a call in every respect
// but its result: what it asks the client, and what becomes of it when the client leaves, is the same.
func (a *Adapter) runs(ctx context.Context, q *request, r *run) (sdk.Result, error) {
	if err := q.may("tasks:write"); err != nil {
		return nil, err
	}
	as := *q
	p := &sdk.CallToolParamsRaw{Meta: q.params.GetMeta(), Name: q.method + " " + r.skill.tool, Arguments: []byte(r.input), InputResponses: r.responses, RequestState: r.state}
	as.params = p
	if r.state != "" {
		return a.resumeCall(ctx, &as, p, r.show)
	}
	if err := as.has(r.skill.told.Requires); err != nil {
		return nil, err
	}
	c, err := a.submit(ctx, &as, r.skill, p)
	if err != nil {
		return nil, err
	}
	c.show = r.show
	return c.finish(ctx)
}

// ended answers a run whose Task has ended. There is no result for one that has failed.
func (a *Adapter) ended(ctx context.Context, q *request, t *abi.Task, show shows) (sdk.Result, error) {
	switch {
	case t.Failure != nil:
		return nil, refuse(jsonrpc.CodeInternal, t.Failure.Message, taskError{t.ID, t.Failure})
	case t.Status != abi.TaskCompleted:
		return nil, refuse(jsonrpc.CodeInternal, "the task "+t.ID+" was canceled", nil)
	}
	view, err := a.core.Get(ctx, q.caller, abi.ObjectOutcome, t.OutcomeID)
	if err != nil {
		return nil, err
	}
	var out abi.Outcome
	if err := json.Unmarshal(view.JSON, &out); err != nil {
		return nil, fmt.Errorf("reading outcome %s: %w", t.OutcomeID, err)
	}
	res, err := show(ctx, q, t, &out)
	if err != nil {
		return nil, err
	}
	return q.reply(res)
}
