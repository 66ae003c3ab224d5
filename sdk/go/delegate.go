package wharf

import (
	"encoding/json"

	"github.com/wharf-dev/wharf/sdk/go/internal/hostcall"
)

// The statuses of a [Delegation].
const (
	DelegationCheckpointRequired = "checkpoint_required" // nothing was dispatched: look at the checkpoint
	DelegationCompleted          = "completed"
	DelegationReplayed           = "replayed"        // it was done before by the same key
	DelegationExceeded           = "budget_exceeded" // it was done, and has used more than it was allowed
	DelegationRefused            = "refused"         // nothing was dispatched: look at the reason
)

// DelegationBudget bounds what an agent outside may use; 0 is no bound.
type DelegationBudget struct {
	USD       float64 `json:"usd,omitempty"`
	Tokens    int64   `json:"tokens,omitempty"`
	Seconds   float64 `json:"seconds,omitempty"`
	ToolCalls int64   `json:"tool_calls,omitempty"`
}

// DelegationRequest is paid work for an agent outside. The budget has at least one bound. CallID is
// what an override key calls this call (host:agent.delegate: and the name).
type DelegationRequest struct {
	CallID        string           `json:"call_id,omitempty"`
	Agent         string           `json:"agent"`
	Task          string           `json:"task"`
	ExpectedScope any              `json:"expected_scope,omitempty"`
	Context       any              `json:"context,omitempty"` // what JSON makes an object of
	Budget        DelegationBudget `json:"budget"`
	// IdempotencyKey names the work, for good. Without one, the call itself does; a Task that comes
	// back with an approved checkpoint gives the key of the answer that had it.
	IdempotencyKey string                `json:"idempotency_key,omitempty"`
	Checkpoint     *DelegationCheckpoint `json:"checkpoint,omitempty"`
}

// DelegationCheckpoint is what an agent means to do. With Approved, the work is dispatched once
// whoever policy asks has approved it, too.
type DelegationCheckpoint struct {
	Approved           bool            `json:"approved,omitempty"`
	CheckpointID       string          `json:"checkpoint_id,omitempty"`
	AllowLocalFallback bool            `json:"allow_local_fallback,omitempty"`
	Plan               json.RawMessage `json:"plan,omitempty"`
	ExpectedScope      json.RawMessage `json:"expected_scope,omitempty"`
	EvidenceRefs       json.RawMessage `json:"evidence_refs,omitempty"`
	Metadata           json.RawMessage `json:"metadata,omitempty"`
}

// Delegation says what became of work.
type Delegation struct {
	Status string `json:"status"`
	Reason *struct {
		Code    string `json:"code"`
		Message string `json:"message"`
	} `json:"reason,omitempty"`
	IdempotencyKey string                `json:"idempotency_key,omitempty"` // to come back with
	Checkpoint     *DelegationCheckpoint `json:"checkpoint,omitempty"`
	Handoff        *DelegationHandoff    `json:"handoff,omitempty"`
}

// DelegationHandoff is what an agent hands over.
type DelegationHandoff struct {
	Status     string           `json:"status"`
	TaskID     string           `json:"task_id,omitempty"` // the agent's
	Budget     DelegationBudget `json:"budget"`
	BudgetUsed DelegationBudget `json:"budget_used"`
	Reported   []string         `json:"reported"` // what of BudgetUsed the agent has said itself
	Exceeded   []string         `json:"exceeded,omitempty"`
	Handoff    json.RawMessage  `json:"handoff"`
	Diff       string           `json:"diff,omitempty"`
	Outputs    json.RawMessage  `json:"outputs,omitempty"`
	Receipts   json.RawMessage  `json:"receipts,omitempty"`
	Artifacts  []struct {
		ArtifactID string `json:"artifact_id"`
		Kind       string `json:"kind"`
		SHA256     string `json:"sha256"`
	} `json:"artifacts,omitempty"`
}

// Delegate has an agent outside do paid work. It waits until somebody has approved it, and until it
// is done. An error with [StatusIndeterminate] says that nobody knows whether it was done: the same
// request with the same key finds out.
func Delegate(r DelegationRequest) (Delegation, error) {
	var answer Delegation
	err := ask(hostcall.NameAgentDelegate, hostcall.AgentDelegate, r, &answer)
	return answer, err
}
