package waiting

import (
	"bytes"
	"slices"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/journal"
	"github.com/wharf-dev/wharf/runtime/ledger"
	"github.com/wharf-dev/wharf/runtime/policy"
)

// The decisions on an approval.
const (
	decisionApproved = "approved"
	decisionDenied   = "denied"
	decisionTimeout  = "timeout"
)

// maxDecisions bounds what a request grows to.
const maxDecisions = 200

// Request is what a parked Task asks somebody, as the log will have it. It is immutable:
// every change makes a new one. One without an ID was asked before there were requests for
// permission, or asks nobody: nothing of it is written to the log.
type Request struct {
	abi.PermissionRequest
	Sequence uint64       // of the event that states it
	Message  *abi.Message // what has answered it, of one of several; the log has it as a Message
}

// Terms are what the Persona that a Task is pinned to says about who decides on an approval.
type Terms struct {
	Approvals *abi.ApprovalPolicy // nil for none
	Approvers []string            // whom the plugin names; filled in here
	Grounds   abi.Grounds         // why policy asks; empty where a plugin does
	Now       time.Time
	// Request is the call that asks, as a plugin made it; Asked is the same, decoded, or nil.
	Request []byte
	Asked   any
}

// requestFor returns what a Task asks somebody by a wait, and names it in the wait. Who may
// answer is fixed here.
func requestFor(t *abi.Task, w *abi.Waiting, at time.Time, requester string, by Terms) *Request {
	kind := kindOf(w)
	w.PermissionID = abi.DerivedID(abi.ObjectPermissionRequest, at, "permission "+w.RequestID)
	p := &Request{PermissionRequest: abi.PermissionRequest{
		Envelope: abi.NewEnvelope(abi.ObjectPermissionRequest, w.PermissionID, at, nil),
		TaskID:   t.ID, SessionID: t.SessionID, WorkspaceID: t.WorkspaceID, PersonaID: t.PersonaID,
		Kind: kind, Status: abi.PermissionPending, Prompt: w.Prompt, Action: w.Action, Arguments: w.Arguments,
		Schema: w.Schema, URL: w.URL, RequestedBy: requester, Quorum: 1, SelfApproval: true,
	}}
	if kind == abi.PermissionApproval {
		p.Grounds = by.Grounds
		p.govern(w, by)
	}
	p.expireBy(t, w)
	return p
}

// expireBy says until when the request can be answered: as long as the wait lasts, and the Task.
func (p *Request) expireBy(t *abi.Task, w *abi.Waiting) {
	p.ExpiresAt = w.Until
	if d := t.DeadlineAt; !d.IsZero() && (p.ExpiresAt.IsZero() || d.Before(p.ExpiresAt)) {
		p.ExpiresAt = d
	}
}

// govern fixes who decides on an approval: what the plugin asks for, under what the
// Persona's policy says. A policy's list of approvers replaces that of the plugin.
func (p *Request) govern(w *abi.Waiting, by Terms) {
	p.Quorum, p.Approvers = max(p.Quorum, w.Quorum), by.Approvers
	if of := by.Approvals; of != nil {
		p.Quorum, p.SelfApproval = max(p.Quorum, of.Quorum), of.SelfApproval
		if len(of.Approvers) > 0 {
			p.Approvers = of.Approvers
		}
		if at := by.Now.Add(seconds(of.TimeoutSeconds)); of.TimeoutSeconds > 0 && (w.Until.IsZero() || at.Before(w.Until)) {
			w.Until = abi.At(at)
		}
	}
	w.Quorum = p.Quorum
}

// unasked is what a wait asks that the log has no request of.
func unasked(w *abi.Waiting) *Round {
	return &Round{Requests: []*Request{{PermissionRequest: abi.PermissionRequest{Kind: kindOf(w), Status: abi.PermissionPending, Quorum: 1, SelfApproval: true}}}}
}

// mayDecide refuses those who may not decide on what a Task asks. submitter is who
// submitted the Task.
func (p *Request) mayDecide(actor, submitter string) error {
	if !p.SelfApproval && (actor == p.RequestedBy || actor == submitter) {
		return abi.Errorf(abi.CodePermissionDenied, "nobody decides on what they asked for themselves")
	}
	if len(p.Approvers) > 0 && !policy.MatchAny(p.Approvers, actor) {
		return abi.Errorf(abi.CodePermissionDenied, "this actor may not decide on this request")
	}
	return nil
}

// current returns the arguments that are up for approval: those of the last
// decision that changed them.
func (p *Request) current() jsontext.Value {
	for _, d := range slices.Backward(p.Decisions) {
		if d.Decision == decisionApproved && d.Arguments != nil {
			return d.Arguments
		}
	}
	return p.Arguments
}

// approvedBy lists the actors that have approved the arguments that are up for
// approval, each once: who changes them and changes them back has approved them twice.
func (p *Request) approvedBy() (actors []string) {
	current := p.current()
	for _, d := range p.Decisions {
		if p.approves(d, current) && !slices.Contains(actors, d.Actor) {
			actors = append(actors, d.Actor)
		}
	}
	return actors
}

func (p *Request) approves(d abi.Decision, arguments jsontext.Value) bool {
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
func (p *Request) decided(d abi.Decision) (*Request, error) {
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
	next.Sequence++
	return &next, nil
}

// settled returns the request as it has ended.
func (p *Request) settled(as abi.PermissionStatus, at time.Time) *Request {
	next := *p
	next.Status, next.SettledAt, next.UpdatedAt = as, abi.At(at), abi.At(at)
	next.Sequence++
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

// answer is what the plugin learns of an approval that has ended.
func (p *Request) answer(at time.Time) *abi.CallApprovalAnswer {
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

// told is the event of the request that states it.
func (p *Request) told(kind abi.EventKind) ledger.Record {
	return ledger.Record{Kind: kind, Object: abi.ObjectPermissionRequest, ID: p.ID, Sequence: p.Sequence,
		Created: kind == abi.EventPermissionRequested, State: &p.PermissionRequest}
}
