package mcp

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	sdkrpc "github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/gateway/jsonrpc"
)

// extensionTasks is the extension by which a call is a task that its client comes back to (SEP-2663). It
// belongs to the revision without sessions; in one with sessions such a call is like any other.
const extensionTasks = "io.modelcontextprotocol/tasks"

// taskPoll is how often a client is told to ask for a task, in milliseconds.
const taskPoll = 500

// What a Skill says of calls of it that are tasks.
const (
	taskOptional = "optional"
	taskRequired = "required"
	// afterInput says that a call is a task only when its first questions are answered, which are
	// asked between rounds.
	afterInput = "input"
)

// tasks serves the extension.
func (a *Adapter) tasks() feature {
	return feature{
		methods: map[string]method{"tasks/get": a.getTask, "tasks/update": a.updateTask, "tasks/cancel": a.cancelTask},
		unknown: []string{"tasks/get", "tasks/update", "tasks/cancel"},
		declare: func(c *sdk.ServerCapabilities, stateless bool) {
			if stateless {
				c.AddExtension(extensionTasks, nil)
			}
		},
	}
}

// hasTasks reports whether the client of a request has declared the extension.
func (q *request) hasTasks() bool {
	c := q.capabilities()
	if !q.stateless || c == nil {
		return false
	}
	_, declared := c.Extensions[extensionTasks]
	return declared
}

// errNoTasks refuses what only a client with the extension can ask for.
func errNoTasks() error {
	return refuse(sdk.CodeMissingRequiredClientCapabilities, "this needs the extension "+extensionTasks+", which the client has not declared",
		map[string]any{"requiredCapabilities": map[string]any{"extensions": map[string]any{extensionTasks: struct{}{}}}})
}

// asTask reports whether a call of a tool is a task: where the tool can be one, and the client can come
// back to it. A tool that has to be one is not called by any other client.
func (q *request) asTask(s *offered) (bool, error) {
	if !q.stateless {
		return false, nil
	}
	if s.told.TaskSupport == taskRequired && !q.hasTasks() {
		return false, errNoTasks()
	}
	return q.hasTasks() && (s.told.TaskSupport == taskRequired || s.told.TaskSupport == taskOptional), nil
}

// taskDoc is a task as clients read it. ID is the Task's own: what becomes of it is the same everywhere.
type taskDoc struct {
	ID      string `json:"taskId"`
	Status  string `json:"status"`
	Message string `json:"statusMessage,omitzero"`
	Created string `json:"createdAt"`
	Updated string `json:"lastUpdatedAt"`
	TTL     *int   `json:"ttlMs"` // null: Tasks are kept for ever
	Poll    int    `json:"pollIntervalMs"`
}

// taskDetail is a task with what it has come to, or what it asks.
type taskDetail struct {
	taskDoc  `json:",inline"`
	Result   *callResult    `json:"result,omitzero"`
	Error    *sdkrpc.Error  `json:"error,omitzero"`
	Requests jsontext.Value `json:"inputRequests,omitzero"`
}

// The states of tasks.
const (
	taskWorking   = "working"
	taskAsks      = "input_required"
	taskCompleted = "completed"
	taskFailed    = "failed"
	taskCancelled = "cancelled"
)

func docOf(t *abi.Task) taskDoc {
	return taskDoc{ID: t.ID, Status: taskWorking, Created: t.CreatedAt.UTC().Format(time.RFC3339Nano), Updated: t.UpdatedAt.UTC().Format(time.RFC3339Nano), Poll: taskPoll}
}

// created answers a call by the task that it has become. The Task is on disk, whoever asks for it.
func (c *call) created(ctx context.Context) (sdk.Result, error) {
	t, err := c.task(ctx)
	if err != nil {
		return nil, err
	}
	return c.q.replyAs("task", docOf(t))
}

// finishAsTask answers a call that is a task: at once, or when its first questions are answered, if its
// client can be asked them.
func (c *call) finishAsTask(ctx context.Context, s *offered) (sdk.Result, error) {
	if s.told.TaskAfter != afterInput {
		return c.created(ctx)
	}
	ctx, release := c.adapter.during(ctx, c.q)
	defer release()
	t, err := c.followAnswered(ctx)
	if ctx.Err() != nil {
		return nil, c.adapter.leave(ctx, c.q, c.id)
	}
	if err != nil {
		return nil, err
	}
	if t.Status.Terminal() {
		return c.created(ctx)
	}
	all, err := c.pending(ctx, t)
	if err != nil {
		return nil, err
	}
	if res, err := c.inputRequired(all); res != nil || err != nil {
		return res, err
	}
	return c.created(ctx)
}

// goOn answers a round of a call whose answers were settled: one that is a task from then on is one,
// unless some of what it has asked is still to be answered.
func (c *call) goOn(ctx context.Context, s *requestState) (sdk.Result, error) {
	of, err := c.adapter.skillNamed(ctx, c.q, c.params.Name)
	if err != nil {
		return nil, err
	}
	task, err := c.q.asTask(of)
	if err != nil {
		return nil, err
	}
	if !task {
		return c.finish(ctx)
	}
	t, err := c.task(ctx)
	if err != nil {
		return nil, err
	}
	all, err := c.pending(ctx, t)
	if err != nil {
		return nil, err
	}
	again := slices.DeleteFunc(all, func(one question) bool { return s.Asked[one.key] != one.ID })
	if res, err := c.inputRequired(again); res != nil || err != nil {
		return res, err
	}
	return c.created(ctx)
}

// taskOf reads the task that a request names, for a client that has the extension. One that the caller may
// not see is one that is not there.
func (a *Adapter) taskOf(ctx context.Context, q *request, scope string) (*call, *abi.Task, error) {
	if !q.stateless {
		return nil, nil, notFound(q.method)
	}
	if !q.hasTasks() {
		return nil, nil, errNoTasks()
	}
	if err := q.may(scope); err != nil {
		return nil, nil, err
	}
	var p struct {
		ID string `json:"taskId"`
	}
	if err := q.decode(&p); err != nil {
		return nil, nil, err
	}
	c := &call{adapter: a, q: q, params: &sdk.CallToolParamsRaw{}, id: p.ID}
	t, err := c.task(ctx)
	if err != nil {
		return nil, nil, noSuchTask(err)
	}
	return c, t, nil
}

// noSuchTask says of a Task that cannot be found, or not by the caller, that it is unknown.
func noSuchTask(err error) error {
	is, ok := errors.AsType[*abi.Error](err)
	if !ok {
		return err
	}
	switch is.Code {
	case abi.CodeResourceNotFound, abi.CodePermissionDenied, abi.CodeInvalidRequest:
		return refuse(jsonrpc.CodeInvalidParams, "the task is unknown", nil)
	}
	return err
}

func (a *Adapter) getTask(ctx context.Context, q *request) (sdk.Result, error) {
	c, t, err := a.taskOf(ctx, q, "tasks:read")
	if err != nil {
		return nil, err
	}
	d, err := c.detail(ctx, t)
	if err != nil {
		return nil, err
	}
	return q.reply(d)
}

// detail returns a task as it is. One that waits for what this client cannot give is at work for it.
func (c *call) detail(ctx context.Context, t *abi.Task) (*taskDetail, error) {
	d := &taskDetail{taskDoc: docOf(t)}
	switch {
	case t.Status == abi.TaskCanceled:
		d.Status = taskCancelled
	case t.Status.Terminal():
		return d, c.ended(ctx, t, d)
	case c.parked(t):
		return d, c.asks(ctx, t, d)
	}
	return d, nil
}

// ended fills in what a task has come to. What the plugin says of its own failure is a result; what the
// host has to say is an error.
func (c *call) ended(ctx context.Context, t *abi.Task, d *taskDetail) error {
	res, err := c.adapter.resultOf(ctx, c.q, t)
	if own, ok := errors.AsType[*sdkrpc.Error](err); ok {
		d.Status, d.Error = taskFailed, own
		return nil
	}
	d.Status, d.Result = taskCompleted, &res
	return err
}

// asks fills in what a task asks, by the ids of its requests: no other is ever called so.
func (c *call) asks(ctx context.Context, t *abi.Task, d *taskDetail) error {
	all, err := c.pending(ctx, t)
	if err != nil {
		return err
	}
	asked := sdk.InputRequestMap{}
	for i := range all {
		p := &all[i].PermissionRequest
		if by, known := askers()[p.Kind]; known && by.can(c.q.capabilities(), p) {
			asked[p.ID] = by.ask(p)
		}
	}
	if len(asked) == 0 {
		d.Message = *inbox(t, all).Content[0].Text
		return nil
	}
	d.Status = taskAsks
	d.Requests, err = asked.MarshalJSON()
	return err
}

// updateTask settles what a client has answered. What it answers twice, or is not asked, is nothing to do;
// what does not fit is asked on.
func (a *Adapter) updateTask(ctx context.Context, q *request) (sdk.Result, error) {
	c, t, err := a.taskOf(ctx, q, "tasks:write")
	if err != nil {
		return nil, err
	}
	var p struct {
		Responses map[string]jsontext.Value `json:"inputResponses"`
	}
	if err := q.decode(&p); err != nil {
		return nil, err
	}
	if p.Responses == nil {
		return nil, refuse(jsonrpc.CodeInvalidParams, "an update has inputResponses", nil)
	}
	all, err := c.pending(ctx, t)
	if err != nil {
		return nil, err
	}
	for i := range all {
		asked := &all[i].PermissionRequest
		text, given := p.Responses[asked.ID]
		by, known := askers()[asked.Kind]
		if !given || !known {
			continue
		}
		answer, err := responseOf(text)
		if err != nil {
			return nil, err
		}
		if _, err := c.settle(ctx, by, asked, answer); err != nil && !errors.Is(err, errUnasked) {
			return nil, err
		}
	}
	return q.reply(struct{}{})
}

// responseOf reads one answer as the SDK reads those of a round.
func responseOf(text jsontext.Value) (sdk.InputResponse, error) {
	const key = "answer"
	one, err := json.Marshal(map[string]jsontext.Value{key: text})
	if err != nil {
		return nil, refuse(jsonrpc.CodeInvalidParams, "an answer is none of this protocol", nil)
	}
	var m sdk.InputResponseMap
	if err := m.UnmarshalJSON(one); err != nil {
		return nil, refuse(jsonrpc.CodeInvalidParams, "an answer is none of this protocol", nil)
	}
	return m[key], nil
}

// cancelTask ends a task. One that has ended has.
func (a *Adapter) cancelTask(ctx context.Context, q *request) (sdk.Result, error) {
	_, t, err := a.taskOf(ctx, q, "tasks:write")
	if err != nil {
		return nil, err
	}
	if t.Status.Terminal() {
		return q.reply(struct{}{})
	}
	_, err = a.core.CancelTask(ctx, q.caller, nil, t.ID, abi.CancelTaskRequest{Reason: "the MCP client has canceled it"})
	if is, ok := errors.AsType[*abi.Error](err); ok && is.Code == abi.CodeConflict { // it has ended meanwhile
		err = nil
	}
	if err != nil {
		return nil, noSuchTask(err)
	}
	return q.reply(struct{}{})
}
