package engine

import (
	"context"
	"errors"
	"fmt"

	json "github.com/go-json-experiment/json"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/hosttools"
	"github.com/wharf-dev/wharf/runtime/journal"
	"github.com/wharf-dev/wharf/runtime/ledger"
	"github.com/wharf-dev/wharf/runtime/personas"
	"github.com/wharf-dev/wharf/runtime/provider"
	"github.com/wharf-dev/wharf/runtime/waiting"
)

// The engine's own tool servers.
const (
	// ServerHost offers what the host knows and keeps, as tools for a model.
	ServerHost = abi.ToolServerHost
	// ServerSkills offers every Skill as a tool: calling it runs a child Task.
	ServerSkills = abi.ToolServerSkills
)

// ownTool returns the tool call that the engine answers itself; nil for any other
// call.
func ownTool(c *liveCall) *abi.CallToolCallRequest {
	if c.entry.Call != abi.CallToolCall {
		return nil
	}
	req, err := ask[abi.CallToolCallRequest](c)
	if err != nil || req.Server != ServerHost && req.Server != ServerSkills || hosttools.InFiles(req.Server, req.Name) != "" {
		return nil
	}
	if len(req.Arguments) == 0 {
		req.Arguments = abi.EmptyObject()
	}
	return &req
}

// own answers a tool call that the engine answers itself.
func (r *run) own(ctx context.Context, c *liveCall, req *abi.CallToolCallRequest) (abi.CallStatus, []byte, error) {
	if req.Server == ServerSkills {
		return r.skill(ctx, c, req)
	}
	if t := hosttools.Find(req.Name); t != nil && t.Waits() {
		asked, err := t.Request(req.Arguments)
		if err != nil {
			return r.close(ctx, c, journal.Whole, nil, provider.Malformed(err))
		}
		return r.wait(ctx, c, waiting.Call{Name: t.Call, Asked: asked})
	} else if t != nil {
		if err := r.begins(ctx, c, false); err != nil {
			return 0, nil, err
		}
		answer, err := r.hostTool(ctx, c, t, req)
		return r.closeAndRelease(ctx, c, journal.Whole, answer, err)
	}
	return r.close(ctx, c, journal.Whole, nil, provider.Refuse(abi.CallNotFound, "unknown_tool", fmt.Sprintf("the host has no tool %q", req.Name)))
}

// hostTool makes the host call that a tool stands for, within the tool's own.
func (r *run) hostTool(ctx context.Context, c *liveCall, t *hosttools.Tool, req *abi.CallToolCallRequest) ([]byte, error) {
	inner, err := t.Request(req.Arguments)
	if err != nil {
		return nil, provider.Malformed(err)
	}
	text, err := json.Marshal(inner)
	if err != nil {
		return nil, err
	}
	call := &liveCall{def: r.engine.calls[t.Call], request: text, entry: journal.Entry{Index: c.entry.Index, Call: t.Call, Request: text}}
	answer, err := r.engine.immediately(t.Call)(r, ctx, call)
	if err != nil {
		return nil, err
	}
	c.extra, c.durable, c.release = call.extra, call.def.Durable, call.release
	if call.states != nil { // beside the call's own event, which says that a tool was called
		call.states.Restricted = true
		c.extra = append(c.extra, *call.states)
	}
	return t.Answer(answer)
}

// skill runs a Persona as a tool: a child Task, which the Task waits for without
// an instance.
func (r *run) skill(ctx context.Context, c *liveCall, req *abi.CallToolCallRequest) (abi.CallStatus, []byte, error) {
	return r.work(ctx, c, func(ctx context.Context, id string) error { return r.submitSkill(ctx, id, req) })
}

// work has a child Task, which submit makes, do what a tool is called for.
func (r *run) work(ctx context.Context, c *liveCall, submit func(ctx context.Context, id string) error) (abi.CallStatus, []byte, error) {
	if c.intent == nil {
		if err := r.intend(ctx, c); err != nil {
			return 0, nil, err
		}
		c.intent = &c.entry
	}
	err := r.checkChildren(ctx)
	if err == nil {
		err = submit(ctx, childID(&r.task.about, c.entry.Index))
	}
	return r.awaitChild(ctx, c, err)
}

// delegated reports whether a tool call that an earlier life has begun has its child already: then
// it is waited for, whatever has become of the tool.
func (r *run) delegated(ctx context.Context, c *liveCall) (bool, error) {
	if c.intent == nil || c.entry.Call != abi.CallToolCall {
		return false, nil
	}
	_, err := r.engine.records.Task(ctx, r.task.tenant, childID(&r.task.about, c.entry.Index))
	if ledger.IsNotFound(err) {
		return false, nil
	}
	return true, err
}

// awaitChild waits for the child that does what a tool is called for, or answers why there is none.
func (r *run) awaitChild(ctx context.Context, c *liveCall, failed error) (abi.CallStatus, []byte, error) {
	if failed != nil {
		return r.close(ctx, c, journal.Result, nil, failed)
	}
	id := childID(&r.task.about, c.entry.Index)
	w := &abi.Waiting{Call: c.entry.Call, Index: c.entry.Index, RequestID: requestID(r.task.id, c.entry.Index), TaskID: id, Tool: c.use.Waits()}
	if answer, ended, err := r.endedChild(ctx, w); err != nil || ended {
		return r.close(ctx, c, journal.Result, answer, err)
	}
	err := r.park(ctx, c, w, abi.TaskWorking)
	if errors.Is(err, errEndedMeanwhile) {
		r.engine.abandon(ledger.Key{Tenant: r.task.tenant, ID: id})
	}
	return 0, nil, err
}

// delegate accepts the child that a subagent does what is delegated in. It has a Session of its own,
// which may use what the Task's may.
func (r *run) delegate(submit *abi.SubmitTaskRequest) func(ctx context.Context, id string) error {
	own, session := *submit, *submit.Session
	is := r.task.session.State()
	session.VaultIDs, session.SkillIDs = is.VaultIDs, is.SkillIDs
	own.Session, own.ParentTaskID, own.Run = &session, r.task.id, personas.Bounds(submit.Run, r.task.about.Run)
	return func(ctx context.Context, id string) error { return r.engine.submitChild(ctx, r.task, id, own) }
}

// submitSkill accepts the child that a Skill is called by. Its arguments are checked
// as those of any Task that names a Skill.
func (r *run) submitSkill(ctx context.Context, id string, req *abi.CallToolCallRequest) error {
	submit := abi.SubmitTaskRequest{SessionID: r.task.about.SessionID, ParentTaskID: r.task.id, PersonaID: req.Name, Input: personas.SkillInput(req.Arguments)}
	s, err := r.engine.OfferedSkill(ctx, r.task.tenant, r.task.about.WorkspaceID, req.Name)
	switch {
	case ledger.IsNotFound(err):
		return provider.Refuse(abi.CallNotFound, string(abi.CodeResourceNotFound), err.Error())
	case err != nil:
		return err
	case s != nil:
		submit.PersonaID = s.PersonaID
		if submit.Metadata, err = json.Marshal(personas.SkillRef{SkillID: s.ID}); err != nil {
			return err
		}
	}
	return r.engine.submitChild(ctx, r.task, id, submit)
}
