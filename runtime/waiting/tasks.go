package waiting

import (
	"cmp"
	"context"
	"strings"

	json "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/desk"
	"github.com/wharf-dev/wharf/runtime/ledger"
	"github.com/wharf-dev/wharf/storage"
)

// WaitTask returns the Task when it has ended, or as it is when ctx ends.
func (k *Keeper) WaitTask(ctx context.Context, c *desk.Caller, id string) (desk.Doc, error) {
	key, ends := ledger.Key{Tenant: c.Tenant, ID: id}, k.parts.Ends
	w := ends.join(key) // before looking, so that no end is missed
	defer ends.leave(key, w)
	if workspace, _, live := k.parts.Live(key); !live || !c.Sees(workspace) {
		doc, err := k.parts.Desk.Get(ctx, c, abi.ObjectTask, id)
		if err != nil || doc.Task.Terminal() {
			return doc, err
		}
	}
	select {
	case <-w.done:
		return k.endOf(ctx, c, id, w.end)
	case <-ctx.Done():
		return k.parts.Desk.Get(context.WithoutCancel(ctx), c, abi.ObjectTask, id)
	}
}

// WaitSettled returns the Task when it does not go on by itself, as it has ended or waits for somebody, or
// as it is when ctx ends.
func (k *Keeper) WaitSettled(ctx context.Context, c *desk.Caller, id string) (desk.Doc, error) {
	key, ends := ledger.Key{Tenant: c.Tenant, ID: id}, k.parts.Ends
	w := ends.join(key)
	defer ends.leave(key, w)
	for {
		parked := ends.parked(w) // before looking, so that no wait is missed
		if workspace, status, live := k.parts.Live(key); !live || !c.Sees(workspace) || status.Settled() || ctx.Err() != nil {
			doc, err := k.parts.Desk.Get(context.WithoutCancel(ctx), c, abi.ObjectTask, id)
			if err != nil || doc.Task.Settled() || ctx.Err() != nil {
				return doc, err
			}
		}
		select {
		case <-w.done:
			return k.endOf(ctx, c, id, w.end)
		case <-parked:
		case <-ctx.Done():
		}
	}
}

// endOf returns a Task as it was told that it has ended.
func (k *Keeper) endOf(ctx context.Context, c *desk.Caller, id string, end Ended) (desk.Doc, error) {
	if end.Err != nil {
		return desk.Doc{}, end.Err
	}
	if end.Doc.JSON == nil {
		return k.parts.Desk.Get(context.WithoutCancel(ctx), c, abi.ObjectTask, id)
	}
	return end.Doc, nil
}

// AppendTaskMessage sends a Message to a Task that has not ended: an interrupt at
// any time, input and a tool confirmation to one that waits for it.
func (k *Keeper) AppendTaskMessage(ctx context.Context, c *desk.Caller, r *desk.Retry, taskID string, req abi.AppendTaskMessageRequest) (desk.Doc, error) {
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
	t, _, err := desk.Find[abi.Task](ctx, k.parts.Desk, c, abi.ObjectTask, taskID)
	if err != nil {
		return desk.Doc{}, err
	}
	s, release, err := k.parts.Desk.OpenSession(ctx, c, t.SessionID)
	if err != nil {
		return desk.Doc{}, err
	}
	defer release()
	return k.parts.Desk.Once(ctx, c, r, t.WorkspaceID, func(idem *storage.Idempotency) (desk.Doc, error) {
		if t.Status.Terminal() {
			return desk.Doc{}, abi.Errorf(abi.CodeInvalidStateTransition, "task %s is %s and takes no %s", t.ID, t.Status, req.Kind)
		}
		if err := k.parts.Clients.Controls(c, t.SessionID); err != nil {
			return desk.Doc{}, err
		}
		m, err := k.parts.Messages.NewClientMessage(ctx, c, req.Message, t.SessionID, t.ID)
		if err != nil {
			return desk.Doc{}, err
		}
		if req.Kind != abi.TaskMessageInterrupt {
			return k.answerInput(ctx, c, &t, req.Kind, m, idem)
		}
		return k.parts.Messages.AppendMessageTo(c, s, t.WorkspaceID, m, idem, desk.AllOf(desk.SessionOpen, k.parts.Clients.May(c)))
	})
}

// answerInput brings a parked Task the input that it waits for.
func (k *Keeper) answerInput(ctx context.Context, c *desk.Caller, t *abi.Task, kind abi.TaskMessageKind, m *abi.Message, idem *storage.Idempotency) (desk.Doc, error) {
	p, err := k.answered(ctx, c, t, kind)
	if err != nil {
		return desk.Doc{}, err
	}
	a := &Answer{RequestID: t.Waiting.RequestID, PermissionID: p.ID, Actor: c.Actor, May: k.parts.Clients.May(c), Idem: idem}
	if err := cmp.Or(k.fits(ctx, c.Tenant, p, m), a.bring(m)); err != nil {
		return desk.Doc{}, err
	}
	if kind == abi.TaskMessageToolConfirmation {
		d, err := decisionOf(m)
		if err != nil {
			return desk.Doc{}, err
		}
		a.decide(d, k.parts.Now())
	}
	doc := desk.Doc{ID: m.ID, JSON: desk.Placed(abi.ObjectMessage, m.AppendJSON(nil), t.WorkspaceID, ""), Restricted: a.Message[0].Restricted}
	return doc, k.wake(ctx, ledger.Key{Tenant: c.Tenant, ID: t.ID}, a,
		abi.Errorf(abi.CodeInvalidStateTransition, "task %s does not wait any more: it was answered already", t.ID))
}

// answered returns the request that a Message to a Task answers: the only one of its kind that
// is open.
func (k *Keeper) answered(ctx context.Context, c *desk.Caller, t *abi.Task, kind abi.TaskMessageKind) (*abi.PermissionRequest, error) {
	w := t.Waiting
	none := abi.Errorf(abi.CodeInvalidStateTransition, "task %s is %s and does not wait for %s", t.ID, t.Status, kind)
	decides := kind == abi.TaskMessageToolConfirmation
	if w == nil || kindOf(w) == "" || w.Requests == nil && decides != forApproval(w) {
		return nil, none
	}
	if w.Requests == nil {
		return &abi.PermissionRequest{Envelope: abi.Envelope{ID: w.PermissionID}, Kind: kindOf(w), Schema: w.Schema}, nil
	}
	var ids []string
	for _, named := range w.Requests {
		if named.Status == abi.PermissionPending && decides == (named.Kind == abi.PermissionApproval) {
			ids = append(ids, named.PermissionID)
		}
	}
	switch len(ids) {
	case 0:
		return nil, none
	case 1:
		p, _, err := desk.Find[abi.PermissionRequest](ctx, k.parts.Desk, c, abi.ObjectPermissionRequest, ids[0])
		return &p, err
	}
	return nil, abi.Errorf(abi.CodeInvalidStateTransition, "task %s asks %d things at once, and a message to it does not say which it answers: answer the permission requests %s, each by itself",
		t.ID, len(ids), strings.Join(ids, ", "))
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
