package abi

import (
	"fmt"

	json "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// AgentEventKind is a kind of what an agent tells of its own work.
type AgentEventKind string

// The kinds of what an agent tells of its work.
const (
	AgentSkillActivated      AgentEventKind = "skill_activated"
	AgentSkillDeactivated    AgentEventKind = "skill_deactivated"
	AgentSkillScopeTools     AgentEventKind = "skill_scope_tools"
	AgentSkillNarrow         AgentEventKind = "skill_narrow"
	AgentToolSearchQuery     AgentEventKind = "tool_search_query"
	AgentToolSearchResult    AgentEventKind = "tool_search_result"
	AgentTranscriptCompacted AgentEventKind = "transcript_compacted"
	AgentTranscriptProjected AgentEventKind = "transcript_projected"
	AgentTurnStarted         AgentEventKind = "turn_started"
	AgentTurnEnded           AgentEventKind = "turn_ended"
)

// MaxAgentEvent bounds the request of a [CallAgentEvent], in bytes.
const MaxAgentEvent = 32 << 10

// CallAgentEventRequest is the request of [CallAgentEvent]. Data is an object with the members that the
// kind has, and no others (docs/events.md).
type CallAgentEventRequest struct {
	Kind AgentEventKind `json:"kind"`
	Data jsontext.Value `json:"data"`
}

// AgentEvent is what [EventAgentEvent] tells: what an agent does with its skills, its tools and its
// conversation. Nothing that the Task results in follows from it.
type AgentEvent struct {
	Kind AgentEventKind `json:"kind"`
	Data jsontext.Value `json:"data"` // the members of the kind
	// Type is the kind, and Visibility internal, of what names tools when the Persona's
	// ToolsVisibility is internal: then keys without events:internal are told nothing else.
	Type       AgentEventKind `json:"type,omitzero"`
	Visibility Visibility     `json:"visibility,omitzero"`
	Redacted   bool           `json:"redacted,omitzero"` // the rest is withheld
}

// AgentSkillChange is the data of AgentSkillActivated and of AgentSkillDeactivated, which has no reason.
type AgentSkillChange struct {
	SkillName string `json:"skill_name"`
	Iteration uint32 `json:"iteration"` // the turn, from 1
	Reason    string `json:"reason,omitzero"`
}

// AgentToolScope is the data of AgentSkillScopeTools.
type AgentToolScope struct {
	SkillName    string   `json:"skill_name"`
	AllowedTools []string `json:"allowed_tools"`
}

// AgentNarrow is the data of AgentSkillNarrow: which tools a model is offered no longer.
type AgentNarrow struct {
	Reason             string            `json:"reason"`
	RemovedTools       []string          `json:"removed_tools"`
	RemainingTools     []string          `json:"remaining_tools"`
	Policy             string            `json:"policy,omitzero"`
	RemovedToolDetails []AgentToolDetail `json:"removed_tool_details,omitzero"`
	KeptToolDetails    []AgentToolDetail `json:"kept_tool_details,omitzero"`
}

// AgentToolDetail says why a tool is offered, or is not.
type AgentToolDetail struct {
	Name   string `json:"name"`
	Reason string `json:"reason,omitzero"`
}

// AgentToolSearch is the data of AgentToolSearchQuery, which has name and query, and of
// AgentToolSearchResult, which has promoted.
type AgentToolSearch struct {
	ToolUseID string   `json:"tool_use_id"` // the model's call
	Name      string   `json:"name,omitzero"`
	Query     string   `json:"query,omitzero"`
	Promoted  []string `json:"promoted,omitzero"` // the tools that the model is offered from then on
	Strategy  string   `json:"strategy"`
	Mode      string   `json:"mode"`
}

// AgentCompaction is the data of AgentTranscriptCompacted.
type AgentCompaction struct {
	Mode                  string         `json:"mode"`
	Reason                string         `json:"reason"`
	Strategy              string         `json:"strategy"`
	ArchivedMessages      uint32         `json:"archived_messages"`
	EstimatedTokensBefore uint64         `json:"estimated_tokens_before"`
	EstimatedTokensAfter  uint64         `json:"estimated_tokens_after"`
	SnapshotAssetID       string         `json:"snapshot_asset_id,omitzero"` // the Artifact that has the archived messages
	InstructionMode       string         `json:"instruction_mode,omitzero"`
	InstructionSource     string         `json:"instruction_source,omitzero"`
	CompactionPolicy      jsontext.Value `json:"compaction_policy,omitzero"` // an object
}

// AgentProjection is the data of AgentTranscriptProjected.
type AgentProjection struct {
	Policy                string   `json:"policy"`
	Reason                string   `json:"reason"`
	PrefixHash            string   `json:"prefix_hash"` // of the messages that stay as they are from then on
	KeptCount             uint32   `json:"kept_count"`
	DroppedCount          uint32   `json:"dropped_count"`
	ProviderSafetyBlocked uint32   `json:"provider_safety_blocked"` // that would have gone, if a provider took a call without its result
	RedactedCount         uint32   `json:"redacted_count"`
	ReclaimedTokens       uint64   `json:"reclaimed_tokens"`
	RootsConsulted        []string `json:"roots_consulted,omitzero"`
	RedactionPointers     []string `json:"redaction_pointers,omitzero"` // where what is left out can be found
}

// AgentTurn is the data of AgentTurnStarted and of AgentTurnEnded, which has the rest.
type AgentTurn struct {
	Iteration  uint32 `json:"iteration"` // from 1
	StopReason string `json:"stop_reason,omitzero"`
	ToolCalls  uint32 `json:"tool_calls,omitzero"`
}

// Event returns what is told of the request, or what is wrong with it.
func (r *CallAgentEventRequest) Event() (*AgentEvent, error) {
	data := r.Kind.data()
	if data == nil {
		return nil, InvalidParam("kind", "%.50q is no kind of what an agent tells", r.Kind)
	}
	if err := json.Unmarshal(r.Data, data, json.RejectUnknownMembers(true)); err != nil {
		return nil, InvalidParam("data", "the data of %s: %v", r.Kind, err)
	}
	if name, value := data.needs(); name != "" && value == "" {
		return nil, InvalidParam("data."+name, "the data of %s needs a %s", r.Kind, name)
	}
	text, err := json.Marshal(data, json.Deterministic(true))
	if err != nil {
		return nil, fmt.Errorf("the data of %s: %w", r.Kind, err)
	}
	return &AgentEvent{Kind: r.Kind, Data: text}, nil
}

// agentData is the data of a kind. needs returns the member that may not be empty, and what it is.
type agentData interface{ needs() (name, value string) }

// data returns what the data of a kind is read into; nil for a kind that there is not.
func (k AgentEventKind) data() agentData {
	switch k {
	case AgentSkillActivated, AgentSkillDeactivated:
		return &AgentSkillChange{}
	case AgentSkillScopeTools:
		return &AgentToolScope{}
	case AgentSkillNarrow:
		return &AgentNarrow{}
	case AgentToolSearchQuery, AgentToolSearchResult:
		return &AgentToolSearch{}
	case AgentTranscriptCompacted:
		return &AgentCompaction{}
	case AgentTranscriptProjected:
		return &AgentProjection{}
	case AgentTurnStarted, AgentTurnEnded:
		return &AgentTurn{}
	}
	return nil
}

func (d *AgentSkillChange) needs() (name, value string) { return "skill_name", d.SkillName }
func (d *AgentToolScope) needs() (name, value string)   { return "skill_name", d.SkillName }
func (d *AgentNarrow) needs() (name, value string)      { return "reason", d.Reason }
func (d *AgentToolSearch) needs() (name, value string)  { return "tool_use_id", d.ToolUseID }
func (d *AgentCompaction) needs() (name, value string)  { return "strategy", d.Strategy }
func (d *AgentProjection) needs() (name, value string)  { return "policy", d.Policy }
func (d *AgentTurn) needs() (name, value string)        { return "", "" }

// NamesTools reports whether the data of the kind names tools.
func (k AgentEventKind) NamesTools() bool {
	switch k {
	case AgentSkillScopeTools, AgentSkillNarrow, AgentToolSearchQuery, AgentToolSearchResult:
		return true
	}
	return false
}
