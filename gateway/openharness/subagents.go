package openharness

import (
	"cmp"
	"context"
	"errors"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/gateway"
	"github.com/wharf-dev/wharf/gateway/api"
)

func (a *Adapter) subagentRoutes() []gateway.Route {
	const all, one = "agents/{agentId}/subagents", "agents/{agentId}/subagents/{subagentId}"
	streamed := post(one+"/delegate/stream", "subagents.delegateStream", "tasks:write", "Delegate a task, and stream what is told of it", statusOK, a.at(a.delegateStream))
	streamed.Media = gateway.MediaEventStream
	attach := read(one+"/stream", "subagents.attachStream", "events:read", "Stream the last task that was delegated", a.at(a.attachSubagent))
	attach.Media = gateway.MediaEventStream
	return []gateway.Route{
		read(all, "subagents.list", "personas:read", "List the subagents of an agent", a.at(a.listSubagents)),
		post(all, "subagents.spawn", "personas:write", "Give an agent a subagent", statusCreated, a.at(a.spawnSubagent)),
		read(one, "subagents.get", "personas:read", "Get a subagent", a.at(a.getSubagent)),
		remove(one, "subagents.terminate", "personas:write", "Cancel what a subagent does, and delete it", a.at(a.terminateSubagent)),
		post(one+"/delegate", "subagents.delegate", "tasks:write", "Delegate a task, and wait for its end", statusOK, a.at(a.delegate)), streamed,
		read(one+"/result", "subagents.result", "tasks:read", "Get what the last task that was delegated resulted in", a.at(a.subagentResult)), attach,
	}
}

// subagent is a subagent as the protocol shows it.
type subagent struct {
	ID            string   `json:"id"`
	Name          string   `json:"name"`
	Description   string   `json:"description"`
	Status        string   `json:"status"`
	ParentAgentID string   `json:"parent_agent_id"`
	CreatedAt     abi.Time `json:"created_at"`
}

type subagentAnswer struct {
	Subagent subagent `json:"subagent"`
}

// refSubagent is the kind of reference by which the Session of a subagent is found, in which it does
// what clients delegate: so it knows what it was asked before.
const refSubagent = "openharness.subagent"

func refOf(id string) abi.OutsideRef { return abi.OutsideRef{Kind: refSubagent, Ref: id} }

// shownSubagent shows a subagent with what became of the last that was delegated to it.
func (a *Adapter) shownSubagent(r *gateway.Request, h *abi.Harness, p *abi.Persona) (subagent, error) {
	s := subagent{ID: p.ID, Name: p.Name, Description: p.Description, Status: "idle", ParentAgentID: p.Agent.ParentID, CreatedAt: p.CreatedAt}
	last, err := a.lastDelegated(r, h, p.ID)
	if err != nil || last == nil {
		return s, err
	}
	switch s.Status = statusOf(last.Status); s.Status {
	case "pending":
		s.Status = "running"
	case "cancelled":
		s.Status = "failed"
	}
	return s, nil
}

// lastDelegated returns the last Task that was delegated to a subagent; nil when there is none.
func (a *Adapter) lastDelegated(r *gateway.Request, h *abi.Harness, id string) (*abi.Task, error) {
	session, err := a.subagentSession(r, h, id)
	if err != nil || session == "" {
		return nil, err
	}
	list, err := a.core.List(r.Context(), r.Caller, abi.ObjectTask, api.Filter{SessionID: session}, api.Page{Limit: 1})
	if err != nil || len(list.Views) == 0 {
		return nil, err
	}
	t, err := as[abi.Task](list.Views[0])
	return &t, err
}

// subagentSession returns the id of the Session of a subagent, "" while it has none.
func (a *Adapter) subagentSession(r *gateway.Request, h *abi.Harness, id string) (string, error) {
	list, err := a.core.SessionsCalled(r.Context(), r.Caller, h.WorkspaceID, refOf(id))
	if err != nil || len(list.Views) == 0 {
		return "", err
	}
	s, err := as[abi.Session](list.Views[0])
	if sessionStatus(s.State) == "ended" {
		return "", err
	}
	return s.ID, err
}

// subagentOf returns the subagent that a path names.
func (a *Adapter) subagentOf(r *gateway.Request, h *abi.Harness) (*abi.Persona, error) {
	id := r.PathValue("subagentId")
	view, err := a.core.Agent(r.Context(), r.Caller, h.WorkspaceID, id)
	if err != nil {
		return nil, err
	}
	p, err := as[abi.Persona](view)
	if err == nil && p.Agent.ParentID != r.PathValue("agentId") {
		return nil, abi.NotFound(abi.ObjectPersona, id)
	}
	return &p, err
}

func (a *Adapter) listSubagents(r *gateway.Request, h *abi.Harness) error {
	parent := r.PathValue("agentId")
	if _, err := a.core.Agent(r.Context(), r.Caller, h.WorkspaceID, parent); err != nil {
		return err
	}
	all, err := gather(func(p api.Page) (api.List, error) {
		return a.core.Subagents(r.Context(), r.Caller, h.WorkspaceID, parent, p)
	}, func(view api.View) (subagent, bool, error) {
		p, err := as[abi.Persona](view)
		if err != nil {
			return subagent{}, false, err
		}
		s, err := a.shownSubagent(r, h, &p)
		return s, true, err
	})
	if err != nil {
		return err
	}
	return send(r, statusOK, struct {
		Subagents []subagent `json:"subagents"`
	}{all})
}

type spawnRequest struct {
	Name         string   `json:"name"`
	Description  string   `json:"description"`
	SystemPrompt string   `json:"system_prompt"`
	Skills       []string `json:"skills"`
	Model        string   `json:"model"`
}

func (a *Adapter) spawnSubagent(r *gateway.Request, h *abi.Harness) error {
	req, retry, err := decode[spawnRequest](r)
	if err != nil {
		return err
	}
	if err := cmp.Or(checkText("name", req.Name, 100), checkText("description", req.Description, 1000), a.checkModel(req.Model)); err != nil {
		return err
	}
	of := abi.Agent{ParentID: r.PathValue("agentId"), Instructions: req.SystemPrompt}
	if req.Model != "" {
		of.ModelNamed = &abi.AgentModel{Name: req.Model}
	}
	for _, name := range req.Skills {
		of.Skills = append(of.Skills, abi.AgentSkill{Name: name})
	}
	made, err := a.core.CreateAgent(r.Context(), r.Caller, retry, h.WorkspaceID, abi.NewAgent{Name: req.Name, Description: req.Description, Agent: of})
	if err != nil {
		return placed(err)
	}
	p, err := as[abi.Persona](made)
	if err != nil {
		return err
	}
	shown, err := a.shownSubagent(r, h, &p)
	if err != nil {
		return err
	}
	return sent(r, statusCreated, made, subagentAnswer{shown})
}

func (a *Adapter) getSubagent(r *gateway.Request, h *abi.Harness) error {
	p, err := a.subagentOf(r, h)
	if err != nil {
		return err
	}
	shown, err := a.shownSubagent(r, h, p)
	if err != nil {
		return err
	}
	return send(r, statusOK, subagentAnswer{shown})
}

// terminateSubagent cancels what a subagent does, ends its Session and deletes it. A client that asks
// again after a crash has what is left of it done.
func (a *Adapter) terminateSubagent(r *gateway.Request, h *abi.Harness) error {
	p, err := a.subagentOf(r, h)
	if err != nil {
		return err
	}
	retry, err := r.Retry(nil)
	if err != nil {
		return err
	}
	remove := func() error { return a.core.DeleteAgent(r.Context(), r.Caller, retry, h.WorkspaceID, p.ID) }
	// Whoever may not delete it is refused here, before anything was canceled.
	err = remove()
	for round := 0; isConflict(err) && round < terminations; round++ {
		if err = a.endSubagent(r, h, p.ID); err == nil {
			err = remove()
		}
	}
	if err != nil {
		return err
	}
	return empty(r)
}

// terminations is how often a subagent is ended anew that is given work meanwhile.
const terminations = 3

// endSubagent ends the Sessions that a subagent has, and what it does in them: that of what was
// delegated, and those that clients have opened with it.
func (a *Adapter) endSubagent(r *gateway.Request, h *abi.Harness, id string) error {
	for _, state := range []abi.SessionState{abi.SessionActive, abi.SessionIdle, abi.SessionPaused} {
		f := api.Filter{WorkspaceID: h.WorkspaceID, PersonaID: id, Status: string(state)}
		for page, more := (api.Page{Limit: 100}), true; more; {
			list, err := a.core.List(r.Context(), r.Caller, abi.ObjectSession, f, page)
			if err != nil {
				return err
			}
			for _, view := range list.Views {
				if err := a.stopSession(r, view.ID); err != nil {
					return err
				}
			}
			page.After, more = list.Next, list.More
		}
	}
	return nil
}

// stopSession cancels what is under way in a Session, and ends it.
func (a *Adapter) stopSession(r *gateway.Request, id string) error {
	if err := a.cancelAll(r.Context(), r.Caller, id); err != nil {
		return err
	}
	_, err := a.core.CloseSession(r.Context(), r.Caller, nil, id)
	return err
}

// cancelAll cancels the Tasks of a Session that have not ended. Those are its newest.
func (a *Adapter) cancelAll(ctx context.Context, c *api.Caller, session string) error {
	for page, open := (api.Page{Limit: 100}), true; open; {
		list, err := a.core.List(ctx, c, abi.ObjectTask, api.Filter{SessionID: session}, page)
		if err != nil {
			return err
		}
		open = false
		for _, view := range list.Views {
			t, err := as[abi.Task](view)
			if err != nil {
				return err
			}
			if t.Status.Terminal() {
				continue
			}
			open = true
			_, err = a.core.CancelTask(ctx, c, nil, t.ID, abi.CancelTaskRequest{Reason: "the subagent was terminated"})
			if err != nil && !isConflict(err) { // in conflict with it is that it has ended meanwhile
				return err
			}
		}
		page.After, open = list.Next, open && list.More
	}
	return nil
}

// isConflict reports whether something was refused because of how things are now.
func isConflict(err error) bool {
	wrong, ok := errors.AsType[*abi.Error](err)
	return ok && (wrong.Code == abi.CodeConflict || wrong.Code == abi.CodeInvalidStateTransition)
}

type delegateRequest struct {
	Task    string         `json:"task"`
	Context jsontext.Value `json:"context"`
	// Credentials are refused: what is hosted has no subagents here.
	Credentials *abi.HarnessCredentials `json:"harness_credentials"`
}

// delegated begins a Task in the Session of a subagent, or with it: it is made by the first.
func (a *Adapter) delegated(r *gateway.Request, h *abi.Harness) (api.View, error) {
	p, err := a.subagentOf(r, h)
	if err != nil {
		return api.View{}, err
	}
	req, retry, err := decode[delegateRequest](r)
	if err == nil {
		err = a.takesWork(h)
	}
	if err == nil {
		err = checkText("task", req.Task, maxMessage)
	}
	if err != nil {
		return api.View{}, err
	}
	task, err := req.submits(p)
	if err != nil {
		return api.View{}, err
	}
	for tried := false; ; tried = true {
		if task.SessionID, err = a.subagentSession(r, h, p.ID); err != nil {
			return api.View{}, err
		}
		task.InTurn, task.Session = task.SessionID != "", nil
		if task.SessionID == "" {
			task.Session = &abi.TaskSession{CreateSessionRequest: abi.CreateSessionRequest{WorkspaceID: h.WorkspaceID, PersonaID: p.ID, Name: p.Name, Refs: []abi.OutsideRef{refOf(p.ID)}}}
		}
		made, err := a.core.SubmitTask(r.Context(), r.Caller, retry, task)
		if isConflict(err) && task.Session != nil && !tried {
			continue // somebody else's was the first: the Session is there now
		}
		return made, named(err)
	}
}

func (q *delegateRequest) submits(p *abi.Persona) (abi.SubmitTaskRequest, error) {
	input, err := userMessage(q.Task)
	if err != nil {
		return abi.SubmitTaskRequest{}, err
	}
	run, err := abi.ComesWith(q.Context)
	return abi.SubmitTaskRequest{Input: input, PersonaID: p.ID, Run: run, Credentials: q.Credentials}, err
}

type delegateAnswer struct {
	ExecutionID string `json:"execution_id"`
	Status      string `json:"status"`
}

func (a *Adapter) delegate(r *gateway.Request, h *abi.Harness) error {
	made, err := a.delegated(r, h)
	if err != nil {
		return err
	}
	t, err := a.wait(r, made.ID)
	if err != nil {
		return err
	}
	status := statusOK
	if !t.Status.Terminal() {
		status = statusAccepted
	}
	r.SetHeader("X-Execution-ID", t.ID)
	return sent(r, status, made, delegateAnswer{t.ID, statusOf(t.Status)})
}

func (a *Adapter) delegateStream(r *gateway.Request, h *abi.Harness) error {
	return a.beginStream(r, h, a.delegated)
}

// asked returns the last Task of the subagent that a path names; one that was asked nothing has none.
func (a *Adapter) asked(r *gateway.Request, h *abi.Harness) (*abi.Task, error) {
	p, err := a.subagentOf(r, h)
	if err != nil {
		return nil, err
	}
	last, err := a.lastDelegated(r, h, p.ID)
	if err == nil && last == nil {
		err = abi.Errorf(abi.CodeResourceNotFound, "nothing was delegated to the subagent %q yet", p.Name)
	}
	return last, err
}

func (a *Adapter) subagentResult(r *gateway.Request, h *abi.Harness) error {
	t, err := a.asked(r, h)
	if err != nil {
		return err
	}
	if !t.Status.Terminal() {
		return abi.Errorf(abi.CodeConflict, "execution %s is running: its stream tells when it has ended", t.ID)
	}
	result, err := a.resultOf(r, t)
	if err != nil {
		return err
	}
	return send(r, statusOK, resultAnswer{*result})
}

func (a *Adapter) attachSubagent(r *gateway.Request, h *abi.Harness) error {
	t, err := a.asked(r, h)
	if err != nil {
		return err
	}
	return a.follow(r, h, t.ID)
}
