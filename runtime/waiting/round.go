package waiting

import (
	"context"
	"slices"
	"time"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/desk"
	"github.com/wharf-dev/wharf/runtime/ledger"
	"github.com/wharf-dev/wharf/storage"
)

// Round is all that a parked Task asks by one call: one request, or several, each of which is
// answered by itself. It is immutable: every change makes a new one.
type Round struct {
	// Requests has at least one, in the order in which they were asked.
	Requests []*Request
}

// several reports whether the call has asked several questions, by their keys: one of those is
// answered as several are.
func (r *Round) several() bool { return r.Requests[0].Key != "" }

// open returns the ids of the requests that wait for an answer.
func (r *Round) open() (ids []string) {
	if r == nil {
		return nil
	}
	for _, p := range r.Requests {
		if p.Status == abi.PermissionPending {
			ids = append(ids, p.ID)
		}
	}
	return ids
}

// find returns the place of a request; -1 for none.
func (r *Round) find(id string) int {
	return slices.IndexFunc(r.Requests, func(p *Request) bool { return p.ID == id })
}

// with returns the round with another request in a place.
func (r *Round) with(i int, p *Request) *Round {
	next := &Round{Requests: slices.Clone(r.Requests)}
	next.Requests[i] = p
	return next
}

// StepRound is the life of all that a Task asks at once: each request goes its own way by
// [Step], and the call is answered when none is open any more.
//
//	                       one request   several, others are open    several, no other is open
//	Ask                    as Step       Tell requested, for each    Tell requested, for each
//	Decide, Bring, Decline as Step       as Step, without the Reply  as Step, Reply with all
//	TimeOver               as Step       Reply with all, Tell settled for each that is open
//	End                    as Step       Tell settled for each that is open
//
// Of several, Decide, Bring and Decline are for the request that the input names: ErrUnfit when
// there is none, ErrSettled when it was answered before.
//
// Invariants: a request that was settled stays as it is, whatever happens to the others. The
// call is answered once, with each request as it was settled. On an error nothing changes.
func StepRound(r *Round, in Input) (*Round, []Effect, error) {
	switch {
	case in.Kind == Ask:
		return ask(r, in)
	case !r.several():
		next, effects, err := Step(r.Requests[0], in)
		if err != nil {
			return r, nil, err
		}
		return r.with(0, next), effects, nil
	case in.Kind == TimeOver || in.Kind == End:
		return r.endOpen(in)
	}
	i := r.find(in.Of)
	if i < 0 {
		return r, nil, ErrUnfit
	}
	p, effects, err := Step(r.Requests[i], in)
	if err != nil {
		return r, nil, err
	}
	next := r.with(i, p)
	return next, next.replied(effects), nil
}

// ask makes every request.
func ask(r *Round, in Input) (*Round, []Effect, error) {
	var effects []Effect
	for _, p := range r.Requests {
		in.Request = p
		_, told, err := Step(nil, in)
		if err != nil {
			return r, nil, err
		}
		effects = append(effects, told...)
	}
	return r, effects, nil
}

// endOpen settles every request that is open, as all are whose time is over.
func (r *Round) endOpen(in Input) (*Round, []Effect, error) {
	if len(r.open()) == 0 {
		return r, nil, ErrSettled
	}
	next, effects := r, []Effect(nil)
	for i, p := range r.Requests {
		if p.Status != abi.PermissionPending {
			continue
		}
		settled, told, err := Step(p, in)
		if err != nil {
			return r, nil, err
		}
		next = next.with(i, settled)
		effects = append(effects, slices.DeleteFunc(told, isReply)...)
	}
	if in.Kind == TimeOver {
		effects = append([]Effect{{Kind: Reply, Answers: next.answers()}}, effects...)
	}
	return next, effects, nil
}

func isReply(e Effect) bool { return e.Kind == Reply }

// replied puts the answers to all requests into the place of the answer to one; while others
// are open nothing is answered.
func (r *Round) replied(effects []Effect) []Effect {
	if len(r.open()) > 0 {
		return slices.DeleteFunc(effects, isReply)
	}
	for i := range effects {
		if isReply(effects[i]) {
			effects[i] = Effect{Kind: Reply, Answers: r.answers()}
		}
	}
	return effects
}

// answers are what the call is answered with when all of several requests are settled.
func (r *Round) answers() []abi.QuestionAnswer {
	list := make([]abi.QuestionAnswer, len(r.Requests))
	for i, p := range r.Requests {
		list[i] = abi.QuestionAnswer{Key: p.Key, Status: p.Status, PermissionID: p.ID, Actor: p.AnsweredBy, Code: p.Code, Reason: p.Reason, Message: p.Message}
		if p.Kind == abi.PermissionApproval {
			list[i].Approval = p.answer(p.SettledAt)
		}
	}
	return list
}

// waits returns how the Task says what it waits for, with the requests as they are now.
func (r *Round) waits(w *abi.Waiting) *abi.Waiting {
	next := *w
	next.Requests = make([]abi.WaitingQuestion, len(r.Requests))
	for i, p := range r.Requests {
		next.Requests[i] = abi.WaitingQuestion{Key: p.Key, PermissionID: p.ID, Kind: p.Kind, Status: p.Status}
	}
	return &next
}

// Stored reads what a parked Task waits on; nil for nothing.
func Stored(ctx context.Context, l *ledger.Ledger, tenant storage.Tenant, w *abi.Waiting) (*Round, error) {
	if w == nil || w.PermissionID == "" && len(w.Requests) == 0 {
		return nil, nil
	}
	ids := []string{w.PermissionID}
	if len(w.Requests) > 0 {
		ids = ids[:0]
		for _, named := range w.Requests {
			ids = append(ids, named.PermissionID)
		}
	}
	r := &Round{}
	for _, id := range ids {
		p, err := stored(ctx, l, tenant, id)
		if err != nil {
			return nil, err
		}
		r.Requests = append(r.Requests, p)
	}
	return r, nil
}

// stored reads one request, and what it was answered with.
func stored(ctx context.Context, l *ledger.Ledger, tenant storage.Tenant, id string) (*Request, error) {
	res, err := l.Find(ctx, tenant, abi.ObjectPermissionRequest, id)
	if err != nil {
		return nil, err
	}
	p := &Request{Sequence: res.Sequence}
	if err := ledger.Decode(res.State, &p.PermissionRequest); err != nil {
		return nil, ledger.Naming(abi.ObjectPermissionRequest, id, err)
	}
	if err := ledger.CheckEnvelope(&p.Envelope, abi.ObjectPermissionRequest, id); err != nil {
		return nil, err
	}
	if p.MessageID == "" {
		return p, nil
	}
	res, err = l.Find(ctx, tenant, abi.ObjectMessage, p.MessageID)
	if err != nil {
		return nil, err
	}
	p.Message = &abi.Message{}
	if err := ledger.Decode(res.State, p.Message); err != nil {
		return nil, ledger.Naming(abi.ObjectMessage, p.MessageID, err)
	}
	return p, nil
}

// Still returns what a Task waits on when the Task itself cannot be read: the requests that are
// open. It is nil when none can be read.
func Still(ctx context.Context, store storage.Store, task ledger.Key) *Round {
	list, _, err := store.List(ctx, task.Tenant, abi.ObjectPermissionRequest, desk.Scope{Object: abi.ObjectTask, ID: task.ID}, storage.Page{Limit: 200})
	if err != nil {
		return nil
	}
	r := &Round{}
	for _, res := range list { // the newest first: no others are pending
		p := &Request{Sequence: res.Sequence}
		if ledger.Decode(res.State, &p.PermissionRequest) == nil && p.Status == abi.PermissionPending && p.ID == res.ID {
			r.Requests = append(r.Requests, p)
		}
	}
	if len(r.Requests) == 0 {
		return nil
	}
	return r
}

// Canceled settles what is open of a Task that has ended while it waited, and returns the
// events of that.
func Canceled(r *Round, at time.Time) []ledger.Record {
	_, effects, err := StepRound(r, Input{Kind: End, At: at})
	if err != nil {
		return nil // it was settled before
	}
	return tells(effects)
}
