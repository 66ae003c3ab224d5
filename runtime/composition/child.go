package composition

import (
	"time"

	json "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/journal"
	"github.com/wharf-dev/wharf/runtime/ledger"
	"github.com/wharf-dev/wharf/runtime/provider"
	"github.com/wharf-dev/wharf/runtime/tooluse"
)

// Call is a tool call of which something is recorded.
type Call struct {
	Task  string
	Use   *tooluse.Use // nil for any other call, of which nothing is told
	Entry *journal.Entry
	Phase journal.Phase
	Begun bool // its intent stands already
}

// Tell tells what is recorded of a call, when it is a child: that it was called, and what came of it. It is told in
// one batch with that.
func (s *State) Tell(c *Call) (told []ledger.Record) {
	if s.open == nil || c.Use == nil {
		return nil
	}
	if !c.Begun && c.Phase != journal.Result {
		told = append(told, record(c.Task, s.called(c)))
	}
	if c.Phase == journal.Intent {
		return told
	}
	ev := result(childOf(s.open.id, c.Use.About()), &tooluse.End{At: c.Entry.At, Status: c.Entry.Status, Answer: c.Entry.Answer})
	if took := c.Use.Taken(); took > 0 {
		took := ms(took)
		ev.ExecutionDurationMS = &took
	}
	return append(told, record(c.Task, ev))
}

// called tells that a child is called, and how policy sees it.
func (s *State) called(c *Call) *abi.CompositionEvent {
	use, tool := c.Use.About(), c.Use.Tool()
	level := toolLevel(use.Server, use.Name, tool)
	ev := &abi.CompositionEvent{Kind: abi.CompositionChildCall, RunID: s.open.id, CallID: use.CallID, RequestedSideEffectLevel: level,
		PolicyContext: &abi.CompositionPolicy{ToolName: use.Server + ":" + use.Name, ToolKind: use.Kind, SideEffect: level, SideEffectCeiling: s.open.ceiling}}
	if req, err := provider.Asked[abi.CallToolCallRequest](nil, c.Entry.Request); err == nil {
		ev.RawInput = bounded(req.Arguments)
	}
	if tool != nil {
		ev.ToolAnnotations = &abi.CompositionToolAnnotations{ReadOnly: tool.ReadOnly, Destructive: use.Destructive, Idempotent: tool.Idempotent, OpenWorld: tool.OpenWorld}
	}
	return seen(ev, use.Visibility)
}

// Waits returns what a Task says of a child that it waits for; nil when it is none.
func (s *State) Waits(use *tooluse.Use) *abi.CompositionChild {
	if s.open == nil || use == nil {
		return nil
	}
	return childOf(s.open.id, use.About())
}

func childOf(id string, use *abi.ToolUse) *abi.CompositionChild {
	return &abi.CompositionChild{CompositionID: id, CallID: use.CallID, Executor: use.Executor, StartedAt: use.StartedAt, Visibility: use.Visibility}
}

// Answered tells what came of a child that its Task has waited for; nothing for nil.
func Answered(task string, child *abi.CompositionChild, e *tooluse.End) []ledger.Record {
	if child == nil {
		return nil
	}
	return []ledger.Record{record(task, result(child, e))}
}

// result is what came of a child.
func result(c *abi.CompositionChild, e *tooluse.End) *abi.CompositionEvent {
	took := ms(max(time.Microsecond, e.At.Sub(c.StartedAt)))
	ev := &abi.CompositionEvent{Kind: abi.CompositionChildResult, RunID: c.CompositionID, CallID: c.CallID, Executor: c.Executor, DurationMS: &took,
		Status: abi.CompositionChildCompleted}
	category := e.Category(c.Executor)
	switch {
	case e.Cut:
		ev.Status = abi.CompositionChildCancelled
	case category != "":
		ev.Status = abi.CompositionChildFailed
	}
	if !e.Cut && e.Status == abi.CallOK {
		ev.Output = bounded(e.Answer)
	}
	if category != "" {
		ev.Error = fault(category, e)
	}
	return seen(ev, c.Visibility)
}

func fault(category abi.ToolErrorCategory, e *tooluse.End) *abi.CompositionFault {
	f := &abi.CompositionFault{Category: category}
	var told abi.CallError
	if !e.Cut && e.Status != abi.CallOK && json.Unmarshal(e.Answer, &told) == nil {
		f.Code, f.Message = told.Code, told.Message
	}
	return f
}

// bounded returns content that an event may repeat; nil for what is larger, which the events of the call have, and
// for what nests deeper than what a plugin may be given.
func bounded(text []byte) jsontext.Value {
	v := jsontext.Value(text)
	if len(v) > abi.MaxCompositionContent || !v.IsValid() || abi.TooDeep(v, abi.MaxDepth-1) >= 0 {
		return nil
	}
	return v.Clone()
}

// seen says who sees what is told of a child.
func seen(ev *abi.CompositionEvent, shown abi.ToolsVisibility) *abi.CompositionEvent {
	switch shown {
	case abi.ToolsInternal:
		ev.Type, ev.Visibility = ev.Kind, shown
	case abi.ToolsPublic:
		ev.Visibility = shown
	}
	return ev
}
