package tooluse

import (
	"cmp"
	"fmt"
	"strconv"
	"time"

	json "github.com/go-json-experiment/json"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/hosttools"
)

// Call is a tool call as it is made.
type Call struct {
	Index   int
	Request *abi.CallToolCallRequest // nil for one that cannot be read
	At      time.Time                // when it began
}

// Use is what is known of a tool call while it is made. It is used by one goroutine. A nil one is
// that of any other call, of which nothing is told.
type Use struct {
	about abi.ToolUse
	tool  *abi.Tool // its definition; nil until it is found
	took  time.Duration
	begun Event
}

// Event is an event that was handed over.
type Event interface {
	// ID returns its id, and waits for it; "" when the store has failed.
	ID() string
}

// Begin returns what is known of a call before its tool was looked up.
func Begin(c *Call, shown abi.ToolsVisibility) *Use {
	u := &Use{about: abi.ToolUse{CallID: ID("", c.Index), StartedAt: abi.At(c.At), Executor: abi.ExecutorServer}}
	if shown != abi.ToolsNamed {
		u.about.Visibility = shown
	}
	if c.Request == nil {
		u.about.Executor = abi.ExecutorHarn
		return u
	}
	u.about.CallID, u.about.Server, u.about.Name = ID(c.Request.CallID, c.Index), c.Request.Server, c.Request.Name
	switch c.Request.Server {
	case abi.ToolServerHost, abi.ToolServerSkills, abi.ToolServerAgents, abi.ToolServerProcess:
		u.about.Executor = abi.ExecutorHarn
	case abi.ToolServerClient:
		u.about.Executor = abi.ExecutorClient
	}
	return u
}

// Shown returns what is told of how far a tool says it is: as much as of its answer.
func Shown(p abi.Progress, shown abi.ToolsVisibility) *abi.Progress {
	p.Type, p.Visibility = abi.ProgressOfTool, abi.VisibilityInternal
	if shown == abi.ToolsPublic {
		p.Visibility = abi.VisibilityPublic
	}
	return &p
}

// Restrict reports whether a payload has to be withheld from keys without events:internal, and makes it
// say so: that of an agent's event which names tools, where the Persona lets nobody see which there are.
func Restrict(payload any, shown abi.ToolsVisibility) bool {
	ev, ok := payload.(*abi.AgentEvent)
	if !ok || shown != abi.ToolsInternal || !ev.Kind.NamesTools() {
		return false
	}
	ev.Type, ev.Visibility = ev.Kind, abi.VisibilityInternal
	return true
}

// ID names a tool call: by the call_id that it was made with, or else by its place in the record.
func ID(callID string, index int) string { return cmp.Or(callID, "call-"+strconv.Itoa(index)) }

// kinds are those of tools that are neither reads nor the node's own.
var kinds = map[string]abi.ToolKind{
	abi.ToolServerClient + ":" + abi.ToolWriteFile:   abi.ToolKindEdit,
	abi.ToolServerClient + ":" + abi.ToolRunTerminal: abi.ToolKindExecute,
	abi.ToolServerProcess + ":" + abi.ToolExec:       abi.ToolKindExecute,
}

// Define takes over what the definition of the tool says; nil for one that was not found. by is who
// offers it, where that is nobody's configuration.
func (u *Use) Define(tool *abi.Tool, by string) {
	if u == nil || tool == nil {
		return
	}
	u.tool = tool
	u.about.ReadOnly, u.about.Destructive = tool.ReadOnly, tool.Destructive && !tool.ReadOnly
	if tool.ReadOnly {
		u.about.Kind = abi.ToolKindRead
	}
	if kind := kinds[u.about.Server+":"+u.about.Name]; kind != "" && !tool.ReadOnly {
		u.about.Kind = kind
	}
	if u.about.Server == abi.ToolServerProcess && by != "" {
		u.about.Executor = abi.ExecutorClient
	}
	if u.about.Server != abi.ToolServerHost {
		return
	}
	if own := hosttools.Find(u.about.Name); own != nil {
		u.about.Kind = own.Kind
	}
}

// Told notes the event that tells the beginning of the call.
func (u *Use) Told(by Event) {
	if u != nil {
		u.begun = by
	}
}

// Took notes how long the server of the tool has taken.
func (u *Use) Took(d time.Duration) {
	if u != nil {
		u.took = max(0, d)
	}
}

// Waits returns what a parked Task says of the tool that it waits for; nil when that is for those
// alone who see all events.
func (u *Use) Waits() *abi.ToolUse {
	if u == nil || u.about.Visibility == abi.ToolsInternal {
		return nil
	}
	waits := u.about
	if u.begun != nil {
		waits.StartedEventID = u.begun.ID()
	}
	return &waits
}

// AppendBegun puts u into the payload of the event that tells the beginning of the call.
func (u *Use) AppendBegun(payload []byte) ([]byte, error) {
	if u == nil {
		return payload, nil
	}
	return appendUse(payload, &u.about)
}

// AppendEnded puts u into the payload of the event that tells the end of the call.
func (u *Use) AppendEnded(payload []byte, e *End) ([]byte, error) {
	if u == nil {
		return payload, nil
	}
	end := u.about
	if u.begun != nil {
		end.StartedEventID = u.begun.ID()
	}
	end.ExecutionUs = u.took.Microseconds()
	return Ended(payload, &end, e)
}

// Tool returns the definition of the tool; nil while that was not found.
func (u *Use) Tool() *abi.Tool { return u.tool }

// Taken returns how long the server of the tool has taken by now.
func (u *Use) Taken() time.Duration { return u.took }

// About returns what is known of the call by now; nil for none.
func (u *Use) About() *abi.ToolUse {
	if u == nil {
		return nil
	}
	about := u.about
	return &about
}

// End is how a call ended: by its answer, or by the end of its Task.
type End struct {
	At     time.Time
	Status abi.CallStatus
	Answer []byte
	Cut    bool // its Task has ended
}

// Ended puts what a Task has waited for into the payload of the event that tells the end of it;
// nil adds nothing.
func Ended(payload []byte, waits *abi.ToolUse, e *End) ([]byte, error) {
	if waits == nil {
		return payload, nil
	}
	end := *waits
	end.DurationUs = max(1, e.At.Sub(waits.StartedAt).Microseconds())
	end.ErrorCategory = e.Category(waits.Executor)
	return appendUse(payload, &end)
}

func appendUse(payload []byte, u *abi.ToolUse) ([]byte, error) {
	text, err := json.Marshal(u)
	if err != nil {
		return nil, fmt.Errorf("telling a tool call: %w", err)
	}
	payload = append(payload[:len(payload)-1], `,"tool":`...)
	return append(append(payload, text...), '}'), nil
}

// Category says in which way a call failed; "" for one that did not.
func (e *End) Category(by abi.ToolExecutor) abi.ToolErrorCategory {
	if e.Cut {
		return abi.ToolErrorCancelled
	}
	switch e.Status {
	case abi.CallOK:
		var told struct {
			IsError bool `json:"is_error"`
		}
		if json.Unmarshal(e.Answer, &told) == nil && told.IsError {
			return abi.ToolErrorOwn
		}
		return ""
	case abi.CallInvalid, abi.CallNotFound:
		return abi.ToolErrorSchema
	case abi.CallDenied:
		return abi.ToolErrorDenied
	case abi.CallTimeout:
		return abi.ToolErrorTimeout
	case abi.CallIndeterminate:
		return abi.ToolErrorUnknown
	}
	switch by {
	case abi.ExecutorServer:
		return abi.ToolErrorServer
	case abi.ExecutorClient:
		return abi.ToolErrorHostBridge
	}
	return abi.ToolErrorOwn
}
