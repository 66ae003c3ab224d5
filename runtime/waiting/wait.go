package waiting

import (
	"cmp"
	"math"
	"time"

	json "github.com/go-json-experiment/json"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/desk"
	"github.com/wharf-dev/wharf/runtime/journal"
	"github.com/wharf-dev/wharf/runtime/provider"
)

// Call is a host call that waits, as it was made.
type Call struct {
	Name      string
	Index     int    // among the Task's calls
	RequestID string // names the call to the one who answers it
	Request   []byte
	Asked     any // Request, decoded; nil when it is not yet
	Now       time.Time
}

// For says what a call waits for, and the status of the Task meanwhile. The error is a
// *provider.Refusal: the call is malformed.
func For(c *Call) (*abi.Waiting, abi.TaskStatus, error) {
	w := &abi.Waiting{Call: c.Name, Index: c.Index, RequestID: c.RequestID}
	switch c.Name {
	case abi.CallSleep:
		req, err := provider.Asked[abi.CallSleepRequest](c.Asked, c.Request)
		if err == nil && (req.Milliseconds < 0 || req.Milliseconds > abi.MaxWaitSeconds*1000) {
			err = provider.Malformed(abi.InvalidParam("ms", "ms is 0 to %d", abi.MaxWaitSeconds*1000))
		}
		w.Until = abi.At(c.Now.Add(time.Duration(req.Milliseconds) * time.Millisecond))
		return w, abi.TaskWorking, err
	case abi.CallInboxTake:
		req, err := provider.Asked[abi.CallInboxTakeRequest](c.Asked, c.Request)
		w.Inbox = &abi.InboxWait{Checkpoint: req.Checkpoint}
		return w, abi.TaskWorking, cmp.Or(err, CheckInboxTake(&req), Until(w, c.Now, float64(req.TimeoutMillis)/1000))
	case abi.CallInputRequest:
		req, err := provider.Asked[abi.CallInputRequestRequest](c.Asked, c.Request)
		if err == nil && req.Requests != nil {
			as, err := forSeveral(w, &req)
			return w, as, cmp.Or(err, Until(w, c.Now, req.TimeoutSeconds))
		}
		w.Prompt, w.Schema = req.Prompt, req.Schema.Clone()
		return w, abi.TaskInputRequired, cmp.Or(err, Required("prompt", req.Prompt), Until(w, c.Now, req.TimeoutSeconds))
	case abi.CallAuthRequest:
		req, err := provider.Asked[abi.CallAuthRequestRequest](c.Asked, c.Request)
		w.Prompt, w.Action, w.URL = req.Prompt, req.Provider, req.URL
		return w, abi.TaskAuthRequired, cmp.Or(err, Required("provider", req.Provider), Until(w, c.Now, req.TimeoutSeconds))
	case abi.CallApprovalRequest:
		req, err := provider.Asked[abi.CallApprovalRequestRequest](c.Asked, c.Request)
		w.Prompt, w.Action, w.Arguments, w.Quorum = req.Prompt, req.Action, req.Arguments.Clone(), req.Quorum
		return w, abi.TaskInputRequired, cmp.Or(err, Required("action", req.Action), checkQuorum(req.Quorum), Until(w, c.Now, req.TimeoutSeconds))
	}
	req, err := provider.Asked[abi.CallTaskAwaitRequest](c.Asked, c.Request)
	w.TaskID = req.TaskID
	return w, abi.TaskWorking, cmp.Or(err, Required("task_id", req.TaskID), Until(w, c.Now, req.TimeoutSeconds))
}

// CheckInboxTake refuses what cannot be taken from an inbox.
func CheckInboxTake(req *abi.CallInboxTakeRequest) error {
	if err := desk.CheckOneOf("checkpoint", req.Checkpoint, abi.CheckpointStep, abi.CheckpointTurn, abi.CheckpointLoopExit); err != nil {
		return provider.Malformed(err)
	}
	if req.TimeoutMillis < 0 || req.TimeoutMillis > abi.MaxWaitSeconds*1000 {
		return provider.Malformed(abi.InvalidParam("timeout_ms", "timeout_ms is 0 to %d", abi.MaxWaitSeconds*1000))
	}
	return nil
}

// EmptyInbox is the answer of abi.CallInboxTake that brings nothing.
func EmptyInbox(why abi.InboxWoken) []byte {
	if why == "" {
		return []byte(`{"messages":[],"reminders":[]}`)
	}
	return []byte(`{"messages":[],"reminders":[],"woken":"` + string(why) + `"}`)
}

// Required refuses a call that leaves out what it needs.
func Required(param, value string) error {
	if err := desk.CheckPresent(param, value); err != nil {
		return provider.Malformed(err)
	}
	return nil
}

func checkQuorum(n int) error {
	if err := quorumFits(n); err != nil {
		return provider.Malformed(err)
	}
	return nil
}

func quorumFits(n int) error {
	if n < 0 || n > abi.MaxApprovals {
		return abi.InvalidParam("quorum", "quorum is 0 to %d", abi.MaxApprovals)
	}
	return nil
}

// Until sets when a wait ends: so many seconds from now; 0 for never.
func Until(w *abi.Waiting, now time.Time, timeout float64) error {
	switch {
	case math.IsNaN(timeout) || timeout < 0 || timeout > abi.MaxWaitSeconds:
		return provider.Malformed(abi.InvalidParam("timeout_seconds", "timeout_seconds is 0 to %d", abi.MaxWaitSeconds))
	case timeout > 0:
		w.Until = abi.At(now.Add(seconds(timeout)))
	}
	return nil
}

func seconds(n float64) time.Duration { return time.Duration(n * float64(time.Second)) }

// kindOf says what somebody is asked by a wait, "" when nobody is.
func kindOf(w *abi.Waiting) abi.PermissionKind {
	switch {
	case forApproval(w):
		return abi.PermissionApproval
	case w.Call == abi.CallInputRequest || asTool(w) || len(w.Requests) > 0:
		return abi.PermissionInput
	case w.Call == abi.CallAuthRequest:
		return abi.PermissionAuthorization
	}
	return ""
}

// asTool reports whether a tool of the host's own asks somebody. What else a tool call waits for is
// a child.
func asTool(w *abi.Waiting) bool { return w.Call == abi.CallToolCall && w.TaskID == "" && !w.Gate }

// forApproval reports whether a Task waits for a decision.
func forApproval(w *abi.Waiting) bool { return w.Gate || w.Call == abi.CallApprovalRequest }

// RecordedAs returns the call whose entry a wait ends.
func RecordedAs(w *abi.Waiting) string {
	if w.Gate {
		return abi.CallGate
	}
	return w.Call
}

// EventOf returns the kind of the event that states the answer to a call that waited. An
// approval that was denied has a kind of its own.
func EventOf(w *abi.Waiting, status abi.CallStatus, answer []byte) abi.EventKind {
	var a abi.CallApprovalAnswer
	if forApproval(w) && json.Unmarshal(answer, &a) == nil && a.Decision != decisionApproved {
		status = abi.CallDenied
	}
	return journal.Kind(RecordedAs(w), journal.Result, status)
}
