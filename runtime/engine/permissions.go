package engine

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	json "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/desk"
	"github.com/wharf-dev/wharf/runtime/journal"
	"github.com/wharf-dev/wharf/runtime/ledger"
	"github.com/wharf-dev/wharf/runtime/lifecycle"
	"github.com/wharf-dev/wharf/runtime/policy"
	"github.com/wharf-dev/wharf/runtime/provider"
	"github.com/wharf-dev/wharf/runtime/sessions"
	"github.com/wharf-dev/wharf/storage"
)

// The decisions on an approval.
const (
	decisionApproved = "approved"
	decisionDenied   = "denied"
	decisionTimeout  = "timeout"
)

// asking is the request that a parked Task waits on, as the log will have it. An
// asking is immutable: every change makes a new one.
type asking struct {
	abi.PermissionRequest
	seq uint64 // of the event that states it
}

// permissionKind says what somebody is asked by a wait, "" when nobody is.
func permissionKind(w *abi.Waiting) abi.PermissionKind {
	switch {
	case forApproval(w):
		return abi.PermissionApproval
	case w.Call == abi.CallInputRequest:
		return abi.PermissionInput
	case w.Call == abi.CallAuthRequest:
		return abi.PermissionAuthorization
	}
	return ""
}

// request returns what a Task asks somebody by a wait, and names it in the wait;
// nil when it asks nobody. Who may answer is fixed here, by the Persona that the
// Task is pinned to.
func (r *run) request(ctx context.Context, c *liveCall, w *abi.Waiting) (*abi.PermissionRequest, error) {
	kind := permissionKind(w)
	if kind == "" {
		return nil, nil
	}
	t, at := &r.task.about, c.entry.At
	requester, err := r.engine.requester(ctx, r.task.tenant, t)
	if err != nil {
		return nil, err
	}
	w.PermissionID = abi.DerivedID(abi.ObjectPermissionRequest, at, "permission "+w.RequestID)
	p := &abi.PermissionRequest{
		Envelope: abi.NewEnvelope(abi.ObjectPermissionRequest, w.PermissionID, at, nil),
		TaskID:   t.ID, SessionID: t.SessionID, WorkspaceID: t.WorkspaceID, PersonaID: t.PersonaID,
		Kind: kind, Status: abi.PermissionPending, Prompt: w.Prompt, Action: w.Action, Arguments: w.Arguments,
		Schema: w.Schema, URL: w.URL, RequestedBy: requester, Quorum: 1, SelfApproval: true,
	}
	if kind == abi.PermissionApproval {
		r.govern(c, w, p)
	}
	p.ExpiresAt = w.Until
	if d := t.DeadlineAt; !d.IsZero() && (p.ExpiresAt.IsZero() || d.Before(p.ExpiresAt)) {
		p.ExpiresAt = d
	}
	return p, nil
}

// govern fixes who decides on an approval: what the plugin asks for, under what the
// Persona's policy says. A policy's list of approvers replaces that of the plugin.
func (r *run) govern(c *liveCall, w *abi.Waiting, p *abi.PermissionRequest) {
	p.Quorum = max(p.Quorum, w.Quorum)
	if !w.Gate {
		if req, err := ask[abi.CallApprovalRequestRequest](c); err == nil { // it was read before
			p.Approvers = req.Approvers
		}
	}
	if of := r.persona.Approvals; of != nil {
		p.Quorum, p.SelfApproval = max(p.Quorum, of.Quorum), of.SelfApproval
		if len(of.Approvers) > 0 {
			p.Approvers = of.Approvers
		}
		if at := r.engine.now().Add(time.Duration(of.TimeoutSeconds * float64(time.Second))); of.TimeoutSeconds > 0 && (w.Until.IsZero() || at.Before(w.Until)) {
			w.Until = abi.At(at)
		}
	}
	w.Quorum = p.Quorum
}

// requester returns who asked for what a Task does. A Task that a plugin has
// spawned was asked for by whoever submitted the first one.
func (e *Engine) requester(ctx context.Context, tenant storage.Tenant, t *abi.Task) (string, error) {
	for range maxGenerations {
		if t.ParentTaskID == "" || t.Fork != nil || t.Replay != nil {
			return t.CreatedBy, nil
		}
		parent, err := e.storedTask(ctx, tenant, t.ParentTaskID)
		if err != nil {
			return "", err
		}
		if t.CreatedBy != parent.PersonaID {
			return t.CreatedBy, nil // a client named the parent
		}
		t = parent
	}
	return t.CreatedBy, nil
}

// scopeAnswers is what answering a Task takes, on every way: an answer decides what the
// Task does next.
const scopeAnswers = "tasks:write"

// mayAnswer refuses those who may answer no Task. A retry is refused as well.
func mayAnswer(c *desk.Caller) error {
	if !c.Can(scopeAnswers) {
		return desk.Denied(scopeAnswers)
	}
	return nil
}

// mayDecide refuses those who may not decide on what a Task asks.
func mayDecide(c *desk.Caller, t *task) error {
	p := t.asking
	if p == nil || p.Kind != abi.PermissionApproval {
		return nil
	}
	if !p.SelfApproval && (c.Actor == p.RequestedBy || c.Actor == t.about.CreatedBy) {
		return abi.Errorf(abi.CodePermissionDenied, "nobody decides on what they asked for themselves")
	}
	if len(p.Approvers) > 0 && !policy.MatchAny(p.Approvers, c.Actor) {
		return abi.Errorf(abi.CodePermissionDenied, "this actor may not decide on this request")
	}
	return nil
}

// current returns the arguments that are up for approval: those of the last
// decision that changed them.
func (p *asking) current() jsontext.Value {
	for _, d := range slices.Backward(p.Decisions) {
		if d.Decision == decisionApproved && d.Arguments != nil {
			return d.Arguments
		}
	}
	return p.Arguments
}

// approvedBy lists the actors that have approved the arguments that are up for
// approval.
func (p *asking) approvedBy() (actors []string) {
	current := p.current()
	for _, d := range p.Decisions {
		if p.approves(d, current) {
			actors = append(actors, d.Actor)
		}
	}
	return actors
}

func (p *asking) approves(d abi.Decision, arguments jsontext.Value) bool {
	of := d.Arguments
	if of == nil {
		of = p.Arguments
	}
	return d.Decision == decisionApproved && sameJSON(of, arguments)
}

// decided returns the request with one more decision. Each actor counts once for
// the same arguments. Whoever changes the arguments starts the count anew, and those
// who approve after that say which arguments they mean: nobody approves what they
// may not have seen.
func (p *asking) decided(d abi.Decision) (*asking, error) {
	current := p.current()
	if d.Decision == decisionApproved && d.Arguments == nil && !sameJSON(current, p.Arguments) {
		return nil, abi.Errorf(abi.CodeConflict, "the arguments were changed by another approver: state the arguments that you approve")
	}
	if d.Arguments != nil && sameJSON(d.Arguments, p.Arguments) && sameJSON(current, p.Arguments) {
		d.Arguments = nil
	}
	for _, before := range p.Decisions {
		if before.Actor == d.Actor && d.Decision == decisionApproved && p.approves(before, current) && p.approves(d, current) {
			return nil, abi.Errorf(abi.CodeConflict, "%s has approved this already", d.Actor)
		}
	}
	if d.Decision == decisionApproved && len(p.Decisions) == maxDecisions {
		return nil, abi.Errorf(abi.CodeConflict, "there were %d decisions already: only a denial is taken now", maxDecisions)
	}
	next := *p
	next.Decisions = append(slices.Clip(p.Decisions), d)
	next.UpdatedAt = d.DecidedAt
	next.seq++
	return &next, nil
}

// maxDecisions bounds what a request grows to.
const maxDecisions = 200

// settled returns the request as it has ended.
func (p *asking) settled(as abi.PermissionStatus, at time.Time) *asking {
	next := *p
	next.Status, next.SettledAt, next.UpdatedAt = as, abi.At(at), abi.At(at)
	next.seq++
	return &next
}

// sameJSON reports whether two JSON texts have the same value; none is the same as
// none only.
func sameJSON(a, b jsontext.Value) bool {
	if len(a) == 0 || len(b) == 0 {
		return len(a) == len(b)
	}
	return bytes.Equal(a, b) || journal.SameValue(a, b)
}

// told is the event of the request that states it.
func (p *asking) told(kind abi.EventKind) ledger.Record {
	return ledger.Record{Kind: kind, Object: abi.ObjectPermissionRequest, ID: p.ID, Sequence: p.seq, Created: kind == abi.EventPermissionRequested, State: &p.PermissionRequest}
}

// approvalAnswer is what the plugin learns of an approval that has ended.
func (p *asking) approvalAnswer(at time.Time) *abi.CallApprovalAnswer {
	a := &abi.CallApprovalAnswer{Decision: decisionTimeout, DecidedAt: abi.At(at)}
	if p.Status != abi.PermissionTimeout && len(p.Decisions) > 0 {
		last := p.Decisions[len(p.Decisions)-1]
		a.Decision, a.Actor, a.DecidedAt, a.Reason = last.Decision, last.Actor, last.DecidedAt, last.Reason
		if current := p.current(); last.Decision == decisionApproved && !sameJSON(current, p.Arguments) {
			a.Arguments = current
		}
	}
	if p.Quorum > 1 && a.Decision == decisionApproved {
		a.Quorum, a.ApprovedBy = p.Quorum, p.approvedBy()
	}
	if len(p.Decisions) > 1 || p.Status == abi.PermissionTimeout {
		a.Decisions = p.Decisions
	}
	return a
}

// confirmation is the payload of the event that tells a decision.
type confirmation struct {
	PermissionID string `json:"permission_request_id,omitzero"`
	RequestID    string `json:"request_id"`
	Decision     string `json:"decision"`
	Reason       string `json:"reason,omitzero"`
	Modified     bool   `json:"modified,omitzero"`
}

func (t *task) confirmed(w *abi.Waiting, d *abi.Decision) ledger.Record {
	return ledger.Record{Kind: abi.EventUserToolConfirmation, Object: abi.ObjectTask, ID: t.id, Payload: confirmation{
		PermissionID: w.PermissionID, RequestID: w.RequestID, Decision: d.Decision, Reason: d.Reason, Modified: d.Arguments != nil}}
}

// tellAsking adds to a step what it means for the request that the Task waits on:
// it is made by the step that parks, and settled by the one that ends the wait,
// whatever ends it. It returns the request as it is after the step; nil for none.
// The caller holds t.mu.
func (t *task) tellAsking(c *change, now time.Time) *asking {
	switch {
	case c.asks != nil:
		p := &asking{PermissionRequest: *c.asks}
		c.before = append(c.before, p.told(abi.EventPermissionRequested))
		return p
	case t.asking == nil:
		return nil
	case c.in.Kind != lifecycle.Wake:
		c.settles = abi.PermissionCanceled // only an end is left
	}
	p := t.asking
	if c.decides != nil {
		p = c.decides
		c.before = append(c.before, p.told(abi.EventPermissionDecided))
	}
	p = p.settled(c.settles, now)
	c.before = append(c.before, p.told(abi.EventPermissionSettled))
	if c.told != nil {
		c.told(p)
	}
	return nil
}

// tellAsked keeps the table of pending requests as the Task's request comes and goes.
func (e *Engine) tellAsked(t *task, next *asking) {
	switch {
	case next != nil && t.asking == nil:
		e.asked.add(t.tenant, next.ID, &t.about)
	case next == nil && t.asking != nil:
		e.asked.remove(t.tenant, t.asking.ID)
	}
}

// decided takes a decision, if that is what was brought, and returns the answer of
// the call that waits. whole is false when more have to approve. The caller holds
// t.mu.
func (e *Engine) decided(t *task, w *abi.Waiting, up *wakeUp, ch *change) (answer []byte, whole bool, err error) {
	if !forApproval(w) {
		return up.answer, true, nil
	}
	p := t.asking
	if p == nil { // it was asked before there were requests for permission
		p = &asking{PermissionRequest: abi.PermissionRequest{Quorum: 1}}
	}
	at := e.now()
	if up.decision == nil {
		p = p.settled(abi.PermissionTimeout, at)
		answer, err = json.Marshal(p.approvalAnswer(at))
		return answer, true, err
	}
	if err := mayDecide(up.caller, t); err != nil {
		return nil, false, err
	}
	if p, err = p.decided(*up.decision); err != nil {
		return nil, false, err
	}
	ch.before = append(ch.before, t.confirmed(w, up.decision))
	if t.asking != nil {
		ch.decides = p
	}
	up.settles = abi.PermissionDenied
	if up.decision.Decision == decisionApproved {
		up.settles = abi.PermissionApproved
		if len(p.approvedBy()) < p.Quorum {
			return nil, false, nil
		}
	}
	answer, err = json.Marshal(p.approvalAnswer(at))
	return answer, true, err
}

// recordDecision hands over a decision that does not end the wait. The caller holds
// t.mu.
func (e *Engine) recordDecision(t *task, up *wakeUp, ch *change) (storage.Commit, error) {
	records := t.number(append(ch.before, ch.decides.told(abi.EventPermissionDecided)))
	encoded, err := ledger.Encode(records...)
	if err != nil {
		return nil, err
	}
	answer, status := 0, desk.StatusCreated
	if up.status == desk.StatusOK {
		answer, status = len(encoded)-1, desk.StatusOK
	}
	b := ledger.Batch(taskFrame(t.tenant, &t.task, up.actor, e.now(), encoded), up.idem, status, answer)
	commit, err := t.session.Append(e.ledger, b, nil)
	if err != nil {
		return nil, err
	}
	t.seq += sequenced(records)
	t.unsynced++
	t.asking, up.shown = ch.decides, ch.decides
	return commit, nil
}

// storedAsking reads the request that a parked Task waits on; nil for none.
func (e *Engine) storedAsking(ctx context.Context, tenant storage.Tenant, w *abi.Waiting) (*asking, error) {
	if w == nil || w.PermissionID == "" {
		return nil, nil
	}
	res, err := e.ledger.Find(ctx, tenant, abi.ObjectPermissionRequest, w.PermissionID)
	if err != nil {
		return nil, err
	}
	p := &asking{seq: res.Sequence}
	if err := ledger.Decode(res.State, &p.PermissionRequest); err != nil {
		return nil, ledger.Naming(abi.ObjectPermissionRequest, w.PermissionID, err)
	}
	return p, ledger.CheckEnvelope(&p.Envelope, abi.ObjectPermissionRequest, w.PermissionID)
}

// answerWait brings a Task what it waits for, on behalf of somebody. errSettled is
// the error when it does not wait for that any more.
func (e *Engine) answerWait(ctx context.Context, key ledger.Key, up *wakeUp, errSettled error) error {
	err := e.wake(ctx, key, up)
	if errors.Is(err, errNotWaiting) {
		return errSettled
	}
	return err
}

// RespondPermission decides on a request for permission, or brings what it asks
// for. It answers with the request as it is after that: still pending while more
// have to approve.
func (e *Engine) RespondPermission(ctx context.Context, c *desk.Caller, r *desk.Retry, id string, req abi.RespondRequest) (desk.Doc, error) {
	if err := mayAnswer(c); err != nil {
		return desk.Doc{}, err
	}
	p, _, err := desk.Find[abi.PermissionRequest](ctx, e.Desk, c, abi.ObjectPermissionRequest, id)
	if err != nil {
		return desk.Doc{}, err
	}
	return e.Once(ctx, c, r, p.WorkspaceID, func(idem *storage.Idempotency) (desk.Doc, error) {
		t, err := e.storedTask(ctx, c.Tenant, p.TaskID)
		if err != nil {
			return desk.Doc{}, err
		}
		if p.Status != abi.PermissionPending || t.Waiting == nil || t.Waiting.PermissionID != id {
			return desk.Doc{}, errSettled(id)
		}
		up := &wakeUp{requestID: t.Waiting.RequestID, caller: c, actor: c.Actor, idem: idem, status: desk.StatusOK}
		if err := e.respond(ctx, up, &p, req); err != nil {
			return desk.Doc{}, err
		}
		if err := e.answerWait(ctx, ledger.Key{Tenant: c.Tenant, ID: p.TaskID}, up, errSettled(id)); err != nil {
			return desk.Doc{}, err
		}
		state, err := json.Marshal(&up.shown.PermissionRequest)
		return desk.Doc{ID: id, JSON: state}, err
	})
}

func errSettled(id string) error {
	return abi.Errorf(abi.CodeConflict, "permission request %s is settled already", id)
}

// respond turns a response into what ends the wait.
func (e *Engine) respond(ctx context.Context, up *wakeUp, p *abi.PermissionRequest, req abi.RespondRequest) error {
	if p.Kind == abi.PermissionApproval {
		if req.Message != nil {
			return abi.InvalidParam("message", "an approval takes a decision, not a message")
		}
		if err := desk.CheckOneOf("decision", req.Decision, decisionApproved, decisionDenied); err != nil {
			return err
		}
		up.decision = e.decision(up.actor, req.Decision, req.Reason, req.Arguments)
		return nil
	}
	if len(req.Arguments) > 0 {
		return abi.InvalidParam("arguments", "only an approval takes arguments")
	}
	if req.Decision == decisionDenied && req.Message == nil {
		up.decline(p.Kind, req.Reason)
		return nil
	}
	if req.Decision != "" {
		return abi.InvalidParam("decision", `a request for %s is answered by a message, or declined with the decision "denied"`, p.Kind)
	}
	if req.Message == nil {
		return abi.InvalidParam("message", `missing required member "message"`)
	}
	m, err := e.Said(ctx, up.caller, req.Message, p.SessionID, p.TaskID)
	if err != nil {
		return desk.Within("message", err)
	}
	return up.bring(m)
}

func (e *Engine) decision(actor, decision, reason string, arguments jsontext.Value) *abi.Decision {
	if decision == decisionDenied || len(arguments) == 0 || arguments.Kind() == 'n' {
		arguments = nil
	}
	return &abi.Decision{Actor: actor, Decision: decision, Reason: reason, Arguments: arguments, DecidedAt: abi.At(e.now().Truncate(time.Microsecond))}
}

// decline answers a request for input or authorization with a refusal.
func (up *wakeUp) decline(kind abi.PermissionKind, reason string) {
	message := fmt.Sprintf("%s declined to give the %s", up.actor, kind)
	if reason != "" {
		message += ": " + reason
	}
	up.failed, up.settles = provider.Refuse(abi.CallDenied, "declined", message), abi.PermissionDenied
}

// bring answers a request for input or authorization with a Message.
func (up *wakeUp) bring(m *abi.Message) (err error) {
	up.before, up.settles = []ledger.Record{sessions.MessageRecord(m)}, abi.PermissionAnswered
	up.answer, err = json.Marshal(abi.CallInputRequestAnswer{Message: *m, Actor: up.actor})
	return err
}

// maxScanned is how many requests one page looks at: a page may hold fewer than it
// could when what it is to hold is rare.
const maxScanned = 1000

// Permissions lists requests for permission, newest first: all, or those of one
// status. Pending ones are found without a look at the others.
func (e *Engine) Permissions(ctx context.Context, c *desk.Caller, f desk.Filter, status abi.PermissionStatus, p desk.Page) (desk.DocList, error) {
	if f.WorkspaceID == "" && len(c.Workspaces) == 1 {
		f.WorkspaceID = c.Workspaces[0]
	}
	switch status {
	case "":
		return e.List(ctx, c, abi.ObjectPermissionRequest, f, p)
	case abi.PermissionPending:
		return e.pendingPermissions(ctx, c, f, p)
	}
	if err := desk.CheckOneOf("status", status, abi.PermissionPending, abi.PermissionApproved, abi.PermissionDenied,
		abi.PermissionAnswered, abi.PermissionTimeout, abi.PermissionCanceled); err != nil {
		return desk.DocList{}, err
	}
	var list desk.DocList
	for range maxScanned / p.Limit {
		page, err := e.List(ctx, c, abi.ObjectPermissionRequest, f, p)
		if err != nil {
			return desk.DocList{}, err
		}
		for i, doc := range page.Docs {
			if hasStatus(doc.JSON, status) && list.Add(doc, p.Limit) {
				return list.End(doc.ID, page.More || i < len(page.Docs)-1), nil
			}
		}
		if !page.More {
			return list.End("", false), nil
		}
		p.After = page.Next
	}
	return list.End(p.After, true), nil
}

func hasStatus(state []byte, status abi.PermissionStatus) bool {
	var p struct {
		Status abi.PermissionStatus `json:"status"`
	}
	return json.Unmarshal(state, &p) == nil && p.Status == status
}

func (e *Engine) pendingPermissions(ctx context.Context, c *desk.Caller, f desk.Filter, p desk.Page) (desk.DocList, error) {
	ids, more := e.asked.before(c.Tenant, p.After, p.Limit, func(a askedEntry) bool {
		return c.Sees(a.workspace) && desk.Matches(f.WorkspaceID, a.workspace) && desk.Matches(f.SessionID, a.session) && desk.Matches(f.TaskID, a.task)
	})
	var list desk.DocList
	for i, id := range ids {
		res, err := e.ledger.Find(ctx, c.Tenant, abi.ObjectPermissionRequest, id)
		if ledger.IsNotFound(err) || err == nil && !hasStatus(res.State, abi.PermissionPending) {
			continue // it is on its way to the disk, or was settled meanwhile
		}
		if err != nil {
			return desk.DocList{}, err
		}
		if list.Add(desk.Doc{ID: id, JSON: res.State}, p.Limit) {
			return list.End(id, more || i < len(ids)-1), nil
		}
	}
	if len(ids) == 0 {
		return list, nil
	}
	return list.End(ids[len(ids)-1], more), nil
}
