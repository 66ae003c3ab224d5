package waiting

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"

	json "github.com/go-json-experiment/json"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/askclient"
	"github.com/wharf-dev/wharf/runtime/desk"
	"github.com/wharf-dev/wharf/runtime/hosttools"
	"github.com/wharf-dev/wharf/runtime/ledger"
	"github.com/wharf-dev/wharf/runtime/provider"
	"github.com/wharf-dev/wharf/runtime/sessions"
	"github.com/wharf-dev/wharf/storage"
)

// ErrNotWaiting says that a Task does not wait for what was brought.
var ErrNotWaiting = errors.New("the task does not wait for this")

// Answer is what is brought to a Task that waits: what ends its wait, or a decision
// towards that.
type Answer struct {
	RequestID string // of the wait that it is for
	// PermissionID is the request that it is for, where the wait is for several.
	PermissionID string
	Input        Input // what it means for the request; its time is filled in when it is taken
	// Result and Refused are the answer to the call that waits, unless that follows from
	// decisions.
	Result  []byte
	Refused error // a *provider.Refusal

	Actor   string
	May     func(*abi.Session) error // refuses it when it is handed over; nil refuses nothing
	Message []ledger.Record          // written first: the Message that brings it; nil for none
	Idem    *storage.Idempotency
	Status  int // of the answer to Idem: 200 for the request for permission, 0 for the Message

	Shown *Request // set when it is taken: the request as it is then
}

// TimedOut ends a wait whose time is over.
func TimedOut(w *abi.Waiting) *Answer {
	a := &Answer{RequestID: w.RequestID, Input: Input{Kind: TimeOver}}
	if w.Inbox != nil {
		a.Result = EmptyInbox(abi.WokenTimeout)
		return a
	}
	if w.Call != abi.CallSleep && !forApproval(w) && w.Requests == nil { // how an approval ends depends on its decisions
		a.Refused = provider.Refuse(abi.CallTimeout, "timeout", "nothing came by "+w.Until.Format(time.RFC3339Nano))
	}
	return a
}

// Came ends a wait for something that nobody gives: failed, when it is not nil, is why the call
// that waits is refused.
func Came(w *abi.Waiting, result []byte, failed error) *Answer {
	return &Answer{RequestID: w.RequestID, Input: Input{Kind: Bring}, Result: result, Refused: failed}
}

// decide answers a request for approval.
func (a *Answer) decide(req *abi.RespondRequest, at time.Time) {
	arguments := req.Arguments
	if req.Decision == decisionDenied || len(arguments) == 0 || arguments.Kind() == 'n' {
		arguments = nil
	}
	a.Input = Input{Kind: Decide, Decision: abi.Decision{Actor: a.Actor, Decision: req.Decision, Reason: req.Reason, Arguments: arguments,
		DecidedAt: abi.At(at.Truncate(time.Microsecond))}}
}

// decline answers a request that is no approval with a refusal.
func (a *Answer) decline(kind abi.PermissionKind, code abi.DeclineCode, reason string) {
	code = cmp.Or(code, abi.Declined)
	message := fmt.Sprintf("%s %s the %s", a.Actor, declines[code], kind)
	if reason != "" {
		message += ": " + reason
	}
	a.Input, a.Refused = Input{Kind: Decline, Actor: a.Actor, Code: code, Reason: reason}, provider.Refuse(abi.CallDenied, string(code), message)
}

// declines say for people who it was that did not answer.
var declines = map[abi.DeclineCode]string{abi.Declined: "declined to give", abi.Dismissed: "put away the question for", abi.Unsupported: "cannot give"}

// bring answers a request that is no approval with a Message.
func (a *Answer) bring(m *abi.Message) (err error) {
	a.Message, a.Input = []ledger.Record{sessions.MessageRecord(m)}, Input{Kind: Bring, Actor: a.Actor, Message: m}
	a.Result, err = json.Marshal(abi.CallInputRequestAnswer{Message: *m, Actor: a.Actor})
	return err
}

// Taken is what follows from an answer. The caller writes it in one batch.
type Taken struct {
	Round   *Round          // what is asked, as it is then
	Request *Request        // of it, the one that was answered; of several whose time is over, any
	Records []ledger.Record // in their order
	Over    bool            // the wait is over; else more have to decide, or to be answered
	// Waiting is what the Task goes on waiting for when one of several requests was settled;
	// nil where that has not changed.
	Waiting *abi.Waiting
	Status  int // of the answer to Idem
	Place   int // of the record that answers Idem
}

// Take compares an answer with what a Task asks, which is nil where the log has no request.
// reply makes the event that states the answer to the waiting call. An *abi.Error says why the
// answer is not taken.
func (a *Answer) Take(t *abi.Task, asks *Round, at time.Time, reply func(answer []byte, refused error) (ledger.Record, error)) (Taken, error) {
	if asks == nil {
		asks = unasked(t.Waiting)
	}
	in := a.Input
	in.At, in.Submitter, in.Of = at, t.CreatedBy, a.PermissionID
	next, effects, err := StepRound(asks, in)
	switch {
	case errors.Is(err, ErrSettled) && len(asks.open()) == 0:
		return Taken{}, stranded(t.ID, asks.Requests[0].ID)
	case errors.Is(err, ErrSettled):
		return Taken{}, ErrNotWaiting // for this one: another answer to it came first
	case err != nil:
		return Taken{}, err
	}
	taken := Taken{Round: next, Request: next.Requests[max(next.find(a.PermissionID), 0)], Records: slices.Clone(a.Message)}
	for _, effect := range effects {
		var rec ledger.Record
		switch effect.Kind {
		case Confirm:
			rec = a.confirmation(t)
		case Tell:
			rec = effect.Request.told(effect.Event)
		case Reply:
			taken.Over = true
			if rec, err = a.reply(t.Waiting, next, effect, reply); err != nil {
				return Taken{}, err
			}
		}
		taken.Records = append(taken.Records, rec)
	}
	if !taken.Over && len(next.open()) < len(asks.open()) {
		taken.Waiting = next.waits(t.Waiting)
	}
	if taken.Status = desk.StatusCreated; a.Status == desk.StatusOK {
		taken.Status, taken.Place = desk.StatusOK, len(taken.Records)-1
	}
	return taken, nil
}

// stranded is the error of an answer to a Task that waits although what it asks is settled. One
// batch settles a request and wakes its Task, so only a log that has lost some of it tells of such
// a Task. Nothing wakes it: what was answered is not known to the call that waits.
func stranded(task, request string) error {
	return abi.Errorf(abi.CodeConflict, "task %s waits for permission request %s, which is settled already: the log has lost what woke the task. "+
		"No answer is taken; cancel the task, and fork it to have it ask again", task, request)
}

// reply tells what the call that waits is answered with: what was decided, what became of
// several requests, or what was brought. A tool answers in the form of tools, a model in that of
// models.
func (a *Answer) reply(w *abi.Waiting, r *Round, e Effect, tell func([]byte, error) (ledger.Record, error)) (ledger.Record, error) {
	var decided any
	switch {
	case e.Answers != nil && w.Call == abi.CallLLMComplete:
		return toldAs(tell)(askclient.ModelAnswer(r.Requests[0].Params, &e.Answers[0]))
	case e.Answers != nil && w.Call == abi.CallToolCall:
		return toldAs(tell)(askclient.RootsAnswer(&e.Answers[0]))
	case e.Answers != nil:
		decided = &abi.CallInputRequestAnswer{Answers: e.Answers}
	case e.Answer != nil:
		decided = e.Answer
	case asTool(w) && a.Refused == nil:
		answer, err := hosttools.Find(hosttools.ToolAsk).Answer(a.Result)
		if err != nil {
			return ledger.Record{}, err
		}
		return tell(answer, nil)
	default:
		return tell(a.Result, a.Refused)
	}
	answer, err := json.Marshal(decided)
	if err != nil {
		return ledger.Record{}, err
	}
	return tell(answer, nil)
}

// toldAs tells an answer or a *provider.Refusal, and passes on any other error.
func toldAs(tell func([]byte, error) (ledger.Record, error)) func([]byte, error) (ledger.Record, error) {
	return func(answer []byte, err error) (ledger.Record, error) {
		if _, refused := errors.AsType[*provider.Refusal](err); err != nil && !refused {
			return ledger.Record{}, err
		}
		return tell(answer, err)
	}
}

// tells returns the events of a request that states itself.
func tells(effects []Effect) (records []ledger.Record) {
	for _, effect := range effects {
		records = append(records, effect.Request.told(effect.Event))
	}
	return records
}

// confirmation is the event that tells a decision.
func (a *Answer) confirmation(t *abi.Task) ledger.Record {
	d, w := &a.Input.Decision, t.Waiting
	return ledger.Record{Kind: abi.EventUserToolConfirmation, Object: abi.ObjectTask, ID: t.ID, Payload: abi.Confirmation{
		PermissionID: cmp.Or(w.PermissionID, a.PermissionID), RequestID: w.RequestID, Decision: d.Decision, Reason: d.Reason, Modified: d.Arguments != nil}}
}
