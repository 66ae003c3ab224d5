package abi

import "github.com/go-json-experiment/json/jsontext"

// PermissionKind says what a Task asks for.
type PermissionKind string

// The kinds of permission requests.
const (
	PermissionApproval      PermissionKind = "approval"      // may it do something
	PermissionInput         PermissionKind = "input"         // an answer
	PermissionAuthorization PermissionKind = "authorization" // something is to be connected
	PermissionSampling      PermissionKind = "sampling"      // what a model of the answerer's says
	PermissionRoots         PermissionKind = "roots"         // the folders that may be worked in
)

// DeclineCode says in which way a question was not answered.
type DeclineCode string

// The ways not to answer.
const (
	Declined    DeclineCode = "declined"    // whoever was asked does not want to
	Dismissed   DeclineCode = "cancelled"   // the question was put away without a choice
	Unsupported DeclineCode = "unsupported" // whoever was asked cannot answer questions of this kind
)

// PermissionStatus says what has become of a request.
type PermissionStatus string

// The statuses of permission requests.
const (
	PermissionPending  PermissionStatus = "pending"
	PermissionApproved PermissionStatus = "approved"
	PermissionDenied   PermissionStatus = "denied"
	PermissionAnswered PermissionStatus = "answered"
	PermissionTimeout  PermissionStatus = "timeout"
	PermissionCanceled PermissionStatus = "canceled" // the Task ended meanwhile
)

// PermissionRequest is what a Task asks somebody.
type PermissionRequest struct {
	Envelope    `json:",inline"`
	TaskID      string           `json:"task_id"`
	SessionID   string           `json:"session_id"`
	WorkspaceID string           `json:"workspace_id"`
	PersonaID   string           `json:"persona_id,omitzero"`
	Kind        PermissionKind   `json:"kind"`               // what is asked for
	Key         string           `json:"key,omitzero"`       // of one of several that are asked at once: the plugin's name for it
	Status      PermissionStatus `json:"status"`             // what has become of it
	Prompt      string           `json:"prompt,omitzero"`    // the question, for people
	Action      string           `json:"action,omitzero"`    // of an approval: what is to be done
	Arguments   jsontext.Value   `json:"arguments,omitzero"` // of an approval: with what
	Params      jsontext.Value   `json:"params,omitzero"`    // of a sampling: what the model is asked, as MCP's sampling/createMessage has it
	Grounds     `json:",inline"`
	Schema      jsontext.Value `json:"schema,omitzero"` // of an input, a sampling and roots: what an answer has to fit
	URL         string         `json:"url,omitzero"`    // of an authorization: where it is given
	RequestedBy string         `json:"requested_by"`    // who submitted the Task
	Quorum      int            `json:"quorum"`          // how many must approve
	// Approvers are patterns of the actors that may decide; empty for all.
	Approvers    []string   `json:"approvers,omitzero"`
	SelfApproval bool       `json:"self_approval"`       // whoever submitted the Task may decide, too
	Decisions    []Decision `json:"decisions"`           // in the order in which they came
	ExpiresAt    Time       `json:"expires_at,omitzero"` // when nobody can answer any more; absent: never
	SettledAt    Time       `json:"settled_at,omitzero"` // when it stopped being pending
	// AnsweredBy is who has answered or declined one of several that are asked at once, Code in which
	// way it was declined, Reason why, and MessageID what it was answered with.
	AnsweredBy string      `json:"answered_by,omitzero"`
	Code       DeclineCode `json:"code,omitzero"`
	Reason     string      `json:"reason,omitzero"`
	MessageID  string      `json:"message_id,omitzero"`
}

// Grounds say what an approval is about, and why it is asked for. They are found out when it
// is asked, and recorded with the question. A member that is missing is not known.
type Grounds struct {
	// ToolCallID is the id of the tool.call that is asked about: the call_id that it was made
	// with, or else call- and its index in the record.
	ToolCallID string `json:"tool_call_id,omitzero"`
	// DeclaredPaths are the files that the call names as what it changes, as it spells them.
	DeclaredPaths []string `json:"declared_paths,omitzero"`
	// RiskLabels say what kind of call it is, by what the host and the tool's definition know.
	RiskLabels []RiskLabel `json:"risk_labels,omitzero"`
	// MatchedRule names the rule of policy that asks: autonomy_tier.act_with_approval or
	// skill.requires_approval. A plugin asks by itself, and by no rule.
	MatchedRule string `json:"matched_rule,omitzero"`
}

// RiskLabel is a kind of risk that a call has.
type RiskLabel string

// The labels of risks.
const (
	RiskWrite       RiskLabel = "write"       // it changes something beyond its Session
	RiskDestructive RiskLabel = "destructive" // it can destroy something
	RiskOpenWorld   RiskLabel = "open_world"  // it reaches what does not belong to the node
	RiskDelegation  RiskLabel = "delegation"  // it has another Persona work
)

// Decision is what one actor has decided.
type Decision struct {
	Actor     string         `json:"actor"`
	Decision  string         `json:"decision"`           // approved or denied
	Reason    string         `json:"reason,omitzero"`    // for people
	Arguments jsontext.Value `json:"arguments,omitzero"` // other arguments, when the actor changed them
	DecidedAt Time           `json:"decided_at"`
}

// RespondRequest is the body of POST /v1/permission-requests/{id}/respond: a
// decision for an approval, a Message for any other.
type RespondRequest struct {
	Decision  string         `json:"decision,omitzero"`  // of an approval; denied answers any other request, too
	Code      DeclineCode    `json:"code,omitzero"`      // in which way a request that is no approval is denied; default: declined
	Reason    string         `json:"reason,omitzero"`    // for people
	Arguments jsontext.Value `json:"arguments,omitzero"` // of an approval: other arguments for the action
	Message   *MessageInput  `json:"message,omitzero"`   // the answer to a request that is no approval
}
