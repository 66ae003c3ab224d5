package engine

import (
	"context"

	json "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/desk"
	"github.com/wharf-dev/wharf/runtime/ledger"
	"github.com/wharf-dev/wharf/storage"
)

// answerInput brings a parked Task the input that it waits for.
func (e *Engine) answerInput(ctx context.Context, c *desk.Caller, t *abi.Task, kind abi.TaskMessageKind, m *abi.Message, idem *storage.Idempotency) (desk.Doc, error) {
	w := t.Waiting
	if w == nil || permissionKind(w) == "" || (kind == abi.TaskMessageToolConfirmation) != forApproval(w) {
		return desk.Doc{}, abi.Errorf(abi.CodeInvalidStateTransition, "task %s is %s and does not wait for %s", t.ID, t.Status, kind)
	}
	up := &wakeUp{requestID: w.RequestID, caller: c, actor: c.Actor, idem: idem}
	if err := up.bring(m); err != nil {
		return desk.Doc{}, err
	}
	if kind == abi.TaskMessageToolConfirmation {
		d, err := decisionOf(m)
		if err != nil {
			return desk.Doc{}, err
		}
		up.decision = e.decision(c.Actor, d.Decision, d.Reason, d.Arguments)
	}
	doc := desk.Doc{ID: m.ID, JSON: desk.Placed(abi.ObjectMessage, m.AppendJSON(nil), t.WorkspaceID, ""), Restricted: up.before[0].Restricted}
	return doc, e.answerWait(ctx, ledger.Key{Tenant: c.Tenant, ID: t.ID}, up,
		abi.Errorf(abi.CodeInvalidStateTransition, "task %s does not wait any more: it was answered already", t.ID))
}

// decisionOf reads an approval from the json part of a Message.
func decisionOf(m *abi.Message) (*abi.RespondRequest, error) {
	for _, p := range m.Parts {
		if p.Type != abi.PartJSON {
			continue
		}
		var d struct {
			Decision  string         `json:"decision"`
			Reason    string         `json:"reason"`
			Arguments jsontext.Value `json:"arguments"`
		}
		if err := json.Unmarshal(p.Value, &d); err != nil {
			return nil, abi.InvalidParam("message.parts", "reading the decision: %v", err)
		}
		if err := desk.CheckOneOf("decision", d.Decision, decisionApproved, decisionDenied); err != nil {
			return nil, desk.Within("message.parts", err)
		}
		return &abi.RespondRequest{Decision: d.Decision, Reason: d.Reason, Arguments: d.Arguments}, nil
	}
	return nil, abi.InvalidParam("message.parts", `a tool_confirmation needs a json part with {"decision": "approved"} or {"decision": "denied"}`)
}

// AppendTaskMessage sends a Message to a Task that has not ended: an interrupt at
// any time, input and a tool confirmation to one that waits for it.
func (e *Engine) AppendTaskMessage(ctx context.Context, c *desk.Caller, r *desk.Retry, taskID string, req abi.AppendTaskMessageRequest) (desk.Doc, error) {
	if err := desk.CheckOneOf("kind", req.Kind, abi.TaskMessageInput, abi.TaskMessageInterrupt, abi.TaskMessageToolConfirmation); err != nil {
		return desk.Doc{}, err
	}
	if req.Kind != abi.TaskMessageInterrupt {
		if err := mayAnswer(c); err != nil {
			return desk.Doc{}, err
		}
	}
	if req.Message == nil {
		return desk.Doc{}, abi.InvalidParam("message", `missing required member "message"`)
	}
	t, _, err := desk.Find[abi.Task](ctx, e.Desk, c, abi.ObjectTask, taskID)
	if err != nil {
		return desk.Doc{}, err
	}
	s, release, err := e.OpenSession(ctx, c, t.SessionID)
	if err != nil {
		return desk.Doc{}, err
	}
	defer release()
	return e.Once(ctx, c, r, t.WorkspaceID, func(idem *storage.Idempotency) (desk.Doc, error) {
		if t.Status.Terminal() {
			return desk.Doc{}, abi.Errorf(abi.CodeInvalidStateTransition, "task %s is %s and takes no %s", t.ID, t.Status, req.Kind)
		}
		m, err := e.Said(ctx, c, req.Message, t.SessionID, t.ID)
		if err != nil {
			return desk.Doc{}, err
		}
		if req.Kind != abi.TaskMessageInterrupt {
			return e.answerInput(ctx, c, &t, req.Kind, m, idem)
		}
		return e.AppendTo(c, s, t.WorkspaceID, m, idem, desk.SessionOpen)
	})
}
