package a2a

import (
	"github.com/wharf-dev/wharf/abi"
)

// What a caller needs to ask for Tasks, and to make them.
const (
	scopeReads  = "tasks:read"
	scopeWrites = "tasks:write"
)

func (a *Adapter) taskMethods() map[string]method {
	return map[string]method{
		"SendMessage": {scope: scopeWrites, in: v10, do: (*call).sendMessage}, "message/send": {scope: scopeWrites, in: v03, do: (*call).sendMessage},
		"SendStreamingMessage": {scope: scopeWrites, in: v10, stream: (*call).sendStream}, "message/stream": {scope: scopeWrites, in: v03, stream: (*call).sendStream},
		"SubscribeToTask": {scope: scopeReads, in: v10, stream: (*call).subscribe}, "tasks/resubscribe": {scope: scopeReads, in: v03, stream: (*call).subscribe},
		"GetTask": {scope: scopeReads, in: v10, do: (*call).getTask}, "tasks/get": {scope: scopeReads, in: v03, do: (*call).getTask},
		"ListTasks": {scope: scopeReads, in: v10, do: (*call).listTasks}, "tasks/list": {scope: scopeReads, in: v03, do: (*call).listTasks},
		"CancelTask": {scope: scopeWrites, in: v10, do: (*call).cancelTask}, "tasks/cancel": {scope: scopeWrites, in: v03, do: (*call).cancelTask},
	}
}

// taskOf returns a Task that the caller sees, of a Workspace where one is named.
func (c *call) taskOf(id, workspace string) (*abi.Task, error) {
	if id == "" {
		return nil, invalid("id", "name a task by its id")
	}
	view, err := c.core.Get(c.r.Context(), c.r.Caller, abi.ObjectTask, id)
	if err != nil {
		return nil, about(err, id)
	}
	t, err := as[abi.Task](view)
	if err == nil && workspace != "" && workspace != t.WorkspaceID {
		return nil, refuse(reasonNoTask, "there is no task %q", id)
	}
	return &t, err
}

// shown shows a Task as it is now.
func (c *call) shown(t *abi.Task, history int) (*task, error) {
	contextID, err := c.viewer().contextOf(c.r.Context(), t.SessionID)
	if err != nil {
		return nil, err
	}
	return c.viewer().task(c.r.Context(), t, contextID, shows{history, true})
}

// readSend reads what is to be sent, and how much of the Task the answer has.
func (c *call) readSend() (p *sendParams, history int, err error) {
	p = &sendParams{}
	if c.dialect.old {
		var old oldSendParams
		if err := c.decode(&old); err != nil {
			return nil, 0, err
		}
		if p, err = c.dialect.sendParams(&old); err != nil {
			return nil, 0, err
		}
	} else if err := c.decode(p); err != nil {
		return nil, 0, err
	}
	if p.Configuration == nil {
		p.Configuration = &sendConfig{}
	}
	if push := p.Configuration.Push; push != nil {
		if err := c.checkPush(push); err != nil {
			return nil, 0, err
		}
	}
	history, err = historyOf(p.Configuration.HistoryLength)
	return p, history, err
}

// sendMessage answers when the Task has ended or waits for its client, unless that one does not want
// to wait for it.
func (c *call) sendMessage() (any, error) {
	p, history, err := c.readSend()
	if err != nil {
		return nil, err
	}
	s, err := c.send(p)
	if err != nil {
		return nil, err
	}
	if push := p.Configuration.Push; push != nil {
		if err := c.attach(push, s); err != nil {
			return nil, err
		}
	}
	if !p.Configuration.ReturnImmediately {
		if err := c.settle(s); err != nil {
			return nil, err
		}
	}
	t := s.seen
	if t == nil {
		if t, err = c.taskOf(s.task.ID, ""); err != nil {
			return nil, err
		}
	}
	shown, err := c.viewer().task(c.r.Context(), t, s.context, shows{history, true})
	return &happening{Task: shown}, err
}

func (c *call) getTask() (any, error) {
	var p taskParams
	if err := c.decode(&p); err != nil {
		return nil, err
	}
	history, err := historyOf(p.HistoryLength)
	if err != nil {
		return nil, err
	}
	t, err := c.taskOf(p.ID, p.Tenant)
	if err != nil {
		return nil, err
	}
	return c.shown(t, history)
}

func (c *call) cancelTask() (any, error) {
	var p taskParams
	if err := c.decode(&p); err != nil {
		return nil, err
	}
	t, err := c.taskOf(p.ID, p.Tenant)
	if err != nil {
		return nil, err
	}
	view, err := c.core.CancelTask(c.r.Context(), c.r.Caller, nil, t.ID, abi.CancelTaskRequest{})
	if wrong, ok := err.(*abi.Error); ok && (wrong.Code == abi.CodeConflict || wrong.Code == abi.CodeInvalidStateTransition) {
		return nil, refuse(reasonNotCancelable, "the task %q has ended", t.ID)
	}
	if err != nil {
		return nil, err
	}
	canceled, err := as[abi.Task](view)
	if err != nil {
		return nil, err
	}
	return c.shown(&canceled, -1)
}
