package waiting

import (
	"errors"
	"fmt"
	"time"

	"github.com/wharf-dev/wharf/abi"
)

// InputKind discriminates what happens to a request.
type InputKind int

// What can happen to a request.
const (
	Ask      InputKind = iota // the Task parks, and asks
	Decide                    // somebody approves or denies
	Bring                     // what was waited for has come: a Message, the end of a child
	Decline                   // somebody refuses to give it
	TimeOver                  // its time is over
	End                       // the Task has ended while it waited
)

// Input is one thing that happens to a request.
type Input struct {
	Kind InputKind
	At   time.Time
	// Request is what the Task asks, with Ask.
	Request *Request
	// Decision is what was decided, with Decide.
	Decision abi.Decision
	// Submitter is who submitted the Task, with Decide.
	Submitter string
	// Of names one of several requests that are asked at once. Actor has answered or declined
	// it, with Message, or in the way Code and for Reason.
	Of, Actor, Reason string
	Code              abi.DeclineCode
	Message           *abi.Message
}

// EffectKind discriminates what has to be done.
type EffectKind int

// What a step can ask for.
const (
	Confirm EffectKind = iota // tell the decision
	Reply                     // the wait is over: tell the answer to the call that waits
	Tell                      // append Event, which states Request
)

// Effect is one thing that has to be done, in order, in one atomic append.
type Effect struct {
	Kind    EffectKind
	Event   abi.EventKind           // Tell
	Request *Request                // Tell
	Answer  *abi.CallApprovalAnswer // Reply to an approval; nil where the answer is what was brought
	Answers []abi.QuestionAnswer    // Reply to several requests
}

// ErrSettled says that a request has been answered, or has ended: it takes nothing more.
var ErrSettled = errors.New("the request is settled")

// ErrUnfit says that a request does not take this: an approval takes decisions, all others
// what they ask for.
var ErrUnfit = errors.New("the request does not take this")

// Step is the life of a request for permission: from a request, nil before it is made, and
// an input to the next request and what must be done. It reads no clock and does no I/O. An *abi.Error says why
// somebody may not answer so; on any error nothing is to be done.
//
//	           nil             pending approval                  other pending        settled
//	Ask        Tell requested  –                                 –                    ErrSettled
//	Decide     –               Confirm, Tell decided; the last:  –                    ErrSettled
//	                           Confirm, Reply, Tell decided,
//	                           Tell settled
//	Bring      –               –                                 Reply, Tell settled  ErrSettled
//	Decline    –               –                                 Reply, Tell settled  ErrSettled
//	TimeOver   –               Reply, Tell settled               Reply, Tell settled  ErrSettled
//	End        –               Tell settled                      Tell settled         ErrSettled
//
// A dash is ErrUnfit. Nothing is written of a request without an ID: the Tells are left out.
//
// Invariants: a request is settled once, and as approved only when its quorum of different
// actors has approved the same arguments; one denial denies. Each event of it has the next
// sequence. An approver of changed arguments says which arguments they mean.
func Step(p *Request, in Input) (*Request, []Effect, error) {
	switch {
	case p == nil && in.Kind == Ask:
		return in.Request, in.Request.tell(nil, abi.EventPermissionRequested), nil
	case p == nil:
		return nil, nil, fmt.Errorf("input %d before anything was asked: %w", in.Kind, ErrUnfit)
	case p.Status != abi.PermissionPending:
		return p, nil, ErrSettled
	}
	approval := p.Kind == abi.PermissionApproval
	switch {
	case in.Kind == Decide && approval:
		return p.decide(in)
	case in.Kind == Bring && !approval:
		return p.by(in).settle(abi.PermissionAnswered, in.At, []Effect{{Kind: Reply}})
	case in.Kind == Decline && !approval:
		return p.by(in).settle(abi.PermissionDenied, in.At, []Effect{{Kind: Reply}})
	case in.Kind == TimeOver:
		return p.settle(abi.PermissionTimeout, in.At, []Effect{p.timedOut(in.At)})
	case in.Kind == End:
		return p.settle(abi.PermissionCanceled, in.At, nil)
	}
	return p, nil, fmt.Errorf("input %d to a request for %q: %w", in.Kind, p.Kind, ErrUnfit)
}

// by returns the request with who has answered it. One that is asked by itself does not say it:
// the answer to its call does.
func (p *Request) by(in Input) *Request {
	if p.Key == "" {
		return p
	}
	next := *p
	next.AnsweredBy, next.Code, next.Reason, next.Message = in.Actor, in.Code, in.Reason, in.Message
	if in.Message != nil {
		next.MessageID = in.Message.ID
	}
	return &next
}

// decide takes a decision. All is over with a denial, and with the approval that makes the
// quorum.
func (p *Request) decide(in Input) (*Request, []Effect, error) {
	if err := p.mayDecide(in.Decision.Actor, in.Submitter); err != nil {
		return p, nil, err
	}
	next, err := p.decided(in.Decision)
	if err != nil {
		return p, nil, err
	}
	as, effects := abi.PermissionDenied, []Effect{{Kind: Confirm}}
	if in.Decision.Decision == decisionApproved {
		as = abi.PermissionApproved
		if len(next.approvedBy()) < next.Quorum {
			return next, next.tell(effects, abi.EventPermissionDecided), nil
		}
	}
	effects = append(effects, Effect{Kind: Reply, Answer: next.answer(in.At)})
	return next.settle(as, in.At, next.tell(effects, abi.EventPermissionDecided))
}

// timedOut answers the call whose time is over.
func (p *Request) timedOut(at time.Time) Effect {
	if p.Kind != abi.PermissionApproval {
		return Effect{Kind: Reply}
	}
	return Effect{Kind: Reply, Answer: p.settled(abi.PermissionTimeout, at).answer(at)}
}

func (p *Request) settle(as abi.PermissionStatus, at time.Time, effects []Effect) (*Request, []Effect, error) {
	next := p.settled(as, at)
	return next, next.tell(effects, abi.EventPermissionSettled), nil
}

func (p *Request) tell(effects []Effect, event abi.EventKind) []Effect {
	if p.ID == "" {
		return effects
	}
	return append(effects, Effect{Kind: Tell, Event: event, Request: p})
}
