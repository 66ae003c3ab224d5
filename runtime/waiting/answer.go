package waiting

import (
	"errors"
	"fmt"
	"time"

	json "github.com/go-json-experiment/json"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/desk"
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
	Input     Input  // what it means for the request; its time is filled in when it is taken
	// Result and Refused are what the call that waits is answered with, unless that follows
	// from decisions.
	Result  []byte
	Refused error // a *provider.Refusal

	Actor   string
	Message []ledger.Record // told first: the Message that brings it; nil for none
	Idem    *storage.Idempotency
	Status  int // of the answer to Idem: 200 for the request for permission, 0 for the Message

	Shown *Request // set when it is taken: the request as it is then
}

// TimedOut ends a wait whose time is over.
func TimedOut(w *abi.Waiting) *Answer {
	a := &Answer{RequestID: w.RequestID, Input: Input{Kind: TimeOver}}
	if w.Call != abi.CallSleep && !ForApproval(w) { // how an approval ends depends on its decisions
		a.Refused = provider.Refuse(abi.CallTimeout, "timeout", "nothing came by "+w.Until.Format(time.RFC3339Nano))
	}
	return a
}

// Came ends a wait for what nobody gives: failed, when it is not nil, is why the call that
// waits is refused.
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

// decline answers a request for input or authorization with a refusal.
func (a *Answer) decline(kind abi.PermissionKind, reason string) {
	message := fmt.Sprintf("%s declined to give the %s", a.Actor, kind)
	if reason != "" {
		message += ": " + reason
	}
	a.Input, a.Refused = Input{Kind: Decline}, provider.Refuse(abi.CallDenied, "declined", message)
}

// bring answers a request for input or authorization with a Message.
func (a *Answer) bring(m *abi.Message) (err error) {
	a.Message, a.Input = []ledger.Record{sessions.MessageRecord(m)}, Input{Kind: Bring}
	a.Result, err = json.Marshal(abi.CallInputRequestAnswer{Message: *m, Actor: a.Actor})
	return err
}

// Reply returns what the call that waits is answered with, once a step has said that the
// wait is over: what was brought, or what was decided.
func (a *Answer) Reply(decided *abi.CallApprovalAnswer) ([]byte, error) {
	if decided == nil {
		return a.Result, nil
	}
	return json.Marshal(decided)
}

// confirmation is the payload of the event that tells a decision.
type confirmation struct {
	PermissionID string `json:"permission_request_id,omitzero"`
	RequestID    string `json:"request_id"`
	Decision     string `json:"decision"`
	Reason       string `json:"reason,omitzero"`
	Modified     bool   `json:"modified,omitzero"`
}

// Confirmation is the event that tells a decision.
func (a *Answer) Confirmation(task string, w *abi.Waiting) ledger.Record {
	d := &a.Input.Decision
	return ledger.Record{Kind: abi.EventUserToolConfirmation, Object: abi.ObjectTask, ID: task, Payload: confirmation{
		PermissionID: w.PermissionID, RequestID: w.RequestID, Decision: d.Decision, Reason: d.Reason, Modified: d.Arguments != nil}}
}

// AnsweredBy is the status, and the place among so many records that tell of it, of the
// answer to the request that brought this: the request for permission as it is told last,
// or the Message, which is told first.
func (a *Answer) AnsweredBy(records int) (status, place int) {
	if a.Status == desk.StatusOK {
		return desk.StatusOK, records - 1
	}
	return desk.StatusCreated, 0
}
