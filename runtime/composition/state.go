package composition

import (
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"
	"time"

	json "github.com/go-json-experiment/json"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/journal"
	"github.com/wharf-dev/wharf/runtime/ledger"
	"github.com/wharf-dev/wharf/runtime/policy"
	"github.com/wharf-dev/wharf/runtime/provider"
	"github.com/wharf-dev/wharf/runtime/tooluse"
)

// The codes that a plugin reads when a call was refused, besides [abi.CodeCompositionCeiling].
const (
	CodeOpen    = "composition_open"    // another one is open
	CodeUnknown = "unknown_composition" // the named one is not
)

// maxText bounds what is shown to people, in bytes.
const maxText = 200

// State is what a record says of a Task's compositions. The zero value is that of an empty one.
type State struct {
	open  *open
	begun *journal.Entry // the tool call that has begun and is not answered; nil for none
}

// open is the composition that is open.
type open struct {
	id       string
	ceiling  abi.SideEffectLevel
	at       time.Time
	children int
}

// Take takes over a call that is recorded.
func (s *State) Take(e *journal.Entry) error {
	switch {
	case e.Call == abi.CallToolCall:
		if s.begun != nil && s.begun.Index == e.Index {
			s.begun = nil
		}
		if s.open != nil {
			grown := *s.open // whoever reads a copy of the State reads what was
			grown.children++
			s.open = &grown
		}
	case e.Status != abi.CallOK:
	case e.Call == abi.CallCompositionBegin:
		return s.begin(e)
	case e.Call == abi.CallCompositionEnd:
		s.open = nil
	}
	return nil
}

func (s *State) begin(e *journal.Entry) error {
	var asked abi.CallCompositionBeginRequest
	var told abi.CallCompositionBeginAnswer
	if err := json.Unmarshal(e.Request, &asked); err != nil {
		return fmt.Errorf("reading which composition was begun: %w", err)
	}
	if err := json.Unmarshal(e.Answer, &told); err != nil {
		return fmt.Errorf("reading which composition was begun: %w", err)
	}
	s.open = &open{id: told.CompositionID, ceiling: asked.SideEffectCeiling, at: e.At}
	return nil
}

// Begun takes over what of a record is not answered: a tool call that has begun was told. It may be taken over before
// all that is.
func (s *State) Begun(unanswered ...journal.Entry) {
	for i := range unanswered {
		if unanswered[i].Call == abi.CallToolCall {
			e := unanswered[i]
			s.begun = &e
		}
	}
}

// Admit says whether a call may be made: a *provider.Refusal when it may not. tool is the definition of the
// tool that is called; nil for any other call, and when it is not known.
func (s *State) Admit(a *policy.Action, tool *abi.Tool) error {
	if s.open == nil {
		if a.Composition != "" {
			return unknown(a.Composition)
		}
		return nil
	}
	if a.Composition != "" && a.Composition != s.open.id {
		return unknown(a.Composition)
	}
	level := Level(a, tool)
	if within(level, s.open.ceiling) {
		return nil
	}
	return provider.Refuse(abi.CallDenied, abi.CodeCompositionCeiling, fmt.Sprintf("%s was not done: it is at the side-effect level %s, and the composition that is open is held to %s",
		a, level, s.open.ceiling))
}

func unknown(id string) error {
	return provider.Refuse(abi.CallNotFound, CodeUnknown, fmt.Sprintf("the composition %.100q is not open", id))
}

// HostCall is a host call that begins or ends a composition.
type HostCall struct {
	Name    string
	Task    string
	Index   int // of the call in the Task's record
	At      time.Time
	Asked   any // the request, where somebody has decoded it before
	Request []byte
	HasPut  func(artifact string) bool // whether the Task has put it
	Shown   abi.ToolsVisibility
}

// Answer answers a host call, and returns the events that tell it: they are for one batch with the call's own. Its error is a
// *provider.Refusal, or the host is at fault. The State is the one of before until the call is recorded and taken.
func (s *State) Answer(c *HostCall) (answer []byte, told []ledger.Record, err error) {
	if c.Name == abi.CallCompositionBegin {
		req, err := provider.Asked[abi.CallCompositionBeginRequest](c.Asked, c.Request)
		if err != nil {
			return nil, nil, err
		}
		return s.start(c, &req)
	}
	req, err := provider.Asked[abi.CallCompositionEndRequest](c.Asked, c.Request)
	if err == nil {
		told, err = s.end(c, &req)
	}
	return nil, told, err
}

func (s *State) start(c *HostCall, req *abi.CallCompositionBeginRequest) ([]byte, []ledger.Record, error) {
	if s.open != nil {
		return nil, nil, provider.Refuse(abi.CallInvalid, CodeOpen, fmt.Sprintf("the composition %q is open: end it first", s.open.id))
	}
	if wrong := check(req); wrong != nil {
		return nil, nil, provider.Malformed(wrong)
	}
	id := c.Task + "-" + strconv.Itoa(c.Index)
	answer, err := json.Marshal(&abi.CallCompositionBeginAnswer{CompositionID: id})
	return answer, []ledger.Record{record(c.Task, &abi.CompositionEvent{Kind: abi.CompositionStart, RunID: id, Name: req.Name, Language: req.Language,
		SnippetHash: req.SnippetHash, ManifestHash: req.ManifestHash, SideEffectCeiling: req.SideEffectCeiling})}, err
}

func check(req *abi.CallCompositionBeginRequest) error {
	switch {
	case req.Language == "" || len(req.Language) > maxText:
		return abi.InvalidParam("language", "language is 1 to %d bytes", maxText)
	case len(req.Name) > maxText:
		return abi.InvalidParam("name", "name is at most %d bytes", maxText)
	case !isHash(req.SnippetHash):
		return abi.InvalidParam("snippet_hash", "snippet_hash is a SHA-256 in lower-case hex")
	case !isHash(req.ManifestHash):
		return abi.InvalidParam("manifest_hash", "manifest_hash is a SHA-256 in lower-case hex")
	case !slices.Contains(abi.SideEffectLevels(), req.SideEffectCeiling):
		return abi.InvalidParam("side_effect_ceiling", "%.50q is no side-effect level: there are %s", req.SideEffectCeiling, abi.SideEffectLevels())
	}
	return nil
}

func isHash(text string) bool {
	sum, err := hex.DecodeString(text)
	return err == nil && len(sum) == 32 && hex.EncodeToString(sum) == text
}

// failures are the categories that a plugin may give.
var failures = []abi.CompositionFailure{abi.CompositionSnippet, abi.CompositionTool, abi.CompositionCeiling, abi.CompositionTimeout, abi.CompositionLimit}

func (s *State) end(c *HostCall, req *abi.CallCompositionEndRequest) ([]ledger.Record, error) {
	if s.open == nil || s.open.id != req.CompositionID {
		return nil, unknown(req.CompositionID)
	}
	if len(c.Request) > abi.MaxComposition {
		return nil, provider.Refuse(abi.CallTooLarge, "too_large", fmt.Sprintf("what is said of a composition has at most %d bytes", abi.MaxComposition))
	}
	if wrong := checkEnd(c, req); wrong != nil {
		return nil, provider.Malformed(wrong)
	}
	ev := s.ends(abi.CompositionFinish, c.At, c.Shown)
	ev.Stdout, ev.Stderr, ev.Artifacts, ev.Result = req.Stdout, req.Stderr, req.Artifacts, req.Result
	if req.FailureCategory != "" {
		ev.Kind, ev.FailureCategory, ev.Error = abi.CompositionError, req.FailureCategory, &abi.CompositionFault{Message: req.Message}
	}
	return []ledger.Record{record(c.Task, ev)}, nil
}

func checkEnd(c *HostCall, req *abi.CallCompositionEndRequest) error {
	switch {
	case req.FailureCategory == "" && req.Message != "":
		return abi.InvalidParam("message", "a message is that of a failure")
	case req.FailureCategory != "" && !slices.Contains(failures, req.FailureCategory):
		return abi.InvalidParam("failure_category", "%.50q is no category: there are %s", req.FailureCategory, failures)
	case len(req.Artifacts) > abi.MaxCompositionArtifacts:
		return abi.InvalidParam("artifacts", "a composition names at most %d artifacts", abi.MaxCompositionArtifacts)
	}
	for _, id := range req.Artifacts {
		if !c.HasPut(id) {
			return abi.InvalidParam("artifacts", "this task has put no artifact %.100q", id)
		}
	}
	return nil
}

// Ends tells the end of what is open when the Task ends, with the status that it ends in.
func (s *State) Ends(task string, status abi.TaskStatus, at time.Time, shown abi.ToolsVisibility) []ledger.Record {
	if s.open == nil {
		return nil
	}
	var told []ledger.Record
	ev := s.ends(abi.CompositionError, at, shown)
	if s.begun != nil {
		told = append(told, record(task, s.cut(at, shown)))
		*ev.ChildCalls++
	}
	ev.FailureCategory, ev.Error = abi.CompositionNotEnded, &abi.CompositionFault{Message: "the task has ended, and its composition was open"}
	switch status {
	case abi.TaskFailed:
		ev.FailureCategory = abi.CompositionTaskFailed
	case abi.TaskCanceled:
		ev.FailureCategory = abi.CompositionTaskCanceled
	}
	return append(told, record(task, ev))
}

// cut is the result of the child that is not answered when the Task ends.
func (s *State) cut(at time.Time, shown abi.ToolsVisibility) *abi.CompositionEvent {
	call := &tooluse.Call{Index: s.begun.Index, At: s.begun.At}
	if req, err := provider.Asked[abi.CallToolCallRequest](nil, s.begun.Request); err == nil {
		call.Request = &req
	}
	about := tooluse.Begin(call, shown).About()
	return result(childOf(s.open.id, about), &tooluse.End{At: at, Cut: true})
}

// ends is what is known of the end of the composition that is open.
func (s *State) ends(kind abi.CompositionEventKind, at time.Time, shown abi.ToolsVisibility) *abi.CompositionEvent {
	took, children := ms(at.Sub(s.open.at)), s.open.children
	ev := &abi.CompositionEvent{Kind: kind, RunID: s.open.id, DurationMS: &took, ChildCalls: &children}
	if shown == abi.ToolsPublic {
		ev.Visibility = shown
	}
	return ev
}

func record(task string, ev *abi.CompositionEvent) ledger.Record {
	return ledger.Record{Kind: abi.EventComposition, Object: abi.ObjectTask, ID: task, Restricted: true, Payload: ev}
}

// ms is a duration in milliseconds, to the microsecond.
func ms(d time.Duration) float64 { return float64(max(0, d).Microseconds()) / 1000 }
