package wharf

import "github.com/wharf-dev/wharf/sdk/go/internal/hostcall"

// AgentEvent is a kind of what an agent tells of its own work.
type AgentEvent string

// The kinds of what an agent tells, each with the type of its data.
const (
	SkillActivated      AgentEvent = "skill_activated"      // SkillChange
	SkillDeactivated    AgentEvent = "skill_deactivated"    // SkillChange
	SkillScopeTools     AgentEvent = "skill_scope_tools"    // ToolScope
	SkillNarrow         AgentEvent = "skill_narrow"         // Narrowing
	ToolSearchQuery     AgentEvent = "tool_search_query"    // ToolSearch
	ToolSearchResult    AgentEvent = "tool_search_result"   // ToolSearch
	TranscriptCompacted AgentEvent = "transcript_compacted" // Compaction
	TranscriptProjected AgentEvent = "transcript_projected" // Projection
	TurnStarted         AgentEvent = "turn_started"         // Turn
	TurnEnded           AgentEvent = "turn_ended"           // Turn
)

// SkillChange says that a skill is used from a turn on, or is not any more.
type SkillChange struct {
	SkillName string `json:"skill_name"`
	Iteration int    `json:"iteration"` // the turn, from 1
	Reason    string `json:"reason,omitempty"`
}

// ToolScope says which tools a skill asks for.
type ToolScope struct {
	SkillName    string   `json:"skill_name"`
	AllowedTools []string `json:"allowed_tools"`
}

// Narrowing says which tools the model is offered no longer.
type Narrowing struct {
	Reason             string       `json:"reason"`
	RemovedTools       []string     `json:"removed_tools"`
	RemainingTools     []string     `json:"remaining_tools"`
	Policy             string       `json:"policy,omitempty"`
	RemovedToolDetails []ToolDetail `json:"removed_tool_details,omitempty"`
	KeptToolDetails    []ToolDetail `json:"kept_tool_details,omitempty"`
}

// ToolDetail says why a tool is offered, or is not.
type ToolDetail struct {
	Name   string `json:"name"`
	Reason string `json:"reason,omitempty"`
}

// ToolSearch is a model's search for tools: Name and Query of the search, Promoted of what came of it.
type ToolSearch struct {
	ToolUseID string   `json:"tool_use_id"`
	Name      string   `json:"name,omitempty"`
	Query     string   `json:"query,omitempty"`
	Promoted  []string `json:"promoted,omitempty"`
	Strategy  string   `json:"strategy"`
	Mode      string   `json:"mode"`
}

// Compaction says that older messages of a conversation gave way to a summary.
type Compaction struct {
	Mode                  string `json:"mode"`
	Reason                string `json:"reason"`
	Strategy              string `json:"strategy"`
	ArchivedMessages      int    `json:"archived_messages"`
	EstimatedTokensBefore int64  `json:"estimated_tokens_before"`
	EstimatedTokensAfter  int64  `json:"estimated_tokens_after"`
	SnapshotAssetID       string `json:"snapshot_asset_id,omitempty"` // the Artifact that has the messages
	InstructionMode       string `json:"instruction_mode,omitempty"`
	InstructionSource     string `json:"instruction_source,omitempty"`
	CompactionPolicy      any    `json:"compaction_policy,omitempty"` // encodes to a JSON object
}

// Projection says that parts of a conversation are left out of what the model is asked with.
type Projection struct {
	Policy                string   `json:"policy"`
	Reason                string   `json:"reason"`
	PrefixHash            string   `json:"prefix_hash"` // of the messages that stay as they are from then on
	KeptCount             int      `json:"kept_count"`
	DroppedCount          int      `json:"dropped_count"`
	ProviderSafetyBlocked int      `json:"provider_safety_blocked"`
	RedactedCount         int      `json:"redacted_count"`
	ReclaimedTokens       int64    `json:"reclaimed_tokens"`
	RootsConsulted        []string `json:"roots_consulted,omitempty"`
	RedactionPointers     []string `json:"redaction_pointers,omitempty"`
}

// Turn is one question to the model and what is done for its answer.
type Turn struct {
	Iteration  int    `json:"iteration"` // from 1
	StopReason string `json:"stop_reason,omitempty"`
	ToolCalls  int    `json:"tool_calls,omitempty"`
}

// Tell tells watchers what an agent does with its skills, its tools and its conversation. data is what
// the kind says, and nothing depends on whether anybody is told.
func Tell(kind AgentEvent, data any) error {
	return ask(hostcall.NameAgentEvent, hostcall.AgentEvent, agentEvent{kind, data}, nil)
}

type agentEvent struct {
	Kind AgentEvent `json:"kind"`
	Data any        `json:"data"`
}
