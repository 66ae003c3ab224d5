package abi

// TaskStatus is the lifecycle state of a Task, spelled as on the wire
// (docs/protocol.md, 5.1).
type TaskStatus string

// The task states. The last three are terminal.
const (
	TaskSubmitted     TaskStatus = "SUBMITTED"
	TaskWorking       TaskStatus = "WORKING"
	TaskInputRequired TaskStatus = "INPUT_REQUIRED"
	TaskAuthRequired  TaskStatus = "AUTH_REQUIRED"
	TaskCompleted     TaskStatus = "COMPLETED"
	TaskFailed        TaskStatus = "FAILED"
	TaskCanceled      TaskStatus = "CANCELED"
)

// TaskStatuses lists every state, in the order of docs/protocol.md, 5.1.
func TaskStatuses() []TaskStatus {
	return []TaskStatus{TaskSubmitted, TaskWorking, TaskInputRequired, TaskAuthRequired,
		TaskCompleted, TaskFailed, TaskCanceled}
}

// Terminal reports whether no transition leads out of s.
func (s TaskStatus) Terminal() bool {
	return s == TaskCompleted || s == TaskFailed || s == TaskCanceled
}

// Settled reports whether a Task of status s does not go on by itself: it has ended, or waits for somebody.
func (s TaskStatus) Settled() bool {
	return s.Terminal() || s == TaskInputRequired || s == TaskAuthRequired
}

// CanBecome reports whether the protocol allows the transition s → to (docs/protocol.md, 5.1).
func (s TaskStatus) CanBecome(to TaskStatus) bool {
	switch s {
	case TaskSubmitted:
		return to == TaskWorking || to == TaskCanceled || to == TaskFailed
	case TaskWorking:
		return to == TaskInputRequired || to == TaskAuthRequired || to.Terminal()
	case TaskInputRequired, TaskAuthRequired:
		return to == TaskWorking || to == TaskFailed || to == TaskCanceled
	default:
		return false
	}
}

// TransitionEvent returns the kind of the event that reports a Task's arrival in
// state s. Returning to WORKING has no name of its own, so it is
// [EventTaskStatusChanged]; first is true for the first arrival in WORKING.
func TransitionEvent(s TaskStatus, first bool) EventKind {
	switch s {
	case TaskSubmitted:
		return EventTaskSubmitted
	case TaskWorking:
		if first {
			return EventTaskStarted
		}
	case TaskInputRequired:
		return EventTaskInputRequired
	case TaskAuthRequired:
		return EventTaskAuthRequired
	case TaskCompleted:
		return EventTaskCompleted
	case TaskFailed:
		return EventTaskFailed
	case TaskCanceled:
		return EventTaskCanceled
	}
	return EventTaskStatusChanged
}

// SessionState is the state of a Session.
type SessionState string

// The session states.
const (
	SessionActive SessionState = "ACTIVE"
	SessionIdle   SessionState = "IDLE"
	SessionPaused SessionState = "PAUSED"
	SessionClosed SessionState = "CLOSED"
	SessionFailed SessionState = "FAILED"
)

// SessionStates lists every state.
func SessionStates() []SessionState {
	return []SessionState{SessionActive, SessionIdle, SessionPaused, SessionClosed, SessionFailed}
}

// OutcomeStatus is how a Task ended, as its Outcome says it.
type OutcomeStatus string

// The outcome states.
const (
	OutcomeSucceeded OutcomeStatus = "SUCCEEDED"
	OutcomeFailed    OutcomeStatus = "FAILED"
	OutcomeCanceled  OutcomeStatus = "CANCELED"
)
