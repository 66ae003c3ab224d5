package api

import (
	"context"
	"io"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/desk"
	"github.com/wharf-dev/wharf/runtime/journal"
)

// tasksCore accepts Tasks, also those that replay and fork others.
type tasksCore interface {
	SubmitTask(ctx context.Context, c *desk.Caller, r *desk.Retry, req abi.SubmitTaskRequest) (desk.Doc, error)
	WaitTask(ctx context.Context, c *desk.Caller, id string) (desk.Doc, error)
	WaitSettled(ctx context.Context, c *desk.Caller, id string) (desk.Doc, error)
	CancelTask(ctx context.Context, c *desk.Caller, r *desk.Retry, id string, req abi.CancelTaskRequest) (desk.Doc, error)
	AppendTaskMessage(ctx context.Context, c *desk.Caller, r *desk.Retry, taskID string, req abi.AppendTaskMessageRequest) (desk.Doc, error)
	ReplayTask(ctx context.Context, c *desk.Caller, r *desk.Retry, id string, req abi.ReplayTaskRequest) (desk.Doc, error)
	ReplaySession(ctx context.Context, c *desk.Caller, r *desk.Retry, id string, req abi.ReplaySessionRequest, after string) (desk.DocList, error)
	ForkTask(ctx context.Context, c *desk.Caller, r *desk.Retry, id string, req abi.ForkTaskRequest) (desk.Doc, error)
	TaskRecord(ctx context.Context, c *desk.Caller, id string) (*journal.Record, error)
	ExportTask(ctx context.Context, c *desk.Caller, id string, w io.Writer) error
}

// Together returns a context for several reads of what belongs to one Task, which then cost less. It is for one
// answer, and not for a stream.
func Together(ctx context.Context) context.Context { return desk.Together(ctx) }

// SubmitTask accepts a Task. When it returns without an error, the Task is
// durable and will be run. req.SessionID is required.
func (a *API) SubmitTask(ctx context.Context, c *Caller, r *Write, req abi.SubmitTaskRequest) (View, error) {
	return a.to(ctx, c).view(a.core.SubmitTask(ctx, c, r, req))
}

// SubmitTaskIn is SubmitTask of a Task that makes a Session with references, which another request may
// have made a moment ago: the Task is then one of that Session.
func (a *API) SubmitTaskIn(ctx context.Context, c *Caller, r *Write, req abi.SubmitTaskRequest) (View, error) {
	made, err := a.SubmitTask(ctx, c, r, req)
	if err == nil || req.Session == nil {
		return made, err
	}
	if taken := SessionTaken(err, req.Session.Refs...); taken != "" {
		req.Session, req.SessionID = nil, taken
		return a.SubmitTask(ctx, c, r, req)
	}
	return made, err
}

// WaitTask returns the Task when it has ended, or as it is when ctx ends.
func (a *API) WaitTask(ctx context.Context, c *Caller, id string) (View, error) {
	return a.to(ctx, c).view(a.core.WaitTask(ctx, c, id))
}

// WaitSettled returns the Task when it does not go on by itself, as it has ended or waits for somebody, or
// as it is when ctx ends.
func (a *API) WaitSettled(ctx context.Context, c *Caller, id string) (View, error) {
	return a.to(ctx, c).view(a.core.WaitSettled(ctx, c, id))
}

// CancelTask ends a Task. A plugin that runs for it is stopped, and what it still
// answers does not count. Canceling a Task that has ended is a conflict.
func (a *API) CancelTask(ctx context.Context, c *Caller, r *Write, id string, req abi.CancelTaskRequest) (View, error) {
	return a.to(ctx, c).view(a.core.CancelTask(ctx, c, r, id, req))
}

// AppendTaskMessage sends a Message to a Task that has not ended: an interrupt at
// any time, input and a tool confirmation to one that waits for it.
func (a *API) AppendTaskMessage(ctx context.Context, c *Caller, r *Write, taskID string, req abi.AppendTaskMessageRequest) (View, error) {
	return a.to(ctx, c).view(a.core.AppendTaskMessage(ctx, c, r, taskID, req))
}

// ReplayTask accepts a Task that replays another (docs/protocol.md, 6).
func (a *API) ReplayTask(ctx context.Context, c *Caller, r *Write, id string, req abi.ReplayTaskRequest) (View, error) {
	return a.to(ctx, c).view(a.core.ReplayTask(ctx, c, r, id, req))
}

// ReplaySession accepts an exact replay of every Task of a Session that has ended, oldest
// first, and returns the replay Tasks. It ends early when they are a full page: the next
// request goes on after the Task that the list's Next names.
func (a *API) ReplaySession(ctx context.Context, c *Caller, r *Write, id string, req abi.ReplaySessionRequest, after string) (List, error) {
	return a.to(ctx, c).list(a.core.ReplaySession(ctx, c, r, id, req, after))
}

// ForkTask accepts a Task that shares the record of another up to an event, and
// is live from there. Unless it stays in the same Session, it gets a fork of it.
func (a *API) ForkTask(ctx context.Context, c *Caller, r *Write, id string, req abi.ForkTaskRequest) (View, error) {
	return a.to(ctx, c).view(a.core.ForkTask(ctx, c, r, id, req))
}
