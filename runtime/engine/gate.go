package engine

import (
	"bytes"
	"cmp"
	"context"
	"fmt"

	json "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/hooks"
	"github.com/wharf-dev/wharf/runtime/hosttools"
	"github.com/wharf-dev/wharf/runtime/journal"
	"github.com/wharf-dev/wharf/runtime/ledger"
	"github.com/wharf-dev/wharf/runtime/policy"
	"github.com/wharf-dev/wharf/runtime/policy/action"
	"github.com/wharf-dev/wharf/runtime/provider"
	"github.com/wharf-dev/wharf/runtime/tooluse"
	"github.com/wharf-dev/wharf/runtime/waiting"
)

// codeApprovalElsewhere is the code of a call that was approved for a client which has left.
const codeApprovalElsewhere = "approval_elsewhere"

// passGates takes over what the record has before the next call: what hooks have said, and the
// approval that it needed; each is nil where there is none.
func (r *run) passGates() (hooks, gate *journal.Entry, err error) {
	hooks, gate = r.cursor.Gates()
	if hooks != nil {
		err = r.recall(hooks)
	}
	if err == nil && gate != nil && !gate.Open {
		err = r.recall(gate)
	}
	return hooks, gate, err
}

// askHooks asks the hooks of the Workspace before a tool is called, and records what they say as an
// entry of its own. The call comes after that, with what they have made of it.
func (r *run) askHooks(ctx context.Context, c *liveCall, tool *abi.Tool) (asked bool, err error) {
	if c.entry.Call != abi.CallToolCall || c.intent != nil || c.hooks != nil || c.gate != nil { // hooks are asked before people are
		return false, nil
	}
	req, err := ask[abi.CallToolCallRequest](c)
	if err != nil {
		return false, err
	}
	said, err := r.engine.AskBefore(ctx, r.task.tenant, &r.task.about, &hooks.Call{Index: c.entry.Index, Request: &req, Asked: c.entry.Request,
		ID: tooluse.ID(req.CallID, c.entry.Index+1), Tool: tool, Shown: c.use.Waits() != nil})
	if said == nil || err != nil {
		return false, err
	}
	said.Entry.At = journal.Moment(r.engine.now())
	if err := r.tell(ctx, &liveCall{def: c.def, extra: said.Told, entry: said.Entry}, journal.Whole); err != nil {
		return false, err
	}
	r.ground.Reach(said.Entry.At)
	c.hooks, c.asked, c.entry.Request, c.entry.Index = &said.Entry, nil, nil, c.entry.Index+1
	err = r.check(ctx, c)
	c.use = r.toolUse(c)
	c.canonicalRequest()
	return true, err
}

// permit refuses a call that the Task's Persona may not make at all, and one that
// was not approved. A call whose intent stands was permitted by an earlier life.
func (r *run) permit(ctx context.Context, c *liveCall) error {
	if c.intent != nil {
		return nil
	}
	if err := cmp.Or(hooks.Denied(c.hooks), waiting.Decided(c.gate)); err != nil {
		return err
	}
	a, err := r.action(ctx, c, "")
	if err != nil {
		return err
	}
	return cmp.Or(refusal(policy.Permit(&r.persona.Persona, a)), r.withinBudget(a))
}

// admit lets a call pass, or says why it is not made: a *provider.Refusal is what
// the plugin is told, errParked that somebody is asked first. plan is what this
// very call is. It follows permit.
func (r *run) admit(ctx context.Context, c *liveCall, plan *provider.Plan) error {
	if err := approvedFor(c, plan.By); err != nil || c.intent != nil {
		return err
	}
	a, err := r.action(ctx, c, plan.Effect)
	if err != nil {
		return err
	}
	if plan.Delegate != nil {
		a.Persona = plan.Delegate.PersonaID
	}
	if a.By = plan.By; plan.Tool != nil {
		a.Destructive, a.OpenWorld = plan.Tool.Destructive, plan.Tool.OpenWorld
	}
	if err := r.composition().Admit(a, plan.Tool); err != nil {
		return err
	}
	d := policy.Decide(&r.persona.Persona, a)
	if own := ownTool(c); d.Verdict == policy.Allow && own != nil && own.Server == ServerSkills && r.engine.SkillNeedsApproval(ctx, r.task.tenant, r.task.about.WorkspaceID, own.Name) {
		d.Verdict, d.Rule = policy.Ask, policy.RuleSkill
	}
	switch {
	case d.Verdict == policy.Ask && c.gate != nil && !c.gate.Open:
		return nil // it was approved: permit has looked
	case d.Verdict == policy.Ask:
		return r.askFirst(ctx, c, a, d.Rule)
	case d.Verdict == policy.Shadow:
		err = r.withhold(abi.EventShadowWrite, c, a)
	case d.Verdict == policy.Propose:
		err = r.withhold(abi.EventProposal, c, a)
	}
	return cmp.Or(err, refusal(d))
}

// approvedFor refuses a call that was approved for one client and would go to another,
// which offers a tool of the same name by now. A gate of before clients were told
// apart names none.
func approvedFor(c *liveCall, by string) error {
	if c.gate == nil || c.gate.Open || by == "" {
		return nil
	}
	gate, err := journal.ReadGate(c.gate)
	if err != nil || gate.By == "" || gate.By == by {
		return err
	}
	return provider.Refuse(abi.CallDenied, codeApprovalElsewhere, "this call was approved for the tool of "+gate.By+
		", which has left; another client offers a tool of that name now")
}

// offer leaves out of a list of tools those that the Persona may not call: a model
// that is not shown a tool does not ask for it.
func (r *run) offer(ctx context.Context, answer []byte) ([]byte, error) {
	p := &r.persona.Persona
	if policy.OffersAll(p) {
		return answer, nil
	}
	var list abi.CallToolListAnswer
	if err := json.Unmarshal(answer, &list); err != nil {
		return nil, fmt.Errorf("reading the list of tools: %w", err)
	}
	offered := list.Tools[:0]
	for _, tool := range list.Tools {
		a := &policy.Action{Call: abi.CallToolCall, Tool: tool.Server + ":" + tool.Name, Stands: hosttools.StandsFor(tool.Server, tool.Name)}
		switch tool.Server {
		case ServerSkills:
			a.Persona = tool.Name
			err := r.skillPersona(ctx, a)
			if err != nil {
				return nil, err
			}
		case abi.ToolServerAgents:
			of, err := r.engine.SubagentCalled(ctx, r.task.tenant, r.task.about.WorkspaceID, r.task.about.PersonaID, tool.Name)
			if err == nil {
				a.Persona = of.ID
			}
		}
		if policy.Permit(p, a).Verdict == policy.Allow {
			offered = append(offered, tool)
		}
	}
	list.Tools = offered
	return json.Marshal(&list)
}

// refusal is what a plugin is told of a call that policy does not let pass; nil when
// it does.
func refusal(d policy.Decision) error {
	if d.Verdict == policy.Allow {
		return nil
	}
	return provider.Refuse(abi.CallDenied, d.Code, d.Message)
}

// askFirst parks the Task until somebody has decided on the call. The approval is
// recorded before the call, as an entry of its own.
func (r *run) askFirst(ctx context.Context, c *liveCall, a *policy.Action, rule string) error {
	gate, err := gateOf(c, a)
	if err != nil {
		return provider.Malformed(err)
	}
	gate.Grounds = abi.Grounds{ToolCallID: toolCallID(c), DeclaredPaths: a.Paths, RiskLabels: policy.Risks(&r.persona.Persona, a), MatchedRule: rule}
	request, err := json.Marshal(gate)
	if err != nil {
		return provider.Malformed(err)
	}
	g := &liveCall{def: c.def, intent: c.gate, entry: journal.Entry{Index: c.entry.Index, Call: abi.CallGate, Request: request}}
	w := &abi.Waiting{Call: c.entry.Call, Index: c.entry.Index, RequestID: requestID(r.task.id, c.entry.Index), Gate: true,
		Prompt: "May persona " + r.persona.ID + " do this?", Action: gate.Action, Arguments: gate.Arguments, Quorum: 1}
	if p := r.persona.Approvals; p != nil {
		w.Quorum = max(p.Quorum, 1)
		if err := waiting.Until(w, r.engine.now(), p.TimeoutSeconds); err != nil {
			return err
		}
	}
	return r.park(ctx, g, w, abi.TaskInputRequired)
}

// gateOf returns what is asked before a call.
func gateOf(c *liveCall, a *policy.Action) (*journal.Gate, error) {
	arguments, err := c.asks().Arguments()
	return &journal.Gate{Action: a.String(), Call: c.entry.Call, By: a.By, Asked: journal.HashOf(c.entry.Request), Arguments: arguments}, err
}

// toolCallID names a tool.call that is asked about, as its events will; "" for any other call. The
// approval stands before it in the record.
func toolCallID(c *liveCall) string {
	if c.entry.Call != abi.CallToolCall {
		return ""
	}
	req, _ := ask[abi.CallToolCallRequest](c) // it was read before
	return tooluse.ID(req.CallID, c.entry.Index+1)
}

// revise puts what hooks and an approver have made of a call's arguments into its request.
func (c *liveCall) revise() error {
	approved := c.gate != nil && !c.gate.Open
	if c.intent != nil && (approved || c.hooks != nil) {
		c.request = c.intent.Request // as an earlier life has revised it
		return nil
	}
	said, err := journal.ReadHooks(c.hooks)
	if err == nil && said != nil && len(said.Input) > 0 {
		err = c.put(said.Input)
	}
	if err != nil || !approved {
		return err
	}
	arguments, err := journal.Approved(c.gate)
	if err != nil || len(arguments) == 0 {
		return err
	}
	return c.put(arguments)
}

// put puts other arguments into a call's request.
func (c *liveCall) put(arguments jsontext.Value) error {
	if c.entry.Call != abi.CallToolCall {
		c.request = arguments
		return nil
	}
	req, err := ask[abi.CallToolCallRequest](c)
	if err != nil {
		return nil // it is refused as malformed
	}
	req.Arguments = arguments
	c.request, err = json.Marshal(&req)
	return err
}

// action describes a call to policy. A tool that is a Skill stands for the Persona
// that has it.
func (r *run) action(ctx context.Context, c *liveCall, effect abi.Effect) (*policy.Action, error) {
	a, err := c.asks().Action(effect)
	if err != nil || a.Call != abi.CallToolCall || a.Persona == "" {
		return a, err
	}
	return a, r.skillPersona(ctx, a)
}

// skillPersona puts the Persona that has a Skill into the place of the Skill.
func (r *run) skillPersona(ctx context.Context, a *policy.Action) error {
	s, err := r.engine.OfferedSkill(ctx, r.task.tenant, r.task.about.WorkspaceID, a.Persona)
	switch {
	case ledger.IsNotFound(err):
		return nil // the call itself is refused for it
	case err == nil && s != nil:
		a.Persona = s.PersonaID
	}
	return err
}

// asks returns the call as policy looks at it.
func (c *liveCall) asks() *action.Call {
	return &action.Call{Name: c.entry.Call, Index: c.entry.Index, Asked: c.asked, Request: c.request}
}

// canonicalRequest fills in the form in which a call's request is recorded.
func (c *liveCall) canonicalRequest() {
	if c.entry.Request == nil {
		c.entry.Request = bytes.Clone(journal.Canonical(c.entry.Call, c.request))
	}
}

// withhold tells a write that is not made. It is in one batch with the record of
// the call.
func (r *run) withhold(kind abi.EventKind, c *liveCall, a *policy.Action) error {
	rec := ledger.Record{Kind: kind, Object: abi.ObjectTask, ID: r.task.id, Payload: c.asks().Withheld(a)}
	if err := rec.Encode(); err != nil {
		return err
	}
	r.task.mu.Lock()
	defer r.task.mu.Unlock()
	r.pending = append(r.pending, rec)
	return nil
}

// noteHeldBack takes over a call that was denied, if it was a write that the
// autonomy tier held back.
func (r *run) noteHeldBack(e *journal.Entry) {
	var told abi.CallError
	if e.Status != abi.CallDenied || json.Unmarshal(e.Answer, &told) != nil {
		return
	}
	r.held.Take(told.Code, func() (abi.WithheldCall, error) {
		asks := &action.Call{Name: e.Call, Index: e.Index, Request: e.Request}
		a, err := asks.Action(e.Effect)
		return asks.Withheld(a), err
	})
}
