package wharf

import (
	"encoding/json"
	"time"

	"github.com/wharf-dev/wharf/sdk/go/internal/hostcall"
)

// The functions of this file wait for somebody. The Task is parked meanwhile: its
// instance is thrown away, and when the answer has come the plugin runs again from
// the start, with every host call before this one answered from the record.

// InputRequest asks the user for input.
type InputRequest struct {
	CallID string `json:"call_id,omitempty"`
	Prompt string `json:"prompt"`
	// Schema is a JSON Schema of what is wanted, for whoever asks the user.
	Schema json.RawMessage `json:"schema,omitempty"`
	// Timeout is how long to wait; then the error has [StatusTimeout]. 0: for ever.
	Timeout time.Duration `json:"-"`
}

// InputAnswer is what the user said, and who that was.
type InputAnswer struct {
	Message Message `json:"message"`
	Actor   string  `json:"actor"`
}

// RequestInput asks the user for input, and waits for it.
func RequestInput(r InputRequest) (InputAnswer, error) {
	var answer InputAnswer
	err := ask(hostcall.NameInputRequest, hostcall.InputRequest, struct {
		InputRequest
		TimeoutSeconds float64 `json:"timeout_seconds,omitempty"`
	}{r, seconds(r.Timeout)}, &answer)
	return answer, err
}

// The kinds of questions, and what can become of one.
const (
	KindInput         = "input"
	KindAuthorization = "authorization"
	KindApproval      = "approval"
	KindSampling      = "sampling" // what a model of the client's says
	KindRoots         = "roots"    // the folders that may be worked in

	QuestionAnswered = "answered" // an input or authorization was given
	QuestionApproved = "approved"
	QuestionDenied   = "denied" // an approval was denied, or the rest declined
	QuestionTimeout  = "timeout"
)

// The ways in which a question that is no approval was denied: the Code of its answer, and of the [*Error] of
// [RequestInput] and [RequestAuth].
const (
	CodeDeclined    = "declined"    // whoever was asked does not want to
	CodeCancelled   = "cancelled"   // the question was put away without a choice
	CodeUnsupported = "unsupported" // the client cannot answer questions of this kind
)

// Question is one of several that are asked at once. Members that do not belong to its kind
// are left empty.
type Question struct {
	Key       string          `json:"key"`            // names it in the answer
	Kind      string          `json:"kind,omitempty"` // default: KindInput
	Prompt    string          `json:"prompt,omitempty"`
	Schema    json.RawMessage `json:"schema,omitempty"`   // of an input: an answer that does not fit it is not taken
	Params    json.RawMessage `json:"params,omitempty"`   // of a sampling: a [Sampling]
	Provider  string          `json:"provider,omitempty"` // of an authorization, as URL
	URL       string          `json:"url,omitempty"`
	Action    string          `json:"action,omitempty"` // of an approval, as those that follow
	Arguments json.RawMessage `json:"arguments,omitempty"`
	Quorum    int             `json:"quorum,omitempty"`
	Approvers []string        `json:"approvers,omitempty"`
}

// QuestionAnswer is what became of a question.
type QuestionAnswer struct {
	Key          string    `json:"key"`
	Status       string    `json:"status"` // QuestionAnswered, ...
	PermissionID string    `json:"permission_request_id"`
	Actor        string    `json:"actor,omitempty"`    // who answered, or declined
	Code         string    `json:"code,omitempty"`     // of one that was declined: CodeDeclined, ...
	Reason       string    `json:"reason,omitempty"`   // why it was declined
	Message      *Message  `json:"message,omitempty"`  // what was answered
	Approval     *Approval `json:"approval,omitempty"` // of an approval: how it was decided
}

// Questions are several questions that are asked at once, 1 to 16.
type Questions struct {
	CallID   string        `json:"call_id,omitempty"`
	Requests []Question    `json:"requests"`
	Timeout  time.Duration `json:"-"` // how long to wait for all of them. 0: for ever
}

// Ask asks several questions at once, which are answered one by one by whoever may, and waits
// until all are settled. The answers have the order of the questions.
func Ask(q Questions) ([]QuestionAnswer, error) {
	var answer struct {
		Answers []QuestionAnswer `json:"answers"`
	}
	err := ask(hostcall.NameInputRequest, hostcall.InputRequest, struct {
		Questions
		TimeoutSeconds float64 `json:"timeout_seconds,omitempty"`
	}{q, seconds(q.Timeout)}, &answer)
	return answer.Answers, err
}

// AuthRequest asks the user to authorize something.
type AuthRequest struct {
	CallID   string        `json:"call_id,omitempty"`
	Provider string        `json:"provider"` // what is to be authorized
	Prompt   string        `json:"prompt"`
	URL      string        `json:"url,omitempty"` // where the user does so
	Timeout  time.Duration `json:"-"`             // as in [InputRequest]
}

// RequestAuth asks the user to authorize something, and waits for the answer. It
// must hold no credentials: the plugin and the record see it.
func RequestAuth(r AuthRequest) (InputAnswer, error) {
	var answer InputAnswer
	err := ask(hostcall.NameAuthRequest, hostcall.AuthRequest, struct {
		AuthRequest
		TimeoutSeconds float64 `json:"timeout_seconds,omitempty"`
	}{r, seconds(r.Timeout)}, &answer)
	return answer, err
}

// ApprovalRequest asks for approval of an action.
type ApprovalRequest struct {
	CallID    string          `json:"call_id,omitempty"`
	Action    string          `json:"action"` // what is to be approved, such as workspace.patch.apply
	Prompt    string          `json:"prompt"`
	Arguments json.RawMessage `json:"arguments,omitempty"`
	Timeout   time.Duration   `json:"-"` // then the decision is DecisionTimeout. 0: for ever
}

// Decision is how an approval was decided.
type Decision string

// The decisions.
const (
	DecisionApproved Decision = "approved"
	DecisionDenied   Decision = "denied"
	DecisionTimeout  Decision = "timeout"
)

// Approval is a decision, and who made it.
type Approval struct {
	Decision  Decision        `json:"decision"`
	Actor     string          `json:"actor,omitempty"`
	DecidedAt time.Time       `json:"decided_at"`
	Reason    string          `json:"reason,omitempty"`
	Arguments json.RawMessage `json:"arguments,omitempty"` // when the approver changed them
}

// RequestApproval asks for approval of an action, and waits for the decision. The
// receipt names who decided.
func RequestApproval(r ApprovalRequest) (Approval, error) {
	var answer Approval
	err := ask(hostcall.NameApprovalRequest, hostcall.ApprovalRequest, struct {
		ApprovalRequest
		TimeoutSeconds float64 `json:"timeout_seconds,omitempty"`
	}{r, seconds(r.Timeout)}, &answer)
	return answer, err
}

// SpawnRequest submits a child Task in the same Session. Input is a [Message] or
// anything else that encodes to a JSON object.
type SpawnRequest struct {
	PersonaID       string          `json:"persona_id,omitempty"` // default: the same
	Input           any             `json:"input"`
	Metadata        json.RawMessage `json:"metadata,omitempty"`
	DeadlineSeconds float64         `json:"deadline_seconds,omitempty"`
}

// Spawn submits a child Task and returns its id. It does not wait for it.
func Spawn(r SpawnRequest) (taskID string, err error) {
	var answer struct {
		TaskID string `json:"task_id"`
	}
	err = ask(hostcall.NameTaskSpawn, hostcall.TaskSpawn, r, &answer)
	return answer.TaskID, err
}

// HandoffRequest hands work to another Persona.
type HandoffRequest struct {
	PersonaID string `json:"persona_id"`
	Input     any    `json:"input"`
	Reason    string `json:"reason,omitempty"`
}

// Handoff submits a child Task that the receipt names as a handoff, and returns its
// id. It does not wait for it.
func Handoff(r HandoffRequest) (taskID string, err error) {
	var answer struct {
		TaskID string `json:"task_id"`
	}
	err = ask(hostcall.NameHandoff, hostcall.Handoff, r, &answer)
	return answer.TaskID, err
}

// ChildOutcome is how a child Task ended.
type ChildOutcome struct {
	TaskID    string    `json:"task_id"`
	Status    string    `json:"status"` // SUCCEEDED, FAILED or CANCELED
	Summary   string    `json:"summary"`
	Messages  []Message `json:"messages,omitempty"`
	Failure   *Failure  `json:"failure,omitempty"`
	ReceiptID string    `json:"receipt_id,omitempty"`
}

// Await waits for a child Task to end, at most for the given time, if that is not 0.
func Await(taskID string, timeout time.Duration) (ChildOutcome, error) {
	var answer ChildOutcome
	err := ask(hostcall.NameTaskAwait, hostcall.TaskAwait, struct {
		TaskID         string  `json:"task_id"`
		TimeoutSeconds float64 `json:"timeout_seconds,omitempty"`
	}{taskID, seconds(timeout)}, &answer)
	return answer, err
}
