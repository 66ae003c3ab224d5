package api

import (
	"strconv"

	json "github.com/go-json-experiment/json"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/desk"
)

// tracedCall is what an event tells of a call that reaches something, for tracers.
type tracedCall struct {
	Call  string `json:"call"`
	Index int    `json:"index"`
	Tool  struct {
		StartedEventID string `json:"started_event_id"`
	} `json:"tool"`
}

// callOf returns the call that an event tells, nil for an event without a span.
func callOf(ev desk.Event) *tracedCall {
	if !hasSpan(ev.Record().Kind) || ev.Frame.TaskID == "" {
		return nil
	}
	call := &tracedCall{}
	if json.Unmarshal(ev.Record().Payload, call) != nil || call.Call == "" {
		return nil
	}
	return call
}

// hasSpan reports whether events of a kind belong to the span of a call.
func hasSpan(k abi.EventKind) bool {
	switch k {
	case abi.EventSpanStarted, abi.EventSpanUpdated, abi.EventSpanCompleted, abi.EventSpanFailed,
		abi.EventToolApprovalRequired, abi.EventToolApproved, abi.EventToolDenied:
		return true
	}
	return beginsTool(k) || endsTool(k)
}

func beginsTool(k abi.EventKind) bool { return k == abi.EventToolRequested }

func endsTool(k abi.EventKind) bool { return k == abi.EventToolCompleted || k == abi.EventToolFailed }

// begun returns the id of the event that tells the beginning of the call that ev ends; "" when it
// is not known. It stands in the payload, or in the batch of the end itself.
func (c *tracedCall) begun(ev desk.Event) string {
	if !endsTool(ev.Record().Kind) || c.Tool.StartedEventID != "" {
		return c.Tool.StartedEventID
	}
	for i := ev.Index - 1; i >= 0; i-- {
		switch kind := ev.Frame.Records[i].Kind; {
		case beginsTool(kind):
			return strconv.FormatUint(uint64(ev.Position())-uint64(ev.Index-i), 10)
		case endsTool(kind):
			return "" // of another call
		}
	}
	return ""
}
