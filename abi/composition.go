package abi

import (
	"github.com/go-json-experiment/json/jsontext"
)

// CodeCompositionCeiling is the code of a call that was refused because the composition that is open is held to a
// lower side-effect level.
const CodeCompositionCeiling = "composition_ceiling"

// The host calls of compositions.
const (
	CallCompositionBegin = "composition.begin"
	CallCompositionEnd   = "composition.end"
)

func compositionCalls() []HostCall {
	return []HostCall{
		{Name: CallCompositionBegin, Effect: EffectWrite, Request: asJSON, RequestType: CallCompositionBeginRequest{},
			Answer: asJSON, AnswerType: CallCompositionBeginAnswer{}, Limit: "one at a time",
			Doc: "Begins a composition: the run of a snippet whose effects are tool calls. Until it ends, every call is held to its ceiling, and every tool call is told as a child of it. " +
				"While one is open, another is refused with CallInvalid and the code `composition_open`; a call beyond the ceiling is refused with CallDenied and `composition_ceiling`."},
		{Name: CallCompositionEnd, Effect: EffectWrite, Request: asJSON, RequestType: CallCompositionEndRequest{}, Answer: nothing,
			Limit: "256 KiB, 100 Artifacts",
			Doc: "Ends the composition that is open, with what came of it. One that is not open is answered with CallNotFound and the code `unknown_composition`. " +
				"When the Task ends before, the host ends it with an error."},
	}
}

// SideEffectLevel says how far what a call does may reach.
type SideEffectLevel string

// The levels, from the least to the most. Each allows what those before it allow.
const (
	LevelReadOnly       SideEffectLevel = "read_only"       // nothing beyond the Task and its Session changes
	LevelWorkspaceWrite SideEffectLevel = "workspace_write" // what is the Workspace's, or a tool server's own, does
	LevelProcessExec    SideEffectLevel = "process_exec"    // programs run
	LevelNetwork        SideEffectLevel = "network"         // anything else, and all that is not known
)

// SideEffectLevels lists the levels, from the least to the most.
func SideEffectLevels() []SideEffectLevel {
	return []SideEffectLevel{LevelReadOnly, LevelWorkspaceWrite, LevelProcessExec, LevelNetwork}
}

// The bounds on what is said of a composition.
const (
	MaxComposition          = 256 << 10 // the request of a [CallCompositionEnd], in bytes
	MaxCompositionArtifacts = 100
	// MaxCompositionContent bounds the arguments or the answer of a child that an event repeats, in bytes: the
	// events of the call itself have them whole.
	MaxCompositionContent = 16 << 10
)

// CallCompositionBeginRequest is the request of [CallCompositionBegin].
type CallCompositionBeginRequest struct {
	Name     string `json:"name,omitzero"` // for people
	Language string `json:"language"`      // that the snippet is written in
	// SnippetHash and ManifestHash are SHA-256, in hex, of the snippet and of the manifest of bindings that whoever
	// wrote it was shown.
	SnippetHash       string          `json:"snippet_hash"`
	ManifestHash      string          `json:"manifest_hash"`
	SideEffectCeiling SideEffectLevel `json:"side_effect_ceiling"`
}

// CallCompositionBeginAnswer answers [CallCompositionBegin].
type CallCompositionBeginAnswer struct {
	CompositionID string `json:"composition_id"`
}

// CallCompositionEndRequest is the request of [CallCompositionEnd]. With a FailureCategory the composition
// has failed.
type CallCompositionEndRequest struct {
	CompositionID   string             `json:"composition_id"`
	Stdout          string             `json:"stdout,omitzero"`
	Stderr          string             `json:"stderr,omitzero"`
	Artifacts       []string           `json:"artifacts,omitzero" maxItems:"100"` // ids of those that the Task has put
	Result          jsontext.Value     `json:"result,omitzero"`
	FailureCategory CompositionFailure `json:"failure_category,omitzero"`
	Message         string             `json:"message,omitzero"` // of a failure
}

// CompositionFailure says in which way a composition failed.
type CompositionFailure string

// The categories that a plugin gives, and after them those that the host gives when a Task ends whose
// composition is open.
const (
	CompositionSnippet CompositionFailure = "snippet_error"    // the snippet is at fault
	CompositionTool    CompositionFailure = "tool_error"       // a child failed
	CompositionCeiling CompositionFailure = "ceiling_exceeded" // a child was beyond the ceiling
	CompositionTimeout CompositionFailure = "timeout"
	CompositionLimit   CompositionFailure = "limit" // it used up what it may use

	CompositionNotEnded     CompositionFailure = "not_ended" // its Task completed without ending it
	CompositionTaskFailed   CompositionFailure = "task_failed"
	CompositionTaskCanceled CompositionFailure = "task_canceled"
)

// CompositionEventKind is a kind of what [EventComposition] tells.
type CompositionEventKind string

// The kinds of what is told of a composition. The last two are terminal: there is one of them, and nothing after it.
const (
	CompositionStart       CompositionEventKind = "composition_start"
	CompositionChildCall   CompositionEventKind = "composition_child_call"
	CompositionChildResult CompositionEventKind = "composition_child_result"
	CompositionFinish      CompositionEventKind = "composition_finish"
	CompositionError       CompositionEventKind = "composition_error"
)

// CompositionEvent is what [EventComposition] tells: a step of a composition, the run of a snippet whose
// effects are tool calls of its Task. It groups them, and stands in the place of none.
type CompositionEvent struct {
	Kind  CompositionEventKind `json:"kind"`
	RunID string               `json:"run_id"` // the composition_id

	// Of a composition_start; the ceiling of a child's call, too.
	Name              string          `json:"name,omitzero"`
	Language          string          `json:"language,omitzero"`
	SnippetHash       string          `json:"snippet_hash,omitzero"`
	ManifestHash      string          `json:"manifest_hash,omitzero"`
	SideEffectCeiling SideEffectLevel `json:"side_effect_ceiling,omitzero"`

	// Of a child: CallID is that of the tool call in its own events.
	CallID                   string                      `json:"call_id,omitzero"`
	RawInput                 jsontext.Value              `json:"raw_input,omitzero"` // absent when it is large
	PolicyContext            *CompositionPolicy          `json:"policy_context,omitzero"`
	RequestedSideEffectLevel SideEffectLevel             `json:"requested_side_effect_level,omitzero"`
	ToolAnnotations          *CompositionToolAnnotations `json:"tool_annotations,omitzero"` // absent when the tool is not known

	// Of a child's result.
	Status              CompositionStatus `json:"status,omitzero"`
	Executor            ToolExecutor      `json:"executor,omitzero"`
	Output              jsontext.Value    `json:"output,omitzero"` // absent when it is large
	Error               *CompositionFault `json:"error,omitzero"`  // and of a composition_error
	DurationMS          *float64          `json:"duration_ms,omitzero"`
	ExecutionDurationMS *float64          `json:"execution_duration_ms,omitzero"` // that its server took of that

	// Of the end.
	Stdout          string             `json:"stdout,omitzero"`
	Stderr          string             `json:"stderr,omitzero"`
	Artifacts       []string           `json:"artifacts,omitzero"`
	Result          jsontext.Value     `json:"result,omitzero"`
	FailureCategory CompositionFailure `json:"failure_category,omitzero"`
	ChildCalls      *int               `json:"child_calls,omitzero"` // how many there were

	// Type is the kind, and Visibility internal, of a child of a Task whose Persona lets nobody see which tools
	// there are: then keys without events:internal see no more. They see what was passed and what came of it
	// only with the visibility public.
	Type       CompositionEventKind `json:"type,omitzero"`
	Visibility ToolsVisibility      `json:"visibility,omitzero"`
	Redacted   bool                 `json:"redacted,omitzero"`
	Withheld   bool                 `json:"content_withheld,omitzero"` // it has content that this reader may not see
}

// CompositionStatus says how a child ended.
type CompositionStatus string

// The statuses of children.
const (
	CompositionChildCompleted CompositionStatus = "completed"
	CompositionChildFailed    CompositionStatus = "failed"
	CompositionChildCancelled CompositionStatus = "cancelled" // its Task has ended meanwhile
)

// CompositionPolicy is what policy looked at.
type CompositionPolicy struct {
	ToolName          string          `json:"tool_name"` // SERVER:NAME
	ToolKind          ToolKind        `json:"tool_kind,omitzero"`
	SideEffect        SideEffectLevel `json:"side_effect"`
	SideEffectCeiling SideEffectLevel `json:"side_effect_ceiling"`
}

// CompositionToolAnnotations are those by which a tool's level was found, under the names that the Model
// Context Protocol has for them.
type CompositionToolAnnotations struct {
	ReadOnly    bool `json:"readOnlyHint"`
	Destructive bool `json:"destructiveHint"`
	Idempotent  bool `json:"idempotentHint"`
	OpenWorld   bool `json:"openWorldHint"`
}

// CompositionFault says what went wrong.
type CompositionFault struct {
	Category ToolErrorCategory `json:"category,omitzero"` // of a child
	Code     string            `json:"code,omitzero"`
	Message  string            `json:"message,omitzero"`
}

// CompositionChild is a child of a composition that waits.
type CompositionChild struct {
	CompositionID string          `json:"composition_id"`
	CallID        string          `json:"call_id"`
	Executor      ToolExecutor    `json:"executor,omitzero"`
	StartedAt     Time            `json:"started_at"`
	Visibility    ToolsVisibility `json:"visibility,omitzero"` // as in [ToolUse]
}

// Withhold takes out what was passed and what came of it.
func (e *CompositionEvent) Withhold() {
	e.Withheld = len(e.RawInput) > 0 || len(e.Output) > 0 || len(e.Result) > 0 || e.Stdout != "" || e.Stderr != "" || e.Error != nil && e.Error.Message != ""
	e.RawInput, e.Output, e.Result, e.Stdout, e.Stderr = nil, nil, nil, "", ""
	if e.Error != nil {
		fault := *e.Error
		fault.Message = ""
		e.Error = &fault
	}
}
