package receipt

import (
	"fmt"
	"time"

	json "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi"
)

// Receipt is a receipt on the wire (receipt-2026-04-25). Member names and meanings
// are those of schema.json, all of them; docs/receipt.md says how Wharf fills them in.
type Receipt struct {
	Schema         string         `json:"schema"` // abi.ReceiptSchema
	ReceiptID      string         `json:"receipt_id"`
	Subject        Subject        `json:"subject"`
	Issuer         Issuer         `json:"issuer"`
	IssuedAt       time.Time      `json:"issued_at"`
	Identifiers    Identifiers    `json:"identifiers"`
	Lifecycle      Lifecycle      `json:"lifecycle"`
	Approvals      []Approval     `json:"approvals,omitempty"`
	Trust          TrustTiers     `json:"trust"`
	AutonomyBudget AutonomyBudget `json:"autonomy_budget"`
	ReplayInput    ReplayInput    `json:"replay_input"`
	ModelRoute     ModelRoute     `json:"model_route"`
	Cost           Cost           `json:"cost"`
	SideEffects    SideEffects    `json:"side_effects"`
	FinalArtifacts []ArtifactRef  `json:"final_artifacts"`
	Deltas         []Delta        `json:"deltas,omitempty"`
	Chain          ChainLink      `json:"chain"`
	Redactions     []Redaction    `json:"redactions,omitempty"`
	Signatures     []Signature    `json:"signatures,omitempty"`
	Metadata       Metadata       `json:"metadata"`
}

// Subject names what a receipt is about: a task, or a replay_segment.
type Subject struct {
	Object string `json:"object"`
	ID     string `json:"id"`
}

// Issuer names who issued a receipt. Kind is harness for Wharf.
type Issuer struct {
	ID          string `json:"id"`
	Kind        string `json:"kind"`
	Name        string `json:"name,omitzero"`
	Version     string `json:"version,omitzero"`
	PublicKeyID string `json:"public_key_id,omitzero"`
}

// Identifiers name what a receipt belongs to. PersonaRef is id@version.
type Identifiers struct {
	TenantID     string `json:"tenant_id,omitzero"`
	PersonaRef   string `json:"persona_ref,omitzero"`
	WorkspaceRef string `json:"workspace_ref"`
	SessionID    string `json:"session_id"`
	TaskID       string `json:"task_id"`
	BranchID     string `json:"branch_id,omitzero"`
	TraceID      string `json:"trace_id,omitzero"`
}

// The final states of a lifecycle.
const (
	Succeeded = "SUCCEEDED"
	Failed    = "FAILED"
	Canceled  = "CANCELED"
)

// Lifecycle says when a Task was made, started and ended, and how it ended.
type Lifecycle struct {
	CreatedAt   time.Time `json:"created_at,omitzero"`
	StartedAt   time.Time `json:"started_at"`
	CompletedAt time.Time `json:"completed_at"`
	FinalState  string    `json:"final_state"`
	Failure     *Failure  `json:"failure,omitzero"`
}

// Failure says why a Task failed. Details are left out: they may hold content.
type Failure struct {
	Code    string `json:"code"`
	Message string `json:"message"`
}

// Approval is one decision about an action of a Task.
type Approval struct {
	ApprovalID   string    `json:"approval_id,omitzero"`
	Actor        string    `json:"actor"`
	Action       string    `json:"action"`
	Decision     string    `json:"decision"` // approved, denied, canceled or timeout
	DecidedAt    time.Time `json:"decided_at"`
	EvidenceHash string    `json:"evidence_hash,omitzero"`
	// QuorumProof is set on the decision that made a quorum of more than one.
	QuorumProof *QuorumProof `json:"quorum_proof,omitempty"`
}

// ApprovalGrounds say what an approval was about, and why it was asked for.
type ApprovalGrounds struct {
	Place       int `json:"place"` // among the receipt's approvals, from 0
	abi.Grounds `json:",inline"`
}

// Delegation is work that an agent outside was to do. The members of the peer are missing where it
// was not come to, or is not known any more.
type Delegation struct {
	Agent      string      `json:"agent"` // by its name in the configuration
	CallID     string      `json:"call_id"`
	Status     string      `json:"status"` // as the plugin was told, or indeterminate
	PeerURL    string      `json:"peer_url,omitzero"`
	CardSHA256 string      `json:"card_sha256,omitzero"`
	Budget     AgentBudget `json:"budget"`
	Used       AgentBudget `json:"used"` // as it was counted
}

// AgentBudget is an amount of what agents outside use up.
type AgentBudget struct {
	Seconds   float64 `json:"seconds"`
	Tokens    int64   `json:"tokens"`
	ToolCalls int64   `json:"tool_calls"`
	USD       float64 `json:"usd"`
}

// QuorumProof says who together approved an action, with the same arguments.
type QuorumProof struct {
	ApprovedBy []string `json:"approved_by"`
	Quorum     int      `json:"quorum"` // how many had to
}

// TrustTiers are the autonomy tiers at the start and the end of a Task.
type TrustTiers struct {
	StartTier abi.AutonomyTier `json:"start_tier"`
	EndTier   abi.AutonomyTier `json:"end_tier"`
	PolicyRef string           `json:"policy_ref,omitzero"`
}

// AutonomyBudget is what a Task was allowed to use, where it was limited, and what
// it used.
type AutonomyBudget struct {
	Limit    *Budget `json:"limit,omitzero"`
	Consumed Budget  `json:"consumed"`
}

// Budget is an amount of what Tasks use up. Members that are nil are not stated.
type Budget struct {
	USD          *float64 `json:"usd,omitzero"`
	InputTokens  *int64   `json:"input_tokens,omitzero"`
	OutputTokens *int64   `json:"output_tokens,omitzero"`
	ToolCalls    *int64   `json:"tool_calls,omitzero"`
	WallTimeMS   *int64   `json:"wall_time_ms,omitzero"`
}

// The kinds of determinism.
const (
	ByteDeterministic = "byte_deterministic"
	Unavailable       = "unavailable"
)

// ReplayInput says whether the run can be repeated, and from what.
type ReplayInput struct {
	Determinism       string     `json:"determinism"`
	Materials         []Material `json:"materials"`
	UnavailableReason string     `json:"unavailable_reason,omitzero"`
}

// The kinds of materials.
const (
	MaterialEventLog = "event_log"
	MaterialArtifact = "artifact"
	MaterialModel    = "llm_provider_response"
	MaterialTool     = "mcp_tool_return"
	MaterialHostFact = "host_fact"
)

// Material is something that a replay needs, by its hash.
type Material struct {
	Kind        string            `json:"kind"`
	ID          string            `json:"id,omitzero"`
	URI         string            `json:"uri,omitzero"`
	SHA256      string            `json:"sha256,omitzero"`
	ContentType string            `json:"content_type,omitzero"`
	Metadata    *MaterialMetadata `json:"metadata,omitzero"` // of a module
}

// MaterialMetadata says what a module is rewritten with before it runs; the digest
// is of the module as it was written.
type MaterialMetadata struct {
	Rewriter string `json:"rewriter"`
}

// ModelRoute says which model answered, and why that one.
type ModelRoute struct {
	ChosenModel            ModelRef   `json:"chosen_model"`
	AlternativesConsidered []ModelRef `json:"alternatives_considered"`
	RoutePolicyReason      string     `json:"route_policy_reason"`
}

// ModelRef names a model.
type ModelRef struct {
	Provider string `json:"provider"`
	Model    string `json:"model"`
	Version  string `json:"version,omitzero"`
	Reason   string `json:"reason,omitzero"`
}

// Cost is what a Task cost. Currency is an ISO 4217 code.
type Cost struct {
	Currency          string         `json:"currency"`
	Total             float64        `json:"total"`
	ProviderBreakdown []ProviderCost `json:"provider_breakdown"`
}

// ProviderCost is the part of the cost that one model caused.
type ProviderCost struct {
	Provider     string  `json:"provider"`
	Model        string  `json:"model,omitzero"`
	Amount       float64 `json:"amount"`
	InputTokens  int64   `json:"input_tokens"`
	OutputTokens int64   `json:"output_tokens"`
}

// SideEffects lists what a Task changed or told outside of itself.
type SideEffects struct {
	FSWrites      []FileWrite `json:"fs_writes"`
	NetworkEgress []Egress    `json:"network_egress"`
	ToolCalls     []ToolCall  `json:"tool_calls"`
	A2AHandoffs   []Handoff   `json:"a2a_handoffs"`
}

// FileWrite is a change of a file.
type FileWrite struct {
	Path         string `json:"path"`
	Operation    string `json:"operation"` // create, modify, delete or rename
	BeforeSHA256 string `json:"before_sha256,omitzero"`
	AfterSHA256  string `json:"after_sha256,omitzero"`
}

// Egress is something sent over the network.
type Egress struct {
	Destination string        `json:"destination"`
	Purpose     string        `json:"purpose"`
	BytesSent   *int64        `json:"bytes_sent,omitzero"` // nil when it is not known
	Metadata    *CallMetadata `json:"metadata,omitzero"`
}

// CallMetadata says of a call what the schema has no member for.
type CallMetadata struct {
	// CallStatus is the status of a call that was not answered as asked: denied,
	// not_found, too_large, unavailable, indeterminate or timeout.
	CallStatus string `json:"call_status,omitzero"`
	// DeniedBy is the ground of a denial that was the ceiling of a composition: composition_ceiling.
	DeniedBy string `json:"denied_by,omitzero"`
	// Indeterminate says that nobody knows whether the call had its effect.
	Indeterminate bool `json:"indeterminate,omitzero"`
	// RedirectedTo is the host that answered in the end, when it is another one.
	RedirectedTo string `json:"redirected_to,omitzero"`
}

// ToolCall is a call of a tool. Tool is server.name.
type ToolCall struct {
	Tool       string        `json:"tool"`
	CallID     string        `json:"call_id"`
	Status     string        `json:"status"` // succeeded or failed
	InputHash  string        `json:"input_hash,omitzero"`
	OutputHash string        `json:"output_hash,omitzero"`
	Metadata   *CallMetadata `json:"metadata,omitzero"`
}

// Handoff is work given to another Persona.
type Handoff struct {
	TargetAgent string `json:"target_agent"`
	TaskID      string `json:"task_id"`
	Status      string `json:"status"` // accepted, completed or failed
	ReceiptID   string `json:"receipt_id,omitzero"`
}

// ArtifactRef names an Artifact. SHA256 begins with "sha256:".
type ArtifactRef struct {
	ArtifactID string `json:"artifact_id"`
	Kind       string `json:"kind"`
	URI        string `json:"uri,omitzero"`
	SHA256     string `json:"sha256,omitzero"`
}

// Delta is one difference between a replay and its source.
type Delta struct {
	DeltaID      string `json:"delta_id,omitzero"`
	Operation    string `json:"operation"` // add, replace or remove
	Path         string `json:"path"`
	OverrideKey  string `json:"override_key,omitzero"`
	EventID      string `json:"event_id,omitzero"`
	BeforeSHA256 string `json:"before_sha256,omitzero"`
	AfterSHA256  string `json:"after_sha256,omitzero"`
	ArtifactID   string `json:"artifact_id,omitzero"`
	Reason       string `json:"reason,omitzero"`
}

// ChainLink is the place of a receipt in its chain. PreviousReceiptHash is nil in
// the first of a chain. MerkleRoot is that of the Task's record ([Tally]).
type ChainLink struct {
	PreviousReceiptHash *string `json:"previous_receipt_hash"`
	ReceiptHash         string  `json:"receipt_hash"`
	MerkleRoot          string  `json:"merkle_root,omitzero"`
}

// Redaction says that a field was withheld. ProofHash is the hash of what stood there.
type Redaction struct {
	Field     string `json:"field"` // a JSON pointer
	Reason    string `json:"reason"`
	ProofHash string `json:"proof_hash,omitzero"`
}

// Signature is a signature over the ASCII bytes of the receipt's hash, "sha256:"
// included. Signature is "base64:" and the standard base64 of its 64 bytes.
type Signature struct {
	KeyID     string    `json:"key_id"`
	Algorithm string    `json:"algorithm"` // ed25519
	Signature string    `json:"signature"`
	SignedAt  time.Time `json:"signed_at,omitzero"`
}

// Metadata is what Wharf says besides, all of it from the Task's record but
// NodeVersion.
type Metadata struct {
	ABI    string `json:"abi,omitzero"`
	Arch   string `json:"arch,omitzero"` // of a run without Rewriter, whose NaNs depend on it
	Engine string `json:"engine,omitzero"`
	// Gas is what the run used of its gas; 0 where the record does not tell it.
	Gas      uint64 `json:"gas,omitzero"`
	Module   string `json:"module,omitzero"` // "sha256:" and hex
	Plugin   string `json:"plugin,omitzero"`
	Rewriter string `json:"rewriter,omitzero"` // what the module was rewritten with
	// ProgramSHA256 is the hash of the canonical JSON of the record's program: it
	// covers the export, the seed and the limits too.
	ProgramSHA256 string `json:"program_sha256,omitzero"`
	RecordLength  int    `json:"record_length"` // calls in the record
	NodeVersion   string `json:"node_version,omitzero"`
	// Approvals say more of some of the receipt's approvals, whose own form is closed.
	Approvals []ApprovalGrounds `json:"approvals,omitempty"`
	// Delegations are those to agents outside.
	Delegations []Delegation `json:"delegations,omitempty"`
	// ModelCallsFailed counts the model calls that nobody answered.
	ModelCallsFailed int `json:"model_calls_failed,omitzero"`
	// OtherCosts are costs in other currencies than that of the receipt, by currency.
	OtherCosts map[string]float64 `json:"other_costs,omitempty"`
	// Omitted says how many entries the lists of the receipt lack because of their
	// bounds. The record holds them, and the root covers them.
	Omitted *Omitted `json:"omitted,omitzero"`

	SourceTaskID string         `json:"source_task_id,omitzero"` // of a replay
	ReplayMode   abi.ReplayMode `json:"replay_mode,omitzero"`
}

// Omitted counts what was left out of a receipt's lists.
type Omitted struct {
	Approvals     int `json:"approvals,omitzero"`
	Delegations   int `json:"delegations,omitzero"`
	FSWrites      int `json:"fs_writes,omitzero"`
	Handoffs      int `json:"a2a_handoffs,omitzero"`
	Materials     int `json:"materials,omitzero"`
	NetworkEgress int `json:"network_egress,omitzero"`
	ToolCalls     int `json:"tool_calls,omitzero"`
}

// Parse reads a receipt that this package wrote. Members of metadata that it does
// not know are passed over; any other unknown member is an error. Use [Verify] to
// learn whether the receipt is true.
func Parse(wire []byte) (*Receipt, error) {
	type Members Receipt
	var in struct {
		Members
		Metadata jsontext.Value `json:"metadata"`
	}
	if err := json.Unmarshal(wire, &in, json.RejectUnknownMembers(true)); err != nil {
		return nil, fmt.Errorf("reading a receipt: %w", err)
	}
	r := Receipt(in.Members)
	if in.Metadata == nil {
		return &r, nil
	}
	if err := json.Unmarshal(in.Metadata, &r.Metadata); err != nil {
		return nil, fmt.Errorf("reading a receipt's metadata: %w", err)
	}
	return &r, nil
}
