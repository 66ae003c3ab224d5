package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	json "github.com/go-json-experiment/json"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/desk"
	"github.com/wharf-dev/wharf/runtime/journal"
	"github.com/wharf-dev/wharf/runtime/ledger"
	"github.com/wharf-dev/wharf/runtime/personas"
	"github.com/wharf-dev/wharf/runtime/provider"
	"github.com/wharf-dev/wharf/runtime/redact"
	"github.com/wharf-dev/wharf/runtime/subagents"
	"github.com/wharf-dev/wharf/runtime/waiting"
	"github.com/wharf-dev/wharf/storage"
)

// The bounds on children.
const (
	maxChildren    = 1000
	maxGenerations = 8
)

// spawn submits a child Task. The child's id follows from the call, so that a
// call that is repeated after a crash finds the child that it made before.
func (r *run) spawn(ctx context.Context, c *liveCall) (abi.CallStatus, []byte, error) {
	id := childID(&r.task.about, c.entry.Index)
	submit, err := r.childRequest(ctx, c)
	if err != nil {
		return r.close(ctx, c, journal.Whole, nil, err)
	}
	if c.intent == nil {
		if err := r.intend(ctx, c); err != nil {
			return 0, nil, err
		}
	}
	err = r.engine.submitChild(ctx, r.task, id, submit)
	answer := []byte(`{"task_id":"` + id + `"}`)
	return r.close(ctx, c, journal.Result, answer, err)
}

// childID derives an id from the parent's and the call's index.
func childID(parent *abi.Task, index int) string {
	return abi.DerivedID(abi.ObjectTask, parent.CreatedAt, fmt.Sprintf("child %s %d", parent.ID, index))
}

// childRequest turns a spawn or a handoff into a submit.
func (r *run) childRequest(ctx context.Context, c *liveCall) (abi.SubmitTaskRequest, error) {
	parent := &r.task.about
	submit := abi.SubmitTaskRequest{SessionID: parent.SessionID, ParentTaskID: parent.ID, PersonaID: parent.PersonaID}
	if c.entry.Call == abi.CallHandoff {
		req, err := ask[abi.CallHandoffRequest](c)
		if err == nil {
			err = waiting.Required("persona_id", req.PersonaID)
		}
		if err != nil {
			return submit, err
		}
		submit.PersonaID, submit.Input = req.PersonaID, req.Input.Clone()
	} else {
		req, err := ask[abi.CallTaskSpawnRequest](c)
		if err != nil {
			return submit, err
		}
		submit.PersonaID = cmp.Or(req.PersonaID, parent.PersonaID)
		submit.Input, submit.Metadata, submit.DeadlineSeconds = req.Input.Clone(), req.Metadata.Clone(), req.DeadlineSeconds
	}
	return submit, r.checkChildren(ctx)
}

// checkChildren refuses one more child than there may be.
func (r *run) checkChildren(ctx context.Context) error {
	if len(r.children) >= maxChildren {
		return provider.Refuse(abi.CallTooLarge, "too_many_children", fmt.Sprintf("a task has at most %d children", maxChildren))
	}
	return r.engine.records.CheckGenerations(ctx, r.task.tenant, &r.task.about, maxGenerations)
}

// noteChild takes over the child that an answered call has made; most have made none.
func (r *run) noteChild(e *journal.Entry) error {
	switch e.Call {
	case abi.CallTaskSpawn, abi.CallHandoff:
		var made abi.CallTaskSpawnAnswer
		err := json.Unmarshal(e.Answer, &made)
		r.children = append(r.children, made.TaskID)
		return err
	case abi.CallToolCall:
		req, err := provider.Asked[abi.CallToolCallRequest](nil, e.Request)
		if err == nil && (req.Server == ServerSkills || req.Server == abi.ToolServerAgents) {
			r.children = append(r.children, childID(&r.task.about, e.Index))
		}
	}
	return nil
}

// submitChild accepts a child unless it is there already.
func (e *Engine) submitChild(ctx context.Context, parent *task, id string, req abi.SubmitTaskRequest) error {
	_, err := e.ledger.Find(ctx, parent.tenant, abi.ObjectTask, id)
	if err == nil {
		return nil
	}
	if !ledger.IsNotFound(err) {
		return err
	}
	c := &desk.Caller{Tenant: parent.tenant, TenantID: e.tenants.IDOf(parent.tenant), Actor: parent.about.PersonaID}
	req.Run = personas.Held(req.Run, parent.about.Run)
	err = e.submitAs(ctx, c, id, req)
	var invalid *abi.Error
	if errors.As(err, &invalid) {
		return provider.RefuseFor(invalid)
	}
	return err
}

// child reads a Task that the run's may wait for: one of its own children, or one that
// the record has which a fork shares with its source.
func (r *run) child(ctx context.Context, id string) (*abi.Task, error) {
	child, err := r.engine.records.Task(ctx, r.task.tenant, id)
	if err != nil && !ledger.IsNotFound(err) {
		return nil, err
	}
	if err != nil || child.ParentTaskID != r.task.id && !slices.Contains(r.children, id) {
		return nil, provider.Refuse(abi.CallNotFound, string(abi.CodeResourceNotFound), fmt.Sprintf("%q is not a child of this task", id))
	}
	return child, nil
}

// awaited returns what a Task learns of a child that has ended.
func (e *Engine) awaited(ctx context.Context, t storage.Tenant, w *abi.Waiting, child *abi.Task) ([]byte, error) {
	res, err := e.ledger.Find(ctx, t, abi.ObjectOutcome, child.OutcomeID)
	if err != nil {
		return nil, err
	}
	var o abi.Outcome
	if err := ledger.Decode(res.State, &o); err != nil {
		return nil, err
	}
	answer := abi.CallTaskAwaitAnswer{TaskID: child.ID, Status: o.Status, Summary: o.Summary, Failure: o.Failure, ReceiptID: child.ReceiptID}
	for _, id := range o.MessageIDs {
		res, err := e.ledger.Find(ctx, t, abi.ObjectMessage, id)
		if err != nil {
			return nil, err
		}
		state, err := redact.ForPlugins(res.State)
		if err != nil {
			return nil, err
		}
		var m abi.Message
		if err := ledger.Decode(state, &m); err != nil {
			return nil, err
		}
		answer.Messages = append(answer.Messages, m)
	}
	if w.Call != abi.CallToolCall {
		return json.Marshal(&answer)
	}
	if of, err := e.Persona(ctx, t, child.PersonaID); err == nil && of.IsSubagent() {
		return subagents.Answer(&answer)
	}
	return personas.SkillAnswer(&answer)
}
