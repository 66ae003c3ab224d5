package abi

import "github.com/go-json-experiment/json/jsontext"

// PermissionKind says what a Task asks for.
type PermissionKind string

// The kinds of permission requests.
const (
	PermissionApproval      PermissionKind = "approval"      // may it do something
	PermissionInput         PermissionKind = "input"         // an answer
	PermissionAuthorization PermissionKind = "authorization" // something is to be connected
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
	Status      PermissionStatus `json:"status"`             // what has become of it
	Prompt      string           `json:"prompt,omitzero"`    // the question, for people
	Action      string           `json:"action,omitzero"`    // of an approval: what is to be done
	Arguments   jsontext.Value   `json:"arguments,omitzero"` // of an approval: with what
	Schema      jsontext.Value   `json:"schema,omitzero"`    // of an input: what is wanted
	URL         string           `json:"url,omitzero"`       // of an authorization: where it is given
	RequestedBy string           `json:"requested_by"`       // who submitted the Task
	Quorum      int              `json:"quorum"`             // how many must approve
	// Approvers are patterns of the actors that may decide; empty for all.
	Approvers    []string   `json:"approvers,omitzero"`
	SelfApproval bool       `json:"self_approval"`       // whoever submitted the Task may decide, too
	Decisions    []Decision `json:"decisions"`           // in the order in which they came
	ExpiresAt    Time       `json:"expires_at,omitzero"` // when nobody can answer any more; absent: never
	SettledAt    Time       `json:"settled_at,omitzero"` // when it stopped being pending
}

// Decision is what one actor has decided.
type Decision struct {
	Actor     string         `json:"actor"`
	Decision  string         `json:"decision"`           // approved or denied
	Reason    string         `json:"reason,omitzero"`    // for people
	Arguments jsontext.Value `json:"arguments,omitzero"` // other arguments, when the actor changed them
	DecidedAt Time           `json:"decided_at"`
}

// RespondRequest is the body of POST /v1/permission-requests/{id}/respond: a
// decision for an approval, a Message for an input or authorization.
type RespondRequest struct {
	Decision  string         `json:"decision,omitzero"`  // of an approval; denied answers any other request, too
	Reason    string         `json:"reason,omitzero"`    // for people
	Arguments jsontext.Value `json:"arguments,omitzero"` // of an approval: other arguments for the action
	Message   *MessageInput  `json:"message,omitzero"`   // the answer to a request for input or authorization
}
