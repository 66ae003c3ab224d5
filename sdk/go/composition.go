package wharf

import (
	"encoding/json"
	"errors"

	"github.com/wharf-dev/wharf/sdk/go/internal/hostcall"
)

// SideEffectLevel says how far what a call does may reach.
type SideEffectLevel string

// The levels, from the least to the most. Each allows what those before it allow.
const (
	ReadOnly       SideEffectLevel = "read_only"
	WorkspaceWrite SideEffectLevel = "workspace_write"
	ProcessExec    SideEffectLevel = "process_exec"
	Network        SideEffectLevel = "network" // anything else, and all that is not known
)

// Snippet is a piece of code whose effects are tool calls.
type Snippet struct {
	Name     string `json:"name,omitempty"` // for people
	Language string `json:"language"`
	// SnippetHash and ManifestHash are SHA-256, in lower-case hex, of the code and of the manifest of bindings that whoever
	// wrote it was shown.
	SnippetHash  string          `json:"snippet_hash"`
	ManifestHash string          `json:"manifest_hash"`
	Ceiling      SideEffectLevel `json:"side_effect_ceiling"`
}

// CompositionFailure says in which way a composition failed.
type CompositionFailure string

// The ways in which a composition fails.
const (
	SnippetFailed   CompositionFailure = "snippet_error"    // the code is at fault
	ToolFailed      CompositionFailure = "tool_error"       // a call failed
	CeilingExceeded CompositionFailure = "ceiling_exceeded" // a call was beyond the ceiling
	SnippetTimeout  CompositionFailure = "timeout"
	SnippetLimit    CompositionFailure = "limit" // it used up what it may use
)

// The codes of the [Error] of calls of compositions, and of calls that are made while one is open.
const (
	CodeCompositionOpen    = "composition_open"    // another one is open
	CodeUnknownComposition = "unknown_composition" // it is not open
	CodeCompositionCeiling = "composition_ceiling" // the call is beyond the ceiling
)

// CompositionResult is what came of a composition. With a FailureCategory it has failed.
type CompositionResult struct {
	Stdout          string             `json:"stdout,omitempty"`
	Stderr          string             `json:"stderr,omitempty"`
	Artifacts       []string           `json:"artifacts,omitempty"` // ids of those that the Task has stored
	Result          json.RawMessage    `json:"result,omitempty"`
	FailureCategory CompositionFailure `json:"failure_category,omitempty"`
	Message         string             `json:"message,omitempty"`
}

// Composition is the composition that is open.
type Composition struct {
	ID string `json:"composition_id"`
}

// CallTool calls a tool as a child of the composition. What is beyond the ceiling is refused with
// [CodeCompositionCeiling].
func (c *Composition) CallTool(r ToolRequest) (ToolAnswer, error) {
	r.CompositionID = c.ID
	return CallTool(r)
}

// Compose runs a snippet as a composition: until run returns, every call of the Task is held to the snippet's ceiling,
// and tool calls are told as its children. An error of run ends it as failed, in the way that the result says or else that
// follows from the error, and is returned.
func Compose(s Snippet, run func(c *Composition) (CompositionResult, error)) (CompositionResult, error) {
	var c Composition
	if err := ask(hostcall.NameCompositionBegin, hostcall.CompositionBegin, s, &c); err != nil {
		return CompositionResult{}, err
	}
	result, err := run(&c)
	if err != nil {
		result.fails(err)
	}
	ended := ask(hostcall.NameCompositionEnd, hostcall.CompositionEnd, struct {
		Composition
		CompositionResult
	}{c, result}, nil)
	return result, errors.Join(err, ended)
}

// fails fills in why a composition failed.
func (r *CompositionResult) fails(err error) {
	if r.Message == "" {
		r.Message = err.Error()
	}
	if r.FailureCategory != "" {
		return
	}
	r.FailureCategory = SnippetFailed
	var refused *Error
	if errors.As(err, &refused) {
		r.FailureCategory = ToolFailed
		if refused.Code == CodeCompositionCeiling {
			r.FailureCategory = CeilingExceeded
		}
	}
}
