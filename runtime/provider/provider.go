package provider

import (
	"context"
	"errors"
	"reflect"
	"strconv"

	json "github.com/go-json-experiment/json"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/abi/plainly"
	"github.com/wharf-dev/wharf/runtime/ledger"
)

// ErrEnded is in the cause of the context of a call whose Task was canceled, or is past its deadline:
// the call will not be made again. A call that a node's end stops has another cause.
var ErrEnded = errors.New("the task has ended")

// Call is one host call.
type Call struct {
	Name    string // of the host call
	Request []byte // what the plugin passed

	Tenant      string // its id
	WorkspaceID string
	SessionID   string
	TaskID      string
	PersonaID   string
	Plugin      string
	Client      *abi.TaskClient // that gave the Task, as it says; nil for none
	// IdempotencyKey is the same whenever this very call is performed again.
	IdempotencyKey string
	// Number counts the calls of this name that the Task has made, this one
	// included: it is the same whenever this very call is performed again. 0 when the
	// caller does not count.
	Number int
	// AllowModel returns nil when policy lets the Task ask a model, by its configured
	// name and its provider's; else a *Refusal. nil when every model may be asked.
	AllowModel func(model, of string) error
	// Vault finds the secret that a name stands for, VAULT/NAME, or NAME in a Vault of
	// the Session. Its error is a *Refusal when this call may not use it. nil when
	// there are no Vaults.
	Vault func(ctx context.Context, name string) (*VaultSecret, error)
	// NodeSecret tells, durably, that a secret of the node's configuration goes to a
	// host, or, with a refusal, that it does not and why. nil when nobody listens.
	NodeSecret func(ctx context.Context, name, host string, refused *Refusal) error
	// Progress tells watchers how far a tool says it is, while Do runs. It does not wait, and what
	// is told too often is dropped. nil when nobody listens.
	Progress func(p abi.Progress)
	// Thinks tells watchers what a model thinks before it answers, as Do's emit tells text. nil when
	// nobody listens.
	Thinks func(text string)
	// Approved says that somebody has approved this very request, as the Plan before had it.
	Approved bool
	// Again says that the call may have been performed before: its intent stands, without an answer.
	Again bool
}

// VaultSecret is a secret of a Vault that a call may use.
type VaultSecret struct {
	Name  string   // VAULT/NAME
	Hosts []string // where it may be sent; nil for wherever the plugin may send requests
	// Value returns the value, for a request to a host. That it was used is on disk by
	// then. Its error is a *Refusal when it may not be used any more, or is not there.
	Value func(ctx context.Context, host string) (string, error)
	// Refused tells that the value was not sent to a host, and why.
	Refused func(ctx context.Context, host string, why *Refusal) error
}

// Plan is a call that may be performed.
type Plan struct {
	// Effect is what the call is: abi.EffectRead or abi.EffectWrite.
	Effect abi.Effect
	// Repeatable says of a write that performing it again with the same
	// IdempotencyKey changes nothing more.
	Repeatable bool
	// By is the actor that would do it, when that is a client and no part of the node's
	// configuration: an approval holds for that actor alone.
	By string
	// Tool is what a tool.call is made of, as it is defined; nil of any other call.
	Tool *abi.Tool
	// Delegate is what is submitted, in a Session of its own, for a call that a Task of another Persona
	// does: the engine runs it as a child, and waits for it. nil for a call that Do performs.
	Delegate *abi.SubmitTaskRequest
	// Ask is set where whoever may answer questions answers in the place of Do: the Task waits for it without an
	// instance, and package waiting reads the call's answer from what was answered.
	Ask *abi.CallInputRequestRequest
	// Request takes the place of what the plugin passed where policy has somebody asked about the
	// call, and when it is made. nil for what the plugin passed.
	Request []byte
	// Do performs the call and returns its answer, or why it could not: then err is
	// a *Refusal, or anything else when the host failed. emit, never nil, tells
	// watchers text as it comes.
	Do func(ctx context.Context, emit func(text string)) (answer []byte, err error)
	// Extra returns what a write that Do has performed states besides: it is in one batch with the
	// call's own event. nil for nothing.
	Extra func() []ledger.Record
	// Forget is called when this very call will not be performed again: its answer is on
	// disk, or its Task has ended. It may be left out by a crash. nil for nothing.
	Forget func() error
}

// Performer answers the host calls of one kind. It is safe for concurrent use.
type Performer interface {
	// Prepare checks a call and says what it would be. A *Refusal is an answer for
	// the plugin; any other error fails the Task.
	Prepare(ctx context.Context, c *Call) (Plan, error)
}

// Priced is a [Performer] of model calls that can know beforehand what one costs.
type Priced interface {
	// Most returns the most, in US dollars, that a request of so many bytes can cost;
	// ok is false when that is not known.
	Most(r *abi.ModelRequest, size int) (usd float64, ok bool)
}

// Refusal is the answer to a call that was not, or could not be, performed. It
// must hold nothing secret: it is recorded, and the plugin reads it.
type Refusal struct {
	Status  abi.CallStatus
	Code    string
	Message string
}

// Error implements the error interface.
func (r *Refusal) Error() string { return r.Code + ": " + r.Message }

// Refuse returns a [Refusal].
func Refuse(status abi.CallStatus, code, message string) *Refusal {
	return &Refusal{Status: status, Code: code, Message: message}
}

// RefuseFor returns the [Refusal] of a call that somebody has refused on behalf of callers.
func RefuseFor(e *abi.Error) *Refusal {
	status := abi.CallInvalid
	switch e.Code {
	case abi.CodeRateLimited, abi.CodeServiceUnavailable:
		status = abi.CallUnavailable
	case abi.CodeResourceNotFound:
		status = abi.CallNotFound
	case abi.CodePolicyViolation:
		status = abi.CallDenied
	}
	return Refuse(status, string(e.Code), e.Message)
}

// Answer returns the bytes that a plugin is told.
func (r *Refusal) Answer() []byte {
	answer, err := json.Marshal(abi.CallError{Code: r.Code, Message: r.Message})
	if err != nil { // the message is not UTF-8
		return []byte(`{"code":"` + r.Code + `","message":"unreadable"}`)
	}
	return answer
}

// CodeTooDeep is the code of a refusal of JSON that nests deeper than
// [abi.MaxDepth].
const CodeTooDeep = "too_deep"

// TooDeep refuses a request that nests deeper than [abi.MaxDepth].
func TooDeep() *Refusal {
	return Refuse(abi.CallInvalid, CodeTooDeep, "the request nests deeper than "+strconv.Itoa(abi.MaxDepth)+" levels")
}

// CodeTooMany is the code of a refusal of JSON with more in it than [abi.Weigh] allows.
const CodeTooMany = "too_many"

// Readable refuses a request that nests too deep, or that has too much in it, for a
// request of that type. It is asked before the request is decoded.
func Readable(request []byte, of reflect.Type) *Refusal {
	if abi.TooDeep(request, abi.MaxDepth) >= 0 {
		return TooDeep()
	}
	if _, err := abi.Weigh(request, of); err != nil {
		return Refuse(abi.CallInvalid, CodeTooMany, err.Error())
	}
	return nil
}

// Malformed refuses a request that is not what the call's definition says. The
// same request is refused in the same words by every process.
func Malformed(err error) *Refusal {
	if invalid, ok := errors.AsType[*abi.Error](err); ok {
		return Refuse(abi.CallInvalid, string(invalid.Code), invalid.Message)
	}
	return Refuse(abi.CallInvalid, string(abi.CodeInvalidRequest), plainly.Say(err))
}

// Asked returns a call's request: asked, which points to a T where somebody has decoded it
// before, or what is read from the text. The error is a *Refusal.
func Asked[T any](asked any, text []byte) (v T, err error) {
	if asked, ok := asked.(*T); ok {
		return *asked, nil
	}
	if err := json.Unmarshal(text, &v); err != nil {
		return v, Malformed(err)
	}
	return v, nil
}
