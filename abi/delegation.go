package abi

import "github.com/go-json-experiment/json/jsontext"

// The schemas of the contract by which an agent outside does paid work.
const (
	ExternalAgentSchema   = "harn.external_agent.v1"
	ExternalHandoffSchema = "harn.external_agent.handoff.v1"
)

// The methods of that contract, which an agent offers beside those of A2A.
const (
	MethodExternalPlan     = "_harn/externalAgent.plan"
	MethodExternalDispatch = "_harn/externalAgent.dispatch"
)

// DelegationStatus says what became of a [CallAgentDelegate].
type DelegationStatus string

// The statuses of a delegation.
const (
	DelegationCheckpointRequired DelegationStatus = "checkpoint_required" // nothing was dispatched: the checkpoint says what would be
	DelegationCompleted          DelegationStatus = "completed"           // the agent has done it, within its budget
	DelegationReplayed           DelegationStatus = "replayed"            // it was done before by the same key: nothing was dispatched
	DelegationExceeded           DelegationStatus = "budget_exceeded"     // the agent has used more than it was allowed
	DelegationRefused            DelegationStatus = "refused"             // nothing was dispatched, for the reason that is given
)

// DelegationBudget bounds what an agent outside may use for a piece of work; 0 is no bound.
type DelegationBudget struct {
	USD       float64 `json:"usd,omitzero"`
	Tokens    int64   `json:"tokens,omitzero"`
	Seconds   float64 `json:"seconds,omitzero"`
	ToolCalls int64   `json:"tool_calls,omitzero"`
}

// CallAgentDelegateRequest is the request of [CallAgentDelegate]. Its budget has at least one bound.
type CallAgentDelegateRequest struct {
	CallID        string           `json:"call_id,omitzero"`
	Agent         string           `json:"agent"` // by its name in the configuration
	Task          string           `json:"task"`
	ExpectedScope jsontext.Value   `json:"expected_scope,omitzero"` // what may come of it: a text, or any other JSON
	Context       jsontext.Value   `json:"context,omitzero"`        // a JSON object
	Budget        DelegationBudget `json:"budget"`
	// IdempotencyKey names this piece of work among those of the plugin in its Workspace, for good.
	// One follows from the call where it is not given.
	IdempotencyKey string                `json:"idempotency_key,omitzero"`
	Checkpoint     *DelegationCheckpoint `json:"checkpoint,omitzero"`
}

// DelegationCheckpoint is what an agent means to do before it is paid for it.
type DelegationCheckpoint struct {
	// Approved has the work dispatched, once whoever policy asks has approved it. Without it, the
	// call ends with the checkpoint.
	Approved bool `json:"approved,omitzero"`
	// CheckpointID is that of the checkpoint that was looked at. When the agent has another one by
	// then, nothing is dispatched.
	CheckpointID string `json:"checkpoint_id,omitzero"`
	// AllowLocalFallback lets Plan stand in for that of an agent which makes none.
	AllowLocalFallback bool           `json:"allow_local_fallback,omitzero"`
	Plan               jsontext.Value `json:"plan,omitzero"`
	// The rest is the agent's, and the node's. In a request it means nothing.
	ExpectedScope jsontext.Value  `json:"expected_scope,omitzero"`
	EvidenceRefs  jsontext.Value  `json:"evidence_refs,omitzero"`
	Metadata      jsontext.Value  `json:"metadata,omitzero"`
	Local         bool            `json:"local,omitzero"` // the plan is the plugin's own
	Peer          *DelegationPeer `json:"peer,omitzero"`
}

// DelegationPeer says who the agent is, as the node has found it.
type DelegationPeer struct {
	Agent      string `json:"agent"`
	Name       string `json:"name,omitzero"` // by its card
	URL        string `json:"url"`           // where work is dispatched to
	CardSHA256 string `json:"card_sha256"`   // of the card's canonical JSON, with "sha256:" before it
}

// CallAgentDelegateAnswer answers [CallAgentDelegate].
type CallAgentDelegateAnswer struct {
	Status DelegationStatus `json:"status"`
	Reason *CallError       `json:"reason,omitzero"` // of a refusal
	// IdempotencyKey is the one to come back with when the checkpoint is approved.
	IdempotencyKey string                `json:"idempotency_key,omitzero"`
	Peer           *DelegationPeer       `json:"peer,omitzero"`
	Checkpoint     *DelegationCheckpoint `json:"checkpoint,omitzero"`
	Handoff        *DelegationHandoff    `json:"handoff,omitzero"`
}

// DelegationHandoff is what came of work that was dispatched: the envelope of
// [ExternalHandoffSchema].
type DelegationHandoff struct {
	Schema         string                `json:"schema"` // [ExternalHandoffSchema]
	Status         DelegationStatus      `json:"status"` // DelegationCompleted or DelegationExceeded
	Peer           DelegationPeer        `json:"peer"`
	IdempotencyKey string                `json:"idempotency_key"` // as the agent was told it
	AskedSHA256    string                `json:"asked_sha256"`    // of the task, its scope and its context
	TaskID         string                `json:"task_id,omitzero"`
	Checkpoint     *DelegationCheckpoint `json:"checkpoint,omitzero"`
	Budget         DelegationBudget      `json:"budget"`
	BudgetUsed     DelegationBudget      `json:"budget_used"`
	// Reported is what of BudgetUsed the agent has said itself. The rest is taken to be what it was
	// allowed.
	Reported []string       `json:"reported"`
	Exceeded []string       `json:"exceeded,omitzero"` // members of the budget
	Repeated bool           `json:"repeated,omitzero"` // the agent says that it had done it before
	Handoff  jsontext.Value `json:"handoff"`           // what the agent hands over, for review
	Diff     string         `json:"diff,omitzero"`     // the patch, where there is one
	Outputs  jsontext.Value `json:"outputs,omitzero"`  // the agent's artifacts
	Receipts jsontext.Value `json:"receipts,omitzero"`
	// Artifacts are those of this node: the envelope itself, as the log has it, and the patch.
	Artifacts []DelegationArtifact `json:"artifacts,omitzero"`
}

// DelegationArtifact names an Artifact that a delegation has left.
type DelegationArtifact struct {
	ArtifactID string       `json:"artifact_id"`
	Kind       ArtifactKind `json:"kind"`
	SHA256     string       `json:"sha256"`
}
